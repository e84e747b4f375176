#ifndef TESTS_CLI_TARA_PROCESS_H_
#define TESTS_CLI_TARA_PROCESS_H_

// Runs the real program as a user does: arguments in, exit status and text out.

#include <gmock/gmock.h>
#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace tara::cli {

struct TaraResult {
  int status = -1;  // exit status; 128 + N when ended by signal N
  std::string out = "";
  std::string err = "";
};

// The arguments of a command: a line of words separated by spaces, or a list.
struct Words : std::vector<std::string> {
  using vector::vector;
  Words(std::vector<std::string> list) : vector(std::move(list)) {}  // NOLINT
  Words(const std::string& line);                                    // NOLINT
  Words(const char* line) : Words(std::string(line)) {}              // NOLINT
};
Words operator+(Words words, const Words& more);

// Runs `tara` with these arguments, `input` on standard input, and waits.
TaraResult RunTara(const Words& arguments, absl::string_view input = "");

// Runs `tara`, expects success, and returns its standard output.
std::string OutputOf(const Words& arguments, absl::string_view input = "");
// The same with --format=json; expects no message on standard error.
nlohmann::json JsonOf(const Words& arguments, absl::string_view input = "");

// Runs `tara`, expects this exit status and no output, and returns its standard
// error.
std::string ErrorOf(int status, const Words& arguments,
                    absl::string_view input = "");
// Arguments that a command refuses, a part of its message, the exit status.
// With status 2, wrong usage, the message ends with where the command's help
// is.
struct Refusal {
  std::string arguments;
  std::string message;
  int status = 2;
};
void ExpectRefused(const Words& command, const std::vector<Refusal>& refusals);
// The same of a command that has ended.
std::string OutputOf(const TaraResult& result);
std::string ErrorOf(int status, const TaraResult& result);

// Runs a shell command, in which "$TARA" is the program.
TaraResult RunShell(const std::string& command);

// `tara` with a terminal (a pseudo-terminal) on all three standard streams.
class TerminalTara {
 public:
  // `folder` is where it is started.
  explicit TerminalTara(const Words& arguments,
                        const std::string& folder = ".");
  ~TerminalTara();  // kills it if it still runs
  TerminalTara(const TerminalTara&) = delete;
  TerminalTara& operator=(const TerminalTara&) = delete;

  // Types text.
  void Type(absl::string_view text);
  // Waits until the screen has shown `text` since the last call; returns
  // whether it did before the program ended.
  bool Expect(absl::string_view text);
  void Signal(int signal);
  // Waits for the end; returns the exit status as TaraResult has it.
  int Wait();

  // All that was shown so far.
  const std::string& shown() const { return shown_; }

 private:
  // Reads more; false at the end.
  bool Read();

  int terminal_ = -1;
  pid_t process_ = -1;
  std::string shown_;
  size_t expected_from_ = 0;
};

// Runs `tara` at a terminal until it has shown these texts, interrupts it,
// expects the exit status of that, and returns all that was shown.
std::string ShownUntilInterrupted(const Words& arguments,
                                  const std::vector<std::string>& texts);

// Writes the config of a run of seconds in this folder and returns its path.
std::string WriteTinyConfig(const std::string& run_dir);

// Returns a path of this test's own, in its folder for temporary files. The
// file does not exist.
std::string TemporaryPath(absl::string_view name);

std::string ReadFile(const std::string& path);
// Writes a file, and the folders above it.
void WriteFile(const std::string& path, absl::string_view content);

std::vector<std::string> Lines(absl::string_view text);

// Returns the names in the list of commands that a help text has, if any.
std::vector<std::string> CommandsListedIn(absl::string_view help);

// Matches what a command that does what it should says on stderr: nothing but
// progress, where it takes minutes.
inline auto NoErrors() {
  return ::testing::Not(::testing::HasSubstr("tara: "));
}

}  // namespace tara::cli

#endif  // TESTS_CLI_TARA_PROCESS_H_
