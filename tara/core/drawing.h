#ifndef TARA_CORE_DRAWING_H_
#define TARA_CORE_DRAWING_H_

#include <string>

#include "tara/core/action.h"
#include "tara/core/state.h"

namespace tara {

struct DrawOptions {
  // Draw with Unicode; otherwise with ASCII alone. For terminals without it.
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

// Returns "Red", or in doubles "Red South": the seat's side and place.
std::string SeatName(Variant variant, Seat seat);

}  // namespace tara

#endif  // TARA_CORE_DRAWING_H_
