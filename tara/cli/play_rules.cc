#include "tara/cli/play_rules.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tara/core/board.h"
#include "tara/core/drawing.h"
#include "tara/core/rules.h"
#include "tara/core/rules/view.h"
#include "tara/core/traits.h"

namespace tara::cli {
namespace {

constexpr absl::string_view kSideNames[] = {"Red", "Blue"};

absl::string_view BattleRule(const VariantInfo& info) {
  switch (info.family) {
    case Family::kSacredHill:
      return info.level == 1
                 ? "capture a besieged single ringfort if there is one; else "
                   "build next to a ringfort of yours; else anywhere."
                 : "a vacant hill counts for as many of your ringforts as are "
                   "next to it, a besieged single ringfort for as many as "
                   "besiege it. Act on one that counts most.";
    case Family::kFourTreasures:
      return "capture a besieged single ringfort if there is one; else build "
             "on any vacant hill.";
    case Family::kHighKings:
      return "while one of your kings can reach a vacant hill that is not next "
             "to another of your kings, you must make such a move. Else a king "
             "returns to a ringfort of yours or captures a besieged single "
             "ringfort; you pass if no king on the board can move.";
    case Family::kPoisonedChalice:
      return "build in one of your rows (files for Red, ranks for Blue) that "
             "has an empty hill, at least one enemy ringfort, and at most as "
             "many of your ringforts as of theirs. If there is no such row, "
             "capture a besieged single ringfort; else build anywhere.";
    case Family::kStoneOfDestiny:
      return "swap an enemy ringfort that has no link and no king: it becomes "
             "yours, and your king goes there.";
  }
  return "";
}

absl::string_view ManoeuvresRule(Family family) {
  switch (family) {
    case Family::kSacredHill:
      return "after your first ringfort, build a knight's move away from one "
             "of your ringforts; no ringfort of yours may be closer than that.";
    case Family::kHighKings:
      return "a king makes a knight's move to a vacant hill that is not next "
             "to a ringfort of its side, and builds there.";
    case Family::kPoisonedChalice:
      return "build one ringfort on each of the four edges, never opposite "
             "another.";
    case Family::kStoneOfDestiny:
      return "build one or two steps, along a file, a rank or a diagonal, from "
             "the enemy king (anywhere if all of these are taken); your king "
             "moves there.";
    case Family::kFourTreasures:
      break;  // begins with Battle
  }
  return "";
}

// "Red North" acts on the four rows nearest to it.
constexpr absl::string_view kAreas[] = {"ranks 1 to 4", "files A to D",
                                        "ranks 4 to 7", "files D to G"};

std::string NamesOf(Board hills) {
  std::vector<std::string> names;
  ForEachHill(hills, [&](Hill hill) { names.push_back(HillToText(hill)); });
  return absl::StrJoin(names, ", ");
}

// Returns the reason why an action on a hill is illegal, from the rules or the
// board; "" if it is the rule of the turn.
std::string WhyNotOn(Hill to, const State& state) {
  const VariantInfo& info = Info(state.variant);
  const Board hill = BoardOf(to);
  const std::string name = HillToText(to);
  const Side side = state.side();
  const absl::string_view us = kSideNames[side];
  const Board own = state.ringforts[side];
  const Board enemy = state.ringforts[Opponent(side)];
  if (info.seats == 4 && (rules::kDoublesAreas[state.seat] & hill) == 0) {
    return absl::StrCat(name, " is outside the rows of ",
                        SeatName(state.variant, state.seat), ": ",
                        kAreas[state.seat], ".");
  }
  const bool swaps =
      TraitsOf(state.variant).has_links && state.phase == Phase::kBattle;
  if ((own & hill) != 0) {
    return swaps ? absl::StrCat(name, " is yours: swap a ringfort of ",
                                kSideNames[Opponent(side)], ".")
                 : absl::StrCat("A ", us, " ringfort stands on ", name,
                                " already.");
  }
  if ((enemy & hill) != 0) {
    if (swaps) return "";
    if (state.phase != Phase::kBattle) {
      return absl::StrCat("A ", kSideNames[Opponent(side)],
                          " ringfort stands on ", name, " already.");
    }
    if (const Board friends = Adjacent(hill) & enemy; friends != 0) {
      return absl::StrCat(name, " is linked to ", NamesOf(friends),
                          ": only a single ringfort can be besieged.");
    }
    const Board open = Adjacent(hill) & ~own;
    return open == 0 ? ""
                     : absl::StrCat(name, " is not besieged: no ", us,
                                    " ringfort on ", NamesOf(open), ".");
  }
  if (state.phase == Phase::kBattle) {
    const Board legal = LegalActions(state).hills;
    return legal == 0 || (legal & ~enemy) != 0
               ? ""
               : absl::StrCat(us, " must capture a besieged ringfort first: ",
                              NamesOf(legal), ".");
  }
  if (info.family != Family::kSacredHill || own == 0) return "";
  if ((KnightMoves(hill) & own) == 0) {
    return absl::StrCat(name, " is not a knight's move from a ", us,
                        " ringfort.");
  }
  return absl::StrCat(name, " is too near to another ", us, " ringfort.");
}

}  // namespace

absl::string_view AimOf(Variant variant) {
  const FamilyTraits& traits = TraitsOf(variant);
  if (traits.kings_move) {
    return "Capture two kings and you win at once. Otherwise fewer kingdoms "
           "(groups of linked ringforts) win, then more ringforts; a captured "
           "king is one point.";
  }
  if (traits.bridges_first) {
    return "More bridges win: 2 points plus the difference. If equal, more "
           "ringforts win, scored the same way.";
  }
  return "Fewer kingdoms (groups of linked ringforts) win: 2 points plus the "
         "difference. If equal, more ringforts win, scored the same way.";
}

std::string RuleOfTurn(const State& state) {
  const VariantInfo& info = Info(state.variant);
  switch (state.phase) {
    case Phase::kPlacement:
      return "Placement: place a king with a ringfort, not next to a ringfort "
             "of yours.";
    case Phase::kManoeuvres:
      return absl::StrCat("Manoeuvres: ", ManoeuvresRule(info.family));
    case Phase::kBattle:
      return absl::StrCat("Battle: ", BattleRule(info));
    case Phase::kLink:
      return "Link: join two neighbouring ringforts of yours. Linked ringforts "
             "are permanently safe.";
    case Phase::kFinished:
      break;
  }
  return "";
}

std::string WhyIllegal(Action action, const State& state) {
  const ActionParts parts = Parts(action);
  const bool is_of_hill =
      parts.kind == ActionKind::kHill && state.phase != Phase::kLink &&
      (!TraitsOf(state.variant).kings_move || state.phase == Phase::kPlacement);
  const std::string why = is_of_hill ? WhyNotOn(parts.to, state) : "";
  return !why.empty() ? why
                      : absl::StrCat(ActionToText(action, state),
                                     " is not legal here. ", RuleOfTurn(state));
}

std::string KeyOfSigns(Variant variant, bool unicode) {
  std::string text = unicode ? "● a ringfort of Red, ○ of Blue"
                             : "o a ringfort of Red, x of Blue";
  if (TraitsOf(variant).kings_per_side > 0) {
    absl::StrAppend(&text, unicode ? "; ♚ ♔" : "; K Q",
                    " with a king, ! stranded");
  }
  absl::StrAppend(&text, unicode ? "; ━━━ ───" : "; === ---",
                  " links; [ ] a legal action");
  return text;
}

}  // namespace tara::cli
