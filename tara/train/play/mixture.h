#ifndef TARA_TRAIN_PLAY_MIXTURE_H_
#define TARA_TRAIN_PLAY_MIXTURE_H_

// How many games of a generation each variant gets, and which. Variants are
// numbered as in the config. Pure functions: what they return depends on their
// arguments alone.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/config.pb.h"
#include "proto/run_state.pb.h"

namespace tara::train {

// Returns the share of the games of each variant; they sum to 1. `scores` is
// what the last evaluation said, for mode "adaptive":
//   share = (m + (1 - m) * n * need / (sum of needs)) / n,  need = 1 - score
// with m the config's min_share and n the number of variants. A variant without
// a score has the mean need of the others; where nothing is known, or nothing
// needed, shares are equal.
// Returns INVALID_ARGUMENT, beginning with the field, for a mode that there is
// not, and for weights that name no variant of the config, or one twice, or
// that are not positive.
absl::StatusOr<std::vector<double>> MixtureShares(
    const proto::TrainConfig& config,
    absl::Span<const proto::VariantScore> scores);

// Returns `games` divided by the shares, in whole games: each variant gets
// those of its share rounded down, and what is left over goes to the largest
// fractions. Among equal ones it goes to the variants that follow
// `begin` mod n, where `begin` is the index of the first game, so that
// generations take turns.
std::vector<int64_t> DivideGames(int64_t games, absl::Span<const double> shares,
                                 uint64_t begin);

// Returns the variant of each game of a generation that has games[v] of
// variant v and begins at index `begin`. Variants alternate as evenly as their
// numbers allow, so that a part of a generation is a fair sample of it; with
// equal numbers game i is of variant i mod n. Each game goes to the variant
// that is furthest behind its share by then.
std::vector<int> VariantOrder(absl::Span<const int64_t> games, uint64_t begin);

}  // namespace tara::train

#endif  // TARA_TRAIN_PLAY_MIXTURE_H_
