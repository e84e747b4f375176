#ifndef TARA_CORE_BATCH_KERNELS_H_
#define TARA_CORE_BATCH_KERNELS_H_

// The table of kernels of one instruction set: what kernels_*.cc instantiate.
//
// A family in lanes is a class template whose objects are a few vectors of
// games that started together:
//
//   template <InstructionSet kSet, ...> struct FamilyLanes {
//     static constexpr int kGames;           games in an object
//     // Plays the games whose lanes there are: the first `games` <= kGames
//     // of the run from `first_game` on; all to their ends.
//     static void Play(const PlayoutRequest& request, int64_t first_game,
//                      int64_t games, PlayoutSums& sums);
//   };
//
// or, where a finished lane goes on at once with the next game, any class with
// `static void PlayAll(const PlayoutRequest&, PlayoutSums&)`.

#include <cstdint>
#include <utility>

#include "tara/core/batch/four_treasures_lanes.h"
#include "tara/core/batch/high_kings_lanes.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/poisoned_chalice_lanes.h"
#include "tara/core/batch/sacred_hill_lanes.h"
#include "tara/core/batch/stone_of_destiny_lanes.h"
#include "tara/core/variant.h"

namespace tara::batch {

template <typename Lanes>
void PlayAll(const PlayoutRequest& request, PlayoutSums& sums) {
  if constexpr (requires { Lanes::PlayAll(request, sums); }) {
    Lanes::PlayAll(request, sums);
  } else {
    for (int64_t done = 0; done < request.games; done += Lanes::kGames) {
      const int64_t left = request.games - done;
      Lanes::Play(request, request.first_game + done,
                  left < Lanes::kGames ? left : Lanes::kGames, sums);
    }
  }
}

// The kernel of the i-th variant: its family with its parameters.
template <InstructionSet kSet, int i>
constexpr PlayoutKernel KernelOf() {
  constexpr VariantInfo kInfo = kVariants[i];
  if constexpr (kInfo.family == Family::kSacredHill) {
    return &PlayAll<SacredHillLanes<kSet, kInfo.level, kInfo.seats>>;
  } else if constexpr (kInfo.family == Family::kFourTreasures) {
    return &PlayAll<FourTreasuresLanes<kSet, kInfo.seats>>;
  } else if constexpr (kInfo.family == Family::kPoisonedChalice) {
    return &PlayAll<PoisonedChaliceLanes<kSet>>;
  } else if constexpr (kInfo.family == Family::kHighKings) {
    return &PlayAll<HighKingsLanes<kSet, kInfo.level>>;
  } else {
    static_assert(kInfo.family == Family::kStoneOfDestiny);
    return &PlayAll<StoneOfDestinyLanes<kSet>>;
  }
}

template <InstructionSet kSet, int... i>
constexpr KernelTable MakeKernelTable(std::integer_sequence<int, i...>) {
  return {{KernelOf<kSet, i>()...}};
}

template <InstructionSet kSet>
inline constexpr KernelTable kKernelTable =
    MakeKernelTable<kSet>(std::make_integer_sequence<int, kNumVariants>());

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_KERNELS_H_
