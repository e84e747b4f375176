#include "tara/core/game_batch.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "tara/base/check.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/playout_sums.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/playouts.h"
#include "tara/core/rules.h"

namespace tara {
namespace {

const batch::KernelTable& KernelsFor(
    [[maybe_unused]] InstructionSet instruction_set) {
#if defined(__x86_64__)
  switch (instruction_set) {
    case InstructionSet::kAvx512:
      return batch::Avx512Kernels();
    case InstructionSet::kAvx2:
      return batch::Avx2Kernels();
    case InstructionSet::kPortable:
      break;
  }
#endif
  return batch::PortableKernels();
}

PlayoutStatistics ToStatistics(const batch::PlayoutSums& sums,
                               int compensation_halves) {
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
    statistics.results[1 - ResultOfMargin(margin, compensation_halves)] +=
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

// Not a group: its lowest byte is not a variant.
constexpr uint64_t kDone = ~uint64_t{0};

// The variant and the options of a position as one number.
uint64_t GroupOf(const State& state) {
  static_assert(sizeof(RuleOptions) < sizeof(uint64_t));
  uint64_t group = 0;
  std::memcpy(&group, &state.options, sizeof(RuleOptions));
  return (group << 8) | static_cast<uint64_t>(state.variant);
}

// Returns the place of a position in its group, in the order that the kernels
// need: by seat, or in Stone of Destiny by phase, then by number of ringforts.
int RankOf(const State& state) {
  if (state.variant != Variant::kStoneOfDestiny) return state.seat;
  return state.phase == Phase::kManoeuvres ? kNumHills - Count(state.vacant())
                                           : kNumHills;
}
constexpr int kNumRanks = kNumHills + 1;

// Puts the positions of one group, from `first` on, into `order` by rank, and
// marks them done. Returns how many there are.
int64_t TakeGroup(absl::Span<const State> starts, size_t first,
                  std::vector<uint64_t>& groups, std::vector<int32_t>& order) {
  const uint64_t group = groups[first];
  std::array<int32_t, kNumRanks + 1> places = {};  // of the next of each rank
  for (size_t i = first; i < starts.size(); ++i) {
    if (groups[i] == group) ++places[RankOf(starts[i]) + 1];
  }
  std::partial_sum(places.begin(), places.end(), places.begin());
  for (size_t i = first; i < starts.size(); ++i) {
    if (groups[i] != group) continue;
    order[places[RankOf(starts[i])]++] = static_cast<int32_t>(i);
    groups[i] = kDone;
  }
  return places[kNumRanks - 1];
}

// From how many games on lanes are faster than PlayRandomGamesFromScalar:
// measured at 4, where they are only in some variants, and at 8, where they are
// in all (docs/lab/2026-11-speed.md).
constexpr size_t kLanesPayFrom = 6;

}  // namespace

PlayoutStatistics PlayRandomGames(Variant variant, const RuleOptions& options,
                                  uint64_t seed, int64_t first_game,
                                  int64_t games,
                                  InstructionSet instruction_set) {
  TARA_CHECK(games >= 0, "a negative number of games");
  const State start = InitialState(variant, options);
  if (HasOpeningOptions(start)) {
    return PlayRandomGamesByPublicRules(variant, options, seed, first_game,
                                        games);
  }
  batch::PlayoutSums sums;
  KernelsFor(instruction_set)
      .from_start[static_cast<int>(variant)]({.start = start,
                                              .seed = seed,
                                              .first_game = first_game,
                                              .games = games},
                                             sums);
  return ToStatistics(sums, options.compensation_halves);
}

void PlayRandomGamesFrom(absl::Span<const State> starts,
                         absl::Span<const uint64_t> seeds, int playouts,
                         InstructionSet instruction_set,
                         absl::Span<int8_t> margins) {
  TARA_CHECK(playouts > 0, "no playouts of a position");
  TARA_CHECK(seeds.size() == starts.size() &&
                 margins.size() == starts.size() * playouts,
             "spans of different sizes");
  std::vector<uint64_t> groups;
  groups.reserve(starts.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    TARA_CHECK(!starts[i].finished(), "a playout from a finished game");
    groups.push_back(GroupOf(starts[i]));
    // Lanes know no swap and no limits of the first action: the first two
    // actions of a game.
    if (HasOpeningOptions(starts[i])) {
      PlayRandomGamesFromByPublicRules(starts[i], seeds[i],
                                       margins.subspan(i * playouts, playouts));
      groups.back() = kDone;
    }
  }
  std::vector<int32_t> order(starts.size());
  const batch::KernelTable& kernels = KernelsFor(instruction_set);
  for (size_t first = 0; first < starts.size(); ++first) {
    if (groups[first] == kDone) continue;
    const int64_t count = TakeGroup(starts, first, groups, order);
    kernels.from_positions[static_cast<int>(starts[first].variant)](
        {.starts = starts.data(),
         .seeds = seeds.data(),
         .playouts = playouts,
         .order = order.data(),
         .count = count,
         .margins = margins.data()});
  }
}

void PlayRandomGamesFrom(absl::Span<const State> starts,
                         absl::Span<const uint64_t> seeds, int playouts,
                         absl::Span<int8_t> margins) {
  static const InstructionSet kBest = SupportedInstructionSets().back();
  TARA_CHECK(margins.size() == starts.size() * playouts,
             "spans of different sizes");
  // PlayRandomGamesFromScalar is compiled with PDEP: portable lanes never are
  // faster.
  if (kBest != InstructionSet::kPortable && margins.size() >= kLanesPayFrom) {
    return PlayRandomGamesFrom(starts, seeds, playouts, kBest, margins);
  }
  for (size_t i = 0; i < starts.size(); ++i) {
    PlayRandomGamesFromScalar(starts[i], seeds[i],
                              margins.subspan(i * playouts, playouts));
  }
}

}  // namespace tara
