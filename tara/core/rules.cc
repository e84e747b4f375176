#include "tara/core/rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/rules/registry.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"

namespace tara {
namespace {

using rules::View;

// The functions of a variant's rules, for the dispatch.
struct RulesEntry {
  void (*start)(State&);
  void (*settle)(State&);
  LegalSet (*legal)(const State&);
  void (*apply)(Action, State&);
};

template <typename Rules>
struct Dispatch {
  static void Start(State& state) {
    View view(state);
    Rules::Start(view);
    rules::Settle<Rules>(view);
    view.WriteTo(state);
  }
  [[gnu::flatten]] static void Settle(State& state) {
    View view(state);
    rules::Settle<Rules>(view);
    view.WriteTo(state);
  }
  [[gnu::flatten]] static LegalSet Legal(const State& state) {
    return rules::Legal<Rules>(View(state)).ToLegalSet();
  }
  [[gnu::flatten]] static void Apply(Action action, State& state) {
    View view(state);
    Rules::Play(Rules::Choices::MoveOf(action), view);
    rules::Settle<Rules>(view);
    view.WriteTo(state);
  }
};

constexpr std::array<RulesEntry, kNumVariants> kRules =
    rules::TableOfRules([]<typename Rules>(std::type_identity<Rules>) {
      return RulesEntry{&Dispatch<Rules>::Start, &Dispatch<Rules>::Settle,
                        &Dispatch<Rules>::Legal, &Dispatch<Rules>::Apply};
    });

constexpr absl::string_view kSwapText = "swap";

const RulesEntry& RulesFor(const State& state) {
  return kRules[static_cast<int>(state.variant)];
}

// [n]: the hills at least n steps of a chess king from D4.
constexpr std::array<Board, 4> kHillsFromDistance = [] {
  std::array<Board, 4> hills = {};
  for (int distance = 0; distance < 4; ++distance) {
    for (int line = 0; line < kBoardSize; ++line) {
      if (line > 3 - distance && line < 3 + distance) continue;
      hills[distance] |= RankBoard(line) | FileBoard(line);
    }
  }
  return hills;
}();

// Seat 1 takes over what seat 0 has played, and it is seat 0's turn again. As
// every family's rules look alike to both sides, this is the position seen with
// the colours exchanged; only the compensation stays with Blue's side.
void Swap(State& state) {
  const int8_t compensation = state.options.compensation_halves;
  const bool transpose = TraitsOf(state.variant).rows_by_side;
  state = TransformState(
      {static_cast<uint8_t>(transpose ? kTranspose : kIdentityTransform), 1},
      state);
  state.options.compensation_halves = compensation;
}

}  // namespace

constexpr std::array<FamilyTraits, kNumVariants> kTraits = rules::TableOfRules(
    []<typename Rules>(std::type_identity<Rules>) { return Rules::kTraits; });

State InitialState(Variant variant, const RuleOptions& options) {
  State state = {};
  state.variant = variant;
  state.options = options;
  RulesFor(state).start(state);
  return state;
}

State Settled(const State& state) {
  State settled = state;
  RulesFor(state).settle(settled);
  return settled;
}

LegalSet LegalActions(const State& state) {
  if (state.finished()) return {};
  LegalSet legal = RulesFor(state).legal(state);
  if (HasOpeningOptions(state)) [[unlikely]] {
    legal.pass |= MaySwap(state);
    if (state.vacant() == kAllHills) {
      legal.hills &= kHillsFromDistance[state.options.opening_distance];
    }
  }
  return legal;
}

void ApplyAction(Action action, State& state) {
  TARA_DCHECK(LegalActions(state).Contains(action), "illegal action");
  if (MaySwap(state)) [[unlikely]] {
    state.options.pie_rule = false;  // now or never
    if (action == kPass) return Swap(state);
  }
  RulesFor(state).apply(action, state);
}

absl::Status PlayAction(Action action, State& state) {
  if (state.finished()) {
    return absl::InvalidArgumentError(
        absl::StrCat("illegal action ", ActionToText(action, state),
                     ": the game has ended (", EndingName(state.ending), ")"));
  }
  const LegalSet legal = LegalActions(state);
  if (!legal.Contains(action)) {
    std::string listed;
    legal.ForEach([&](Action each) {
      absl::StrAppend(&listed, " ", ActionToText(each, state));
    });
    return absl::InvalidArgumentError(absl::StrCat(
        "illegal action ", ActionToText(action, state), " in ",
        Info(state.variant).id, ", phase ", PhaseName(state.phase), ", for ",
        SeatName(state.variant, state.seat), "; legal:", listed));
  }
  ApplyAction(action, state);
  return absl::OkStatus();
}

absl::Status PlayAction(absl::string_view text, State& state) {
  TARA_ASSIGN_OR_RETURN(const Action action, ParseAction(text, state));
  return PlayAction(action, state);
}

std::string ActionToText(Action action, const State& state) {
  return action == kPass && MaySwap(state) ? std::string(kSwapText)
                                           : ActionToText(action);
}

std::vector<std::string> LineToTexts(absl::Span<const Action> line,
                                     State state) {
  std::vector<std::string> texts;
  for (const Action action : line) {
    texts.push_back(ActionToText(action, state));
    // All that notation takes from a position is over after two actions.
    if (state.options.pie_rule) ApplyAction(action, state);
  }
  return texts;
}

std::vector<std::string> LegalActionTexts(const State& state) {
  std::vector<std::string> texts;
  LegalActions(state).ForEach(
      [&](Action action) { texts.push_back(ActionToText(action, state)); });
  std::sort(texts.begin(), texts.end());
  return texts;
}

absl::StatusOr<Action> ParseAction(absl::string_view text, const State& state) {
  const bool swap = absl::EqualsIgnoreCase(text, kSwapText);
  if (swap && MaySwap(state)) return kPass;
  if (swap) {
    return absl::InvalidArgumentError(
        "bad action 'swap': only Blue's first action can be a swap, with the "
        "rule option pie_rule");
  }
  TARA_ASSIGN_OR_RETURN(const Action action, ParseAction(text));
  if (action == kPass && MaySwap(state)) {
    return absl::InvalidArgumentError(
        "bad action 'pass': nobody can pass here; expected a hill or 'swap'");
  }
  return action;
}

Action RandomAction(const State& state, Random& random) {
  const LegalSet legal = LegalActions(state);
  return legal.Nth(
      static_cast<int>(random.Below(static_cast<uint32_t>(legal.Count()))));
}

std::vector<State> RandomPositions(absl::Span<const State> starts, size_t count,
                                   Random& random) {
  TARA_CHECK(!starts.empty(), "no game to begin");
  std::vector<State> positions;
  while (positions.size() < count) {
    for (const State& start : starts) {
      for (State state = start; !state.finished();) {
        positions.push_back(state);
        ApplyAction(RandomAction(state, random), state);
      }
    }
  }
  return positions;
}

int64_t Perft(const State& state, int depth,
              const std::function<bool()>* stop) {
  if (depth == 0) return 1;
  const LegalSet legal = LegalActions(state);
  if (depth == 1) return legal.Count();
  // Not at the lowest nodes, which are nearly all.
  if (depth >= 3 && stop != nullptr && (*stop)()) return 0;
  int64_t sequences = 0;
  legal.ForEach([&](Action action) {
    State next = state;
    ApplyAction(action, next);
    sequences += Perft(next, depth - 1, stop);
  });
  return sequences;
}

std::vector<std::pair<Action, int64_t>> PerftDivide(const State& state,
                                                    int depth) {
  std::vector<std::pair<Action, int64_t>> counts;
  LegalActions(state).ForEach([&](Action action) {
    State next = state;
    ApplyAction(action, next);
    counts.emplace_back(action, Perft(next, depth - 1));
  });
  return counts;
}

}  // namespace tara
