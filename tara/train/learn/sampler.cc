#include "tara/train/learn/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"

namespace tara::train {

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

// Returns the first entry of rising sums that exceeds a number drawn uniformly
// below the last of them. REQUIRES: the last sum is positive.
template <typename Number>
size_t Draw(const std::vector<Number>& sums, Random& random) {
  const auto drawn =
      static_cast<Number>(random.Uniform() * static_cast<double>(sums.back()));
  const auto found = std::upper_bound(sums.begin(), sums.end(), drawn);
  if (found != sums.end()) return found - sums.begin();
  // Rounding: the last one with a weight.
  return std::lower_bound(sums.begin(), sums.end(), sums.back()) - sums.begin();
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

int64_t Sampler::Positions::positions() const {
  int64_t count = 0;
  for (const Pool& pool : pools) {
    count += static_cast<int64_t>(pool.places.size());
  }
  return count;
}

void Sampler::Positions::Add(const SampledGame& game, uint32_t place,
                             bool weighted) {
  Pool& pool = pools[static_cast<int>(game.variant)];
  const size_t before = pool.places.size();
  for (size_t ply = 0; ply < game.positions.size(); ++ply) {
    const SampledGame::Position& position = game.positions[ply];
    const int weight = weighted ? position.weight : SampledGame::kWeightOne;
    if (!position.is_taught || weight == 0) continue;
    const uint64_t last =
        pool.last_weights.empty() ? 0 : pool.last_weights.back();
    pool.places.push_back({.game = place, .ply = static_cast<uint32_t>(ply)});
    pool.last_weights.push_back(last + static_cast<uint64_t>(weight));
  }
  const bool has_any = pool.places.size() > before;
  pool.games += has_any ? 1 : 0;
  games += has_any ? 1 : 0;
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
    absl::StatusOr<SampledGame> game = UnpackGame(record, options_.targets);
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
  if (!games_.empty() && learned_.games == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the window has ", games_.size(),
                     " games, but none to learn from (", held_out_.games,
                     " are held out); expected a larger window or a smaller "
                     "held_out_share"));
  }
  return absl::OkStatus();
}

void Sampler::FillPools() {
  learned_ = {};
  held_out_ = {};
  for (size_t i = 0; i < games_.size(); ++i) {
    const bool held_out =
        IsHeldOut(options_.held_out_share, run_seed_, games_[i].game_index);
    // The measurement ignores the surprise of a position.
    (held_out ? held_out_ : learned_)
        .Add(games_[i], static_cast<uint32_t>(i), /*weighted=*/!held_out);
  }
  last_shares_.clear();
  double sum = 0;
  for (const Pool& pool : learned_.pools) {
    if (pool.games > 0) {
      sum += std::pow(static_cast<double>(pool.games),
                      1 - options_.variant_balance);
    }
    last_shares_.push_back(sum);
  }
}

int64_t Sampler::PositionsFrom(uint64_t begin_index) const {
  int64_t count = 0;
  for (const Pool& pool : learned_.pools) {
    // Places are by increasing game.
    const auto first = std::partition_point(
        pool.places.begin(), pool.places.end(), [&](const Place& place) {
          return games_[place.game].game_index < begin_index;
        });
    count += pool.places.end() - first;
  }
  return count;
}

std::vector<Variant> Sampler::HeldOutVariants() const {
  std::vector<Variant> variants;
  for (const VariantInfo& info : kVariants) {
    if (HeldOutPositions(info.variant) > 0) variants.push_back(info.variant);
  }
  return variants;
}

int64_t Sampler::HeldOutPositions(Variant variant) const {
  return static_cast<int64_t>(
      held_out_.pools[static_cast<int>(variant)].places.size());
}

std::vector<nn::Sample> Sampler::HeldOutSamples(Variant variant,
                                                int size) const {
  const std::vector<Place>& places =
      held_out_.pools[static_cast<int>(variant)].places;
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
  TARA_CHECK(learned_.games > 0, "a batch from an empty window");
  Random random(DeriveSeed(run_seed_, static_cast<uint64_t>(step),
                           StreamPurpose::kSampling));
  std::vector<nn::Sample> batch;
  batch.reserve(size);
  for (int i = 0; i < size; ++i) {
    const Pool& pool = learned_.pools[Draw(last_shares_, random)];
    batch.push_back(
        SampleAt(pool.places[Draw(pool.last_weights, random)], &random));
  }
  return batch;
}

}  // namespace tara::train
