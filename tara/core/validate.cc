#include "tara/core/validate.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/validate_families.h"

namespace tara {
namespace {

using internal::Bit;
using internal::FirstHillText;
using internal::Impossible;
using internal::IsFamily;
using internal::TraitsOf;

absl::Status CheckFields(const State& state) {
  if (static_cast<int>(state.variant) >= kNumVariants) {
    return absl::InvalidArgumentError(absl::StrCat(
        "impossible position: variant ", static_cast<int>(state.variant),
        "; expected 0 to ", kNumVariants - 1));
  }
  if (state.phase > Phase::kFinished || state.ending > Ending::kNoProgress) {
    return Impossible(state, "unknown phase or ending");
  }
  if ((TraitsOf(state).phases & Bit(state.phase)) == 0) {
    return Impossible(state, "this variant has no phase ",
                      PhaseName(state.phase));
  }
  const int last_seat = state.finished() ? 0 : Info(state.variant).seats - 1;
  if (state.seat > last_seat) {
    return Impossible(state, "seat to move ", state.seat, "; expected at most ",
                      last_seat);
  }
  if (state.padding != decltype(state.padding){}) {
    return Impossible(state, "padding bytes are not zero");
  }
  for (const RuleOptionInfo& option : kRuleOptions) {
    const int value = option.get(state.options);
    if (value < option.min_value || value > option.max_value) {
      return Impossible(state, "rule option ", option.name, " is ", value,
                        "; expected ", option.min_value, " to ",
                        option.max_value);
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
  if (IsFamily(state, Family::kStoneOfDestiny)) {
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

absl::Status CheckEnding(const State& state) {
  const int turns = state.turns_left;
  if (state.ending == Ending::kNone) {
    if (state.finished()) return Impossible(state, "finished without ending");
    if (turns == 0) return absl::OkStatus();
    return Impossible(state, turns, " turns left; expected 0 without ending");
  }
  const absl::string_view name = EndingName(state.ending);
  if (state.finished()) {
    if ((TraitsOf(state).endings & Bit(state.ending)) == 0) {
      return Impossible(state, "this variant does not end by ", name);
    }
    if (turns == 0) return absl::OkStatus();
    return Impossible(state, turns, " turns left; expected 0 once finished");
  }
  if ((TraitsOf(state).pending_endings & Bit(state.ending)) == 0 ||
      state.phase != Phase::kBattle) {
    return Impossible(state, "no turns are left to play after ", name,
                      " in phase ", PhaseName(state.phase));
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
  if (TraitsOf(state).kings_per_side > 0) {
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
  return Impossible(state, "the seat to move has ", own,
                    " ringforts, the enemy ", enemy,
                    "; expected as many or one more: the sides build in turn");
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

}  // namespace

absl::Status ValidatePosition(const State& state) {
  TARA_RETURN_IF_ERROR(CheckFields(state));
  TARA_RETURN_IF_ERROR(CheckBoards(state));
  TARA_RETURN_IF_ERROR(CheckEnding(state));
  TARA_RETURN_IF_ERROR(CheckNoProgress(state));
  TARA_RETURN_IF_ERROR(CheckAlternation(state));
  TARA_RETURN_IF_ERROR(internal::ValidateFamily(state));
  return CheckSettled(state);
}

}  // namespace tara
