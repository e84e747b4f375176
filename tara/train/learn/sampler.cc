#include "tara/train/learn/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"

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
                                       const ValueTargetOptions& options) {
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
      ValueTargets(record, replayed, options);
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
         .margin = static_cast<int8_t>(margin),
         .has_margin = is_exact || finished,
         .is_taught = record::IsChosenBySearch(record, ply)});
  }
  SetReplies(game.positions);
  MarkTransposed(record, game.positions);
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

int64_t WindowGames(const WindowOptions& options, int64_t games) {
  TARA_CHECK(options.max_games > 0, "an empty window");
  if (options.growth <= 0) return options.max_games;
  TARA_CHECK(options.min_games > 0, "an empty window");
  const double least = options.min_games;
  const double grown =
      std::pow(std::max(1.0, static_cast<double>(games) / least),
               options.growth) -
      1;
  const double window =
      least * (1 + options.growth_rate * grown / options.growth);
  return static_cast<int64_t>(std::min<double>(window, options.max_games));
}

bool IsHeldOut(double share, uint64_t run_seed, uint64_t game_index) {
  Random random(DeriveSeed(run_seed, game_index, StreamPurpose::kHeldOut));
  return random.Uniform() < share;
}

namespace {

// Returns a whole number below `end`, uniformly.
uint64_t Draw(uint64_t end, Random& random) {
  return static_cast<uint64_t>(random.Uniform() * static_cast<double>(end));
}

}  // namespace

Sampler::Sampler(record::GameStore& store, const SamplerOptions& options,
                 uint64_t run_seed)
    : store_(store), options_(options), run_seed_(run_seed) {
  for (const VariantInfo& info : kVariants) {
    auto& by_seat = symmetries_[static_cast<int>(info.variant)];
    for (Seat seat = 0; seat < info.seats; ++seat) {
      by_seat[seat] = SymmetriesToSeatZero(info.variant, seat);
    }
  }
}

int64_t Sampler::Pools::count() const {
  return std::accumulate(games.begin(), games.end(), int64_t{0});
}

int64_t Sampler::positions() const {
  int64_t count = 0;
  for (const auto& places : learned_.places) {
    count += static_cast<int64_t>(places.size());
  }
  return count;
}

absl::Status Sampler::MoveWindow(uint64_t end_index) {
  TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> indices,
                        store_.Indices({}));
  const int64_t window =
      WindowGames(options_.window, static_cast<int64_t>(end_index));
  const auto end = std::lower_bound(indices.begin(), indices.end(), end_index);
  const auto begin = end - std::min<int64_t>(end - indices.begin(), window);
  // All new data is read before any change, so an error changes nothing. Games
  // arrive out of order: longer ones come later.
  std::deque<SampledGame> added;
  auto kept = games_.begin();
  for (auto it = begin; it != end; ++it) {
    while (kept != games_.end() && kept->game_index < *it) ++kept;
    if (kept != games_.end() && kept->game_index == *it) continue;
    TARA_ASSIGN_OR_RETURN(const proto::GameRecord record,
                          store_.GetListed(*it));
    absl::StatusOr<SampledGame> game = UnpackGame(record, options_.value);
    if (!game.ok()) {
      return absl::DataLossError(
          absl::StrCat("game ", *it, ": ", game.status().message()));
    }
    added.push_back(*std::move(game));
  }
  std::deque<SampledGame> before = std::exchange(games_, {});
  std::erase_if(before, [&](const SampledGame& game) {
    return begin == end || game.game_index < *begin ||
           game.game_index > *(end - 1);
  });
  std::merge(std::make_move_iterator(before.begin()),
             std::make_move_iterator(before.end()),
             std::make_move_iterator(added.begin()),
             std::make_move_iterator(added.end()), std::back_inserter(games_),
             [](const SampledGame& a, const SampledGame& b) {
               return a.game_index < b.game_index;
             });
  FillPools();
  if (!games_.empty() && games() == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the window has ", games_.size(),
                     " games, but none to learn from (", held_out_games(),
                     " are held out); expected a larger window or a smaller "
                     "held_out_share"));
  }
  return absl::OkStatus();
}

void Sampler::FillPools() {
  learned_ = {};
  held_out_ = {};
  for (size_t i = 0; i < games_.size(); ++i) {
    const SampledGame& game = games_[i];
    Pools& pools =
        IsHeldOut(options_.held_out_share, run_seed_, game.game_index)
            ? held_out_
            : learned_;
    const auto variant = static_cast<size_t>(game.variant);
    std::vector<Place>& places = pools.places[variant];
    const size_t before = places.size();
    for (size_t ply = 0; ply < game.positions.size(); ++ply) {
      if (!game.positions[ply].is_taught) continue;
      places.push_back({.game = static_cast<uint32_t>(i),
                        .ply = static_cast<uint32_t>(ply)});
    }
    pools.games[variant] += places.size() > before ? 1 : 0;
  }
}

std::vector<nn::Sample> Sampler::HeldOutSamples(Variant variant,
                                                int size) const {
  const std::vector<Place>& places =
      held_out_.places[static_cast<size_t>(variant)];
  const size_t count = std::min(places.size(), static_cast<size_t>(size));
  std::vector<nn::Sample> samples;
  samples.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    samples.push_back(SampleAt(places[i * places.size() / count], nullptr));
  }
  return samples;
}

// Without a stream, the first symmetry is taken.
nn::Sample Sampler::SampleAt(const Place& place, Random* random) const {
  const SampledGame& game = games_[place.game];
  const State& state = game.positions[place.ply].state;
  const std::vector<Symmetry>& symmetries =
      symmetries_[static_cast<int>(state.variant)][state.seat];
  const uint32_t choice =
      random == nullptr
          ? 0
          : random->Below(static_cast<uint32_t>(symmetries.size()));
  return MakeSample(game, static_cast<int>(place.ply), symmetries[choice]);
}

std::vector<nn::Sample> Sampler::Batch(int64_t step, int size) const {
  TARA_CHECK(games() > 0, "a batch from an empty window");
  Random random(DeriveSeed(run_seed_, static_cast<uint64_t>(step),
                           StreamPurpose::kSampling));
  std::vector<nn::Sample> batch;
  batch.reserve(size);
  for (int i = 0; i < size; ++i) {
    // A game, and with it a variant.
    uint64_t game = Draw(static_cast<uint64_t>(games()), random);
    size_t variant = 0;
    while (game >= static_cast<uint64_t>(learned_.games[variant])) {
      game -= static_cast<uint64_t>(learned_.games[variant++]);
    }
    const std::vector<Place>& places = learned_.places[variant];
    batch.push_back(SampleAt(places[Draw(places.size(), random)], &random));
  }
  return batch;
}

}  // namespace tara::train
