#ifndef TARA_EVAL_ALPHA_BETA_HAND_EVALUATION_H_
#define TARA_EVAL_ALPHA_BETA_HAND_EVALUATION_H_

// A hand-made evaluation of positions, for players without a network: weighted
// counts on bitboards.
//
// Each feature is a count for one side (hand_evaluation.cc); the weights apply
// to Red's count minus Blue's, so exchanging the colours negates the
// evaluation. A feature has two weights by variant, one for the first turn and
// one for the last, between which the game's stage interpolates. The weights
// were fitted to results of games by logistic regression.

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara::eval {

// Features that all variants share, and those whose meaning is the family's.
inline constexpr int kNumSharedFeatures = 32;
inline constexpr int kNumFamilyFeatures = 8;
inline constexpr int kNumHandFeatures = kNumSharedFeatures + kNumFamilyFeatures;

// Red's counts minus Blue's, except the tempo features: 1 or 0 for Red to
// move, -1 or 0 for Blue.
using HandFeatures = std::array<int16_t, kNumHandFeatures>;

// The stage of a game: kFirstStage where it starts, 0 where nothing is left to
// decide.
inline constexpr int kFirstStage = 64;

// Evaluations lie within plus and minus this.
inline constexpr int kMaxHandEvaluation = 9999;

// Returns the features of a position. Pure.
HandFeatures ComputeHandFeatures(const State& state);

// Returns the stage, 0 to kFirstStage.
int HandStage(const State& state);

// Returns a feature's name in a variant's family; empty where the family does
// not use it. REQUIRES: 0 <= feature < kNumHandFeatures.
absl::string_view HandFeatureName(Variant variant, int feature);

// Returns the chance that Red wins, not Blue, in thousandths of a logit
// (0: even; 1000: 73 %). Always from Red's perspective. About 150 ns.
// REQUIRES: the game is not finished (Score returns results).
int HandEvaluation(const State& state);

// Returns, for each of four boards, what CountComponents (which says how it
// is done) returns: at most 12 components vanish at one cell, so that a
// counter of four bits a cell holds them until the end.
std::array<int, 4> CountComponentsOfFour(const std::array<Board, 4>& boards);

}  // namespace tara::eval

#endif  // TARA_EVAL_ALPHA_BETA_HAND_EVALUATION_H_
