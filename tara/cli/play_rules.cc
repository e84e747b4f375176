#include "tara/cli/play_rules.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "tara/core/reasons.h"
#include "tara/core/rules.h"
#include "tara/core/traits.h"

namespace tara::cli {
namespace {

absl::string_view BattleRule(const VariantInfo& info) {
  switch (info.family) {
    case Family::kSacredHill:
      return info.level == 1
                 ? "capture a besieged single ringfort if there is one. If "
                   "not, build next to a ringfort of yours; if that is "
                   "impossible, build anywhere."
                 : "the value of a vacant hill is the number of your ringforts "
                   "next to it; that of a besieged single ringfort is the "
                   "number of ringforts that besiege it. Act on a hill of the "
                   "highest value.";
    case Family::kFourTreasures:
      return "capture a besieged single ringfort if there is one; if not, "
             "build on any vacant hill.";
    case Family::kHighKings:
      return "while one of your kings can reach a vacant hill that is not next "
             "to another of your kings, you must make such a move. Otherwise a "
             "king returns to a ringfort of yours or captures a besieged "
             "single ringfort; you pass if no king on the board can move.";
    case Family::kPoisonedChalice:
      return "build in one of your rows (files for Red, ranks for Blue) that "
             "has an empty hill, at least one enemy ringfort, and not more "
             "ringforts of yours than of theirs. Without such a row, capture a "
             "besieged single ringfort; if there is none, build anywhere.";
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
  const std::string why = WhyNot(state, action);
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
