#include "tara/eval/balance/balance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/outcome.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/first_actions.h"
#include "tara/eval/statistics/hypotheses.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

// What a study's bootstrap of the compensation is drawn from.
constexpr uint64_t kCompensationStream = 1;

// Lengths of lines that are counted.
constexpr int kLineLengths[] = {1, 2, 4, 8};

template <typename Value>
std::vector<double> Each(absl::Span<const GameFacts> games, Value value) {
  std::vector<double> values;
  values.reserve(games.size());
  for (const GameFacts& game : games) {
    values.push_back(static_cast<double>(value(game)));
  }
  return values;
}

template <typename Condition>
Interval Share(absl::Span<const GameFacts> games, Condition condition) {
  const auto count = std::count_if(games.begin(), games.end(), condition);
  const auto all = static_cast<double>(games.size());
  return WilsonInterval(static_cast<double>(count) / all, all);
}

template <typename Numerator, typename Denominator>
Interval Ratio(absl::Span<const GameFacts> games, Numerator numerator,
               Denominator denominator) {
  RatioSums sums;
  for (const GameFacts& game : games) {
    sums.Add(numerator(game), denominator(game));
  }
  return sums.y > 0 ? RatioInterval(sums) : Interval();
}

double Deviation(absl::Span<const double> values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

void AddResults(absl::Span<const GameFacts> games, uint64_t seed,
                BalanceStatistics& statistics) {
  statistics.score = FirstSideScore(games);
  statistics.wins =
      Share(games, [](const GameFacts& game) { return game.result > 0; });
  statistics.losses =
      Share(games, [](const GameFacts& game) { return game.result < 0; });
  statistics.draws =
      Share(games, [](const GameFacts& game) { return game.result == 0; });
  statistics.p_even = EvenScoreTest(
      Each(games, [](const GameFacts& game) { return game.score(); }));
  const std::vector<double> margins =
      Each(games, [](const GameFacts& game) { return game.red_margin; });
  statistics.margin = MeanInterval(margins);
  statistics.margin_deviation = Deviation(margins, statistics.margin.mean);
  statistics.margin_size = MeanInterval(
      Each(games, [](const GameFacts& g) { return std::abs(g.red_margin); }));
  for (const GameFacts& game : games) {
    ++statistics.margins[game.red_margin];
    ++statistics.endings[game.ending];
  }
  Random random(DeriveSeed(seed, kCompensationStream, StreamPurpose::kArena));
  statistics.compensation = FairCompensation(
      std::vector<int>(margins.begin(), margins.end()), random);
}

void AddLengths(absl::Span<const GameFacts> games,
                BalanceStatistics& statistics) {
  std::vector<double> lengths =
      Each(games, [](const GameFacts& game) { return game.length; });
  statistics.length = MeanInterval(lengths);
  std::sort(lengths.begin(), lengths.end());
  statistics.length_quantiles = {
      Quantile(lengths, 0.05), Quantile(lengths, 0.5), Quantile(lengths, 0.95)};
  for (const GameFacts& game : games) ++statistics.lengths[game.length];
  statistics.branching = Ratio(
      games, [](const GameFacts& game) { return game.legal; },
      [](const GameFacts& game) { return game.length; });
}

void AddActions(absl::Span<const GameFacts> games,
                BalanceStatistics& statistics) {
  for (size_t type = 0; type < statistics.types.size(); ++type) {
    statistics.types[type] = MeanInterval(
        Each(games, [type](const GameFacts& g) { return g.types[type]; }));
  }
  statistics.kings_captured = MeanInterval(
      Each(games, [](const GameFacts& game) { return game.kings_captured; }));
}

void AddOpenings(Variant variant, absl::Span<const GameFacts> games,
                 BalanceStatistics& statistics) {
  for (size_t ply = 0; ply < kPolicyPlies; ++ply) {
    std::vector<double> entropies;
    for (const GameFacts& game : games) {
      if (ply < game.entropies.size() && !std::isnan(game.entropies[ply])) {
        entropies.push_back(game.entropies[ply]);
      }
    }
    statistics.choices.push_back(
        entropies.empty()
            ? std::nullopt
            : std::optional(EquivalentChoices(MeanInterval(entropies))));
  }
  for (const int length : kLineLengths) {
    std::map<std::vector<Action>, int64_t> lines;
    for (const GameFacts& game : games) {
      const auto plies =
          std::min(static_cast<size_t>(length), game.actions.size());
      ++lines[CanonicalLine(variant,
                            absl::MakeConstSpan(game.actions).first(plies))];
    }
    std::vector<int64_t> counts;
    for (const auto& [line, count] : lines) counts.push_back(count);
    statistics.lines[length] = EquivalentChoices(EntropyOfCounts(counts));
  }
  statistics.distinct_games = DistinctGames(variant, games);
}

std::optional<DramaStatistics> DramaOf(absl::Span<const GameFacts> games) {
  std::vector<GameFacts> told;
  for (const GameFacts& game : games) {
    if (game.drama.has_value()) told.push_back(game);
  }
  if (told.empty()) return std::nullopt;
  DramaStatistics drama = {.games = static_cast<int>(told.size())};
  drama.lead_changes = MeanInterval(Each(
      told, [](const GameFacts& game) { return game.drama->lead_changes; }));
  drama.decided_ply = MeanInterval(Each(
      told, [](const GameFacts& game) { return game.drama->decided_ply; }));
  drama.decided_share = MeanInterval(Each(told, [](const GameFacts& game) {
    return static_cast<double>(game.drama->decided_ply) / game.length;
  }));
  drama.deficit = MeanInterval(Each(told, [](const GameFacts& game) {
    return 0.5 - game.drama->lowest_score;
  }));
  drama.comebacks = Share(told, [](const GameFacts& game) {
    return game.drama->lowest_score < 0.25;
  });
  return drama;
}

std::vector<SeatStatistics> SeatsOf(Variant variant,
                                    absl::Span<const GameFacts> games) {
  std::vector<SeatStatistics> seats;
  if (Info(variant).seats != 4) return seats;
  for (int seat = 0; seat < 4; ++seat) {
    SeatStatistics& one = seats.emplace_back();
    one.actions = MeanInterval(Each(
        games, [seat](const GameFacts& g) { return g.seats[seat].actions; }));
    one.captures = MeanInterval(Each(
        games, [seat](const GameFacts& g) { return g.seats[seat].captures; }));
    one.branching = Ratio(
        games, [seat](const GameFacts& g) { return g.seats[seat].legal; },
        [seat](const GameFacts& g) { return g.seats[seat].actions; });
    one.first_out = Share(
        games, [seat](const GameFacts& g) { return g.first_out == seat; });
  }
  return seats;
}

}  // namespace

