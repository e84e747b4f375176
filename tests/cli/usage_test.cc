// What every command does with wrong arguments, and with help.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "tara/cli/command_line.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr const char* kCommands[] = {
    "play",  "train", "arena", "crossplay", "rate",     "selfplay",
    "games", "show",  "solve", "levels",    "variants", "verify",
    "perft", "stats", "web",   "bench",     "export",   "model"};

// A wrong command line, and a part of what is said about it.
TEST(WrongUsageTest, EndsWithStatus2AndOneLineThatNamesTheHelp) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {"nonsense", "unknown command 'nonsense'; expected one of"},
      {"perfd", "did you mean 'perft'?"},
      {"nonsense --help", "unknown command 'nonsense'; expected one of"},
      {"--help nonsense", "unknown command 'nonsense'"},
      {"nonsense --version", "unknown command 'nonsense'"},
      {"perfd --help", "did you mean 'perft'?"},
      {"nonsense perft --help", "unknown command 'nonsense'"},
      {"games lisst --help", "did you mean 'list'?"},
      {"bench infrence -h", "did you mean 'inference'?"},
      {"--nonsense", "unknown option '--nonsense'"},
      {"perft", "--variant is required"},
      {"perft --variant chess --depth 1",
       "unknown variant 'chess'; expected one of: sacred_hill_l1"},
      {"perft --variant four_treasures", "--depth is required"},
      {"perft --variant four_treasures --depth", "--depth: a value is missing"},
      {"perft --variant four_treasures --depth -1",
       "--depth: bad value '-1'; expected a whole number from 0"},
      {"perft --variant four_treasures --depth two",
       "--depth: bad value 'two'; expected a whole number"},
      {"perft --variant four_treasures --depth 1 --depth 2",
       "--depth: given more than once"},
      {"perft --variant four_treasures --depth 1 --dividee",
       "unknown option '--dividee'; did you mean '--divide'?"},
      {"perft --variant four_treasures --depth 1 rest",
       "unexpected argument 'rest'"},
      {"perft --variant four_treasures --depth 0 --divide",
       "--divide requires --depth of at least 1"},
      {"show --variant four_treasures --option x=1",
       "variant four_treasures has no rule option 'x'"},
      {"show --variant sacred_hill_l1 --option proximity_bound=6",
       "proximity_bound: bad value '6'; expected 1 to 5"},
      {"show --variant sacred_hill_l1 --option proximity_bound",
       "--option: 'proximity_bound'; expected NAME=VALUE"},
      {"variants --format=xml",
       "--format: bad value 'xml'; expected text or json"},
      {"verify", "FILE is required"},
      {{"arena", "--variant", "four_treasures", "random", "greedy", "--store",
        ""},
       "--store: bad value ''; expected FILE"},
      {{"web", "--export", ""}, "--export: bad value ''; expected FOLDER"},
      {"show", "--variant is required"},
      {{"show", "--variant", "high_kings_l1", "--position",
        "four_treasures 5/7/7/7/7/7/5 0 battle - 0,0 0 - -"},
       "--position is of four_treasures"},
      {"solve", "--variant is required (or --position)"},
      {{"solve", "--position",
        "four_treasures 5/7/7/7/7/7/5 0 battle - 0,0 0 - -", "--option",
        "no_progress_limit=3"},
       "--option and --position exclude each other"},
      {"solve --variant four_treasures --node-limit 0",
       "--node-limit: bad value '0'; expected a whole number"},
      {"solve --variant four_treasures --table-mb x",
       "--table-mb: bad value 'x'; expected a whole number"},
      {"games", "expected one of: list, show, export, stats"},
      {"games lisst", "did you mean 'list'?"},
      {"games list x.db --variant chess", "unknown variant 'chess'"},
      {"games show x.db first", "INDEX: bad value 'first'"},
      {"arena --variant four_treasures greedy",
       "B is required: tara arena --variant V A B (see"},
      {"arena --variant four_treasures greedy nobody",
       "unknown player 'nobody'"},
      {"arena --variant chess greedy random", "unknown variant 'chess'"},
      {"play --variant four_treasures --opponent mcts:sims=none", "sims"},
      {"play --variant four_treasures --seat green",
       "--seat: bad value 'green'; expected red or blue or both"},
      {"engine --precision int4",
       "--precision: bad value 'int4'; expected auto, float32"},
      {"selfplay --variant four_treasures", "--output is required"},
      {"export", "RUN is required"},
      {"export runs/none", "--output is required"},
      {"export x -o y --weights int4",
       "--weights: bad value 'int4'; expected float32 or float16"},
      {"model", "FILE is required, or the command verify"},
      {"model x.tara y.tara", "unexpected argument 'y.tara'"},
      {"model verify", "FILE is required"},
  };
  for (const auto& [arguments, message] : cases) {
    const std::string error = ErrorOf(2, arguments);
    EXPECT_THAT(error, HasSubstr(message));
    EXPECT_THAT(Lines(error),
                ElementsAre(MatchesRegex("tara: .* \\(see tara.* --help\\)")));
  }
}

