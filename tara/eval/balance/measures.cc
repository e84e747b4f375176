#include "tara/eval/balance/measures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "tara/base/random.h"
#include "tara/core/outcome.h"
#include "tara/eval/statistics/combinations.h"
#include "tara/record/different_games.h"

namespace tara::eval {
namespace {

using Games = absl::Span<const GameFacts>;

std::vector<int> ClustersOfGames(Games games) {
  std::vector<uint64_t> keys;
  for (const GameFacts& game : games) keys.push_back(game.same_game);
  return MakeClusters(keys);
}

template <typename Value>
std::vector<double> Each(Games games, Value value) {
  std::vector<double> values;
  for (const GameFacts& game : games) {
    values.push_back(static_cast<double>(value(game)));
  }
  return values;
}

template <typename Value>
Interval Mean(Games games, Value value) {
  return MeanInterval(Each(games, value), ClustersOfGames(games));
}

// Of what is true or not.
template <typename Condition>
Interval Share(Games games, Condition condition) {
  if (games.empty()) return {0, 0, 1};
  return ScoreInterval(Each(games, condition), ClustersOfGames(games));
}

template <typename Numerator, typename Denominator>
Interval Ratio(Games games, Numerator numerator, Denominator denominator) {
  const std::vector<int> clusters = ClustersOfGames(games);
  std::map<int, std::pair<double, double>> sums_by_cluster;
  for (size_t i = 0; i < games.size(); ++i) {
    auto& [x, y] = sums_by_cluster[clusters[i]];
    x += numerator(games[i]);
    y += denominator(games[i]);
  }
  RatioSums sums;
  for (const auto& [cluster, of] : sums_by_cluster) {
    sums.Add(of.first, of.second);
  }
  return sums.y > 0 ? RatioInterval(sums) : Interval();
}

}  // namespace

Scores ScoresOf(Games games) {
  const std::vector<int> clusters = ClustersOfGames(games);
  const std::vector<double> scores =
      Each(games, [](const GameFacts& game) { return game.score(); });
  return {
      .games = static_cast<int>(games.size()),
      .distinct = DifferentIn(clusters),
      .score = ScoreInterval(scores, clusters),
      .draws =
          Share(games, [](const GameFacts& game) { return game.result == 0; }),
      .margin = BoundedMeanInterval(
          Each(games, [](const GameFacts& game) { return game.red_margin; }),
          clusters),
      .p_even = EvenScoreTest(scores, clusters)};
}

Interval ScoreOfA(Games games) {
  struct Pair {
    double score = 0;
    int games = 0;
    uint64_t key = 0;
  };
  std::map<uint64_t, Pair> pairs;
  for (const GameFacts& game : games) {
    const bool a_is_red = game.place % 2 == 0;
    Pair& pair = pairs[game.place / 2];
    pair.score += a_is_red ? game.score() : 1 - game.score();
    pair.key = MixBits(pair.key + a_is_red) ^ game.same_game;
    ++pair.games;
  }
  std::vector<double> scores;
  std::vector<uint64_t> keys;
  for (const auto& [place, pair] : pairs) {
    if (pair.games < 2) continue;
    scores.push_back(pair.score / 2);
    keys.push_back(pair.key);
  }
  return ScoreInterval(scores, MakeClusters(keys));
}

Interval EloOf(const Interval& score) {
  return {EloDifference(score.mean), EloDifference(score.low),
          EloDifference(score.high)};
}

double Occurrence(const Sample& sample, ActionType type) {
  double actions = 0;
  for (const GameFacts& game : sample.games) {
    actions += game.types[static_cast<size_t>(type)];
  }
  return sample.games.empty()
             ? 0
             : actions / static_cast<double>(sample.games.size());
}

std::vector<GameFacts> HalfOf(Games games, int half) {
  std::vector<GameFacts> of_half;
  for (const GameFacts& game : games) {
    if (static_cast<int>(game.place % 2) == half) of_half.push_back(game);
  }
  return of_half;
}

bool IsFirstAhead(Games games, int openings) {
  double points = 0;
  for (const GameFacts& game : games) {
    if (game.place >= static_cast<uint64_t>(openings) || game.place % 2 != 0) {
      continue;
    }
    points += game.score() - 0.5;
  }
  return points >= 0;
}

std::optional<Compensation> FindCompensation(
    absl::Span<const Sample* const> steps, int openings, int plies) {
  std::vector<LadderGame> games;
  std::vector<uint64_t> lines;
  std::map<std::vector<Action>, uint64_t> numbers;
  std::set<int> halves;
  for (const Sample* step : steps) {
    for (const GameFacts& game : step->games) {
      if (game.place >= static_cast<uint64_t>(openings) ||
          game.place % 2 != 0) {
        continue;
      }
      const int points = step->rules.compensation_halves;
      halves.insert(points);
      games.push_back({.points = points / 2.0, .score = game.score()});
      const size_t length =
          std::min(static_cast<size_t>(plies), game.actions.size());
      const std::vector<Action> line = record::CanonicalLine(
          step->variant, absl::MakeConstSpan(game.actions).first(length));
      lines.push_back(
          numbers.try_emplace(line, numbers.size() + 1).first->second);
    }
  }
  if (halves.size() < 2) return std::nullopt;
  const std::vector<int> clusters = MakeClusters(lines);
  for (size_t i = 0; i < games.size(); ++i) games[i].cluster = clusters[i];
  Compensation found = {.fit = FitLadder(games)};
  double nearest = std::numeric_limits<double>::infinity();
  for (const int step : halves) {
    const double distance = std::abs(found.fit.ScoreAt(step / 2.0) - 0.5);
    // Of two that are as near, the smaller one.
    const bool smaller = std::abs(step) < std::abs(found.halves);
    if (distance > nearest || (distance == nearest && !smaller)) continue;
    nearest = distance;
    found.halves = step;
  }
  const double even = 2 * found.fit.even_points.mean;
  found.beyond = found.fit.b <= 0 || even > *halves.rbegin() + 0.5 ||
                 even < *halves.begin() - 0.5;
  return found;
}

Interval EffectiveOpenings(Variant variant, Games games, int plies) {
  std::map<std::vector<Action>, int64_t> lines;
  for (const GameFacts& game : games) {
    const size_t length =
        std::min(static_cast<size_t>(plies), game.actions.size());
    ++lines[record::CanonicalLine(
        variant, absl::MakeConstSpan(game.actions).first(length))];
  }
  std::vector<int64_t> counts;
  size_t seen_once = 0;
  for (const auto& [line, count] : lines) {
    counts.push_back(count);
    seen_once += count == 1;
  }
  if (counts.empty()) return {0, 0, 0};
  Interval openings = EquivalentChoices(EntropyOfCounts(counts));
  if (2 * seen_once > games.size()) {
    openings.high = std::numeric_limits<double>::infinity();
  }
  return openings;
}

Course CourseOf(Games games) {
  Course course;
  course.length =
      Mean(games, [](const GameFacts& game) { return game.length; });
  course.branching = Ratio(
      games, [](const GameFacts& game) { return game.legal; },
      [](const GameFacts& game) { return game.length; });
  std::vector<GameFacts> told;
  for (const GameFacts& game : games) {
    if (game.drama.has_value()) told.push_back(game);
  }
  if (!told.empty()) {
    course.lead_changes = Mean(
        told, [](const GameFacts& game) { return game.drama->lead_changes; });
    course.decided = Mean(told, [](const GameFacts& game) {
      return static_cast<double>(game.drama->decided_ply) / game.length;
    });
    course.comebacks = Share(told, [](const GameFacts& game) {
      return game.drama->lowest_score < 0.25;
    });
  }
  for (size_t type = 0; type < course.types.size(); ++type) {
    course.types[type] =
        Mean(games, [type](const GameFacts& game) { return game.types[type]; });
  }
  course.double_captures = Share(games, [](const GameFacts& game) {
    return game.ending == Ending::kDoubleCapture;
  });
  return course;
}

SeatFigures SeatOf(Games games, int seat) {
  return {
      .actions = Mean(
          games, [=](const GameFacts& g) { return g.seats[seat].actions; }),
      .branching = Ratio(
          games, [=](const GameFacts& g) { return g.seats[seat].legal; },
          [=](const GameFacts& g) { return g.seats[seat].actions; }),
      .captures = Mean(
          games, [=](const GameFacts& g) { return g.seats[seat].captures; }),
      .first_out =
          Share(games, [=](const GameFacts& g) { return g.first_out == seat; }),
  };
}

}  // namespace tara::eval
