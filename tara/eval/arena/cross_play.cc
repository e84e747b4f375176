#include "tara/eval/arena/cross_play.h"

#include <cstddef>
#include <limits>
#include <map>

#include "tara/base/random.h"
#include "tara/eval/statistics/resampling.h"

namespace tara::eval {
namespace {

constexpr int kReplicates = 2000;

// The games of one match with one opening.
struct OpeningSums {
  int games = 0;
  double points = 0;
  double margin = 0;

  double score() const { return points / games; }
};

// By opening.
std::map<int, OpeningSums> SumsOf(const ArenaResult& result) {
  std::map<int, OpeningSums> sums;
  for (const ArenaGame& game : result.played) {
    OpeningSums& sum = sums[game.pair / result.pairs_per_opening];
    ++sum.games;
    sum.points += game.margin > 0 ? 1 : (game.margin < 0 ? 0 : 0.5);
    sum.margin += game.margin;
  }
  return sums;
}

// By opening that all matches have, and by match.
std::vector<std::vector<OpeningSums>> SharedOpenings(
    const CrossPlayStudy& study) {
  std::map<int, std::vector<OpeningSums>> by_opening;
  for (const CrossPlayMatch& match : study.matches) {
    for (const auto& [opening, sums] : SumsOf(match.result)) {
      by_opening[opening].push_back(sums);
    }
  }
  std::vector<std::vector<OpeningSums>> shared;
  for (const auto& [opening, sums] : by_opening) {
    if (sums.size() == study.matches.size()) shared.push_back(sums);
  }
  return shared;
}

}  // namespace

PartnershipWorth WorthOf(const CrossPlayStudy& study, Random& random) {
  const std::vector<std::vector<OpeningSums>> openings = SharedOpenings(study);
  const size_t matches = study.matches.size();
  std::vector<double> scores;
  std::vector<double> margins;
  for (const std::vector<OpeningSums>& opening : openings) {
    double score = -study.even_score;
    double margin = 0;
    for (size_t m = 0; m < matches; ++m) {
      const double weight = study.matches[m].weight;
      score += weight * opening[m].score();
      margin += weight * opening[m].margin / opening[m].games;
    }
    scores.push_back(score);
    margins.push_back(margin);
  }
  PartnershipWorth worth = {.openings = static_cast<int>(openings.size()),
                            .score = MeanInterval(scores),
                            .margin = MeanInterval(margins),
                            .elo = MeanInterval({})};
  if (openings.empty()) return worth;
  const auto elo_of = [&](absl::Span<const int> drawn) {
    double elo = 0;
    for (size_t m = 0; m < matches; ++m) {
      double points = 0.5;
      int games = 1;
      for (const int opening : drawn) {
        points += openings[opening][m].points;
        games += openings[opening][m].games;
      }
      elo += study.matches[m].weight * EloDifference(points / games);
    }
    return elo;
  };
  worth.elo = BootstrapInterval(worth.openings, kReplicates, elo_of, random);
  if (openings.size() > 1) return worth;
  worth.elo.low = -std::numeric_limits<double>::infinity();
  worth.elo.high = std::numeric_limits<double>::infinity();
  return worth;
}

}  // namespace tara::eval
