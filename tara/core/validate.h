#ifndef TARA_CORE_VALIDATE_H_
#define TARA_CORE_VALIDATE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

// Returns OK if the rules can go on from the position: it keeps the invariants
// of State, has the kings, phase, links and counters that its variant can have
// then, and is settled (the seat to move has a legal action). It need not be
// reachable; a position with colours and seats exchanged
// (docs/reference/rules.md section 11) is as good as the original.
//
// Returns INVALID_ARGUMENT, saying what is impossible, where, and what was
// expected, otherwise.
absl::Status ValidatePosition(const State& state);

}  // namespace tara

namespace tara::internal {

// Private to validate: what one family of rules asks of a position.

constexpr unsigned Bit(Phase phase) { return 1u << static_cast<int>(phase); }
constexpr unsigned Bit(Ending ending) { return 1u << static_cast<int>(ending); }

// What a family of rules knows.
struct FamilyTraits {
  unsigned phases;
  unsigned endings;
  unsigned pending_endings;  // those with turns left to play
  int kings_per_side;
};

inline constexpr unsigned kTwoPhases =
    Bit(Phase::kManoeuvres) | Bit(Phase::kBattle) | Bit(Phase::kFinished);

inline constexpr FamilyTraits kSacredHillTraits = {
    kTwoPhases, Bit(Ending::kOut), Bit(Ending::kOut), 0};
inline constexpr FamilyTraits kFourTreasuresTraits = {
    Bit(Phase::kBattle) | Bit(Phase::kFinished), Bit(Ending::kOut),
    Bit(Ending::kOut), 0};
inline constexpr FamilyTraits kHighKingsTraits = {
    kTwoPhases | Bit(Phase::kPlacement),
    Bit(Ending::kDoubleCapture) | Bit(Ending::kPassed) |
        Bit(Ending::kBoardFull) | Bit(Ending::kNoProgress),
    Bit(Ending::kPassed) | Bit(Ending::kBoardFull), 3};
inline constexpr FamilyTraits kStoneOfDestinyTraits = {
    kTwoPhases | Bit(Phase::kLink),
    Bit(Ending::kOut) | Bit(Ending::kNoProgress), 0, 1};

// By Family.
inline constexpr FamilyTraits kFamilies[] = {
    kSacredHillTraits, kFourTreasuresTraits, kHighKingsTraits,
    /*Poisoned Chalice*/ kSacredHillTraits, kStoneOfDestinyTraits};

inline const FamilyTraits& TraitsOf(const State& state) {
  return kFamilies[static_cast<int>(Info(state.variant).family)];
}

inline bool IsFamily(const State& state, Family family) {
  return Info(state.variant).family == family;
}

template <typename... Parts>
absl::Status Impossible(const State& state, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(
      "impossible ", Info(state.variant).id, " position: ", parts...));
}

inline std::string FirstHillText(Board board) {
  return HillToText(FirstHill(board));
}

// Checks the kings and what else is particular to the position's family.
// REQUIRES: fields, boards, ending and counters have been checked.
absl::Status ValidateFamily(const State& state);

}  // namespace tara::internal

#endif  // TARA_CORE_VALIDATE_H_
