#include "tara/mcts/time/game_length.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "tara/core/board.h"
#include "tara/core/variant.h"

namespace tara::mcts {
namespace {

// Nearly every vacant hill takes an action; `others` come on top: captures,
// swaps, moves of kings, passes. In Stone of Destiny's Battle a turn of two
// actions links more than one hill that had no link.
struct Length {
  Family family;
  float others;
  float per_unlinked_hill;
};

// From the mean lengths of random games, `tara stats --variant all`.
constexpr std::array kLengths = {
    Length{Family::kSacredHill, 2, 0},
    Length{Family::kFourTreasures, 3.5f, 0},
    Length{Family::kHighKings, 5, 0},
    Length{Family::kPoisonedChalice, 4, 0},
    Length{Family::kStoneOfDestiny, 1, 1.65f},
};

constexpr const Length& LengthOf(Family family) {
  return kLengths[static_cast<size_t>(family)];
}

static_assert(std::all_of(kVariants.begin(), kVariants.end(),
                          [](const VariantInfo& info) {
                            return LengthOf(info.family).family == info.family;
                          }));

}  // namespace

float ExpectedActionsLeft(const State& state) {
  if (state.finished()) return 0;
  const Length& length = LengthOf(Info(state.variant).family);
  const Board linked = state.links_east | East(state.links_east) |
                       state.links_north | North(state.links_north);
  return static_cast<float>(Count(state.vacant())) + length.others +
         length.per_unlinked_hill *
             static_cast<float>(kNumHills - Count(linked));
}

}  // namespace tara::mcts
