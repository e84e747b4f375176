#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/rules/poisoned_chalice.h"
#include "tara/core/state.h"

namespace tara {
namespace {

bool IsFamily(const State& state, Family family) {
  return Info(state.variant).family == family;
}

template <typename... Parts>
absl::Status Impossible(const State& state, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(
      "impossible ", Info(state.variant).id, " position: ", parts...));
}

std::string FirstHillText(Board board) { return HillToText(FirstHill(board)); }

absl::Status CheckFields(const State& state) {
  if (static_cast<int>(state.variant) >= kNumVariants) {
    return absl::InvalidArgumentError(absl::StrCat(
        "impossible position: variant ", static_cast<int>(state.variant),
        "; expected 0 to ", kNumVariants - 1));
  }
  if (state.phase > Phase::kFinished || state.ending > Ending::kNoProgress) {
    return Impossible(state, "unknown phase or ending");
  }
  if ((TraitsOf(state.variant).phases & Bit(state.phase)) == 0) {
    return Impossible(state, "this variant has no phase ",
                      PhaseName(state.phase));
  }
  const int last_seat = state.finished() ? 0 : Info(state.variant).seats - 1;
  if (state.seat > last_seat) {
    return Impossible(state, "seat to move ", state.seat, "; expected at most ",
                      last_seat);
  }
  if (state.padding != 0) {
    return Impossible(state, "the padding byte is not zero");
  }
  // Most positions have none, and then none is wrong.
  if (state.options == RuleOptions()) return absl::OkStatus();
  for (const RuleOptionInfo& option : kRuleOptions) {
    const int value = option.get(state.options);
    if (value < option.min_value || value > option.max_value) {
      return Impossible(state, "rule option ", option.name, " is ",
                        FormatRuleOptionValue(option, value), "; expected ",
                        DescribeRuleOptionValues(option));
    }
    if (!option.applies_to(Info(state.variant)) &&
        value != option.DefaultValue()) {
      return Impossible(state, "this variant has no rule option ", option.name);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBoards(const State& state) {
  const Board all = state.ringforts[0] | state.ringforts[1] | state.kings[0] |
                    state.kings[1] | state.links_east | state.links_north;
  if ((all & ~kAllHills) != 0) return Impossible(state, "bits off the board");
  const Board both = state.ringforts[0] & state.ringforts[1];
  if (both != 0) {
    return Impossible(state, "ringforts of both sides on ",
                      FirstHillText(both));
  }
  Board east = 0;
  Board north = 0;
  if (TraitsOf(state.variant).has_links) {
    for (const Board own : state.ringforts) {
      east |= own & West(own);
      north |= own & South(own);
    }
  }
  const Board bad_links =
      (state.links_east & ~east) | (state.links_north & ~north);
  if (bad_links != 0) {
    return Impossible(state, "a link at ", FirstHillText(bad_links),
                      "; expected links only in stone_of_destiny, between "
                      "adjacent ringforts of one side");
  }
  if (state.finished() && state.options.link_all_at_end &&
      (state.links_east != east || state.links_north != north)) {
    return Impossible(state, "no link at ",
                      FirstHillText((east & ~state.links_east) |
                                    (north & ~state.links_north)),
                      "; expected all adjacent ringforts of one side linked at "
                      "the end");
  }
  return absl::OkStatus();
}

// A position has the pie rule as long as seat 1 can still swap.
absl::Status CheckPieRule(const State& state) {
  const int own = Count(state.ringforts[state.side()]);
  const int enemy = Count(state.ringforts[Opponent(state.side())]);
  if (!state.options.pie_rule || (own == 0 && enemy <= 1)) {
    return absl::OkStatus();
  }
  return Impossible(state, "pie_rule is true with ", own + enemy,
                    " ringforts on the board; expected it only before the "
                    "second action of a game: after it nobody can swap");
}

absl::Status CheckEnding(const State& state) {
  const int turns = state.turns_left;
  if (state.ending == Ending::kNone) {
    if (state.finished()) return Impossible(state, "finished without ending");
    if (turns == 0) return absl::OkStatus();
    return Impossible(state, turns, " turns left; expected 0 without ending");
  }
  const absl::string_view name = EndingName(state.ending);
  if (state.finished()) {
    if ((TraitsOf(state.variant).endings & Bit(state.ending)) == 0) {
      return Impossible(state, "this variant does not end by ", name);
    }
    if (turns == 0) return absl::OkStatus();
    return Impossible(state, turns, " turns left; expected 0 once finished");
  }
  if ((TraitsOf(state.variant).pending_endings & Bit(state.ending)) == 0 ||
      state.phase != Phase::kBattle) {
    return Impossible(state, "no turns are left to play after ", name,
                      " in phase ", PhaseName(state.phase));
  }
  if (!state.options.last_turns) {
    return Impossible(state, turns, " turns left after ", name,
                      "; expected none with last_turns=false");
  }
  const int max_turns =
      state.ending == Ending::kOut ? Info(state.variant).seats - 1 : 1;
  if (turns < 1 || turns > max_turns) {
    return Impossible(state, turns, " turns left after ", name,
                      "; expected 1 to ", max_turns);
  }
  return absl::OkStatus();
}

absl::Status CheckNoProgress(const State& state) {
  const int count = state.no_progress;
  int least = 0;
  int most = 0;
  if (TraitsOf(state.variant).kings_per_side > 0) {
    const int limit = state.options.no_progress_limit;
    if (state.finished()) {
      most = limit;
      if (state.ending == Ending::kNoProgress) least = limit;
    } else if (state.phase == Phase::kBattle || state.phase == Phase::kLink) {
      most = limit - 1;
    }
  }
  if (count >= least && count <= most) return absl::OkStatus();
  return Impossible(state, "no-progress counter ", count, " in phase ",
                    PhaseName(state.phase), "; expected ", least, " to ", most);
}

// Where a phase before Battle ends by the number of ringforts built, the sides
// must have built in turn for it to end as the rules say; either may have
// begun. Elsewhere (Manoeuvres of Sacred Hill and of High Kings) the rules go
// on from any numbers.
absl::Status CheckAlternation(const State& state) {
  const bool counted = state.phase == Phase::kPlacement ||
                       (state.phase == Phase::kManoeuvres &&
                        (IsFamily(state, Family::kPoisonedChalice) ||
                         IsFamily(state, Family::kStoneOfDestiny)));
  if (!counted) return absl::OkStatus();
  const int own = Count(state.ringforts[state.side()]);
  const int enemy = Count(state.ringforts[Opponent(state.side())]);
  if (enemy == own || enemy == own + 1) return absl::OkStatus();
  return Impossible(
      state, "the seat to move has ", own, " ringforts, the enemy ", enemy,
      "; expected an equal number or one more: the sides build in turn");
}

absl::Status CheckSettled(const State& state) {
  if (state.finished()) return absl::OkStatus();
  const State settled = Settled(state);
  if (settled == state) return absl::OkStatus();
  return Impossible(
      state, "seat ", state.seat, " cannot act in phase ",
      PhaseName(state.phase), "; expected ",
      settled.finished()
          ? absl::StrCat("a finished game (", EndingName(settled.ending), ")")
          : absl::StrCat("phase ", PhaseName(settled.phase), ", seat ",
                         settled.seat));
}

absl::Status CheckKingPlaces(const State& state) {
  const Board shared = state.kings[0] & state.kings[1];
  if (shared != 0) {
    return Impossible(state, "two kings on ", FirstHillText(shared));
  }
  for (const Side side : {kRed, kBlue}) {
    const Board kings = state.kings[side];
    const Board homeless = kings & state.vacant();
    if (homeless != 0) {
      return Impossible(state, "a king of ", kSideNames[side], " on ",
                        FirstHillText(homeless), ", where no ringfort is");
    }
    const Board beside = kings & Adjacent(kings);
    if (beside != 0) {
      return Impossible(state, "a king of ", kSideNames[side], " on ",
                        FirstHillText(beside),
                        " is adjacent to a friendly king");
    }
    const Board stranded = kings & state.ringforts[Opponent(side)];
    if (stranded == 0) continue;
    if (state.variant != Variant::kHighKingsL2 || Count(stranded) > 1 ||
        (state.phase != Phase::kBattle &&
         state.ending != Ending::kDoubleCapture)) {
      return Impossible(state, "a king of ", kSideNames[side], " on ",
                        FirstHillText(stranded),
                        " is stranded; expected at most one of a side, in "
                        "Battle of high_kings_l2");
    }
    const int lost = state.kings_captured[Opponent(side)];
    if (lost != 1 && !state.finished()) {
      return Impossible(state, "a king of ", kSideNames[side], " on ",
                        FirstHillText(stranded), " is stranded, and ", lost,
                        " kings are lost; expected 1: only then may a side "
                        "sacrifice");
    }
  }
  return absl::OkStatus();
}

// Returns the least and the most kings that a side of High Kings can have.
std::pair<int, int> HighKingsRange(const State& state, Side side) {
  const int lost = state.kings_captured[Opponent(side)];
  if (state.phase == Phase::kPlacement) {
    const int placed = Count(state.ringforts[side]);
    return {placed - lost, placed - lost};
  }
  const int kings = 3 - lost;
  // Whoever has passed has none left. A game can end in placement only by the
  // option that makes placing capture.
  if (state.finished()) return {0, kings};
  const bool has_passed =
      state.ending == Ending::kPassed && side != state.side();
  return {has_passed ? 0 : kings, has_passed ? 0 : kings};
}

absl::Status CheckKingCounts(const State& state) {
  const FamilyTraits& traits = TraitsOf(state.variant);
  const bool ends_by_capture =
      state.finished() && state.ending == Ending::kDoubleCapture;
  const int most_captured = !traits.kings_move ? 0 : ends_by_capture ? 3 : 1;
  for (const Side side : {kRed, kBlue}) {
    const int captured = state.kings_captured[side];
    if (captured > most_captured) {
      return Impossible(state, kSideNames[side], " has captured ", captured,
                        " kings; expected at most ", most_captured);
    }
    const int built = traits.kings_per_side == 1 && state.ringforts[side] != 0;
    const auto [least, most] = traits.kings_move ? HighKingsRange(state, side)
                                                 : std::pair(built, built);
    const int kings = Count(state.kings[side]);
    if (kings >= least && kings <= most) continue;
    return Impossible(state, kSideNames[side], " has ", kings,
                      " kings on the board; expected ",
                      least == most ? "" : "at most ", most);
  }
  if (ends_by_capture && state.kings_captured[0] < 2 &&
      state.kings_captured[1] < 2) {
    return Impossible(state, "double_capture without two captured kings");
  }
  return absl::OkStatus();
}

absl::Status CheckHighKings(const State& state) {
  const bool full = state.vacant() == 0;
  if (state.ending == Ending::kBoardFull && !full) {
    return Impossible(state, "board_full with ", FirstHillText(state.vacant()),
                      " vacant");
  }
  if (full && !state.finished() && state.ending != Ending::kBoardFull) {
    return Impossible(state, "a full board; expected the ending board_full:1");
  }
  if (state.finished() && state.ending == Ending::kPassed &&
      state.kings[0] != 0 && state.kings[1] != 0) {
    return Impossible(state,
                      "passed with kings of both sides on the board; expected "
                      "none of the side that passed");
  }
  if (state.phase != Phase::kPlacement && state.phase != Phase::kManoeuvres) {
    return absl::OkStatus();
  }
  for (const Side side : {kRed, kBlue}) {
    const Board own = state.ringforts[side];
    if ((own & Adjacent(own)) != 0) {
      return Impossible(state, "adjacent ringforts of ", kSideNames[side],
                        " at ", FirstHillText(own & Adjacent(own)),
                        " before Battle");
    }
  }
  if (state.phase == Phase::kManoeuvres && Count(state.vacant()) > 39) {
    return Impossible(state, "manoeuvres with ",
                      kNumHills - Count(state.vacant()),
                      " ringforts; expected at least the 6 of the placement");
  }
  return absl::OkStatus();
}

absl::Status CheckPoisonedChalice(const State& state) {
  const int built = kNumHills - Count(state.vacant());
  if (state.phase != Phase::kManoeuvres) {
    if (built >= rules::PoisonedChalice::kManoeuvresTurns) {
      return absl::OkStatus();
    }
    return Impossible(state, "phase ", PhaseName(state.phase), " with ", built,
                      " ringforts; expected at least the 8 of Manoeuvres");
  }
  struct Edges {
    Board first, second;
    int shift;  // of bits, from the first to the second
  };
  constexpr Edges kPairs[] = {
      {RankBoard(0), RankBoard(6), kRankStride * (kBoardSize - 1)},
      {FileBoard(0), FileBoard(6), kBoardSize - 1}};
  Board edges = 0;
  const Board ringforts = kAllHills & ~state.vacant();
  for (const Edges& pair : kPairs) {
    edges |= pair.first | pair.second;
    const Board opposite =
        ((ringforts & pair.first) << pair.shift) & ringforts & pair.second;
    if (opposite != 0) {
      return Impossible(state, "the ringfort on ", FirstHillText(opposite),
                        " is opposite another");
    }
    for (const Board own : state.ringforts) {
      for (const Board edge : {pair.first, pair.second}) {
        if (Count(own & edge) <= 1) continue;
        return Impossible(state, "two ringforts of a side on the edge of ",
                          FirstHillText(own & edge));
      }
    }
  }
  if ((ringforts & ~edges) == 0) return absl::OkStatus();
  return Impossible(state, "a ringfort on ", FirstHillText(ringforts & ~edges),
                    "; expected only edge hills in manoeuvres");
}

absl::Status CheckStoneOfDestiny(const State& state) {
  if (state.phase == Phase::kManoeuvres) {
    if ((state.links_east | state.links_north) == 0) return absl::OkStatus();
    return Impossible(state, "links in manoeuvres");
  }
  const int red = Count(state.ringforts[kRed]);
  const int blue = Count(state.ringforts[kBlue]);
  const int own = state.side() == kRed ? red : blue;
  const int expected = state.phase == Phase::kLink ? 23 : 22;
  if (red + blue == kNumHills &&
      (state.finished() ? own == 22 || own == 23 : own == expected)) {
    return absl::OkStatus();
  }
  return Impossible(state, "Red has ", red, " and Blue ", blue,
                    " ringforts in phase ", PhaseName(state.phase),
                    "; expected 23 and 22 (22 for the seat to move before its "
                    "swap, 23 after it)");
}

// Checks the kings and what else is particular to the position's family.
// REQUIRES: fields, boards, ending and counters have been checked.
absl::Status CheckFamily(const State& state) {
  TARA_RETURN_IF_ERROR(CheckKingCounts(state));
  TARA_RETURN_IF_ERROR(CheckKingPlaces(state));
  switch (Info(state.variant).family) {
    case Family::kHighKings:
      return CheckHighKings(state);
    case Family::kPoisonedChalice:
      return CheckPoisonedChalice(state);
    case Family::kStoneOfDestiny:
      return CheckStoneOfDestiny(state);
    case Family::kSacredHill:
    case Family::kFourTreasures:
      break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidatePosition(const State& state) {
  TARA_RETURN_IF_ERROR(CheckFields(state));
  TARA_RETURN_IF_ERROR(CheckBoards(state));
  TARA_RETURN_IF_ERROR(CheckPieRule(state));
  TARA_RETURN_IF_ERROR(CheckEnding(state));
  TARA_RETURN_IF_ERROR(CheckNoProgress(state));
  TARA_RETURN_IF_ERROR(CheckAlternation(state));
  TARA_RETURN_IF_ERROR(CheckFamily(state));
  return CheckSettled(state);
}

}  // namespace tara
