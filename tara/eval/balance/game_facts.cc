#include "tara/eval/balance/game_facts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/record/different_games.h"
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

}  // namespace tara::eval
