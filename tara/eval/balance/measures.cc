#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/eval/balance/study.h"
#include "tara/record/game_record.h"

namespace tara::eval {
namespace {

// Notes an action, before it is played.
void Note(const State& state, Action action, GameFacts& facts) {
  const int legal = LegalActions(state).Count();
  const ActionType type = TypeOf(state, action);
  SeatFacts& seat = facts.seats[state.seat];
  ++seat.actions;
  seat.captures += type == ActionType::kCapture;
  ++facts.length;
  facts.legal += legal;
  ++facts.types[static_cast<size_t>(type)];
}

// Returns how the values ran towards the winner, which `result` names (1 Red,
// -1 Blue); none without values.
std::optional<GameDrama> DramaOf(const std::vector<float>& red_values,
                                 int result) {
  if (result == 0) return std::nullopt;
  GameDrama drama;
  int leader = 0;  // 1 the winner, -1 the loser, 0 none yet
  // Since when the winner has been ahead; -1: it is not.
  int ahead_since = -1;
  bool judged = false;
  for (size_t ply = 0; ply < red_values.size(); ++ply) {
    const float value = result > 0 ? red_values[ply] : -red_values[ply];
    if (std::isnan(value)) continue;
    judged = true;
    drama.lowest_score = std::min(drama.lowest_score, (1 + value) / 2.0);
    const int ahead = value > kAhead ? 1 : (value < -kAhead ? -1 : 0);
    if (ahead * leader < 0) ++drama.lead_changes;
    if (ahead != 0) leader = ahead;
    if (ahead <= 0) ahead_since = -1;
    if (ahead > 0 && ahead_since < 0) ahead_since = static_cast<int>(ply);
  }
  if (!judged) return std::nullopt;
  drama.decided_ply =
      ahead_since >= 0 ? ahead_since : static_cast<int>(red_values.size());
  return drama;
}

}  // namespace

absl::StatusOr<GameFacts> FactsOf(const proto::GameRecord& game) {
  TARA_ASSIGN_OR_RETURN(const record::ReplayedGame replayed,
                        record::Replay(game));
  if (!replayed.finished()) {
    return absl::InvalidArgumentError(
        absl::StrCat("game ", game.game_index(), " was not played to its end"));
  }
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  GameFacts facts = {.place = game.place(),
                     .actions = record::ActionsOf(game),
                     .same_game = record::SameGameKey(game)};
  std::vector<float> red_values;
  for (int ply = 0; ply < game.steps_size(); ++ply) {
    const proto::Step& step = game.steps(ply);
    const State& state = replayed.states[ply];
    const State& next = replayed.states[ply + 1];
    Note(state, facts.actions[ply], facts);
    const float sign = state.side() == kRed ? 1 : -1;
    red_values.push_back(step.has_root_value() ? sign * step.root_value()
                                               : kUnknown);
    // Nobody is skipped before somebody is out: it is the next seat.
    const int seats = Info(state.variant).seats;
    if (seats == 4 && state.ending == Ending::kNone &&
        next.ending == Ending::kOut) {
      facts.first_out = (state.seat + 1) % seats;
    }
  }
  const Outcome& outcome = replayed.outcome;
  facts.red_margin = outcome.margin();
  facts.result = outcome.result();
  facts.ending = outcome.ended_by;
  facts.kings_captured = outcome.kings_captured[0] + outcome.kings_captured[1];
  facts.drama = DramaOf(red_values, facts.result);
  return facts;
}

using Games = absl::Span<const GameFacts>;

std::vector<int> ClustersOf(Games games) {
  std::vector<uint64_t> keys;
  for (const GameFacts& game : games) keys.push_back(game.same_game);
  return MakeClusters(keys);
}

Scores ScoresOf(Games games) {
  const std::vector<int> clusters = ClustersOf(games);
  const std::vector<double> scores =
      ValuesOf(games, [](const GameFacts& game) { return game.score(); });
  return {.games = static_cast<int>(games.size()),
          .distinct = DifferentIn(clusters),
          .effective = EffectiveCount(games.size(), clusters),
          .score = ScoreInterval(scores, clusters),
          .draws = ShareOf(
              games, [](const GameFacts& game) { return game.result == 0; }),
          .margin = BoundedMeanInterval(
              ValuesOf(games,
                       [](const GameFacts& game) { return game.red_margin; }),
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

std::vector<GameFacts> HalfOf(Games games, int half) {
  std::vector<GameFacts> of_half;
  for (const GameFacts& game : games) {
    if (static_cast<int>(game.place % 2) == half) of_half.push_back(game);
  }
  return of_half;
}

std::vector<std::vector<Action>> ActionsByClass(const State& state) {
  std::vector<Symmetry> kept;
  for (const Symmetry& symmetry : GameSymmetries(state.variant)) {
    if (TransformState(symmetry, state) == state) kept.push_back(symmetry);
  }
  std::array<size_t, kNumActions> class_of;
  class_of.fill(kNumActions);
  std::vector<std::vector<Action>> classes;
  LegalActions(state).ForEach([&](Action action) {
    if (class_of[Index(action)] == kNumActions) {
      for (const Symmetry& symmetry : kept) {
        class_of[Index(TransformAction(symmetry, action))] = classes.size();
      }
      classes.emplace_back();
    }
    classes[class_of[Index(action)]].push_back(action);
  });
  return classes;
}

std::vector<Action> LineOf(Variant variant, const GameFacts& game, int plies) {
  const size_t length =
      std::min(static_cast<size_t>(plies), game.actions.size());
  return record::CanonicalLine(variant,
                               absl::MakeConstSpan(game.actions).first(length));
}

Interval EffectiveOpenings(Variant variant, Games games, int plies) {
  std::map<std::vector<Action>, int64_t> lines;
  for (const GameFacts& game : games) ++lines[LineOf(variant, game, plies)];
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

Interval BranchingOf(Games games) {
  const std::vector<int> clusters = ClustersOf(games);
  std::map<int, std::pair<double, double>> sums_by_cluster;
  for (size_t i = 0; i < games.size(); ++i) {
    auto& [legal, actions] = sums_by_cluster[clusters[i]];
    legal += games[i].legal;
    actions += games[i].length;
  }
  RatioSums sums;
  for (const auto& [cluster, of] : sums_by_cluster) {
    sums.Add(of.first, of.second);
  }
  return RatioInterval(sums);
}

}  // namespace tara::eval
