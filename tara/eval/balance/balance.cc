#include "tara/eval/balance/balance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/outcome.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/first_actions.h"
#include "tara/eval/statistics/hypotheses.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/record/different_games.h"

namespace tara::eval {
namespace {

// What a study's bootstrap of the compensation is drawn from.
constexpr uint64_t kCompensationStream = 1;

// Lengths of lines that are counted.
constexpr int kLineLengths[] = {1, 2, 4, 8};

// Games, and which of them are one game over again.
struct Sample {
  explicit Sample(absl::Span<const GameFacts> all)
      : games(all), clusters(ClustersOfGames(all)) {}

  double effective() const { return EffectiveCount(games.size(), clusters); }

  absl::Span<const GameFacts> games;
  std::vector<int> clusters;
};

template <typename Value>
std::vector<double> Each(absl::Span<const GameFacts> games, Value value) {
  std::vector<double> values;
  values.reserve(games.size());
  for (const GameFacts& game : games) {
    values.push_back(static_cast<double>(value(game)));
  }
  return values;
}

template <typename Value>
Interval Mean(const Sample& sample, Value value) {
  return MeanInterval(Each(sample.games, value), sample.clusters);
}

template <typename Condition>
Interval Share(const Sample& sample, Condition condition) {
  const auto count =
      std::count_if(sample.games.begin(), sample.games.end(), condition);
  return WilsonInterval(
      static_cast<double>(count) / static_cast<double>(sample.games.size()),
      sample.effective());
}

template <typename Numerator, typename Denominator>
Interval Ratio(const Sample& sample, Numerator numerator,
               Denominator denominator) {
  std::map<int, std::pair<double, double>> clusters;
  for (size_t i = 0; i < sample.games.size(); ++i) {
    auto& [x, y] = clusters[sample.clusters[i]];
    x += numerator(sample.games[i]);
    y += denominator(sample.games[i]);
  }
  RatioSums sums;
  for (const auto& [number, of] : clusters) sums.Add(of.first, of.second);
  return sums.y > 0 ? RatioInterval(sums) : Interval();
}

double Deviation(absl::Span<const double> values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

void AddResults(const Sample& sample, uint64_t seed,
                BalanceStatistics& statistics) {
  const std::vector<double> scores =
      Each(sample.games, [](const GameFacts& game) { return game.score(); });
  statistics.score = ScoreInterval(scores, sample.clusters);
  statistics.wins =
      Share(sample, [](const GameFacts& game) { return game.result > 0; });
  statistics.losses =
      Share(sample, [](const GameFacts& game) { return game.result < 0; });
  statistics.draws =
      Share(sample, [](const GameFacts& game) { return game.result == 0; });
  statistics.p_even = EvenScoreTest(scores, sample.clusters);
  const std::vector<double> margins =
      Each(sample.games, [](const GameFacts& game) { return game.red_margin; });
  statistics.margin = MeanInterval(margins, sample.clusters);
  statistics.margin_deviation = Deviation(margins, statistics.margin.mean);
  statistics.margin_size = Mean(
      sample, [](const GameFacts& game) { return std::abs(game.red_margin); });
  for (const GameFacts& game : sample.games) {
    ++statistics.margins[game.red_margin];
    ++statistics.endings[game.ending];
  }
  Random random(DeriveSeed(seed, kCompensationStream, StreamPurpose::kArena));
  statistics.compensation =
      FairCompensation(std::vector<int>(margins.begin(), margins.end()), random,
                       sample.clusters);
}

void AddLengths(const Sample& sample, BalanceStatistics& statistics) {
  std::vector<double> lengths =
      Each(sample.games, [](const GameFacts& game) { return game.length; });
  statistics.length = MeanInterval(lengths, sample.clusters);
  std::sort(lengths.begin(), lengths.end());
  statistics.length_quantiles = {
      Quantile(lengths, 0.05), Quantile(lengths, 0.5), Quantile(lengths, 0.95)};
  for (const GameFacts& game : sample.games) ++statistics.lengths[game.length];
  statistics.branching = Ratio(
      sample, [](const GameFacts& game) { return game.legal; },
      [](const GameFacts& game) { return game.length; });
}

void AddActions(const Sample& sample, BalanceStatistics& statistics) {
  for (size_t type = 0; type < statistics.types.size(); ++type) {
    statistics.types[type] = Mean(
        sample, [type](const GameFacts& game) { return game.types[type]; });
  }
  statistics.kings_captured =
      Mean(sample, [](const GameFacts& game) { return game.kings_captured; });
}

void AddOpenings(Variant variant, const Sample& sample,
                 BalanceStatistics& statistics) {
  for (size_t ply = 0; ply < kPolicyPlies; ++ply) {
    std::vector<double> entropies;
    std::vector<int> clusters;
    for (size_t i = 0; i < sample.games.size(); ++i) {
      const std::vector<float>& of = sample.games[i].entropies;
      if (ply >= of.size() || std::isnan(of[ply])) continue;
      entropies.push_back(of[ply]);
      clusters.push_back(sample.clusters[i]);
    }
    statistics.choices.push_back(entropies.empty()
                                     ? std::nullopt
                                     : std::optional(EquivalentChoices(
                                           MeanInterval(entropies, clusters))));
  }
  for (const int length : kLineLengths) {
    std::map<std::vector<Action>, int64_t> lines;
    for (const GameFacts& game : sample.games) {
      const auto plies =
          std::min(static_cast<size_t>(length), game.actions.size());
      ++lines[record::CanonicalLine(
          variant, absl::MakeConstSpan(game.actions).first(plies))];
    }
    std::vector<int64_t> counts;
    for (const auto& [line, count] : lines) counts.push_back(count);
    statistics.lines[length] = EquivalentChoices(EntropyOfCounts(counts));
  }
}

std::optional<DramaStatistics> DramaOf(absl::Span<const GameFacts> games) {
  std::vector<GameFacts> told;
  for (const GameFacts& game : games) {
    if (game.drama.has_value()) told.push_back(game);
  }
  if (told.empty()) return std::nullopt;
  const Sample sample(told);
  DramaStatistics drama = {.games = static_cast<int>(told.size())};
  drama.lead_changes = Mean(
      sample, [](const GameFacts& game) { return game.drama->lead_changes; });
  drama.decided_ply = Mean(
      sample, [](const GameFacts& game) { return game.drama->decided_ply; });
  drama.decided_share = Mean(sample, [](const GameFacts& game) {
    return static_cast<double>(game.drama->decided_ply) / game.length;
  });
  drama.deficit = Mean(sample, [](const GameFacts& game) {
    return 0.5 - game.drama->lowest_score;
  });
  drama.comebacks = Share(sample, [](const GameFacts& game) {
    return game.drama->lowest_score < 0.25;
  });
  return drama;
}

std::vector<SeatStatistics> SeatsOf(Variant variant, const Sample& sample) {
  std::vector<SeatStatistics> seats;
  if (Info(variant).seats != 4) return seats;
  for (int seat = 0; seat < 4; ++seat) {
    SeatStatistics& one = seats.emplace_back();
    one.actions = Mean(
        sample, [seat](const GameFacts& g) { return g.seats[seat].actions; });
    one.captures = Mean(
        sample, [seat](const GameFacts& g) { return g.seats[seat].captures; });
    one.branching = Ratio(
        sample, [seat](const GameFacts& g) { return g.seats[seat].legal; },
        [seat](const GameFacts& g) { return g.seats[seat].actions; });
    one.first_out = Share(
        sample, [seat](const GameFacts& g) { return g.first_out == seat; });
  }
  return seats;
}

}  // namespace

std::vector<int> ClustersOfGames(absl::Span<const GameFacts> games) {
  std::vector<uint64_t> keys;
  for (const GameFacts& game : games) keys.push_back(game.same_game);
  return ClustersOf(keys);
}

int DistinctGames(absl::Span<const GameFacts> games) {
  return DifferentIn(ClustersOfGames(games));
}

Interval FirstSideScore(absl::Span<const GameFacts> games) {
  return ScoreInterval(
      Each(games, [](const GameFacts& game) { return game.score(); }),
      ClustersOfGames(games));
}

BalanceStatistics Summarize(const BalanceStudy& study) {
  TARA_CHECK(!study.games.empty(), "the balance of no games");
  BalanceStatistics statistics;
  const Sample sample(study.games);
  statistics.games = static_cast<int>(study.games.size());
  statistics.distinct_games = DifferentIn(sample.clusters);
  AddResults(sample, study.options.seed, statistics);
  AddLengths(sample, statistics);
  AddActions(sample, statistics);
  AddOpenings(study.options.variant, sample, statistics);
  statistics.drama = DramaOf(study.games);
  statistics.seats = SeatsOf(study.options.variant, sample);
  statistics.first_actions = FirstActionsOf(study);
  statistics.pie = PieRuleOf(study);
  return statistics;
}

BalanceDifference Compare(const BalanceStudy& from, const BalanceStudy& to) {
  const size_t games = std::min(from.games.size(), to.games.size());
  TARA_CHECK(games > 0, "a comparison of no games");
  std::vector<uint64_t> keys;
  for (size_t i = 0; i < games; ++i) {
    const uint64_t one = from.games[i].same_game;
    const uint64_t other = to.games[i].same_game;
    keys.push_back(one == 0 || other == 0 ? 0 : MixBits(one) ^ other);
  }
  const std::vector<int> clusters = ClustersOf(keys);
  const auto difference = [&](auto value) {
    std::vector<double> differences;
    for (size_t i = 0; i < games; ++i) {
      differences.push_back(static_cast<double>(value(to.games[i])) -
                            static_cast<double>(value(from.games[i])));
    }
    return MeanInterval(differences, clusters);
  };
  BalanceDifference result = {.games = static_cast<int>(games),
                              .distinct_games = DifferentIn(clusters)};
  result.score = difference([](const GameFacts& g) { return g.score(); });
  result.margin = difference([](const GameFacts& g) { return g.red_margin; });
  result.margin_size =
      difference([](const GameFacts& g) { return std::abs(g.red_margin); });
  result.draws =
      difference([](const GameFacts& g) { return g.result == 0 ? 1 : 0; });
  result.length = difference([](const GameFacts& g) { return g.length; });
  const double degrees = EffectiveCount(games, clusters) - 1;
  if (degrees < 1) return result;
  const double error =
      (result.score.high - result.score.mean) / StudentQuantile95(degrees);
  if (error > 0 && std::isfinite(error)) {
    result.p_score = StudentTwoSided(result.score.mean / error, degrees);
  } else if (result.score.mean != 0) {  // the same each time: a test of signs
    result.p_score = std::pow(0.5, degrees);
  }
  return result;
}

}  // namespace tara::eval
