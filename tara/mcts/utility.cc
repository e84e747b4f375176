#include "tara/mcts/utility.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tara/base/check.h"
#include "tara/core/outcome.h"

namespace tara::mcts {
namespace {

// By UtilityKind.
constexpr std::array<absl::string_view, 4> kKindNames = {"win", "points", "mix",
                                                         "match"};

// By Variant. Of 2 million uniformly random games each, from
// `tara stats --variant all --games 2M --format=json` (margin_counts); the
// sampling error is below 0.01.
constexpr std::array<float, kNumVariants> kMarginDeviations = std::to_array({
    3.61f,  // sacred_hill_l1
    3.44f,  // sacred_hill_l2
    3.68f,  // sacred_hill_doubles_l1
    3.65f,  // sacred_hill_doubles_l2
    6.19f,  // four_treasures
    6.34f,  // four_treasures_doubles
    4.30f,  // high_kings_l1
    4.28f,  // high_kings_l2
    3.71f,  // poisoned_chalice
    3.53f,  // stone_of_destiny
});

int Sign(double number) { return (number > 0) - (number < 0); }

// P(X <= x) of a standard normal X.
double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double PointsUtility(double margin, double scale) {
  return 2 / std::numbers::pi * std::atan(margin / scale);
}

// The formula of Utility, with `lead` = D.
double MatchUtility(double lead, int games_left, double margin_deviation) {
  if (games_left == 0) return Sign(lead);
  const double s = margin_deviation * std::sqrt(games_left);
  return NormalCdf((lead + 0.5) / s) + NormalCdf((lead - 0.5) / s) - 1;
}

// The share of points; the rest is winning, or the match.
float PointsShare(const UtilityOptions& options) {
  if (options.kind == UtilityKind::kMix) return options.points_weight;
  return options.kind == UtilityKind::kPoints ? 1 : 0;
}

// `margin` is Red's, less the compensation.
double UtilityOfMargin(const UtilityOptions& options, double margin) {
  if (options.kind == UtilityKind::kMatch) {
    return MatchUtility(options.match.red_lead + margin,
                        options.match.games_left, options.margin_deviation);
  }
  const float share = PointsShare(options);
  return (1 - share) * Sign(margin) +
         share * PointsUtility(margin, options.points_scale);
}

}  // namespace

absl::string_view UtilityKindName(UtilityKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

absl::StatusOr<UtilityKind> ParseUtilityKind(absl::string_view name) {
  const auto* const found =
      std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found == kKindNames.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown utility '", name, "'; expected one of ",
                     absl::StrJoin(kKindNames, ", ")));
  }
  return static_cast<UtilityKind>(found - kKindNames.begin());
}

Utility::Utility(const UtilityOptions& options, int compensation_halves)
    : options_(options),
      compensation_halves_(compensation_halves),
      result_weight_(options.kind == UtilityKind::kMatch &&
                             options.match != MatchScore{}
                         ? 0
                         : 1 - PointsShare(options)) {
  TARA_CHECK(options.points_weight >= 0 && options.points_weight <= 1,
             "the share must be from 0 to 1");
  TARA_CHECK(options.points_scale > 0, "points_scale must be > 0");
  TARA_CHECK(options.margin_deviation > 0, "margin_deviation must be > 0");
  TARA_CHECK(options.match.games_left >= 0, "games_left must be >= 0");
  for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
    const int i = margin + kMaxMargin;
    of_margin_[i] = static_cast<float>(
        UtilityOfMargin(options, margin - compensation_halves / 2.0));
    // Rounding must not make more points worse.
    if (i > 0) of_margin_[i] = std::max(of_margin_[i], of_margin_[i - 1]);
  }
}

float Utility::WithMargins(const Evaluation& evaluation, int sign) const {
  const std::vector<float>& margins = evaluation.margins;
  TARA_CHECK(margins.size() == kNumMargins,
             "expected a probability for each margin");
  float mean = 0;
  float value = 0;  // win minus loss by the margins, for the side to move
  // 1, 0 or -1 for the side to move, which ends `margin` points ahead.
  const auto result = [&](int margin) {
    return static_cast<float>(
        sign * ResultOfMargin(sign * margin, compensation_halves_));
  };
  for (int margin = 1; margin <= kMaxMargin; ++margin) {
    const float ahead = margins[kMaxMargin + margin];
    const float behind = margins[kMaxMargin - margin];
    mean += ahead * OfRedMargin(sign * margin) +
            behind * OfRedMargin(-sign * margin);
    value += ahead * result(margin) + behind * result(-margin);
  }
  mean += margins[kMaxMargin] * OfRedMargin(0);
  value += margins[kMaxMargin] * result(0);
  mean +=
      result_weight_ * static_cast<float>(sign) * (evaluation.value() - value);
  // Sums of rounded probabilities, and two estimates of winning.
  return std::clamp(mean, -1.0f, 1.0f);
}

float Utility::WithoutMargins(const Evaluation& evaluation, int sign) const {
  if (options_.kind == UtilityKind::kMatch) {
    // A game is won or lost by its margin beyond the compensation; of half a
    // point, by half a point less.
    const int typical = static_cast<int>(std::lround(std::max(
        {1.0f, std::abs(evaluation.margin), options_.margin_deviation})));
    const double drawn = compensation_halves_ / 2.0;
    const float red_wins =
        OfRedMargin(static_cast<int>(std::floor(drawn + typical)));
    const float blue_wins =
        OfRedMargin(static_cast<int>(std::ceil(drawn - typical)));
    return evaluation.win * (sign > 0 ? red_wins : blue_wins) +
           evaluation.draw * OfRedMargin(static_cast<int>(drawn)) +
           evaluation.loss * (sign > 0 ? blue_wins : red_wins);
  }
  const double red_margin =
      sign * evaluation.margin - compensation_halves_ / 2.0;
  const auto points =
      static_cast<float>(PointsUtility(red_margin, options_.points_scale));
  return result_weight_ * static_cast<float>(sign) * evaluation.value() +
         (1 - result_weight_) * points;
}

float MarginDeviation(Variant variant) {
  return kMarginDeviations[static_cast<size_t>(variant)];
}

}  // namespace tara::mcts
