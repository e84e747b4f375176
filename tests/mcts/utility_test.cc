#include "tara/mcts/utility.h"

#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"

namespace tara::mcts {
namespace {

constexpr UtilityKind kKinds[] = {UtilityKind::kWinLoss, UtilityKind::kPoints,
                                  UtilityKind::kMix, UtilityKind::kMatch};

// All kinds with scores that make them differ.
std::vector<UtilityOptions> SomeOptions() {
  std::vector<UtilityOptions> all;
  for (const UtilityKind kind : kKinds) {
    for (const MatchScore match : {MatchScore{0, 0}, MatchScore{-5, 0},
                                   MatchScore{7, 1}, MatchScore{-60, 3}}) {
      for (const float deviation : {0.5f, 4.0f}) {
        all.push_back({.kind = kind,
                       .points_weight = 0.3f,
                       .points_scale = 5.0f,
                       .match = match,
                       .margin_deviation = deviation});
      }
    }
  }
  return all;
}

Utility MatchUtility(double red_lead, int games_left, float deviation = 4.0f) {
  return Utility({.kind = UtilityKind::kMatch,
                  .match = {.red_lead = red_lead, .games_left = games_left},
                  .margin_deviation = deviation});
}

// An evaluation that gives these margins these chances, and win, draw, loss
// and margin that agree with them.
Evaluation FromMargins(
    std::initializer_list<std::pair<int, float>> chances_of_margins) {
  Evaluation evaluation;
  evaluation.margins.assign(kNumMargins, 0);
  for (const auto& [margin, chance] : chances_of_margins) {
    evaluation.margins[margin + kMaxMargin] += chance;
    evaluation.margin += static_cast<float>(margin) * chance;
    (margin > 0 ? evaluation.win
                : (margin < 0 ? evaluation.loss : evaluation.draw)) += chance;
  }
  return evaluation;
}

TEST(UtilityTest, MorePointsAreNeverWorseAndNothingLeavesTheRange) {
  for (const UtilityOptions& options : SomeOptions()) {
    const Utility utility(options);
    EXPECT_GE(utility.OfRedMargin(-kMaxMargin), -1);
    EXPECT_LE(utility.OfRedMargin(kMaxMargin), 1);
    for (int margin = -kMaxMargin; margin < kMaxMargin; ++margin) {
      EXPECT_LE(utility.OfRedMargin(margin), utility.OfRedMargin(margin + 1));
    }
  }
}

TEST(UtilityTest, ACompensationShiftsTheMargin) {
  const Utility utility({}, /*compensation_halves=*/5);
  EXPECT_EQ(utility.OfRedMargin(3), 1);
  EXPECT_EQ(utility.OfRedMargin(2), -1);
  EXPECT_EQ(utility.OfMargin(-2, kBlue), 1);
  EXPECT_EQ(Utility({}, 4).OfRedMargin(2), 0);
  for (const UtilityOptions& options : SomeOptions()) {
    const Utility plain(options);
    UtilityOptions other = options;
    other.match.red_lead = -options.match.red_lead;
    for (const int points : {0, 2}) {
      const Utility shifted(options, 2 * points);
      const Utility turned(other, -2 * points);
      for (int margin = points - kMaxMargin; margin <= kMaxMargin; ++margin) {
        EXPECT_NEAR(shifted.OfRedMargin(margin),
                    plain.OfRedMargin(margin - points), 1e-6);
        // Seen with the colours exchanged.
        EXPECT_NEAR(shifted.OfMargin(margin, kRed),
                    turned.OfMargin(margin, kBlue), 1e-6);
      }
    }
  }
}

TEST(UtilityTest, ExpectationsAreOfMarginsWithTheCompensation) {
  for (const int halves : {-5, -4, 0, 1, 4}) {
    for (const Side side : {kRed, kBlue}) {
      const int sign = side == kRed ? 1 : -1;
      const auto result = [&](int margin) {
        return sign * ResultOfMargin(sign * margin, halves);
      };
      // Chances of 1/2, 1/4, 1/4; win, draw and loss agree with them.
      const std::pair<int, float> chances[] = {
          {2, 0.5f}, {-2, 0.25f}, {0, 0.25f}};
      Evaluation evaluation = FromMargins({chances[0], chances[1], chances[2]});
      evaluation.win = evaluation.draw = evaluation.loss = 0;
      for (const auto& [margin, chance] : chances) {
        (result(margin) > 0   ? evaluation.win
         : result(margin) < 0 ? evaluation.loss
                              : evaluation.draw) += chance;
      }
      for (const UtilityOptions& options : SomeOptions()) {
        const Utility utility(options, halves);
        float expected = 0;
        for (const auto& [margin, chance] : chances) {
          expected += chance * utility.OfRedMargin(sign * margin);
        }
        EXPECT_NEAR(utility.OfEvaluation(evaluation, side), expected, 1e-5)
            << UtilityKindName(options.kind) << ", " << halves;
      }
    }
  }
}

TEST(UtilityTest, PointsAreWorthHalfAtTheirScale) {
  const Utility utility({.kind = UtilityKind::kPoints, .points_scale = 6.0f});
  EXPECT_EQ(utility.OfRedMargin(0), 0);
  EXPECT_NEAR(utility.OfRedMargin(6), 0.5, 1e-6);  // atan(1) = pi / 4
  EXPECT_GT(utility.OfRedMargin(7), utility.OfRedMargin(6));
  EXPECT_LT(utility.OfRedMargin(kMaxMargin), 1);
}

TEST(UtilityTest, AMixWeighsWinningAndPoints) {
  const Utility points({.kind = UtilityKind::kPoints});
  const Utility mix({.kind = UtilityKind::kMix, .points_weight = 0.25f});
  for (const int margin : {-9, -3, 0, 3, 9}) {
    const int sign = (margin > 0) - (margin < 0);
    EXPECT_NEAR(
        mix.OfRedMargin(margin),
        0.75f * static_cast<float>(sign) + 0.25f * points.OfRedMargin(margin),
        1e-6);
  }
}

TEST(UtilityTest, TheLastGameOfAMatchDecidesByTheSumOfPoints) {
  const Utility behind = MatchUtility(-5, 0);
  EXPECT_EQ(behind.OfRedMargin(4), -1);  // a game won, the match lost
  EXPECT_EQ(behind.OfRedMargin(5), 0);
  EXPECT_EQ(behind.OfRedMargin(6), 1);
  const Utility ahead = MatchUtility(5, 0);
  EXPECT_EQ(ahead.OfRedMargin(-4), 1);  // a game lost, the match won
  EXPECT_EQ(ahead.OfRedMargin(-5), 0);
}

// The chances of the sum of whole numbers, each a rounded normal draw, against
// the formula, by simulation: an independent way to the same numbers.
TEST(UtilityTest, BeforeTheLastGameAMatchIsWorthItsChances) {
  constexpr int kDraws = 40000;
  constexpr float kDeviation = 4.0f;
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  for (const int games_left : {1, 3}) {
    for (const int lead : {-6, 0, 1, 3, 10}) {
      int wins = 0;
      int losses = 0;
      for (int i = 0; i < kDraws; ++i) {
        const double rest =
            std::round(kDeviation * std::sqrt(games_left) * random.Normal());
        wins += lead + rest > 0;
        losses += lead + rest < 0;
      }
      const double expected = static_cast<double>(wins - losses) / kDraws;
      // The deviation of the mean of 40000 results of -1, 0 and 1 is at most
      // 0.005.
      EXPECT_NEAR(MatchUtility(lead - 3, games_left, kDeviation).OfRedMargin(3),
                  expected, 0.0225)
          << "lead " << lead << ", games left " << games_left;
    }
  }
}

TEST(UtilityTest, ASingleGameIsWorthTheSameToMatchAndWinning) {
  const Utility win;
  const Utility match = MatchUtility(0, 0);
  const Evaluation evaluation = {.priors = {},
                                 .win = 0.6f,
                                 .draw = 0.1f,
                                 .loss = 0.3f,
                                 .margin = 1.0f,
                                 .margins = std::vector<float>(kNumMargins)};
  for (const Side side : {kRed, kBlue}) {
    EXPECT_EQ(match.OfEvaluation(evaluation, side),
              win.OfEvaluation(evaluation, side));
  }
  for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
    EXPECT_EQ(match.OfRedMargin(margin), win.OfRedMargin(margin));
  }
}

TEST(UtilityTest, WhatWinningIsWorthComesFromTheResult) {
  // Margins that speak of a draw beside a result that speaks of a win.
  Evaluation evaluation = FromMargins({{0, 1.0f}});
  evaluation.win = 1;
  evaluation.draw = 0;
  EXPECT_EQ(Utility().OfEvaluation(evaluation, kRed), 1);
  EXPECT_NEAR(Utility({.kind = UtilityKind::kMix, .points_weight = 0.25f})
                  .OfEvaluation(evaluation, kBlue),
              -0.75, 1e-6);
}

TEST(UtilityTest, WithoutMarginsPointsAreThoseOfTheExpectedMargin) {
  const Evaluation evaluation = {.priors = {},
                                 .win = 0.75f,
                                 .draw = 0,
                                 .loss = 0.25f,
                                 .margin = 4.0f,
                                 .margins = {}};
  const Utility points({.kind = UtilityKind::kPoints});
  EXPECT_NEAR(points.OfEvaluation(evaluation, kRed), points.OfRedMargin(4),
              1e-6);
  EXPECT_NEAR(points.OfEvaluation(evaluation, kBlue), -points.OfRedMargin(4),
              1e-6);
  const Utility mix({.kind = UtilityKind::kMix, .points_weight = 0.25f});
  EXPECT_NEAR(mix.OfEvaluation(evaluation, kRed),
              0.75 * 0.5 + 0.25 * points.OfRedMargin(4), 1e-6);
}

TEST(UtilityTest, WithoutMarginsAMatchTakesGamesForTypicalOnes) {
  Evaluation evaluation;
  evaluation.win = 0.75f;
  evaluation.loss = 0.25f;
  const Utility one_behind = MatchUtility(-1, 0);
  EXPECT_NEAR(one_behind.OfEvaluation(evaluation, kRed), 0.5, 1e-6);
  EXPECT_NEAR(one_behind.OfEvaluation(evaluation, kBlue), -0.5, 1e-6);
  // More points than a game typically brings: the match is lost.
  EXPECT_NEAR(MatchUtility(-30, 0).OfEvaluation(evaluation, kRed), -1, 1e-6);
}

// With a compensation of 12 points a margin of 4 is a game lost by 8; a win
// takes 13 or more.
TEST(UtilityTest, WithoutMarginsAWinIsOneBeyondTheCompensation) {
  Evaluation win;
  win.win = 1;
  Evaluation loss;
  loss.loss = 1;
  for (const int halves : {-25, -24, -5, -1, 0, 1, 5, 24, 25}) {
    for (const float deviation : {0.3f, 4.0f}) {
      const Utility last({.kind = UtilityKind::kMatch,
                          .match = {.red_lead = 0.25, .games_left = 0},
                          .margin_deviation = deviation},
                         halves);
      for (const Side side : {kRed, kBlue}) {
        const float red_wins = side == kRed ? 1 : -1;
        EXPECT_EQ(last.OfEvaluation(win, side), red_wins) << halves;
        EXPECT_EQ(last.OfEvaluation(loss, side), -red_wins) << halves;
      }
    }
    // Nobody leads: both sides' wins are worth the same, to both.
    const Utility fair({.kind = UtilityKind::kMatch,
                        .match = {.red_lead = 0, .games_left = 2}},
                       halves);
    for (const Side side : {kRed, kBlue}) {
      EXPECT_NEAR(fair.OfEvaluation(win, side), -fair.OfEvaluation(loss, side),
                  1e-6)
          << halves;
    }
  }
}

TEST(UtilityTest, NamesAreParsedStrictly) {
  for (const UtilityKind kind : kKinds) {
    ASSERT_TRUE(ParseUtilityKind(UtilityKindName(kind)).ok());
    EXPECT_EQ(*ParseUtilityKind(UtilityKindName(kind)), kind);
  }
  EXPECT_EQ(ParseUtilityKind("Match").status().message(),
            "unknown utility 'Match'; expected one of win, points, mix, match");
}

TEST(UtilityTest, EveryVariantHasAMarginDeviation) {
  for (const VariantInfo& info : kVariants) {
    // A game that is not drawn ends at least a point apart.
    EXPECT_GT(MarginDeviation(info.variant), 1);
    EXPECT_LT(MarginDeviation(info.variant), kMaxMargin);
  }
}

}  // namespace
}  // namespace tara::mcts