int DistinctGames(Variant variant, absl::Span<const GameFacts> games) {
  std::set<std::vector<Action>> distinct;
  for (const GameFacts& game : games) {
    distinct.insert(CanonicalLine(variant, game.actions));
  }
  return static_cast<int>(distinct.size());
}

Interval FirstSideScore(absl::Span<const GameFacts> games) {
  return ScoreInterval(
      Each(games, [](const GameFacts& game) { return game.score(); }));
}

BalanceStatistics Summarize(const BalanceStudy& study) {
  TARA_CHECK(!study.games.empty(), "the balance of no games");
  BalanceStatistics statistics;
  statistics.games = static_cast<int>(study.games.size());
  AddResults(study.games, study.options.seed, statistics);
  AddLengths(study.games, statistics);
  AddActions(study.games, statistics);
  AddOpenings(study.options.variant, study.games, statistics);
  statistics.drama = DramaOf(study.games);
  statistics.seats = SeatsOf(study.options.variant, study.games);
  statistics.first_actions = FirstActionsOf(study);
  statistics.pie = PieRuleOf(study);
  return statistics;
}

BalanceDifference Compare(const BalanceStudy& from, const BalanceStudy& to) {
  const size_t games = std::min(from.games.size(), to.games.size());
  TARA_CHECK(games > 0, "a comparison of no games");
  const auto difference = [&](auto value) {
    std::vector<double> differences;
    for (size_t i = 0; i < games; ++i) {
      differences.push_back(static_cast<double>(value(to.games[i])) -
                            static_cast<double>(value(from.games[i])));
    }
    return MeanInterval(differences);
  };
  BalanceDifference result = {.games = static_cast<int>(games)};
  result.score = difference([](const GameFacts& g) { return g.score(); });
  result.margin = difference([](const GameFacts& g) { return g.red_margin; });
  result.margin_size =
      difference([](const GameFacts& g) { return std::abs(g.red_margin); });
  result.draws =
      difference([](const GameFacts& g) { return g.result == 0 ? 1 : 0; });
  result.length = difference([](const GameFacts& g) { return g.length; });
  if (games < 2) return result;
  const auto degrees = static_cast<double>(games - 1);
  const double error =
      (result.score.high - result.score.mean) / StudentQuantile95(degrees);
  if (error > 0) {
    result.p_score = StudentTwoSided(result.score.mean / error, degrees);
  } else if (result.score.mean != 0) {  // the same each time: a test of signs
    result.p_score = std::pow(0.5, degrees);
  }
  return result;
}

}  // namespace tara::eval
