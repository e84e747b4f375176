#ifndef TARA_MCTS_UTILITY_H_
#define TARA_MCTS_UTILITY_H_

// The utility of results to a player: the search maximises its expectation. All
// utilities are Red's, in [-1, 1], and never fall with Red's margin: more
// points never have less utility. Margins are in points as scored; the table
// includes the players' compensation.

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"

namespace tara::mcts {

enum class UtilityKind : uint8_t {
  kWinLoss,  // the sign of the margin: 1 won, 0 drawn, -1 lost
  kPoints,   // a bounded, growing function of the margin
  kMix,      // both, weighted
  kMatch,    // the chances of the match that the game is part of
};

// Returns "win", "points", "mix" or "match".
absl::string_view UtilityKindName(UtilityKind kind);

// Returns the kind of a name, or INVALID_ARGUMENT listing the names there are.
absl::StatusOr<UtilityKind> ParseUtilityKind(absl::string_view name);

// The score of a match before a game of it (docs/reference/rules.md section 9:
// points add up). A single game is a match of one: the default.
struct MatchScore {
  // Points so far of the team that is Red in this game minus the other's, with
  // the compensation of each game.
  double red_lead = 0;
  int games_left = 0;  // to be played after this game

  friend bool operator==(const MatchScore&, const MatchScore&) = default;
};

struct UtilityOptions {
  UtilityKind kind = UtilityKind::kWinLoss;
  // kMix: the share of points, in [0, 1]; the rest is winning. Larger plays on
  // for points where the game is decided, at the cost of some certainty.
  float points_weight = 0.2f;
  // kPoints, kMix: the margin, in points, whose utility is half of the bound.
  // Smaller weighs points on top of a clear lead less.
  float points_scale = 8.0f;
  // kMatch: the score of the match, and the standard deviation of the margin of
  // each game that is left, in points: see MarginDeviation.
  MatchScore match = {};
  float margin_deviation = 4.0f;

  friend bool operator==(const UtilityOptions&,
                         const UtilityOptions&) = default;
};

// The utility of each margin, as a table. Immutable and cheap to copy (some 400
// bytes).
//
//   kWinLoss  sign(m)
//   kPoints   2 / pi * atan(m / points_scale)
//   kMix      (1 - w) * sign(m) + w * (that of kPoints),  w = points_weight
//   kMatch    P(D + S > 0) - P(D + S < 0),  D = red_lead + m,
//
// where m is Red's margin minus the compensation given to Blue's side, and
// S, the sum of the margins of the games left, is normal with mean 0 and
// deviation s = margin_deviation * sqrt(games_left), rounded to whole points:
//
//   Phi((D + 1/2) / s) + Phi((D - 1/2) / s) - 1,  or sign(D) with none left.
//
// Mean 0 takes both teams for equally strong, and leaves out which one starts.
// A single game (no lead, no game left) has the same utility by kMatch and by
// kWinLoss.
// Sources: bounded points, Wu 2019 (arXiv:1902.10565), "Score Maximization";
// the half points, the continuity correction of the normal approximation.
class Utility {
 public:
  // Of games with RuleOptions::compensation_halves.
  // REQUIRES: points_weight in [0, 1]; points_scale and margin_deviation > 0;
  // games_left >= 0.
  explicit Utility(const UtilityOptions& options = {},
                   int compensation_halves = 0);

  // Returns the utility of a finished game, for Red.
  float OfRedMargin(int red_margin) const {
    return of_margin_[std::clamp(red_margin, -kMaxMargin, kMaxMargin) +
                      kMaxMargin];
  }

  // Returns the utility of a final margin of a side, for that side.
  float OfMargin(int margin, Side side) const {
    return side == kRed ? OfRedMargin(margin) : -OfRedMargin(-margin);
  }

  // Returns the expected utility of a position by its evaluation: the part of
  // winning (kWinLoss, its part of kMix, kMatch of a single game) from
  // evaluation.value(), the rest from evaluation.margins. Where it has none:
  //   kPoints, kMix the points of the expected margin;
  //   kMatch         a game won or lost counts as won or lost, beyond the
  //                  compensation, by the larger of |evaluation.margin| and
  //                  margin_deviation: a makeshift.
  float OfEvaluation(const Evaluation& evaluation, Side to_move) const {
    const int sign = to_move == kRed ? 1 : -1;
    if (!needs_margins()) {
      return static_cast<float>(sign) * evaluation.value();
    }
    return evaluation.margins.empty() ? WithoutMargins(evaluation, sign)
                                      : WithMargins(evaluation, sign);
  }

  // Whether OfEvaluation uses evaluation.margins.
  bool needs_margins() const { return result_weight_ != 1; }

  const UtilityOptions& options() const { return options_; }
  int compensation_halves() const { return compensation_halves_; }

 private:
  // The parts of OfEvaluation, for Red; `sign`: 1 if Red is to move, else -1.
  float WithMargins(const Evaluation& evaluation, int sign) const;
  float WithoutMargins(const Evaluation& evaluation, int sign) const;

  UtilityOptions options_;
  int compensation_halves_;
  // The share of winning alone in the utility, in [0, 1].
  float result_weight_;
  std::array<float, kNumMargins> of_margin_;  // by Red's margin + kMaxMargin
};

// Returns the standard deviation of the final margin of uniformly random games
// of the variant, in points, for UtilityOptions::margin_deviation.
float MarginDeviation(Variant variant);

}  // namespace tara::mcts

#endif  // TARA_MCTS_UTILITY_H_