TEST(HelpTest, WithoutArgumentsListsTheCommands) {
  const std::string result = OutputOf("");
  for (const char* const command : kCommands) {
    EXPECT_THAT(result, HasSubstr(std::string("\n  ") + command + " "));
  }
  EXPECT_THAT(result, HasSubstr("Examples:\n"));
  EXPECT_EQ(OutputOf("--help"), result);
}

TEST(HelpTest, IsTheSameListInTheProgramWithLibTorch) {
  EXPECT_EQ(RunShell("tara/cli/tara_torch --help").out, OutputOf("--help"));
}

TEST(HelpTest, AnUnknownCommandIsAnErrorInTheProgramWithLibTorch) {
  const TaraResult result = RunShell("tara/cli/tara_torch arenna --help");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_EQ(result.err, RunTara("arenna --help").err);
}

TEST(LibTorchTest, OnlyTheProgramForLearningIsLinkedWithIt) {
  EXPECT_THAT(RunShell("ldd tara/cli/tara_torch").out, HasSubstr("libtorch"));
  const TaraResult result = RunShell("ldd \"$TARA\"");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("libc.so"));
  EXPECT_THAT(result.out, Not(HasSubstr("torch")));
  EXPECT_THAT(result.out, Not(HasSubstr("libc10")));
}

// The program alone, as where Tara is installed without LibTorch.
TEST(LibTorchTest, WithoutItsProgramWhatNeedsItNamesWhatIsMissing) {
  const std::string alone = TemporaryPath("alone");
  ASSERT_EQ(RunShell("cp \"$TARA\" " + alone).status, 0);
  for (const char* const arguments :
       {"train nosuch.textproto", "export nosuch -o nosuch.tara",
        "engine --device cuda", "bench inference",
        "arena --variant sacred_hill_l1 net:nosuch,backend=torch random"}) {
    const TaraResult result = RunShell(alone + " " + arguments);
    EXPECT_EQ(result.status, 1) << arguments;
    EXPECT_THAT(result.err,
                MatchesRegex("tara: cannot start .*alone_torch, the "
                             "program with LibTorch, .*\n"))
        << arguments;
  }
  OutputOf(RunShell(alone +
                    " arena --variant sacred_hill_l1 random random --games 2"));
}

TEST(HelpTest, MayBeAskedForBeforeTheCommand) {
  // Of the program itself, and of the one with LibTorch.
  for (const std::string command : {"perft", "train"}) {
    EXPECT_EQ(OutputOf("--help " + command), OutputOf(command + " --help"));
  }
}

TEST(HelpTest, IsACommandToo) {
  EXPECT_EQ(OutputOf("help"), OutputOf("--help"));
  for (const std::string command : {"play", "train"}) {
    EXPECT_EQ(OutputOf("help " + command), OutputOf(command + " --help"));
  }
  EXPECT_THAT(RunTara("help plai").err, HasSubstr("did you mean 'play'?"));
}

TEST(HelpTest, EveryCommandExplainsItself) {
  for (const std::string command : kCommands) {
    const std::string result = OutputOf(command + " --help");
    EXPECT_THAT(result, HasSubstr("Usage: tara " + command + " "));
    EXPECT_THAT(result, HasSubstr("Examples:\n  tara "));
    // Of `tara fleet` alone.
    EXPECT_THAT(result, Not(HasSubstr("--fleet")));
    for (const std::string& line : Lines(result)) {
      EXPECT_LE(line.size(), 80u) << command << ": " << line;
    }
  }
}

TEST(LevelsTest, ColumnsDoNotTouch) {
  EXPECT_THAT(OutputOf("levels"),
              Not(::testing::ContainsRegex("[+]-[0-9]+ [0-9]")));
}

TEST(HelpTest, ShowsDefaults) {
  EXPECT_THAT(OutputOf("arena --help"), HasSubstr("(default: 200)"));
}

TEST(HelpTest, TellsTheVersion) {
  EXPECT_THAT(Lines(OutputOf("--version")),
              ElementsAre(MatchesRegex("tara [0-9.]+")));
}

TEST(OutputTest, AReaderThatHasSeenEnoughEndsTheProgramQuietly) {
  // A pipe whose reader is gone is the shell's stream 9.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  ASSERT_EQ(dup2(ends[1], 9), 9);
  // The signal is ignored at first, as by some parent processes.
  const TaraResult result =
      RunShell("trap '' PIPE; $TARA variants >&9; echo $? >&2");
  close(ends[1]);
  close(9);
  EXPECT_EQ(result.err, "141\n");  // 128 + SIGPIPE
}

TEST(OutputTest, AFullDiskIsAnError) {
  const TaraResult result = RunShell("$TARA variants >/dev/full");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err, "tara: cannot write the output\n");
}

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

}  // namespace
}  // namespace tara::cli
