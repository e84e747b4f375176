#ifndef TARA_CORE_DRAWING_H_
#define TARA_CORE_DRAWING_H_

#include <array>
#include <string>

#include "absl/strings/string_view.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/state.h"

namespace tara {

inline constexpr absl::string_view kSideNames[] = {"Red", "Blue"};

struct DrawOptions {
  // Draw with Unicode, or with ASCII only for terminals without it.
  bool unicode = true;
  // Colour the sides and the marks with ANSI escape sequences.
  bool colour = false;
  // The actions to mark: their hills, where kings arrive, and links. Pass
  // LegalActions(state) to show what is legal.
  LegalSet highlight = {};
};

// Returns a drawing of the position with coordinates, 15 lines, and below it
// a line saying whose turn it is (DescribeState); each line ends in '\n'.
//
//                  Red      Blue
//   ringfort       o ●      x ○
//   with king      K ♚      Q ♔    followed by '!' if stranded
//   bridge         === ━━━  --- ───
//   marked         [.], dotted bridges
std::string DrawBoard(const State& state, const DrawOptions& options = {});

// Returns, in one or two lines without '\n' at the end, the variant, seat to
// move and phase (or the result), then what each side has.
std::string DescribeState(const State& state);

// Returns the second part of its first line, "Red to move (seat 0), battle.".
std::string DescribeTurn(const State& state);

// Returns what a side has, "Red ringforts: 2, kingdoms: 1".
std::string DescribeSide(const State& state, Side side);

// Returns the bridges of a side as pairs of hills: in the first board by their
// western hill, in the second by their southern.
std::array<Board, 2> BridgesOf(const State& state, Side side);

// Returns "Red", or in doubles "Red South": the seat's side and place.
std::string SeatName(Variant variant, Seat seat);

}  // namespace tara

#endif  // TARA_CORE_DRAWING_H_
