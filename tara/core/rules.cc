#include "tara/core/rules.h"

#include <array>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/core/rules/registry.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/traits.h"

namespace tara {
namespace {

using rules::View;

// What the dispatch needs of a variant's rules.
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

const RulesEntry& RulesFor(const State& state) {
  return kRules[static_cast<int>(state.variant)];
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
  return RulesFor(state).legal(state);
}

void ApplyAction(Action action, State& state) {
  TARA_DCHECK(LegalActions(state).Contains(action), "illegal action");
  RulesFor(state).apply(action, state);
}

absl::Status PlayAction(Action action, State& state) {
  if (state.finished()) {
    return absl::InvalidArgumentError(
        absl::StrCat("illegal action ", ActionToText(action),
                     ": the game has ended (", EndingName(state.ending), ")"));
  }
  const LegalSet legal = LegalActions(state);
  if (!legal.Contains(action)) {
    std::string listed;
    legal.ForEach([&](Action each) {
      absl::StrAppend(&listed, " ", ActionToText(each));
    });
    return absl::InvalidArgumentError(
        absl::StrCat("illegal action ", ActionToText(action), " in ",
                     Info(state.variant).id, ", phase ", PhaseName(state.phase),
                     ", for seat ", state.seat, "; legal:", listed));
  }
  ApplyAction(action, state);
  return absl::OkStatus();
}

absl::Status PlayAction(absl::string_view text, State& state) {
  TARA_ASSIGN_OR_RETURN(const Action action, ParseAction(text));
  return PlayAction(action, state);
}

}  // namespace tara
