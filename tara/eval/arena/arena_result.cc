#include "tara/eval/arena/arena_result.h"

#include <cstddef>
#include <map>
#include <utility>

#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/text.h"
#include "tara/core/board.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/record/game_record.h"

namespace tara::eval {
namespace {

double ScoreOf(double margin) {
  return margin > 0 ? 1 : (margin < 0 ? 0 : 0.5);
}

void AddClock(const TimeUse& use, bool forfeit, ClockResult& result) {
  result.forfeits += forfeit;
  result.use.moves += use.moves;
  result.use.time += use.time;
}

// Returns the games in independent parts: the games of the pairs, or of the
// pairs of matches, of one opening, which are adjacent.
std::vector<absl::Span<const ArenaGame>> IndependentParts(
    absl::Span<const ArenaGame> games, int pairs_per_opening) {
  const auto part_of = [&](const ArenaGame& game) {
    return (game.match < 0 ? game.pair : game.match / 2) / pairs_per_opening;
  };
  std::vector<absl::Span<const ArenaGame>> parts;
  for (size_t begin = 0, i = 1; i <= games.size(); ++i) {
    // The next of two successive results begins with an earlier game.
    if (i < games.size() && part_of(games[i]) == part_of(games[begin]) &&
        std::pair(games[i - 1].pair, !games[i - 1].a_is_red) <
            std::pair(games[i].pair, !games[i].a_is_red)) {
      continue;
    }
    parts.push_back(games.subspan(begin, i - begin));
    begin = i;
  }
  return parts;
}

// Fills the score and the Elo of an ArenaResult or MatchResult.
template <typename Result>
void SetScore(absl::Span<const double> scores, Clusters clusters,
              Result& result) {
  const Interval score = ScoreInterval(scores, clusters);
  result.score = score.mean;
  result.score_low = score.low;
  result.score_high = score.high;
  result.elo = EloDifference(score.mean);
  result.elo_low = EloDifference(score.low);
  result.elo_high = EloDifference(score.high);
}

// Returns the result of the matches that games are of, all of them whole.
MatchResult SummarizeMatches(
    absl::Span<const absl::Span<const ArenaGame>> parts,
    Clusters cluster_of_part) {
  MatchResult result;
  std::vector<double> scores;  // of matches
  std::vector<double> leads;
  std::vector<int> clusters;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::map<int, double> lead_of;  // of A, by match
    for (const ArenaGame& game : parts[i]) lead_of[game.match] += game.margin;
    for (const auto& [match, lead] : lead_of) {
      ++result.matches;
      result.wins += lead > 0;
      result.draws += lead == 0;
      result.losses += lead < 0;
      scores.push_back(ScoreOf(lead));
      leads.push_back(lead);
      clusters.push_back(cluster_of_part[i]);
    }
  }
  SetScore(scores, clusters, result);
  const Interval mean_lead = MeanInterval(leads, clusters);
  result.mean_lead = mean_lead.mean;
  result.mean_lead_low = mean_lead.low;
  result.mean_lead_high = mean_lead.high;
  return result;
}

}  // namespace

ArenaGame ArenaGameOf(const proto::GameRecord& record) {
  const proto::GameResult& result = record.result();
  const bool a_is_red = record.place() % 2 == 0;
  ArenaGame game = {
      .pair = static_cast<int>(record.place() / 2),
      .match = record.has_match() ? static_cast<int>(record.match()) : -1,
      .a_is_red = a_is_red,
      .margin = (a_is_red ? 1 : -1) *
                (record::RedMargin(record) -
                 record::CompensationHalves(record.rule_options()) / 2.0),
      .length = record::LengthOf(record),
      .adjudication = result.adjudication(),
      .fault = Printable(result.fault()),
      .same_game = record::SameGameKey(record)};
  const Side side_of_a = a_is_red ? kRed : kBlue;
  if (result.has_forfeited_by()) {
    game.forfeit = result.forfeited_by() == static_cast<uint32_t>(side_of_a)
                       ? Forfeit::kByA
                       : Forfeit::kByB;
  }
  const auto use_of = [&](Side side) {
    return TimeUse{.moves = static_cast<int>(record.moves(side)),
                   .time = absl::Microseconds(record.time_us(side))};
  };
  if (record.moves_size() == 2 && record.time_us_size() == 2) {
    game.time_a = use_of(side_of_a);
    game.time_b = use_of(Opponent(side_of_a));
  }
  return game;
}

