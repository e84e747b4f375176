#ifndef TARA_CLI_COMMAND_LINE_H_
#define TARA_CLI_COMMAND_LINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/cli/console.h"

namespace tara::cli {

// Exit statuses of the program.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
// By a signal, as shells count it: 128 + SIGINT.
inline constexpr int kExitInterrupted = 130;

// Returns INVALID_ARGUMENT marked as misuse of the command line, which ends the
// program with kExitUsage; every other error ends it with kExitFailure.
absl::Status UsageError(absl::string_view message);

// Marks an error as misuse of the command line; OK stays OK.
absl::Status AsUsageError(absl::Status status);

bool IsUsageError(const absl::Status& status);

// Describes the subcommands of `tara` and parses arguments. The parsing is
// CLI11's, which only command_line.cc sees: it is slow to compile, and its
// messages and help are made ours there.

// Does a command's work and returns the exit status, or an error.
using RunFunction = std::function<absl::StatusOr<int>(Console&)>;

// How an option or argument looks in the help.
struct Flag {
  std::string names = {};  // "--depth" or "-o,--output"; arguments: "FILE"
  std::string placeholder = {};  // of the value: "N"
  std::string help = {};
  bool required = false;
  std::string default_text = {};  // shown instead of the default value
  bool may_be_empty = false;      // of texts
  bool hidden = false;            // not in the help: of programs, not of people
};

// A subcommand being described: each Add... takes the place of a parsed value.
// The value found there is the default, which the help shows. Pointers must
// live as long as the command line. A name without dashes is that of a
// positional argument; those are in the order of the calls.
class Command {
 public:
  struct Impl;

  explicit Command(std::unique_ptr<Impl> impl);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  void AddText(const Flag& flag, std::string* value);
  // May be given again and again: the values add up.
  void AddTexts(const Flag& flag, std::vector<std::string>* values);
  void AddChoice(const Flag& flag, std::vector<std::string> choices,
                 std::string* value);
  void AddInteger(const Flag& flag, int64_t min, int64_t max, int64_t* value);
  // A large number: 2500, 2.5k, 100M, 1G (thousands, millions, billions).
  void AddCount(const Flag& flag, int64_t min, int64_t max, int64_t* value);
  void AddNumber(const Flag& flag, double min, double max, double* value);
  void AddSwitch(const Flag& flag, bool* value);

  // Paragraphs after the options, as they are.
  void SetNotes(std::string notes);
  // Lines to try, one command each, without "tara".
  void SetExamples(std::vector<std::string> examples);

  // A command has subcommands, a function to run, or both: then the function
  // runs where none of the subcommands is named, and must itself refuse missing
  // arguments.
  Command& AddCommand(const std::string& name, const std::string& summary);
  void SetRun(RunFunction run);

  std::string Help() const;

 private:
  friend class CommandLine;
  std::unique_ptr<Impl> impl_;
};

// The command that the arguments name.
struct ParsedCommand {
  std::string name;  // "tara games list"
  // Runs the command; or prints help or the version, for --help and --version;
  // or returns a usage error for wrong arguments.
  RunFunction run;
};

class CommandLine {
 public:
  CommandLine(const std::string& summary, const std::string& version);
  ~CommandLine();

  // The program itself; its subcommands are the commands.
  Command& root();

  // REQUIRES: the result is not run after the command line is destroyed.
  ParsedCommand Parse(int argc, const char* const* argv);

 private:
  std::unique_ptr<Command> root_;
  std::string version_;
};

}  // namespace tara::cli

#endif  // TARA_CLI_COMMAND_LINE_H_
