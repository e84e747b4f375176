#include "tara/eval/balance/ladder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

namespace tara::eval {
namespace {

// Steps with one score.
struct Block {
  double weight;
  double sum;  // weight times score
  size_t steps;

  double score() const { return sum / weight; }
};

}  // namespace

const LadderFit::Step& LadderFit::Nearest() const {
  return *std::min_element(
      steps.begin(), steps.end(), [](const Step& x, const Step& y) {
        return std::pair(std::abs(x.curve - 0.5), std::abs(x.points)) <
               std::pair(std::abs(y.curve - 0.5), std::abs(y.points));
      });
}

size_t LadderFit::FirstBelow() const {
  return std::find_if(steps.begin(), steps.end(),
                      [](const Step& step) { return step.curve < 0.5; }) -
         steps.begin();
}

LadderFit FitLadder(absl::Span<const LadderGame> games) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::map<double, std::pair<std::vector<double>, std::vector<int>>> by_points;
  for (const LadderGame& game : games) {
    auto& [scores, clusters] = by_points[game.points];
    scores.push_back(game.score);
    clusters.push_back(game.cluster);
  }
  LadderFit fit = {.even_points = {0, -kInfinity, kInfinity}};
  std::vector<Block> blocks;
  for (const auto& [points, of] : by_points) {
    const auto& [scores, clusters] = of;
    fit.steps.push_back({.points = points,
                         .games = static_cast<int>(scores.size()),
                         .score = ScoreInterval(scores, clusters)});
    const double weight = EffectiveCount(scores.size(), clusters);
    blocks.push_back({weight, weight * fit.steps.back().score.mean, 1});
    while (blocks.size() > 1 &&
           blocks[blocks.size() - 2].score() <= blocks.back().score()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().weight += last.weight;
      blocks.back().sum += last.sum;
      blocks.back().steps += last.steps;
    }
  }
  auto step = fit.steps.begin();
  for (const Block& block : blocks) {
    for (size_t i = 0; i < block.steps; ++i) (step++)->curve = block.score();
  }

  for (const LadderFit::Step& each : fit.steps) {
    if (each.score.low <= 0.5) break;
    fit.even_points.low = each.points;
  }
  for (size_t i = fit.steps.size(); i-- > 0 && fit.steps[i].score.high < 0.5;) {
    fit.even_points.high = fit.steps[i].points;
  }
  const size_t next = fit.FirstBelow();
  if (next == 0 || next == fit.steps.size()) {
    fit.even_points.mean = next == 0 ? -kInfinity : kInfinity;
    return fit;
  }
  const LadderFit::Step& before = fit.steps[next - 1];
  const LadderFit::Step& after = fit.steps[next];
  fit.even_points.mean = before.points + (before.curve - 0.5) /
                                             (before.curve - after.curve) *
                                             (after.points - before.points);
  return fit;
}

}  // namespace tara::eval
