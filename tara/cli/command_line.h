#ifndef TARA_CLI_COMMAND_LINE_H_
#define TARA_CLI_COMMAND_LINE_H_

#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tara/base/option_table.h"

// The parsing is CLI11's, which only command_line.cc sees: it is slow to
// compile, and its messages and help are made ours there.
namespace CLI {
class App;
}

namespace tara::cli {

// Where a command reads and writes. Results go to `out`, progress and errors
// to `err`. The streams must outlive the console.
struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  // Whether a person is at the other end.
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

// Returns a console on the process's standard streams.
Console StandardConsole();

// Returns whether to write colours to `out`, for the value of --colour:
// "always", "never" or "auto", which needs a terminal that is not dumb and
// heeds NO_COLOR (https://no-color.org).
bool UseColour(absl::string_view choice, const Console& console);

// Returns `words`, broken at spaces into lines of at most `width` columns.
// Lines after the first are indented by `indent`. The first line is shorter by
// `indent` columns, which the caller has written. No newline at the end.
std::string Wrap(absl::string_view words, int indent, int width = 79);

// One line on stderr that is overwritten during work. If stderr is not a
// terminal, such as a log, prints a line every `log_interval` of long work.
// Thread-safe.
class StatusLine {
 public:
  explicit StatusLine(Console& console,
                      absl::Duration log_interval = absl::Minutes(1));
  ~StatusLine();  // Clears
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // Shows the text unless the last one was shown a moment ago.
  void Show(absl::string_view text);
  // Also shows the time left for `total` games, positions or the like, of which
  // `done` are done, at the mean speed since the first call; and this speed, if
  // it gets their name.
  void Show(absl::string_view text, double done, double total,
            absl::string_view unit = "");
  // Leaves the line empty, for what is printed next.
  void Clear();

 private:
  Console& console_;
  const absl::Duration interval_;
  absl::Mutex mutex_;
  absl::Time last_shown_ ABSL_GUARDED_BY(mutex_);
  bool visible_ ABSL_GUARDED_BY(mutex_) = false;
  // The first call with numbers.
  absl::Time begin_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  double done_before_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Exit statuses of the program.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
// Interrupted by a signal, as shells report it: 128 + SIGINT.
inline constexpr int kExitInterrupted = 130;

// Marks an error as misuse of the command line, which ends the program with
// kExitUsage; every other error ends it with kExitFailure. Results stay as they
// are.
absl::Status AsUsageError(absl::Status status);

template <typename T>
absl::StatusOr<T> AsUsageError(absl::StatusOr<T> result) {
  if (!result.ok()) return AsUsageError(result.status());
  return result;
}

// Returns INVALID_ARGUMENT so marked; its message is the StrCat of the pieces.
template <typename... Pieces>
absl::Status UsageError(const Pieces&... pieces) {
  return AsUsageError(absl::InvalidArgumentError(absl::StrCat(pieces...)));
}

bool IsUsageError(const absl::Status& status);

// Does a command's work and returns the exit status, or an error.
using RunFunction = std::function<absl::StatusOr<int>(Console&)>;

// A command being described by tables of options
// (tara/base/option_table.h), whose names have dashes; those without are
// positional arguments, in the order of the calls.
class Command {
 public:
  // The program itself; its subcommands are the commands.
  explicit Command(std::string summary);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // Adds options. The members' values are the defaults, which the help shows;
  // they must live as long as the command.
  void Add(const OptionTable& table);

  // Lines after the options, which are wrapped unless they begin with a space.
  void SetNotes(std::string notes) { notes_ = std::move(notes); }
  // Lines to try, one command each, without "tara".
  void SetExamples(std::vector<std::string> examples) {
    examples_ = std::move(examples);
  }

  // A command has subcommands, a function to run, or both: then the function
  // runs where none of the subcommands is named, and must itself refuse missing
  // arguments.
  Command& AddCommand(const std::string& name, const std::string& summary);
  // Also returns the values that the function will receive, for Add.
  template <typename Values>
  std::pair<Command&, Values*> AddCommand(
      const std::string& name, const std::string& summary,
      absl::StatusOr<int> (*run)(const Values&, Console&)) {
    Command& command = AddCommand(name, summary);
    return {command, command.SetRun(run)};
  }
  template <typename Values>
  Values* SetRun(absl::StatusOr<int> (*run)(const Values&, Console&)) {
    const auto values = std::make_shared<Values>();
    run_ = [run, values](Console& console) { return run(*values, console); };
    return values.get();
  }

  std::string Help() const;

 private:
  friend struct ParsedCommand;

  // A row of the help: what to write, and what it does.
  struct HelpRow {
    std::string left;
    std::string right;
  };

  Command(std::shared_ptr<CLI::App> app, std::string path, std::string summary);

  static std::string FormatRows(absl::string_view title,
                                const std::vector<HelpRow>& rows);
  void AddOne(const Option& option);
  std::vector<std::string> CommandNames() const;
  const Command& Named() const;
  absl::Status CheckCommands() const;

  const std::shared_ptr<CLI::App> app_;
  const std::string path_;  // "tara games list"
  const std::string summary_;
  std::string notes_;
  std::vector<std::string> examples_;
  std::vector<HelpRow> arguments_;
  std::vector<HelpRow> options_;
  std::vector<std::string> option_names_;
  std::string usage_;
  RunFunction run_;
  std::vector<std::unique_ptr<Command>> commands_;
};

// The command that the arguments name.
struct ParsedCommand {
  // `root` must outlive the result.
  static ParsedCommand Parse(Command& root, const std::string& version,
                             int argc, const char* const* argv);

  std::string name;  // "tara games list"
  // Runs the command; or prints help or the version, for --help and --version;
  // or returns a usage error for wrong arguments.
  RunFunction run;
};

}  // namespace tara::cli

#endif  // TARA_CLI_COMMAND_LINE_H_
