// What `tara web` checks before the page's script takes over, and what the
// script gets; web/tests has the page itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A clone of the project whose script says how it was called.
std::string FakeClone() {
  const std::string root = testing::TempDir() + "/clone of the project";
  const std::string script = root + "/web/serve.sh";
  WriteFile(script, "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 7\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return root;
}

TaraResult RunWebIn(const std::string& root, const std::string& arguments) {
  return RunShell(
      absl::StrCat("TARA_ROOT='", root, "' \"$TARA\" web ", arguments));
}

TEST(WebTest, BecomesTheScriptOfTheCloneWithPortAndModel) {
  const TaraResult plain = RunWebIn(FakeClone(), "");
  EXPECT_EQ(plain.out, "<--port><8045>");
  EXPECT_EQ(plain.status, 7);

  const std::string model = testing::TempDir() + "/my model.tara";
  WriteFile(model, "PK");
  EXPECT_EQ(
      RunWebIn(FakeClone(), absl::StrCat("--port 0 --model '", model, "'")).out,
      absl::StrCat("<--model><", model, "><--port><0>"));
}

// A page for any web space, with one more file.
std::string FakePage(const std::string& name, const std::string& file) {
  const std::string page = absl::StrCat(testing::TempDir(), "/", name);
  WriteFile(page + "/index.html", name);
  WriteFile(absl::StrCat(page, "/assets/", file), name);
  WriteFile(page + "/service-worker.js", name);
  return page;
}

TEST(WebTest, GivesTheScriptTheFolderToExportTo) {
  const std::string folder = testing::TempDir() + "/my site";
  EXPECT_EQ(RunWebIn(FakeClone(), absl::StrCat("--export '", folder, "'")).out,
            absl::StrCat("<--export><", folder, "><--port><8045>"));
}

TEST(WebTest, ReplacesAnEarlierExport) {
  const std::string one = FakePage("one", "one.js");
  const std::string two = FakePage("two", "two.js");
  // The folders above it are made.
  const std::string folder = testing::TempDir() + "/space/of/mine";
  const std::string first =
      OutputOf("web --page " + one + " --export " + folder);
  EXPECT_THAT(first, HasSubstr("/space/of/mine\n"));
  EXPECT_THAT(first, HasSubstr("python3 -m http.server"));
  EXPECT_EQ(ReadFile(folder + "/assets/one.js"), "one");

  WriteFile(folder + "/CNAME", "own");
  OutputOf("web --page " + two + " --export " + folder);
  EXPECT_EQ(ReadFile(folder + "/index.html"), "two");
  EXPECT_EQ(ReadFile(folder + "/assets/two.js"), "two");
  EXPECT_FALSE(std::filesystem::exists(folder + "/assets/one.js"));
  EXPECT_EQ(ReadFile(folder + "/CNAME"), "own");

  EXPECT_THAT(ErrorOf(1, "web --page " + two + " --export " + two),
              HasSubstr("is in the page itself"));
  EXPECT_EQ(ReadFile(two + "/assets/two.js"), "two");
}

TEST(WebTest, ChangesNoFolderThatHasOtherThings) {
  const std::string page = FakePage("page_of_tests", "page.js");
  const std::string folder = testing::TempDir() + "/mine";
  WriteFile(folder + "/thesis.txt", "all of it");
  const auto refusal = [&page](const std::string& place) {
    return ErrorOf(1, "web --page " + page + " --export " + place);
  };
  EXPECT_THAT(refusal(folder),
              HasSubstr(absl::StrCat("--export ", folder,
                                     ": has other files; expected")));
  EXPECT_EQ(ReadFile(folder + "/thesis.txt"), "all of it");
  const std::string file = folder + "/thesis.txt";
  EXPECT_THAT(refusal(file), HasSubstr("Not a directory"));
  EXPECT_THAT(refusal(file + "/site"), HasSubstr("Not a directory"));
  EXPECT_EQ(ReadFile(file), "all of it");
}

TEST(WebTest, ExportsNoOtherPage) {
  const std::string page = testing::TempDir() + "/local_page";
  WriteFile(page + "/index.html", "page");
  const std::string folder = testing::TempDir() + "/never";
  EXPECT_THAT(ErrorOf(1, "web --page " + page + " --export " + folder),
              HasSubstr("is not an exported page"));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(WebTest, SaysThatExportsAreMadeInAClone) {
  const std::string release = testing::TempDir() + "/release";
  WriteFile(release + "/web/index.html", "page");
  WriteFile(release + "/models/none", "");
  EXPECT_THAT(ErrorOf(1, RunWebIn(release, "--export new_site")),
              HasSubstr("clone of the project"));
}

TEST(WebTest, NamesAModelThatIsNotThere) {
  EXPECT_THAT(ErrorOf(1, RunWebIn(FakeClone(), "--model nowhere/model.tara")),
              HasSubstr("--model nowhere/model.tara: no such"));
}

TEST(WebTest, WatchesARunAndNothingElse) {
  const std::string folder = testing::TempDir() + "/a run";
  const std::string run = absl::StrCat("--run '", folder, "'");
  EXPECT_THAT(ErrorOf(1, RunWebIn(FakeClone(), run)),
              HasSubstr("a run: not a run; expected a folder that"));

  WriteFile(folder + "/config.textproto", "");
  EXPECT_EQ(RunWebIn(FakeClone(), run).out,
            absl::StrCat("<--run><", folder, "><--port><8045>"));
  EXPECT_EQ(
      RunWebIn(FakeClone(), absl::StrCat(run, " ", run)).out,
      absl::StrCat("<--run><", folder, "><--run><", folder, "><--port><8045>"));
  EXPECT_THAT(ErrorOf(2, RunWebIn(FakeClone(), run + " --export /tmp/nowhere")),
              HasSubstr("--run cannot be combined with --export"));
}

TEST(WebTest, SaysHowToStartItWhereThereAreNoSources) {
  for (const std::string& root : {std::string(), std::string("/nowhere")}) {
    EXPECT_THAT(ErrorOf(1, RunWebIn(root, "")), HasSubstr("`bin/tara web`"));
  }
}

TEST(WebTest, NamesWhatIsNoPageAndNoBundle) {
  const std::string page = testing::TempDir() + "/page";
  std::filesystem::create_directories(page);
  EXPECT_THAT(ErrorOf(1, "web --page " + page),
              HasSubstr("no built page in " + page));

  WriteFile(page + "/index.html", "page");
  const std::string model = testing::TempDir() + "/none.tara";
  WriteFile(model, "PK");
  EXPECT_THAT(
      ErrorOf(1, "web --page " + page + " --model " + model + " --port 0"),
      HasSubstr(model));
}

TEST(WebTest, SaysWhichPortIsTaken) {
  const std::string page = testing::TempDir() + "/page";
  WriteFile(page + "/index.html", "page");
  const int taken = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {.sin_family = AF_INET,
                         .sin_port = 0,
                         .sin_addr = {htonl(INADDR_LOOPBACK)},
                         .sin_zero = {}};
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(taken, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  ASSERT_EQ(getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size),
            0);
  const std::string port = absl::StrCat(ntohs(address.sin_port));
  EXPECT_EQ(ErrorOf(1, absl::StrCat("web --page ", page, " --port ", port)),
            absl::StrCat("tara: port ", port, " is taken; try --port 0\n"));
  close(taken);
}

// `tara web` while it serves.
class WebServer {
 public:
  explicit WebServer(const Words& arguments, const std::string& folder = ".")
      : tara_(arguments, folder) {
    if (!tara_.Expect("Play at http://localhost:") || !tara_.Expect("/ (")) {
      ADD_FAILURE() << tara_.shown();
      return;
    }
    const std::string& shown = tara_.shown();
    port_ = std::stoi(shown.substr(shown.rfind(':') + 1));
  }

  int port() const { return port_; }

  // Returns a new connection to it.
  int Connect() const {
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(static_cast<uint16_t>(port_)),
        .sin_addr = {htonl(INADDR_LOOPBACK)},
        .sin_zero = {}};
    EXPECT_EQ(connect(connection, reinterpret_cast<const sockaddr*>(&address),
                      sizeof(address)),
              0);
    return connection;
  }

  // Returns the whole answer to a request line, "GET /index.html".
  std::string Ask(const std::string& request,
                  const std::string& host = "localhost") const {
    const int connection = Connect();
    const std::string text =
        absl::StrCat(request, " HTTP/1.1\r\n",
                     host.empty() ? "" : absl::StrCat("Host: ", host, "\r\n"),
                     "Origin: http://evil.example\r\n\r\n");
    EXPECT_EQ(write(connection, text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
    std::string answer;
    char part[4096];
    for (ssize_t size; (size = read(connection, part, sizeof(part))) > 0;) {
      answer.append(part, static_cast<size_t>(size));
    }
    close(connection);
    return answer;
  }

 private:
  TerminalTara tara_;
  int port_ = 0;
};

// A run's folder without anything of use.
std::string FakeRun(const std::string& folder) {
  WriteFile(folder + "/config.textproto", "generations: 3\n");
  WriteFile(folder + "/metrics.jsonl", "{\"event\": \"note\"}\n");
  return folder;
}

// What anybody may put into a page: CivetWeb runs the first ones by default.
TEST(WebTest, SendsFilesOfThePageAsTheyAreAndNoneFromOutside) {
  namespace fs = std::filesystem;
  const std::string page = TemporaryPath("page");
  WriteFile(page + "/index.html", "start");
  WriteFile(page + "/assets/a b.js", "script");
  for (const char* name : {"x.cgi", "x.pl", "x.php"}) {
    const std::string file = absl::StrCat(page, "/", name);
    WriteFile(file, "#!/bin/sh\necho; echo ran\n");
    fs::permissions(file, fs::perms::owner_all);
  }
  WriteFile(page + "/x.shtml", "<!--#exec \"echo ran\" -->");
  WriteFile(page + "/x.lua", "mg.write('ran')");
  const std::string secret = TemporaryPath("secret");
  WriteFile(secret + "/key.txt", "secret");
  fs::create_symlink(secret + "/key.txt", page + "/link.txt");
  fs::create_directory_symlink(secret, page + "/linked");
  fs::create_symlink("index.html", page + "/inner.html");

  const WebServer server("web --port 0 --page " + page);
  EXPECT_THAT(server.Ask("GET /"), HasSubstr("\r\n\r\nstart"));
  EXPECT_THAT(server.Ask("GET /inner.html"), HasSubstr("\r\n\r\nstart"));
  const std::string script = server.Ask("GET /assets/a%20b.js");
  EXPECT_THAT(script, HasSubstr("\r\n\r\nscript"));
  EXPECT_THAT(script, HasSubstr("Content-Type: text/javascript"));
  EXPECT_THAT(script, HasSubstr("nosniff"));
  EXPECT_THAT(script, HasSubstr("Content-Security-Policy: default-src 'none'"));
  EXPECT_THAT(script, Not(HasSubstr("Access-Control")));
  for (const char* name : {"x.cgi", "x.pl", "x.php", "x.shtml", "x.lua"}) {
    EXPECT_THAT(server.Ask(absl::StrCat("GET /", name)),
                EndsWith(ReadFile(absl::StrCat(page, "/", name))));
  }
  for (const char* path :
       {"/link.txt", "/linked/key.txt", "/linked/", "/linked", "/assets/",
        "/assets", "/none.js", "/..%2fsecret%2fkey.txt"}) {
    const std::string answer = server.Ask(absl::StrCat("GET ", path));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 404 ")) << path;
    EXPECT_THAT(answer, Not(HasSubstr("secret\n"))) << path;
  }
}

TEST(WebTest, AnswersToNothingButGetAndHead) {
  const std::string page = TemporaryPath("page");
  WriteFile(page + "/index.html", "start");
  const std::string run = FakeRun(TemporaryPath("run"));
  const WebServer server("web --port 0 --page " + page + " --run " + run);
  for (const char* path : {"/index.html", "/run/about.json", "/none"}) {
    const std::string head = server.Ask(absl::StrCat("HEAD ", path));
    EXPECT_THAT(head, HasSubstr("\r\nContent-Length: ")) << path;
    EXPECT_THAT(head, EndsWith("\r\n\r\n")) << path;
    for (const char* method :
         {"POST", "PUT", "DELETE", "OPTIONS", "PROPFIND", "MKCOL", "PATCH"}) {
      EXPECT_THAT(server.Ask(absl::StrCat(method, " ", path)),
                  StartsWith("HTTP/1.1 405 "))
          << method << " " << path;
    }
  }
}

TEST(WebTest, AnswersOnlyToNamesOfThisMachine) {
  const std::string page = TemporaryPath("page");
  WriteFile(page + "/index.html", "start");
  const std::string run = FakeRun(TemporaryPath("run"));
  const WebServer server("web --port 0 --page " + page + " --run " + run);
  for (const std::string& host :
       {std::string("localhost"), std::string("LOCALHOST:80"),
        absl::StrCat("127.0.0.1:", server.port()), std::string("[::1]"),
        absl::StrCat("[::1]:", server.port())}) {
    EXPECT_THAT(server.Ask("GET /run/about.json", host),
                StartsWith("HTTP/1.1 200 "))
        << host;
  }
  for (const char* host :
       {"evil.example", "evil.example:8045", "localhost.evil.example",
        "127.0.0.1.evil.example", "localhost:80.evil.example", "[::2]", ""}) {
    for (const char* path : {"/", "/model.tara", "/run/about.json"}) {
      EXPECT_THAT(server.Ask(absl::StrCat("GET ", path), host),
                  StartsWith("HTTP/1.1 403 "))
          << host << " " << path;
    }
  }
}

TEST(WebTest, ServesOnWithoutItsWorkingFolderAndAfterAnError) {
  const std::string page = TemporaryPath("page");
  WriteFile(page + "/index.html", "start");
  const std::string folder = TemporaryPath("folder");
  FakeRun(folder + "/run");
  const WebServer server("web --port 0 --run run --page " + page, folder);
  EXPECT_THAT(server.Ask("GET /run/about.json"), HasSubstr("generations: 3"));
  std::filesystem::remove_all(folder);
  EXPECT_THAT(server.Ask("GET /run/about.json"),
              HasSubstr("{\"name\":\"run\""));
  EXPECT_THAT(server.Ask("GET /run/games.json"), HasSubstr("[]"));

  // A stream from a folder throws.
  std::filesystem::create_directories(folder + "/run/metrics.jsonl");
  EXPECT_THAT(server.Ask("GET /run/metrics.jsonl"),
              StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(server.Ask("GET /"), HasSubstr("start"));
}

TEST(WebTest, AnswersWhileManyConnectionsAreIdle) {
  const std::string page = TemporaryPath("page");
  WriteFile(page + "/index.html", "start");
  const WebServer server("web --port 0 --page " + page);
  std::vector<int> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(server.Connect());
    // Some have begun to ask.
    const ssize_t begun = i % 2 == 0 ? 8 : 0;
    EXPECT_EQ(write(idle.back(), "GET / HT", begun), begun);
  }
  EXPECT_THAT(server.Ask("GET /"), HasSubstr("start"));
  // It did not wait for them to be given up.
  char part;
  EXPECT_EQ(recv(idle.back(), &part, 1, MSG_DONTWAIT), -1);
  for (const int connection : idle) close(connection);
}

TEST(WebTest, RefusesAPortThatIsNone) {
  EXPECT_THAT(ErrorOf(2, RunWebIn(FakeClone(), "--port 65536")),
              HasSubstr("--port: bad value '65536'"));
}

}  // namespace
}  // namespace tara::cli
