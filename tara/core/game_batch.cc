#include "tara/core/game_batch.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "tara/base/check.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/playout_sums.h"
#include "tara/core/board.h"
#include "tara/core/playouts_from.h"
#include "tara/core/rules.h"

namespace tara {
namespace {

const batch::KernelTable& KernelsFor(InstructionSet instruction_set) {
  switch (instruction_set) {
    case InstructionSet::kAvx512:
      return batch::Avx512Kernels();
    case InstructionSet::kAvx2:
      return batch::Avx2Kernels();
    case InstructionSet::kPortable:
      break;
  }
  return batch::PortableKernels();
}

PlayoutStatistics ToStatistics(const batch::PlayoutSums& sums) {
  PlayoutStatistics statistics;
  statistics.games = sums.games;
  statistics.plies = sums.plies;
  statistics.length_squares = sums.length_squares;
  statistics.max_length = sums.max_length;
  std::copy(std::begin(sums.lengths), std::end(sums.lengths),
            statistics.lengths.begin());
  statistics.legal_actions = sums.legal_actions;
  statistics.legal_squares = sums.legal_squares;
  statistics.legal_times_length = sums.legal_times_length;
  std::copy(std::begin(sums.margins), std::end(sums.margins),
            statistics.margins.begin());
  for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
    statistics.results[margin > 0 ? 0 : (margin == 0 ? 1 : 2)] +=
        sums.margins[margin + kMaxMargin];
  }
  std::copy(std::begin(sums.endings), std::end(sums.endings),
            statistics.endings.begin());
  statistics.captures = sums.captures;
  statistics.kings_captured = sums.kings_captured;
  std::copy(std::begin(sums.phase_plies), std::end(sums.phase_plies),
            statistics.phase_plies.begin());
  return statistics;
}

// Where a position comes in the order that the kernels take: groups of one
// variant and one set of options; in them by seat, or in Stone of Destiny by
// phase, then by number of ringforts.
struct Place {
  uint64_t group;
  int within;
  int32_t index;

  friend auto operator<=>(const Place&, const Place&) = default;
};

Place PlaceOf(const State& state, int32_t index) {
  static_assert(sizeof(RuleOptions) < sizeof(uint64_t));
  uint64_t group = 0;
  std::memcpy(&group, &state.options, sizeof(RuleOptions));
  group = (group << 8) | static_cast<uint64_t>(state.variant);
  int within = state.seat;
  if (state.variant == Variant::kStoneOfDestiny) {
    within = state.phase == Phase::kManoeuvres ? -Count(state.vacant()) : 0;
  }
  return {group, within, index};
}

// From how many games on lanes are faster than the scalar core
// (docs/performance.md), which is compiled with PDEP: the portable lanes never
// are.
int64_t LanesPayFrom(InstructionSet instruction_set) {
  switch (instruction_set) {
    case InstructionSet::kAvx512:
      return 4;
    case InstructionSet::kAvx2:
      return 8;
    case InstructionSet::kPortable:
      break;
  }
  return std::numeric_limits<int64_t>::max();
}

}  // namespace

PlayoutStatistics PlayRandomGames(Variant variant, const RuleOptions& options,
                                  uint64_t seed, int64_t first_game,
                                  int64_t games,
                                  InstructionSet instruction_set) {
  TARA_CHECK(games >= 0, "a negative number of games");
  batch::PlayoutSums sums;
  KernelsFor(instruction_set)
      .from_start[static_cast<int>(variant)](
          {.start = InitialState(variant, options),
           .seed = seed,
           .first_game = first_game,
           .games = games},
          sums);
  return ToStatistics(sums);
}

void PlayRandomGamesFrom(absl::Span<const State> starts,
                         absl::Span<const uint64_t> seeds, int playouts,
                         InstructionSet instruction_set,
                         absl::Span<int8_t> margins) {
  TARA_CHECK(playouts > 0, "no playouts of a position");
  TARA_CHECK(seeds.size() == starts.size() &&
                 margins.size() == starts.size() * playouts,
             "spans of different sizes");
  std::vector<Place> places;
  places.reserve(starts.size());
  for (const State& start : starts) {
    TARA_CHECK(!start.finished(), "a playout from a finished game");
    places.push_back(PlaceOf(start, static_cast<int32_t>(places.size())));
  }
  std::sort(places.begin(), places.end());
  std::vector<int32_t> order;
  order.reserve(places.size());
  for (const Place& place : places) order.push_back(place.index);

  const batch::KernelTable& kernels = KernelsFor(instruction_set);
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && places[end].group == places[begin].group) {
      ++end;
    }
    const Variant variant = starts[order[begin]].variant;
    kernels.from_positions[static_cast<int>(variant)](
        {.starts = starts.data(),
         .seeds = seeds.data(),
         .playouts = playouts,
         .order = order.data() + begin,
         .count = static_cast<int64_t>(end - begin),
         .margins = margins.data()});
  }
}

void PlayRandomGamesFrom(absl::Span<const State> starts,
                         absl::Span<const uint64_t> seeds, int playouts,
                         absl::Span<int8_t> margins) {
  static const InstructionSet kBest = SupportedInstructionSets().back();
  TARA_CHECK(margins.size() == starts.size() * playouts,
             "spans of different sizes");
  if (static_cast<int64_t>(margins.size()) >= LanesPayFrom(kBest)) {
    return PlayRandomGamesFrom(starts, seeds, playouts, kBest, margins);
  }
  for (size_t i = 0; i < starts.size(); ++i) {
    PlayRandomGamesFromScalar(starts[i], seeds[i],
                              margins.subspan(i * playouts, playouts));
  }
}

}  // namespace tara
