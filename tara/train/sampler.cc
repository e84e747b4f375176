#include "tara/train/sampler.h"

#include <algorithm>
#include <utility>

#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/record/game_record.h"

namespace tara {
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

}  // namespace

absl::StatusOr<SampledGame> UnpackGame(const proto::GameRecord& record) {
  TARA_ASSIGN_OR_RETURN(const ReplayedGame replayed, Replay(record));
  SampledGame game{
      .game_index = record.game_index(), .positions = {}, .targets = {}};
  game.positions.reserve(record.steps_size());
  const int red_margin = replayed.outcome.margin();
  for (int ply = 0; ply < record.steps_size(); ++ply) {
    const State& state = replayed.states[ply];
    const int margin = state.side() == kRed ? red_margin : -red_margin;
    const auto first_target = static_cast<uint32_t>(game.targets.size());
    game.positions.push_back(
        {.state = state,
         .first_target = first_target,
         .num_targets = AppendTargets(record.steps(ply), game.targets),
         .result = static_cast<int8_t>((margin > 0) - (margin < 0)),
         .margin = static_cast<int8_t>(margin)});
  }
  game.has_margin = !replayed.resigned_by.has_value();
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

Sample MakeSample(const SampledGame& game, int ply, const Symmetry& symmetry) {
  const SampledGame::Position& position = game.positions[ply];
  Sample sample{.state = position.state,
                .symmetry = symmetry,
                .policy = {},
                .reply = {},
                .result = {},
                .margin = position.margin,
                .has_margin = game.has_margin};
  sample.result[1 - position.result] = 1;  // of win, draw, loss
  const auto begin = game.targets.begin() + position.first_target;
  float total = 0;
  for (auto it = begin; it != begin + position.num_targets; ++it) {
    total += it->weight;
  }
  sample.policy.reserve(position.num_targets);
  for (auto it = begin; it != begin + position.num_targets; ++it) {
    sample.policy.emplace_back(static_cast<Action>(it->action),
                               it->weight / total);
  }
  return sample;
}

Sampler::Sampler(GameStore& store, int window_games, uint64_t run_seed)
    : store_(store), window_games_(window_games), run_seed_(run_seed) {
  TARA_CHECK(window_games > 0, "an empty window");
  for (const VariantInfo& info : kVariants) {
    auto& by_seat = symmetries_[static_cast<int>(info.variant)];
    for (Seat seat = 0; seat < info.seats; ++seat) {
      by_seat[seat] = SymmetriesToSeatZero(info.variant, seat);
    }
  }
}

absl::Status Sampler::MoveWindow(uint64_t end_index) {
  TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> indices,
                        store_.Indices({}));
  const auto end = std::lower_bound(indices.begin(), indices.end(), end_index);
  const auto begin =
      end - std::min<int64_t>(end - indices.begin(), window_games_);
  while (!games_.empty() &&
         (begin == end || games_.front().game_index < *begin)) {
    games_.pop_front();
  }
  for (auto it = begin; it != end; ++it) {
    if (!games_.empty() && *it <= games_.back().game_index) continue;
    TARA_ASSIGN_OR_RETURN(const proto::GameRecord record, store_.Get(*it));
    TARA_ASSIGN_OR_RETURN(SampledGame game, UnpackGame(record));
    games_.push_back(std::move(game));
  }
  last_positions_.clear();
  positions_ = 0;
  for (const SampledGame& game : games_) {
    positions_ += static_cast<int64_t>(game.positions.size());
    last_positions_.push_back(positions_);
  }
  return absl::OkStatus();
}

std::vector<Sample> Sampler::Batch(int64_t step, int size) const {
  TARA_CHECK(positions_ > 0, "a batch from an empty window");
  Random random(DeriveSeed(run_seed_, static_cast<uint64_t>(step),
                           StreamPurpose::kSampling));
  std::vector<Sample> batch;
  batch.reserve(size);
  for (int i = 0; i < size; ++i) {
    const int64_t drawn = random.Below(static_cast<uint32_t>(positions_));
    const auto found =
        std::upper_bound(last_positions_.begin(), last_positions_.end(), drawn);
    const SampledGame& game = games_[found - last_positions_.begin()];
    const int ply = static_cast<int>(
        drawn - (*found - static_cast<int64_t>(game.positions.size())));
    const State& state = game.positions[ply].state;
    const std::vector<Symmetry>& symmetries =
        symmetries_[static_cast<int>(state.variant)][state.seat];
    const uint32_t choice =
        random.Below(static_cast<uint32_t>(symmetries.size()));
    batch.push_back(MakeSample(game, ply, symmetries[choice]));
  }
  return batch;
}

}  // namespace tara
