#include "tara/train/learn/sampled_game.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/traits.h"
#include "tara/record/game_record.h"

namespace tara::train {
namespace {

bool WasSearched(const proto::Step& step) {
  return step.simulations() > 0 || step.visits_size() > 0;
}

// A result as a target, for the side that won (1), lost (-1), or neither.
ValueTarget Certain(int result) {
  return {.value = static_cast<float>(result), .draw = result == 0 ? 1.0f : 0};
}

// The target of the other side.
ValueTarget TurnedRound(ValueTarget target) {
  return {.value = -target.value, .draw = target.draw};
}

// Returns (1 - share) * a + share * b.
ValueTarget Mixed(ValueTarget a, ValueTarget b, float share) {
  return {.value = (1 - share) * a.value + share * b.value,
          .draw = (1 - share) * a.draw + share * b.draw};
}

}  // namespace

std::vector<ValueTarget> ValueTargets(const proto::GameRecord& record,
                                      const record::ReplayedGame& game,
                                      const ValueTargetOptions& options) {
  TARA_CHECK(options.horizon >= 1, "a horizon is at least one ply");
  const ValueTarget red_outcome = Certain(game.outcome.result());
  std::vector<ValueTarget> targets(record.steps_size());
  ValueTarget red_later = red_outcome;  // the average from the next ply on
  for (int ply = record.steps_size() - 1; ply >= 0; --ply) {
    const proto::Step& step = record.steps(ply);
    const bool is_red = game.states[ply].side() == kRed;
    const auto for_red = [is_red](ValueTarget target) {
      return is_red ? target : TurnedRound(target);
    };
    ValueTarget red_target;
    if (const std::optional<int> proved =
            record::ProvedResult(step, game.states[ply]);
        proved.has_value()) {
      red_target = red_later = for_red(Certain(*proved));
    } else {
      if (WasSearched(step)) {
        red_later =
            Mixed(red_later, for_red({.value = step.root_value(), .draw = 0}),
                  1 / options.horizon);
      }
      red_target = Mixed(red_outcome, red_later, options.search_share);
    }
    targets[ply] = for_red(red_target);
  }
  return targets;
}

namespace {

constexpr uint32_t kMaxWeight = 65535;

// Appends the policy target of a step, scaled to fit 16 bits: that of its own
// if it has one, else its visits. Returns the number of actions.
uint16_t AppendTargets(const proto::Step& step,
                       std::vector<SampledGame::Target>& targets) {
  const bool own = step.target_action_size() > 0;
  const auto& actions = own ? step.target_action() : step.visited_action();
  const auto& weights = own ? step.target_weight() : step.visits();
  uint32_t most = 0;
  for (const uint32_t weight : weights) most = std::max(most, weight);
  const double scale =
      most > kMaxWeight ? static_cast<double>(kMaxWeight) / most : 1.0;
  for (int i = 0; i < weights.size(); ++i) {
    targets.push_back({static_cast<uint16_t>(actions[i]),
                       static_cast<uint16_t>(weights[i] * scale)});
  }
  return static_cast<uint16_t>(weights.size());
}

// Finds of each position the first one of the opponent's next turn.
void SetReplies(std::vector<SampledGame::Position>& positions) {
  const auto length = static_cast<int>(positions.size());
  int next_turn = length;  // of the other side than that of `ply`
  for (int ply = length - 1; ply >= 0; --ply) {
    if (ply + 1 < length &&
        positions[ply].state.side() != positions[ply + 1].state.side()) {
      next_turn = ply + 1;
    }
    const bool known =
        next_turn < length && positions[next_turn].num_targets > 0;
    positions[ply].reply = static_cast<int16_t>(known ? next_turn : -1);
  }
}

// The pie rule of Poisoned Chalice: what comes after a swap tells of hills and
// actions elsewhere on the board.
void MarkTransposed(const proto::GameRecord& record,
                    std::vector<SampledGame::Position>& positions) {
  for (int swap = 0; swap < static_cast<int>(positions.size()); ++swap) {
    const State& state = positions[swap].state;
    if (!MaySwap(state)) continue;
    if (static_cast<Action>(record.steps(swap).action()) != kPass ||
        !TraitsOf(state.variant).rows_by_side) {
      return;
    }
    for (int ply = 0; ply <= swap; ++ply) {
      positions[ply].is_transposed = true;
      if (positions[ply].reply > swap) positions[ply].reply = -1;
    }
    return;
  }
}

void SetWeights(const proto::GameRecord& record, float surprise_share,
                std::vector<SampledGame::Position>& positions) {
  double total = 0;
  int count = 0;
  for (size_t ply = 0; ply < positions.size(); ++ply) {
    if (!positions[ply].is_taught || positions[ply].num_targets == 0) continue;
    total += record.steps(static_cast<int>(ply)).policy_surprise();
    ++count;
  }
  for (size_t ply = 0; ply < positions.size(); ++ply) {
    SampledGame::Position& position = positions[ply];
    double weight = position.is_taught ? 1 : 0;
    // Where nothing was a surprise, or measured as such, all are alike.
    if (position.is_taught && position.num_targets > 0 && total > 0) {
      const double surprise =
          record.steps(static_cast<int>(ply)).policy_surprise() /
          (total / count);
      weight = 1 - surprise_share + surprise_share * surprise;
    }
    position.weight = static_cast<uint16_t>(std::min<int64_t>(
        std::lround(weight * SampledGame::kWeightOne), kMaxWeight));
  }
}

// The policy target of a position as shares; empty if it has none.
nn::PolicyTarget PolicyOf(const SampledGame& game,
                          const SampledGame::Position& position) {
  nn::PolicyTarget policy;
  const auto begin = game.targets.begin() + position.first_target;
  float total = 0;
  for (auto it = begin; it != begin + position.num_targets; ++it) {
    total += it->weight;
  }
  policy.reserve(position.num_targets);
  for (auto it = begin; it != begin + position.num_targets; ++it) {
    policy.emplace_back(static_cast<Action>(it->action), it->weight / total);
  }
  return policy;
}

}  // namespace

absl::StatusOr<SampledGame> UnpackGame(const proto::GameRecord& record,
                                       const TargetOptions& options) {
  TARA_ASSIGN_OR_RETURN(const record::ReplayedGame replayed,
                        record::Replay(record));
  const bool finished = replayed.finished();
  const State& last = replayed.states.back();
  SampledGame game{.game_index = record.game_index(),
                   .variant = last.variant,
                   .positions = {},
                   .targets = {},
                   .has_final = finished,
                   .final_hills = last.ringforts,
                   .final_kingdoms = replayed.outcome.kingdoms};
  game.positions.reserve(record.steps_size());
  const std::vector<ValueTarget> values =
      ValueTargets(record, replayed, options.value);
  const int red_margin = replayed.outcome.margin();
  for (int ply = 0; ply < record.steps_size(); ++ply) {
    const proto::Step& step = record.steps(ply);
    const State& state = replayed.states[ply];
    const bool is_exact =
        step.has_proved_low() && step.proved_low() == step.proved_high();
    const int margin = is_exact               ? step.proved_low()
                       : state.side() == kRed ? red_margin
                                              : -red_margin;
    const auto first_target = static_cast<uint32_t>(game.targets.size());
    game.positions.push_back(
        {.state = state,
         .value = values[ply],
         .first_target = first_target,
         .num_targets = AppendTargets(step, game.targets),
         .reply = -1,
         .weight = 0,
         .margin = static_cast<int8_t>(margin),
         .has_margin = is_exact || finished,
         .is_taught = record::IsChosenBySearch(record, ply)});
  }
  SetReplies(game.positions);
  MarkTransposed(record, game.positions);
  SetWeights(record, options.policy_surprise, game.positions);
  game.targets.shrink_to_fit();
  return game;
}

std::vector<Symmetry> SymmetriesToSeatZero(Variant variant, Seat seat) {
  const int seats = Info(variant).seats;
  std::vector<Symmetry> symmetries;
  for (const Symmetry& symmetry : PositionSymmetries(variant)) {
    if ((seat + symmetry.seat_shift) % seats == 0) {
      symmetries.push_back(symmetry);
    }
  }
  TARA_CHECK(!symmetries.empty(), "no symmetry takes the seat to seat 0");
  return symmetries;
}

nn::Sample MakeSample(const SampledGame& game, int ply,
                      const Symmetry& symmetry) {
  const SampledGame::Position& position = game.positions[ply];
  const Side own = position.state.side();
  const Side enemy = Opponent(own);
  const auto hills = [&](Side side) {
    return position.is_transposed
               ? TransformBoard(kTranspose, game.final_hills[side])
               : game.final_hills[side];
  };
  return {.state = position.state,
          .symmetry = symmetry,
          .policy = PolicyOf(game, position),
          .reply = position.reply < 0
                       ? nn::PolicyTarget()
                       : PolicyOf(game, game.positions[position.reply]),
          .result = position.value.result(),
          .margin = position.margin,
          .has_margin = position.has_margin,
          .has_final = game.has_final,
          .own_hills = hills(own),
          .enemy_hills = hills(enemy),
          .own_kingdoms = game.final_kingdoms[own],
          .enemy_kingdoms = game.final_kingdoms[enemy]};
}

}  // namespace tara::train
