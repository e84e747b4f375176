#ifndef TARA_CLI_LEARNED_VARIANTS_H_
#define TARA_CLI_LEARNED_VARIANTS_H_

// Which variants a network has learned: a specialist asked to play another game
// plays nonsense, and its results look like any others.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/cli/command_line.h"
#include "tara/cli/game_flags.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

// Adds --untrained, which allows what CheckLearned refuses.
void AddUntrainedFlag(Command& command, bool* untrained);

// Returns the variants that the network of a player spec has learned, by what
// its bundle says, or the config of the run that its checkpoint lies in. None
// where that cannot be known: other players, checkpoints outside of runs, runs
// that began with the network of another.
std::optional<std::vector<Variant>> LearnedVariants(absl::string_view spec);

// Returns a usage error if a network is to play a variant that it has not
// learned: which, what it has learned, and what to do.
absl::Status CheckLearned(absl::Span<const std::string> specs,
                          absl::Span<const State> starts);

// The help of a --variant that may be missing.
inline constexpr absl::string_view kVariantOrLearnedHelp =
    "variant, by its identifier in `tara variants`, or 'all'; without, what "
    "all the networks have learned";

// Returns the start positions of the variants that flags name, as CheckLearned
// allows them; where they name none, of those that all these players have
// learned. Returns a usage error where there is none.
absl::StatusOr<std::vector<State>> StartsOfLearned(
    const GameFlags& flags, absl::Span<const std::string> specs,
    bool untrained);

}  // namespace tara

#endif  // TARA_CLI_LEARNED_VARIANTS_H_
