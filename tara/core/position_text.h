#ifndef TARA_CORE_POSITION_TEXT_H_
#define TARA_CORE_POSITION_TEXT_H_

// Positions as one line of text: nine fields separated by single spaces.
//
//   sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - -
//
//   1 variant      its identifier
//   2 board        ranks 7 to 1 separated by '/', hills west to east (B to F
//                  on ranks 7 and 1): r, b ringforts of Red, of Blue; R, B the
//                  same with their own side's king; S Red's king stranded on a
//                  Blue ringfort; T Blue's king stranded on a Red ringfort;
//                  1 to 7 that many vacant hills in a row
//   3 seat         to move, 0 to 3; - if finished
//   4 phase        placement, manoeuvres, battle, link or finished
//   5 links        of Stone of Destiny, D4=E4,D4=D5 in canonical order; or -
//   6 captured     kings that Red and Blue have captured, 0,1
//   7 no progress  actions or turns without progress
//   8 ending       what ends the game and the turns left, out:2; or -
//   9 options      rule options that differ from their defaults, name=value
//                  separated by commas in the order of kRuleOptions; or -

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/core/state.h"

namespace tara {

std::string PositionToText(const State& state);

// Returns the position of a text: the inverse of PositionToText. What parses
// prints identically. The position is valid (ValidatePosition) but need not be
// reachable.
//
// Returns INVALID_ARGUMENT, naming the field, its text and what was expected,
// or what is impossible about the position.
absl::StatusOr<State> ParsePosition(absl::string_view text);

// Returns the position of a text as a person sets it up: any of the fields
// after the third may be '?', or be missing at the end. They are then what
// follows from the board:
//
//   phase        the first of the variant's phases that is possible; not
//                manoeuvres where adjacent ringforts of one side show that
//                Battle has begun
//   links        none
//   captured     in High Kings the king that the board lacks, else 0
//   no progress  0
//   ending       board_full:1 on a full board of High Kings, else none
//   options      their defaults
//
// Errors as ParsePosition; where no phase is possible, of the one that the
// number of ringforts suggests.
absl::StatusOr<State> CompletePosition(absl::string_view text);

}  // namespace tara

#endif  // TARA_CORE_POSITION_TEXT_H_
