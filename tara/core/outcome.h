#ifndef TARA_CORE_OUTCOME_H_
#define TARA_CORE_OUTCOME_H_

#include <array>

#include "absl/strings/string_view.h"
#include "tara/core/board.h"
#include "tara/core/state.h"

namespace tara {

// A supply of bridges: more adjacent pairs than this count as this many.
inline constexpr int kMaxBridges = 40;

// No margin is larger: points are at most 2 for the lead plus 45 for as many
// ringforts (docs/rules.md sections 2, 6 and 7).
inline constexpr int kMaxMargin = 47;

// Margins there are, from -kMaxMargin to kMaxMargin: margin m has index
// m + kMaxMargin in tables over them.
inline constexpr int kNumMargins = 2 * kMaxMargin + 1;

// How a game stands when it ends. Arrays are by side, Red first.
struct Outcome {
  std::array<int, 2> points;
  std::array<int, 2> kingdoms;
  std::array<int, 2> territory;
  std::array<int, 2> bridges;
  std::array<int, 2> kings_captured;  // enemy kings, by the capturing side
  Ending ended_by;

  // Points of Red minus points of Blue.
  int margin() const { return points[kRed] - points[kBlue]; }
  // Returns the side with more points, or -1 for a draw.
  int winner() const {
    return margin() == 0 ? -1 : (margin() > 0 ? kRed : kBlue);
  }

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Scores the position as if the game ended as it stands (docs/rules.md
// sections 2, 6, 7). Of a finished game this is its result.
Outcome Score(const State& state);

// The same where the kingdoms of the sides are counted already.
Outcome Score(const State& state, int red_kingdoms, int blue_kingdoms);

// Counts the kingdoms of a side: connected components, by adjacency, or in
// Stone of Destiny by links.
int CountKingdoms(const State& state, Side side);

// Returns "out", "double_capture", "passed", "board_full", "no_progress", or
// "-" for Ending::kNone.
absl::string_view EndingName(Ending ending);

// Returns "placement", "manoeuvres", "battle", "link" or "finished".
absl::string_view PhaseName(Phase phase);

}  // namespace tara

#endif  // TARA_CORE_OUTCOME_H_
