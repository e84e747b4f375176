#include "tara/core/rules.h"

#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/core/rules/four_treasures.h"
#include "tara/core/rules/high_kings.h"
#include "tara/core/rules/poisoned_chalice.h"
#include "tara/core/rules/sacred_hill.h"
#include "tara/core/rules/stone_of_destiny.h"

namespace tara {
namespace {

// The rules of the i-th variant: its family with its parameters.
template <int i>
constexpr auto RulesOf() {
  constexpr VariantInfo kInfo = kVariants[i];
  if constexpr (kInfo.family == Family::kSacredHill) {
    return std::type_identity<rules::SacredHill<kInfo.level, kInfo.seats>>();
  } else if constexpr (kInfo.family == Family::kFourTreasures) {
    return std::type_identity<rules::FourTreasures<kInfo.seats>>();
  } else if constexpr (kInfo.family == Family::kHighKings) {
    return std::type_identity<rules::HighKings<kInfo.level>>();
  } else if constexpr (kInfo.family == Family::kPoisonedChalice) {
    return std::type_identity<rules::PoisonedChalice>();
  } else {
    static_assert(kInfo.family == Family::kStoneOfDestiny);
    return std::type_identity<rules::StoneOfDestiny>();
  }
}

// What the dispatch needs of a variant's rules.
struct RulesEntry {
  void (*start)(State&);
  void (*settle)(State&);
  LegalSet (*legal)(const State&);
  void (*apply)(Action, State&);
};

template <typename Rules>
constexpr RulesEntry EntryOf(std::type_identity<Rules>) {
  return {&Rules::Start, &rules::Settle<Rules>, &Rules::Legal, &Rules::Apply};
}

template <size_t... i>
constexpr auto MakeTable(std::index_sequence<i...>) {
  return std::array<RulesEntry, sizeof...(i)>{
      EntryOf(RulesOf<static_cast<int>(i)>())...};
}

constexpr std::array<RulesEntry, kNumVariants> kRules =
    MakeTable(std::make_index_sequence<kNumVariants>());

const RulesEntry& RulesFor(const State& state) {
  return kRules[static_cast<int>(state.variant)];
}

}  // namespace

State InitialState(Variant variant, const RuleOptions& options) {
  State state = {};
  state.variant = variant;
  state.options = options;
  RulesFor(state).start(state);
  RulesFor(state).settle(state);
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
    return absl::InvalidArgumentError(absl::StrCat(
        "illegal action ", ActionToText(action), " in ",
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
