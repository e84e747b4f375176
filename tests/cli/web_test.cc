// What `tara web` checks before the page's script takes over, and what the
// script gets; web/tests has the page itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A clone of the project whose script says how it was called.
std::string FakeClone() {
  const std::string root =
      absl::StrCat(testing::TempDir(), "/clone of the project");
  const std::string script = absl::StrCat(root, "/web/serve.sh");
  std::filesystem::create_directories(absl::StrCat(root, "/web"));
  std::ofstream(script) << "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 7\n";
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

  const std::string model = absl::StrCat(testing::TempDir(), "/my model.tara");
  std::ofstream(model) << "PK";
  EXPECT_EQ(
      RunWebIn(FakeClone(), absl::StrCat("--port 0 --model '", model, "'")).out,
      absl::StrCat("<--model><", model, "><--port><0>"));
}

// Writes a file, and the folders above it.
void Write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(
      std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A page for any web space, with one more file.
std::string FakePage(const std::string& name, const std::string& file) {
  const std::string page = absl::StrCat(testing::TempDir(), "/", name);
  const std::string sum(64, '0');
  Write(absl::StrCat(page, "/index.html"), name);
  Write(absl::StrCat(page, "/assets/", file), name);
  Write(absl::StrCat(page, "/SHA256SUMS"),
        absl::StrCat("# The page of Tara, written by tara web --export\n", sum,
                     "  index.html\n", sum, "  assets/", file, "\n"));
  return page;
}

TEST(WebTest, GivesTheScriptTheFolderToExportTo) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/my site");
  EXPECT_EQ(RunWebIn(FakeClone(), absl::StrCat("--export '", folder, "'")).out,
            absl::StrCat("<--export><", folder, "><--port><8045>"));
}

TEST(WebTest, ReplacesAnEarlierExportWhole) {
  const std::string one = FakePage("one", "one.js");
  const std::string two = FakePage("two", "two.js");
  // The folders above it are made.
  const std::string folder = absl::StrCat(testing::TempDir(), "/space/of/mine");
  const TaraResult first = RunTara({"web", "--page", one, "--export", folder});
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("/space/of/mine: 3 files, "));
  EXPECT_THAT(first.out, HasSubstr("python3 -m http.server"));
  EXPECT_EQ(Read(absl::StrCat(folder, "/assets/one.js")), "one");

  // What an interrupted export left is no hindrance.
  Write(absl::StrCat(folder, ".tara-export/rest"), "rest");
  EXPECT_EQ(RunTara({"web", "--page", two, "--export", folder}).status, 0);
  EXPECT_EQ(Read(absl::StrCat(folder, "/assets/two.js")), "two");
  EXPECT_FALSE(std::filesystem::exists(absl::StrCat(folder, "/assets/one.js")));
  EXPECT_FALSE(std::filesystem::exists(absl::StrCat(folder, ".tara-export")));
}

TEST(WebTest, ChangesNoFolderThatHasOtherThings) {
  const std::string page = FakePage("page of tests", "page.js");
  const std::string folder = absl::StrCat(testing::TempDir(), "/mine");
  Write(absl::StrCat(folder, "/thesis.txt"), "all of it");
  const auto refusal = [&page](const std::string& place) {
    const TaraResult result =
        RunTara({"web", "--page", page, "--export", place});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, IsEmpty());
    return result.err;
  };
  EXPECT_THAT(refusal(folder),
              HasSubstr(absl::StrCat("--export ", folder,
                                     ": has thesis.txt, "
                                     "which no export wrote; expected")));
  EXPECT_EQ(Read(absl::StrCat(folder, "/thesis.txt")), "all of it");
  const std::string file = absl::StrCat(folder, "/thesis.txt");
  EXPECT_THAT(refusal(file), HasSubstr("is no folder"));
  EXPECT_THAT(refusal(absl::StrCat(file, "/site")), HasSubstr("is no folder"));

  // An export into which somebody has put more.
  const std::string site = absl::StrCat(testing::TempDir(), "/site");
  ASSERT_EQ(RunTara({"web", "--page", page, "--export", site}).status, 0);
  Write(absl::StrCat(site, "/assets/own.js"), "own");
  EXPECT_THAT(refusal(site), HasSubstr("has assets/own.js"));
  EXPECT_EQ(Read(absl::StrCat(site, "/assets/own.js")), "own");
}

TEST(WebTest, ExportsNoOtherPage) {
  const std::string page = absl::StrCat(testing::TempDir(), "/local page");
  Write(absl::StrCat(page, "/index.html"), "page");
  const std::string folder = absl::StrCat(testing::TempDir(), "/never");
  const TaraResult result =
      RunTara({"web", "--page", page, "--export", folder});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("is no page for a web space"));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(WebTest, SaysThatExportsAreMadeInAClone) {
  const std::string release = absl::StrCat(testing::TempDir(), "/release");
  Write(absl::StrCat(release, "/web/index.html"), "page");
  Write(absl::StrCat(release, "/models/none"), "");
  const TaraResult result = RunWebIn(release, "--export new_site");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("clone of the project"));
}

TEST(WebTest, NamesAModelThatIsNotThere) {
  const TaraResult result = RunWebIn(FakeClone(), "--model nowhere/model.tara");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("--model nowhere/model.tara: no such"));
}

TEST(WebTest, WatchesARunAndNothingElse) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/a run");
  const std::string run = absl::StrCat("--run '", folder, "'");
  const TaraResult missing = RunWebIn(FakeClone(), run);
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("a run: no run; expected the folder of"));

  Write(absl::StrCat(folder, "/config.textproto"), "");
  EXPECT_EQ(RunWebIn(FakeClone(), run).out,
            absl::StrCat("<--run><", folder, "><--port><8045>"));
  const TaraResult exported =
      RunWebIn(FakeClone(), absl::StrCat(run, " --export /tmp/nowhere"));
  EXPECT_EQ(exported.status, 2);
  EXPECT_THAT(exported.err, HasSubstr("--run with --export"));
}

TEST(WebTest, SaysHowToStartItWhereThereAreNoSources) {
  for (const std::string& root : {std::string(), std::string("/nowhere")}) {
    const TaraResult result = RunWebIn(root, "");
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.err, HasSubstr("`bin/tara web`"));
  }
}

TEST(WebTest, NamesWhatIsNoPageAndNoBundle) {
  const std::string page = absl::StrCat(testing::TempDir(), "/page");
  std::filesystem::create_directories(page);
  const TaraResult none = RunTara({"web", "--page", page});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr(absl::StrCat("no built page in ", page)));

  std::ofstream(absl::StrCat(page, "/index.html")) << "page";
  const std::string model = absl::StrCat(testing::TempDir(), "/none.tara");
  std::ofstream(model) << "PK";
  const TaraResult damaged =
      RunTara({"web", "--page", page, "--model", model, "--port", "0"});
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.err, HasSubstr(model));
}

TEST(WebTest, SaysWhichPortIsTaken) {
  const std::string page = absl::StrCat(testing::TempDir(), "/page");
  std::filesystem::create_directories(page);
  std::ofstream(absl::StrCat(page, "/index.html")) << "page";
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
  const TaraResult result = RunTara({"web", "--page", page, "--port", port});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr(port));
  EXPECT_THAT(result.err, HasSubstr("--port 0 finds a free one"));
  close(taken);
}

TEST(WebTest, RefusesAPortThatIsNone) {
  const TaraResult result = RunWebIn(FakeClone(), "--port 65536");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--port: bad value '65536'"));
}

}  // namespace
}  // namespace tara::cli
