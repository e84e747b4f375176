#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tara/cli/command_line.h"

namespace tara::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::IsEmpty;

// A console on strings, with the status line `lines` shown one after the other.
std::string StatusLinesOf(bool terminal, absl::Duration log_interval,
                          const std::vector<std::string>& lines) {
  std::istringstream in;
  std::ostringstream out, err;
  Console console{
      .in = in, .out = out, .err = err, .err_is_terminal = terminal};
  {
    StatusLine status_line(console, log_interval);
    for (const std::string& line : lines) status_line.Show(line);
  }
  EXPECT_THAT(out.str(), IsEmpty());
  return err.str();
}

TEST(StatusLineTest, IsWrittenOverOnATerminalAndErasedAtTheEnd) {
  EXPECT_EQ(StatusLinesOf(true, absl::ZeroDuration(), {"1 of 2 games"}),
            "\r\x1b[K1 of 2 games\r\x1b[K");
}

TEST(StatusLineTest, IsALineOfItsOwnNowAndThenInALog) {
  const std::vector<std::string> lines = {"1 of 2 games", "2 of 2 games"};
  EXPECT_EQ(StatusLinesOf(false, absl::ZeroDuration(), lines),
            "1 of 2 games\n2 of 2 games\n");
  EXPECT_THAT(StatusLinesOf(false, absl::Hours(1), lines), IsEmpty());
}

TEST(StatusLineTest, ShowsTheTimeLeftOnceThereIsASpeed) {
  std::istringstream in;
  std::ostringstream out, err;
  Console console{.in = in, .out = out, .err = err, .err_is_terminal = false};
  StatusLine status_line(console, absl::ZeroDuration());
  status_line.Show("2 of 4 games", 2, 4);
  status_line.Show("3 of 4 games", 3, 4);
  status_line.Show("4 of 4 games", 4, 4, "games");
  EXPECT_THAT(
      err.str(),
      ContainsRegex("^2 of 4 games\n3 of 4 games, about [0-9smh]+ left\n"
                    "4 of 4 games, [0-9.]+ games/s, about 0 left\n$"));
}

}  // namespace
}  // namespace tara::cli
