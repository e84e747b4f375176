#ifndef TARA_NN_ENCODE_POLICY_MAP_H_
#define TARA_NN_ENCODE_POLICY_MAP_H_

// Which output of the policy head stands for which of the 570 actions. The
// head speaks in planes over the 7 x 7 grid, so that an action sits on the
// square that it concerns, and in one number for passing:
//
//   plane  0        hills (build, place, capture, swap)
//   planes 1 ..  8  king moves, by direction, on their origin
//   planes 9 .. 16  the same with sacrifice
//   plane 17        links with the eastern hill, on the western one
//   plane 18        links with the northern hill, on the southern one
//   output 931      pass
//
// Outputs are numbered plane * 49 + 7 * rank + file. Those that stand for no
// action (off the board, or leading there) are never read.

#include <array>
#include <cstdint>

#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {

// Changes when the outputs or the space of actions change meaning.
inline constexpr int kPolicyVersion = 1;

inline constexpr int kNumPolicyPlanes = 19;
inline constexpr int kPassOutput = kNumPolicyPlanes * kNumSquares;
inline constexpr int kNumPolicyOutputs = kPassOutput + 1;

namespace internal {

// Steps of a knight, files and ranks, clockwise from north-north-east.
inline constexpr int kKnightSteps[8][2] = {
    {1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};

constexpr int KnightDirection(Hill from, Hill to) {
  int direction = 0;
  while (FileOf(to) - FileOf(from) != kKnightSteps[direction][0] ||
         RankOf(to) - RankOf(from) != kKnightSteps[direction][1]) {
    ++direction;
  }
  return direction;
}

constexpr int PolicyPlane(const ActionParts& parts) {
  switch (parts.kind) {
    case ActionKind::kKingMove:
      return 1 + KnightDirection(parts.from, parts.to);
    case ActionKind::kSacrifice:
      return 9 + KnightDirection(parts.from, parts.to);
    case ActionKind::kLink:
      return RankOf(parts.from) == RankOf(parts.to) ? 17 : 18;
    default:
      return 0;
  }
}

constexpr std::array<int16_t, kNumActions> MakePolicyOutputs() {
  std::array<int16_t, kNumActions> outputs{};
  for (int index = 0; index < kNumActions; ++index) {
    const ActionParts parts = Parts(static_cast<Action>(index));
    const Hill hill = parts.from >= 0 ? parts.from : parts.to;
    outputs[index] = static_cast<int16_t>(
        parts.kind == ActionKind::kPass
            ? kPassOutput
            : PolicyPlane(parts) * kNumSquares + SquareOf(hill));
  }
  return outputs;
}

inline constexpr auto kPolicyOutputs = MakePolicyOutputs();

}  // namespace internal

// Returns the output that stands for the action, 0 .. kNumPolicyOutputs - 1.
constexpr int PolicyOutput(Action action) {
  return internal::kPolicyOutputs[Index(action)];
}

}  // namespace tara::nn

#endif  // TARA_NN_ENCODE_POLICY_MAP_H_
