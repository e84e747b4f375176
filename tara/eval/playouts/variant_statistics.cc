#include "tara/eval/playouts/variant_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "tara/base/check.h"
#include "tara/core/outcome.h"
#include "tara/eval/statistics/hypotheses.h"

namespace tara::eval {
namespace {

// Returns the interval around `mean` for a sum of squared deviations over
// `games`; infinite for a single game.
Interval StudentInterval(double mean, double squared_deviations, double games) {
  const double half_width =
      games < 2 ? std::numeric_limits<double>::infinity()
                : StudentQuantile95(games - 1) *
                      std::sqrt(squared_deviations / (games - 1) / games);
  return {mean, mean - half_width, mean + half_width};
}

// Returns the spread of values from their number, sum and sum of squares.
Spread SpreadOf(double games, double sum, double squares) {
  const double mean = sum / games;
  // Rounding must not make it negative where the values do not vary.
  const double squared_deviations = std::max(0.0, squares - sum * mean);
  return {StudentInterval(mean, squared_deviations, games),
          games < 2 ? 0 : std::sqrt(squared_deviations / (games - 1))};
}

Interval BranchingOf(const PlayoutStatistics& sums) {
  return RatioInterval({.games = static_cast<double>(sums.games),
                        .x = static_cast<double>(sums.legal_actions),
                        .y = static_cast<double>(sums.plies),
                        .xx = static_cast<double>(sums.legal_squares),
                        .xy = static_cast<double>(sums.legal_times_length),
                        .yy = static_cast<double>(sums.length_squares)});
}

// Returns the score, in [0, 1], with its interval.
Interval ScoreOf(double wins, double draws, double games) {
  return ScoreIntervalOf(
      {.count = games, .sum = wins + draws / 2, .squares = wins + draws / 4});
}

Spread MarginOf(const PlayoutStatistics& sums) {
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < sums.margins.size(); ++i) {
    const double margin = static_cast<double>(i) - kMaxMargin;
    const auto games = static_cast<double>(sums.margins[i]);
    sum += games * margin;
    squares += games * margin * margin;
  }
  return SpreadOf(static_cast<double>(sums.games), sum, squares);
}

}  // namespace

VariantStatistics Summarize(Variant variant, const RuleOptions& options,
                            const PlayoutStatistics& sums) {
  TARA_CHECK(sums.games > 0, "statistics of no games");
  const auto games = static_cast<double>(sums.games);
  const auto a_game = [&](int64_t total) {
    return static_cast<double>(total) / games;
  };
  const auto share = [&](int64_t count) {
    return WilsonInterval(a_game(count), games);
  };
  VariantStatistics statistics = {
      .variant = variant,
      .options = options,
      .sums = sums,
      .length = SpreadOf(games, static_cast<double>(sums.plies),
                         static_cast<double>(sums.length_squares)),
      .branching = BranchingOf(sums),
      .first_side_win_rate = share(sums.results[0]),
      .draw_rate = share(sums.results[1]),
      .second_side_win_rate = share(sums.results[2]),
      .first_side_score = ScoreOf(static_cast<double>(sums.results[0]),
                                  static_cast<double>(sums.results[1]), games),
      .margin = MarginOf(sums),
      .captures = a_game(sums.captures),
      .kings_captured = a_game(sums.kings_captured),
  };
  for (size_t i = 0; i < sums.phase_plies.size(); ++i) {
    statistics.phase_lengths[i] = a_game(sums.phase_plies[i]);
  }
  return statistics;
}

}  // namespace tara::eval
