#ifndef TARA_CLI_LEARNED_VARIANTS_H_
#define TARA_CLI_LEARNED_VARIANTS_H_

// Which variants and rule options a network has learned: asked about others it
// plays nonsense, and its results look like any others.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"
#include "tara/core/state.h"
#include "tara/nn/bundle/golden.h"

namespace tara::cli {

// Adds --untrained, which allows what CheckLearned refuses.
void AddUntrainedFlag(Command& command, bool* untrained);

// Returns the variants with the rule options that the network in a file has
// learned: by the manifest of a bundle, or the config of the run in whose
// folder a checkpoint lies. nullopt: nothing tells.
std::optional<std::vector<nn::BundleVariant>> LearnedByModel(
    const std::string& file);

// Returns a usage error if the network in a file, called `name`, is to play
// rules that it has not learned, unless it is allowed to; says on console.err
// where nothing tells what it has learned.
absl::Status CheckModelLearned(const std::string& name, const std::string& file,
                               absl::Span<const State> starts, bool untrained,
                               Console& console);

// The same of all networks among these players.
absl::Status CheckLearned(absl::Span<const std::string> specs,
                          absl::Span<const State> starts, bool untrained,
                          Console& console);

// Returns what of a start's rules the network of a player has not learned, as
// NotLearned (tara/nn/bundle/learned_rules.h); empty: nothing that is known.
std::string NotLearnedBy(const std::string& spec, const State& start);

// Returns the same of several players, "SPEC: RULES; SPEC: RULES", as the
// reports of their games are marked.
std::string NotLearnedByAny(absl::Span<const std::string> specs,
                            const State& start);

// The help of a --variant that may be missing.
inline constexpr absl::string_view kVariantOrLearnedHelp =
    "variant, by its identifier in `tara variants`, or 'all'; without, what "
    "all the networks have learned";

// Returns the start positions of the variants that flags name, as CheckLearned
// allows them; where they name none, of those that all these players have
// learned. Returns a usage error where there is none.
absl::StatusOr<std::vector<State>> StartsOfLearned(
    const GameFlags& flags, absl::Span<const std::string> specs, bool untrained,
    Console& console);

}  // namespace tara::cli

#endif  // TARA_CLI_LEARNED_VARIANTS_H_
