#ifndef TARA_CORE_BATCH_KERNELS_H_
#define TARA_CORE_BATCH_KERNELS_H_

// The table of kernels of one instruction set: what kernels_*.cc instantiate.
//
// A family in lanes is a class of two static functions:
//
//   // Plays random games from the start position.
//   void PlayAll(const PlayoutRequest& request, PlayoutSums& sums);
//   // Plays random games from given positions.
//   void PlayFrom(const PlayoutsFromRequest& request);

#include <cstdint>
#include <utility>

#include "tara/core/batch/four_treasures_lanes.h"
#include "tara/core/batch/high_kings_lanes.h"
#include "tara/core/batch/hill_games.h"
#include "tara/core/batch/hill_playouts.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/poisoned_chalice_lanes.h"
#include "tara/core/batch/sacred_hill_lanes.h"
#include "tara/core/batch/stone_of_destiny_lanes.h"
#include "tara/core/variant.h"

namespace tara::batch {

// The games of hills alone.
template <InstructionSet kSet, typename Rules>
struct HillGamesInLanes {
  static void PlayAll(const PlayoutRequest& request, PlayoutSums& sums) {
    HillGames<kSet, Rules>::PlayAll(request, sums);
  }
  static void PlayFrom(const PlayoutsFromRequest& request) {
    HillPlayouts<kSet, Rules>::PlayFrom(request);
  }
};

template <typename GamesInLanes>
struct Lanes {
  using Games = GamesInLanes;
};

// The lanes of the i-th variant: its family with its parameters.
template <InstructionSet kSet, int i>
constexpr auto LanesAt() {
  constexpr VariantInfo kInfo = kVariants[i];
  if constexpr (kInfo.family == Family::kSacredHill) {
    return Lanes<HillGamesInLanes<
        kSet, SacredHillRules<kSet, kInfo.level, kInfo.seats>>>();
  } else if constexpr (kInfo.family == Family::kFourTreasures) {
    return Lanes<
        HillGamesInLanes<kSet, FourTreasuresRules<kSet, kInfo.seats>>>();
  } else if constexpr (kInfo.family == Family::kPoisonedChalice) {
    return Lanes<HillGamesInLanes<kSet, PoisonedChaliceRules<kSet>>>();
  } else if constexpr (kInfo.family == Family::kHighKings) {
    return Lanes<HighKingsGames<kSet, kInfo.level>>();
  } else {
    static_assert(kInfo.family == Family::kStoneOfDestiny);
    return Lanes<StoneOfDestinyGames<kSet>>();
  }
}

template <InstructionSet kSet, int... i>
constexpr KernelTable MakeKernelTable(std::integer_sequence<int, i...>) {
  return {
      .from_start = {&decltype(LanesAt<kSet, i>())::Games::PlayAll...},
      .from_positions = {&decltype(LanesAt<kSet, i>())::Games::PlayFrom...}};
}

template <InstructionSet kSet>
inline constexpr KernelTable kKernelTable =
    MakeKernelTable<kSet>(std::make_integer_sequence<int, kNumVariants>());

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_KERNELS_H_
