#ifndef TARA_CLI_FLAGS_H_
#define TARA_CLI_FLAGS_H_

// What commands have in common: flags, reports, checks of what networks have
// learned.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/option_table.h"
#include "tara/base/threads.h"
#include "tara/cli/command_line.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/report/report.h"
#include "tara/fleet/fleet.h"
#include "tara/nn/inference_options.h"
#include "tara/record/game_store.h"
#include "tara/train/folder/run_folder.h"

namespace tara::cli {

struct GameFlags {
  std::string variant;
  std::vector<std::string> options;  // each "name=value"
};

// Adds --variant, with this help and required or not, and --option.
void AddGameFlags(Command& command, GameFlags* flags,
                  absl::string_view variant_help, bool required = true);

// Options of many commands.
Option FormatOption(std::string* format);
Option ThreadsOption(int* threads);  // 0: one per core
Option SeedOption(uint64_t* seed, absl::string_view help);
Option FleetOption(std::string* fleet);  // "none": no fleet
// How to draw the board.
Option AsciiOption(bool* ascii);
Option ColourOption(std::string* colour);  // as UseColour takes it
// Allows what CheckLearned rejects.
Option UntrainedOption(bool* untrained);

// The usual help of --variant.
inline constexpr absl::string_view kVariantHelp =
    "variant, by its identifier in `tara variants`";
inline constexpr absl::string_view kVariantOrAllHelp =
    "variant, by its identifier in `tara variants`, or 'all'";

// Returns the number of threads, or of cores for 0.
int ResolveThreads(int threads);

// Returns the fleet of --fleet; null without the flag. Returns a usage error
// unless the flag is a pair of open file descriptors.
absl::StatusOr<std::unique_ptr<fleet::Fleet>> ConnectFleet(
    const std::string& text);

// Returns the activity of a fleet for a line of progress; empty without a
// fleet.
std::string FleetText(const fleet::Fleet* fleet);

// Returns the variants named by the flags, all of them for "all", or a usage
// error.
absl::StatusOr<std::vector<Variant>> VariantsOf(const GameFlags& flags);

// Returns the rule options for a variant, or a usage error. `skip_others`
// ignores options of other variants, but not unknown ones.
absl::StatusOr<RuleOptions> RuleOptionsOf(const GameFlags& flags,
                                          Variant variant,
                                          bool skip_others = false);

// Sets rule options "NAME=VALUE" that a flag names, each once. Else as
// RuleOptionsOf.
absl::Status SetRuleOptions(absl::string_view flag,
                            absl::Span<const std::string> texts,
                            Variant variant, bool skip_others,
                            RuleOptions& options);

// Returns the start position named by the flags, or a usage error.
absl::StatusOr<State> StartOf(const GameFlags& flags);

// Returns the start positions of all variants named by the flags, each with the
// rule options that are its own, or a usage error.
absl::StatusOr<std::vector<State>> StartsOf(const GameFlags& flags);

// Plays actions separated by spaces or commas. Returns INVALID_ARGUMENT for the
// first malformed or illegal one, naming `source` and its number, from 1.
absl::Status PlayActions(absl::string_view actions, absl::string_view source,
                         State& state);

// What commands take that look at one position: a variant, or a position or a
// game as text, and actions to play from there.

struct PositionFlags {
  GameFlags game;
  std::string position;
  std::string actions;
};

// Adds --variant, --option, --actions and --position.
void AddPositionFlags(Command& command, PositionFlags* flags);

// A position and the action that led to it; no action if unknown, and for a
// swap, which has no place on the board.
struct ShownPosition {
  State state;
  std::optional<Action> last;
};

// Returns the position of the flags. Returns a usage error if they are
// incomplete or contradict each other, and INVALID_ARGUMENT for an invalid
// position or an illegal action.
absl::StatusOr<ShownPosition> PositionOf(const PositionFlags& flags);

// A file of a command, by what names it.
struct NamedPath {
  absl::string_view name;   // "--store"
  const std::string& path;  // may be empty
};

// Checks an output file before long work: returns an error naming the flag if
// the file cannot be written, is not a regular file, belongs to this program
// (KindOfFile) but is not an output of this command, or is another file of the
// command.
absl::Status CheckOutput(absl::string_view flag, const std::string& path,
                         std::initializer_list<NamedPath> others = {},
                         absl::string_view own_kind = "");

// How a command reports its results.
struct ReportFlags {
  std::string format = "text";  // or "json"
  std::string html;             // a file for a page, too; empty: none
};

// Adds --format and --html, which CheckOutput is to check.
void AddReportFlags(Command& command, ReportFlags* flags);

// Prints a report in the format of the flags, and writes its page.
absl::Status WriteReport(const ReportFlags& flags, const eval::Report& report,
                         Console& console);

// Returns the exit status of work that `stop` may have ended early; then tells
// what was done by then.
int EndOf(const StopCheck& stop, Console& console,
          absl::string_view done = "these are the games finished");

// --device.
Option DeviceOption(nn::InferenceOptions* options);

// Adds --device, --precision and --backend.
void AddInferenceFlags(Command& command, nn::InferenceOptions* options);

// Opens for reading a store named by its file or by the folder of its run.
absl::StatusOr<std::unique_ptr<record::GameStore>> OpenStoreForReading(
    const std::string& path);

// Returns the ready-made network if it has learned the rules, otherwise search
// with random games. Prints the reason on console.err.
std::string DefaultPlayer(const State& start, Console& console);

// Checks of the variants and rule options that a network has learned: under
// others it plays nonsense, and its results look like any others.

// Returns a usage error if the network in a file, called `name`, is to play
// rules that it has not `learned` (LearnedByModel), unless `untrained`; warns
// on console.err where the rules that it has learned are unknown.
absl::Status CheckModelLearned(const std::string& name, const std::string& file,
                               const train::Learned& learned,
                               absl::Span<const State> starts, bool untrained,
                               Console& console);

// The same for all networks among these players.
absl::Status CheckLearned(absl::Span<const eval::PlayerSpec> players,
                          absl::Span<const State> starts, bool untrained,
                          Console& console);

// Returns the rules of a start that the network of a player has not learned, as
// NotLearned (tara/nn/bundle/manifest.h); empty: none, or unknown.
std::string NotLearnedBy(const eval::PlayerSpec& player, const State& start);

// Returns the same of several players, "SPEC: RULES; SPEC: RULES", as the
// reports of their games are marked.
std::string NotLearnedByAny(absl::Span<const eval::PlayerSpec> players,
                            const State& start);

// The help of a --variant that may be missing.
inline constexpr absl::string_view kVariantOrLearnedHelp =
    "variant, by its identifier in `tara variants`, or 'all' (default: the "
    "ones that all networks have learned)";

// Returns the start positions of the variants of the flags, subject to
// CheckLearned; without --variant, of all variants that all players have
// learned. Returns a usage error without any.
absl::StatusOr<std::vector<State>> StartsOfLearned(
    const GameFlags& flags, absl::Span<const eval::PlayerSpec> players,
    bool untrained, Console& console);

}  // namespace tara::cli

#endif  // TARA_CLI_FLAGS_H_