ArenaResult SummarizeGames(absl::Span<const ArenaGame> games,
                           int pairs_per_opening) {
  TARA_CHECK(games.size() % 2 == 0, "games come in pairs");
  ArenaResult result;
  result.pairs_per_opening = pairs_per_opening;
  result.played.assign(games.begin(), games.end());
  const std::vector<absl::Span<const ArenaGame>> parts =
      IndependentParts(games, pairs_per_opening);
  std::vector<uint64_t> keys;
  for (const absl::Span<const ArenaGame> part : parts) {
    keys.push_back(SameGamesKey(part));
  }
  const std::vector<int> cluster_of_part = MakeClusters(keys);
  std::vector<double> scores;
  std::vector<double> margins;
  std::vector<int> clusters;
  std::vector<uint64_t> games_keys;
  double points_as_red = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const ArenaGame& game : parts[i]) {
      scores.push_back(ScoreOf(game.margin));
      margins.push_back(game.margin);
      clusters.push_back(cluster_of_part[i]);
      games_keys.push_back(SameGamesKey(absl::MakeConstSpan(&game, 1)));
      result.wins += game.margin > 0;
      result.draws += game.margin == 0;
      result.losses += game.margin < 0;
      result.mean_length += game.length;
      result.adjudicated += !game.adjudication.empty();
      const bool on_time = game.fault.empty();
      const bool by_a = game.forfeit == Forfeit::kByA;
      const bool by_b = game.forfeit == Forfeit::kByB;
      AddClock(game.time_a, by_a && on_time, result.clock_a);
      AddClock(game.time_b, by_b && on_time, result.clock_b);
      result.faults_a += by_a && !on_time;
      result.faults_b += by_b && !on_time;
      if (!game.a_is_red) continue;
      ++result.games_as_red;
      result.wins_as_red += game.margin > 0;
      result.draws_as_red += game.margin == 0;
      points_as_red += scores.back();
    }
  }
  result.games = static_cast<int>(games.size());
  TARA_CHECK(2 * result.games_as_red == result.games,
             "games come in pairs, once with each side as Red");
  const Interval margin = MeanInterval(margins, clusters);
  SetScore(scores, clusters, result);
  result.mean_margin = margin.mean;
  result.mean_margin_low = margin.low;
  result.mean_margin_high = margin.high;
  if (games.empty()) return result;
  result.distinct_games = DifferentIn(MakeClusters(games_keys));
  if (games[0].match >= 0) {
    result.matches = SummarizeMatches(parts, cluster_of_part);
  }
  result.mean_length /= result.games;
  result.score_as_red = points_as_red / result.games_as_red;
  result.score_as_blue = 2 * result.score - result.score_as_red;
  return result;
}

uint64_t SameGamesKey(absl::Span<const ArenaGame> games) {
  uint64_t key = 0;
  for (const ArenaGame& game : games) {
    if (game.same_game == 0) return 0;
    // A sum, because games end in any order.
    key += MixBits(game.same_game ^ (game.a_is_red ? 1 : 0));
  }
  return key;
}

int HalfPointsOfPair(absl::Span<const ArenaGame> games) {
  double lead[2] = {};  // of A: by match, or by game
  for (const ArenaGame& game : games) {
    lead[game.match < 0 ? game.a_is_red : game.match % 2] += game.margin;
  }
  return static_cast<int>(2 * (ScoreOf(lead[0]) + ScoreOf(lead[1])));
}

}  // namespace tara::eval
