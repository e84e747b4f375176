#include "tara/core/perft.h"

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "tara/base/status_macros.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"

namespace tara::cli {
namespace {

// Far beyond what can be counted.
constexpr int64_t kMaxDepth = 1000;

struct PerftOptions {
  GameFlags game;
  int depth = 0;
  std::string prefix;
  bool divide = false;
};

// Counts the action sequences of a length; the count stands alone on the last
// line.
absl::StatusOr<int> RunPerft(const PerftOptions& options, Console& console) {
  if (options.divide && options.depth == 0) {
    return UsageError("--divide requires --depth of at least 1");
  }
  TARA_ASSIGN_OR_RETURN(State state, StartOf(options.game));
  TARA_RETURN_IF_ERROR(PlayActions(options.prefix, "--prefix", state));
  const int depth = options.depth;
  if (!options.divide) {
    console.out << Perft(state, depth) << "\n";
    return kExitOk;
  }
  int64_t total = 0;
  for (const auto& [action, count] : PerftDivide(state, depth)) {
    console.out << absl::StrFormat("%-8s%d\n", ActionToText(action, state),
                                   count);
    total += count;
  }
  console.out << total << "\n";
  return kExitOk;
}

}  // namespace

void RegisterPerft(Command& root) {
  Command& command = root.AddCommand(
      "perft",
      "count action sequences of a given length, as a test of the rules");
  PerftOptions* const options = command.SetRun(RunPerft);
  AddGameFlags(command, &options->game, kVariantHelp);
  command.Add({
      {"--depth N", &options->depth, 0, kMaxDepth,
       "length of the sequences, in actions", kRequired},
      {"--prefix ACTIONS", &options->prefix,
       "actions to play first, as in \"D4 E6\"", Default("none")},
      {"--divide", &options->divide,
       "list of the counts after each first action"},
  });
  command.SetNotes("The last line of the output contains only the count.");
  command.SetExamples(
      {"perft --variant sacred_hill_l1 --depth 4",
       "perft --variant four_treasures --depth 2 --prefix \"D4 E6\" --divide"});
}

}  // namespace tara::cli
