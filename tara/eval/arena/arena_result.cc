#include "tara/eval/arena/arena_result.h"

#include <cstddef>

#include "tara/base/check.h"
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

// Returns the means of so many values in succession.
std::vector<double> MeansOf(absl::Span<const double> values, int count) {
  TARA_CHECK(values.size() % count == 0, "openings are whole");
  std::vector<double> means(values.size() / count);
  for (size_t i = 0; i < values.size(); ++i) {
    means[i / count] += values[i] / count;
  }
  return means;
}

// Fills the score and the Elo of an ArenaResult or MatchResult from the scores
// of its pairs.
template <typename Result>
void SetScore(absl::Span<const double> pairs, Result& result) {
  const Interval score = ScoreInterval(pairs);
  result.score = score.mean;
  result.score_low = score.low;
  result.score_high = score.high;
  result.elo = EloDifference(score.mean);
  result.elo_low = EloDifference(score.low);
  result.elo_high = EloDifference(score.high);
}

// Returns the result of the matches that games are of, all of them whole and
// in the order of SummarizeGames.
MatchResult SummarizeMatches(absl::Span<const ArenaGame> games,
                             int pairs_per_opening) {
  MatchResult result;
  std::vector<double> scores;  // means of the pairs of matches
  std::vector<double> leads;
  for (size_t i = 0; i < games.size();) {
    const int pair = games[i].match / 2;
    const size_t begin = i;
    double lead[2] = {};  // of A, in the match that A starts and the other
    // Of two results in succession, the next begins with an earlier opening.
    for (; i < games.size() && games[i].match / 2 == pair &&
           (i == begin || games[i].pair >= games[i - 1].pair);
         ++i) {
      lead[games[i].match % 2] += games[i].margin;
    }
    for (const double margin : lead) {
      ++result.matches;
      result.wins += margin > 0;
      result.draws += margin == 0;
      result.losses += margin < 0;
    }
    scores.push_back((ScoreOf(lead[0]) + ScoreOf(lead[1])) / 2);
    leads.push_back((lead[0] + lead[1]) / 2.0);
  }
  const Interval mean_lead = MeanInterval(MeansOf(leads, pairs_per_opening));
  SetScore(MeansOf(scores, pairs_per_opening), result);
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
      .fault = result.fault()};
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
  std::vector<double> scores;  // means of the pairs
  std::vector<double> margins;
  double points_as_red = 0;
  for (size_t i = 0; i < games.size(); i += 2) {
    const ArenaGame& first = games[i];
    const ArenaGame& second = games[i + 1];
    TARA_CHECK(first.pair == second.pair && first.a_is_red != second.a_is_red,
               "games come in pairs, once with each side as Red");
    scores.push_back((ScoreOf(first.margin) + ScoreOf(second.margin)) / 2);
    margins.push_back((first.margin + second.margin) / 2.0);
    for (const ArenaGame& game : {first, second}) {
      result.wins += game.margin > 0;
      result.draws += game.margin == 0;
      result.losses += game.margin < 0;
      result.mean_length += game.length;
      if (!game.a_is_red) continue;
      ++result.games_as_red;
      result.wins_as_red += game.margin > 0;
      result.draws_as_red += game.margin == 0;
      points_as_red += ScoreOf(game.margin);
    }
  }
  for (const ArenaGame& game : games) {
    result.adjudicated += !game.adjudication.empty();
    const bool on_time = game.fault.empty();
    const bool by_a = game.forfeit == Forfeit::kByA;
    const bool by_b = game.forfeit == Forfeit::kByB;
    AddClock(game.time_a, by_a && on_time, result.clock_a);
    AddClock(game.time_b, by_b && on_time, result.clock_b);
    result.faults_a += by_a && !on_time;
    result.faults_b += by_b && !on_time;
  }
  result.games = static_cast<int>(games.size());
  const Interval margin = MeanInterval(MeansOf(margins, pairs_per_opening));
  SetScore(MeansOf(scores, pairs_per_opening), result);
  result.mean_margin = margin.mean;
  result.mean_margin_low = margin.low;
  result.mean_margin_high = margin.high;
  if (games.empty()) return result;
  if (games[0].match >= 0)
    result.matches = SummarizeMatches(games, pairs_per_opening);
  result.mean_length /= result.games;
  result.score_as_red = points_as_red / result.games_as_red;
  result.score_as_blue = 2 * result.score - result.score_as_red;
  return result;
}

int HalfPointsOfPair(absl::Span<const ArenaGame> games) {
  double lead[2] = {};  // of A: by match, or by game
  for (const ArenaGame& game : games) {
    lead[game.match < 0 ? game.a_is_red : game.match % 2] += game.margin;
  }
  return static_cast<int>(2 * (ScoreOf(lead[0]) + ScoreOf(lead[1])));
}

}  // namespace tara::eval
