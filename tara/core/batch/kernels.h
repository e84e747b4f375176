#ifndef TARA_CORE_BATCH_KERNELS_H_
#define TARA_CORE_BATCH_KERNELS_H_

// The table of kernels of one instruction set: what kernels_*.cc instantiate.
//
// The form of a family's actions (tara/core/rules/turn.h) says how its games
// are played in lanes: by a class of two static functions.
//
//   // Plays random games from the start position.
//   void PlayAll(const PlayoutRequest& request, PlayoutStatistics& sums);
//   // Plays random games from given positions.
//   void PlayFrom(const PlayoutsFromRequest& request);

#include <cstddef>
#include <utility>

#include "tara/core/batch/avx512_forms.h"
#include "tara/core/batch/hill_games.h"
#include "tara/core/batch/hill_playouts.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/king_games.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/link_games.h"
#include "tara/core/rules/registry.h"
#include "tara/core/rules/turn.h"
#include "tara/core/variant.h"

namespace tara::batch {

template <InstructionSet kSet, typename Rules,
          typename Choices = typename Rules::Choices>
struct Games;

template <InstructionSet kSet, typename Rules>
struct Games<kSet, Rules, rules::HillChoices> : HillGames<kSet, Rules>,
                                                HillPlayouts<kSet, Rules> {};

template <InstructionSet kSet, typename Rules>
struct Games<kSet, Rules, rules::KingChoices> : KingGames<kSet, Rules> {};

template <InstructionSet kSet, typename Rules>
struct Games<kSet, Rules, rules::LinkChoices> : LinkGames<kSet, Rules> {};

template <InstructionSet kSet, size_t... i>
constexpr KernelTable MakeKernelTable(std::index_sequence<i...>) {
  return {.from_start = {&Games<kSet, rules::RulesOf<i>>::PlayAll...},
          .from_positions = {&Games<kSet, rules::RulesOf<i>>::PlayFrom...}};
}

template <InstructionSet kSet>
inline constexpr KernelTable kKernelTable =
    MakeKernelTable<kSet>(std::make_index_sequence<kNumVariants>());

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_KERNELS_H_
