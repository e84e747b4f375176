#ifndef TARA_MCTS_TREE_NODE_H_
#define TARA_MCTS_TREE_NODE_H_

// The parts of a search tree, and how they lie in memory. All values are Red's.
//
//   nodes       32 bytes each, by index
//   +--------------------+-------+-------+--------+-------+-------+--+--+--+
//   | totals:            | mean  | mean  | first  | first |counts |lo|hi|  |
//   | visits 24, sum 40  | square| margin| candid.| edge  |       |  |  |  |
//   +--------------------+-------+-------+--------+-------+-------+--+--+--+
//   0                    8       12      16       20      24      28 29 30
//
//   states      64 bytes each, by the index of the node
//
//   candidates  4 bytes each: the legal actions of a node, side by side
//   +---------+--------+   Those that have an edge come first, in the order of
//   | prior   | action |   the edges; of the others the best one is first.
//   +---------+--------+
//
//   edges       16 bytes each: only of actions that were tried, in chunks of 4,
//               8, 16, 32, 32, ... slots; the last slot of a chunk links to the
//               next chunk, so that an edge never moves
//   +----------+-------+--------+--------+-------+--------+
//   | visits   | value | in     | child  | prior | action |
//   |          |       | flight |        |       |        |
//   +----------+-------+--------+--------+-------+--------+
//   0          4       6        8        12      14
//
//   node.edge -> [e0 e1 e2 ->] [e3 e4 e5 e6 e7 e8 e9 ->] [e10 ...
//
// Values are fixed-point integers in units of kValueUnit, so that the sum of a
// node is exactly that of its parts in any order:
//
//   sum(node) = value of its own evaluation + sum over edges(visits * value)
//   visits(node) = 1 + sum over edges(visits)

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/base/casts.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"

namespace tara::mcts {

inline constexpr uint32_t kNoIndex = 0xffffffff;

// A value 1 is 2^14 units: 1, 0 and -1 are exact, and products with the unit.
inline constexpr int kValueOne = 1 << 14;
inline constexpr float kValueUnit = 1.0f / kValueOne;

// Returns the nearest number of units. REQUIRES: value in [-1, 1].
inline int16_t QuantizeValue(float value) {
  return static_cast<int16_t>(std::lrint(value * kValueOne));
}

// Probabilities as 16 bits: 5 of exponent, 11 of mantissa (and an implied one
// before them), so that 2^-31 to 1 are kept to one part in 4000, in order.
inline constexpr uint32_t kPriorExponentOffset = uint32_t{127 - 31} << 23;

// Values below 2^-31 (also 0) become 2^-31. REQUIRES: prior <= 1.
inline uint16_t EncodePrior(float prior) {
  const float least = 0x1.0p-31f;
  const auto bits = absl::bit_cast<uint32_t>(std::max(prior, least));
  return static_cast<uint16_t>((bits - kPriorExponentOffset + (1 << 11)) >> 12);
}

inline float DecodePrior(uint16_t prior) {
  return absl::bit_cast<float>((uint32_t{prior} << 12) + kPriorExponentOffset);
}

// An action that may be tried. In falling order of candidates: the higher
// prior first, then the lower action.
struct Candidate {
  uint32_t key;

  Candidate() = default;
  Candidate(uint16_t prior, Action action)
      : key(uint32_t{prior} << 16 |
            (0xffff - static_cast<uint32_t>(Index(action)))) {}

  uint16_t prior() const { return static_cast<uint16_t>(key >> 16); }
  Action action() const { return static_cast<Action>(0xffff - (key & 0xffff)); }
};
static_assert(sizeof(Candidate) == 4);

// The counts of an edge that change with each visit.
struct alignas(8) EdgeCounts {
  uint32_t visits = 0;
  int16_t value = 0;       // of the child, as the sum of the parent has it
  uint16_t in_flight = 0;  // leaves on their way through the edge
};

struct TreeEdge {
  EdgeCounts counts;
  uint32_t child = kNoIndex;  // of a link: the first slot of the next chunk
  uint16_t prior = 0;         // encoded; at the root with noise
  uint16_t action_index = 0;

  Action action() const { return static_cast<Action>(action_index); }
};
static_assert(sizeof(TreeEdge) == 16);

// Visits of a node and the sum of its values.
struct NodeTotals {
  uint32_t visits = 0;
  int64_t sum = 0;

  // Returns the mean in units, rounded. REQUIRES: visits > 0.
  int MeanUnits() const {
    return static_cast<int>(
        std::lrint(static_cast<double>(sum) / static_cast<double>(visits)));
  }
  float Mean() const {
    return visits == 0 ? 0
                       : static_cast<float>(sum) / static_cast<float>(visits) *
                             kValueUnit;
  }
};

// NodeTotals in one word: one addition changes both. A search stops when the
// root has kMaxVisits, so no node gets more (in a graph, a node with more
// visits than the root gets none until the root has caught up).
inline constexpr int kSumBits = 40;
inline constexpr uint32_t kMaxVisits = (uint32_t{1} << (64 - kSumBits)) - 1;
constexpr uint64_t PackTotals(uint32_t visits, int64_t sum) {
  return (uint64_t{visits} << kSumBits) + static_cast<uint64_t>(sum);
}
constexpr NodeTotals UnpackTotals(uint64_t word) {
  const int64_t sum =
      static_cast<int64_t>(word << (64 - kSumBits)) >> (64 - kSumBits);
  return {.visits = static_cast<uint32_t>((word - static_cast<uint64_t>(sum)) >>
                                          kSumBits),
          .sum = sum};
}

// Means over the simulations of a node: for reports and variance.
struct alignas(8) NodeMeans {
  float square = 0;  // of the utility
  float margin = 0;  // Red's points minus Blue's
};

// Proved bounds of the final margin (Red's points minus Blue's), given best
// play: low <= margin <= high.
struct alignas(2) MarginBounds {
  int8_t low = -kMaxMargin;
  int8_t high = kMaxMargin;

  friend bool operator==(const MarginBounds&, const MarginBounds&) = default;
};

enum class NodeStatus : uint8_t {
  kNew,       // not evaluated
  kInFlight,  // a leaf: its evaluation is under way
  kExpanded,  // evaluated; has candidates
  kTerminal,  // a finished game, or solved: its bounds are one margin
};

struct TreeNode {
  uint64_t totals = 0;  // PackTotals
  NodeMeans means;
  uint32_t candidates = kNoIndex;  // the first
  uint32_t edges = kNoIndex;       // the first slot of the first chunk
  uint32_t num_candidates : 10 = 0;
  uint32_t num_edges : 10 = 0;
  NodeStatus status : 2 = NodeStatus::kNew;
  bool settled : 1 = false;  // its bounds settle its utility
  // Something is proved of a child: selection has to look at bounds.
  bool bounds_below : 1 = false;
  uint32_t side : 1 = kRed;  // to move
  MarginBounds bounds;
  uint16_t next_prior = 0;  // of the best candidate without an edge, encoded
};
static_assert(sizeof(TreeNode) == 32);
static_assert(kNumActions < 1 << 10);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_NODE_H_
