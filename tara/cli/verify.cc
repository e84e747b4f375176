#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "tara/base/text.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/record/game_lines.h"

namespace tara::cli {
namespace {

struct VerifyOptions {
  std::vector<std::string> files;  // "-": standard input
};

struct Counts {
  int64_t passed = 0;
  int64_t failed = 0;
};

// Checks each line that is not blank. Returns an error if reading fails, or if
// all lines are blank.
absl::Status VerifyLines(const std::string& name, std::istream& in,
                         Console& console, Counts& counts) {
  const int64_t before = counts.passed + counts.failed;
  std::string line;
  for (int64_t number = 1; std::getline(in, line); ++number) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    const absl::Status status = record::ParseGameLine(line).status();
    if (status.ok()) {
      ++counts.passed;
      continue;
    }
    ++counts.failed;
    console.out << name << ":" << number << ": " << Printable(status.message())
                << "\n";
  }
  if (in.bad()) return absl::DataLossError("cannot be read to the end");
  // As of a file that was cut off at its beginning.
  if (counts.passed + counts.failed > before) return absl::OkStatus();
  return absl::InvalidArgumentError("it contains no game");
}

absl::Status VerifyFile(const std::string& name, Console& console,
                        Counts& counts) {
  if (name == "-") return VerifyLines("-", console.in, console, counts);
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored)) {
    return absl::InvalidArgumentError("is a folder; expected a file");
  }
  errno = 0;
  std::ifstream file(name);
  if (!file) return absl::NotFoundError(std::strerror(errno));
  return VerifyLines(name, file, console, counts);
}

// Checks games in JSON lines against the rules. Writes a line for each bad
// game and, last, how many passed and failed; a file that cannot be read counts
// as a failure. Returns kExitFailure if anything failed.
absl::StatusOr<int> RunVerify(const VerifyOptions& options, Console& console) {
  Counts counts;
  for (const std::string& name : options.files) {
    const absl::Status status = VerifyFile(name, console, counts);
    if (status.ok()) continue;
    ++counts.failed;
    console.err << "tara: " << Printable(name) << ": " << status.message()
                << "\n";
  }
  console.out << counts.passed << " passed, " << counts.failed << " failed\n";
  return counts.failed == 0 ? kExitOk : kExitFailure;
}

}  // namespace

void RegisterVerify(Command& root) {
  Command& command = root.AddCommand(
      "verify", "check recorded games, as JSON lines, against the rules");
  VerifyOptions* const options = command.SetRun(RunVerify);
  command.Add({
      {"FILE", &options->files,
       "games, one JSON object per line (docs/reference/rules.md section 12); "
       "- is standard input",
       kRequired},
  });
  command.SetNotes(
      "Prints FILE:LINE: and the first difference of each bad game, and "
      "last\n`N passed, M failed`. The exit status is 1 if anything failed.");
  command.SetExamples({"verify tests/golden/*.jsonl",
                       "games export runs/mine | tara verify -"});
}

}  // namespace tara::cli
