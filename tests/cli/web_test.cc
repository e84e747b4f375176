// What `tara web` checks before the page's script takes over, and what the
// script gets; web/tests has the page itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
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
  EXPECT_EQ(plain.out, "<8045>");
  EXPECT_EQ(plain.status, 7);

  const std::string model = absl::StrCat(testing::TempDir(), "/my model.tara");
  std::ofstream(model) << "PK";
  EXPECT_EQ(
      RunWebIn(FakeClone(), absl::StrCat("--port 0 --model '", model, "'")).out,
      absl::StrCat("<0><", model, ">"));
}

TEST(WebTest, NamesAModelThatIsNotThere) {
  const TaraResult result = RunWebIn(FakeClone(), "--model nowhere/model.tara");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("--model nowhere/model.tara: no such"));
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
