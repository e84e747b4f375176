#ifndef TARA_CORE_STATE_H_
#define TARA_CORE_STATE_H_

#include <array>
#include <cstdint>
#include <type_traits>

#include "tara/core/board.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"

namespace tara {

// A seat, 0 to 3; seat % 2 is its side (docs/reference/rules.md, opening).
using Seat = int;
constexpr Side SideOf(Seat seat) { return seat & 1; }

enum class Phase : uint8_t {
  kPlacement,  // High Kings: three ringforts with kings each
  kManoeuvres,
  kBattle,
  kLink,  // Stone of Destiny: the swap is made, the link is due
  kFinished,
};

// What ended the game, or (while turns are left) what is going to.
enum class Ending : uint8_t {
  kNone,
  kOut,
  kDoubleCapture,
  kPassed,
  kBoardFull,
  kNoProgress,
};

// A position of any variant: everything that the rest of the game depends on.
// It has no history (not even a ply count), owns nothing, and fits a cache
// line: copying it is copying 64 bytes. Two equal positions compare equal byte
// by byte.
//
// Invariants: the boards of the sides are disjoint; kings stand on ringforts
// (a king on an enemy ringfort is stranded: High Kings Level 2); links are
// used by Stone of Destiny only (elsewhere adjacency is linkage), one bit at
// the western or southern hill of the pair, and join ringforts of one side.
// Unless finished, the seat to move has at least one legal action.
struct State {
  std::array<Board, 2> ringforts;  // by side
  std::array<Board, 2> kings;      // by side
  Board links_east;                // hill and its eastern neighbour are linked
  Board links_north;               // hill and its northern neighbour
  Variant variant;
  Phase phase;
  uint8_t seat;  // to move
  Ending ending;
  uint8_t turns_left;                     // once `ending` is set
  uint8_t no_progress;                    // actions or turns, section 10
  std::array<uint8_t, 2> kings_captured;  // by the capturing side
  RuleOptions options;
  uint32_t padding;  // zero

  Side side() const { return SideOf(seat); }
  Board vacant() const { return kAllHills & ~(ringforts[0] | ringforts[1]); }
  bool finished() const { return phase == Phase::kFinished; }

  friend bool operator==(const State&, const State&) = default;
};

static_assert(sizeof(State) == 64);
static_assert(sizeof(RuleOptions) == 4);
static_assert(std::is_trivially_copyable_v<State>);
static_assert(std::has_unique_object_representations_v<RuleOptions>);

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

#endif  // TARA_CORE_STATE_H_
