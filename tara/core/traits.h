#ifndef TARA_CORE_TRAITS_H_
#define TARA_CORE_TRAITS_H_

#include <array>

#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

constexpr unsigned Bit(Phase phase) { return 1u << static_cast<int>(phase); }
constexpr unsigned Bit(Ending ending) { return 1u << static_cast<int>(ending); }

// Properties of a family of rules for code outside of the rules: validation,
// drawings, symmetries, the network's input. They are kTraits in the struct of
// the family (tara/core/rules).
struct FamilyTraits {
  unsigned phases;               // that occur, as bits
  unsigned endings;              // the same
  unsigned pending_endings = 0;  // those with turns left to play
  int kings_per_side = 0;
  // Kings move from hill to hill, and capture each other.
  bool kings_move = false;
  // Links, made one by one, connect ringforts (in other variants adjacency
  // does); ringforts are swapped, not captured.
  bool has_links = false;
  // More bridges count before territory (else fewer kingdoms do).
  bool bridges_first = false;
  // Red's rows are files and Blue's are ranks: what exchanges files and ranks
  // exchanges the sides.
  bool rows_by_side = false;
};

// By variant.
extern const std::array<FamilyTraits, kNumVariants> kTraits;

inline const FamilyTraits& TraitsOf(Variant variant) {
  return kTraits[static_cast<size_t>(variant)];
}

}  // namespace tara

#endif  // TARA_CORE_TRAITS_H_
