#ifndef TARA_CORE_RULES_REGISTRY_H_
#define TARA_CORE_RULES_REGISTRY_H_

// Which rules each variant plays by: its family with its parameters.

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "tara/core/rules/four_treasures.h"
#include "tara/core/rules/high_kings.h"
#include "tara/core/rules/poisoned_chalice.h"
#include "tara/core/rules/sacred_hill.h"
#include "tara/core/rules/stone_of_destiny.h"
#include "tara/core/variant.h"

namespace tara::rules {

// Returns std::type_identity of the rules of kVariants[i].
template <size_t i>
constexpr auto RulesAt() {
  constexpr VariantInfo kInfo = kVariants[i];
  if constexpr (kInfo.family == Family::kSacredHill) {
    return std::type_identity<SacredHill<kInfo.level, kInfo.seats>>();
  } else if constexpr (kInfo.family == Family::kFourTreasures) {
    return std::type_identity<FourTreasures<kInfo.seats>>();
  } else if constexpr (kInfo.family == Family::kHighKings) {
    return std::type_identity<HighKings<kInfo.level>>();
  } else if constexpr (kInfo.family == Family::kPoisonedChalice) {
    return std::type_identity<PoisonedChalice>();
  } else {
    static_assert(kInfo.family == Family::kStoneOfDestiny);
    return std::type_identity<StoneOfDestiny>();
  }
}

// The rules of kVariants[i].
template <size_t i>
using RulesOf = typename decltype(RulesAt<i>())::type;

// Returns a table by variant of entry(std::type_identity<Rules>()): how
// functions that are compiled for each variant's rules are found.
template <typename Entry>
constexpr auto TableOfRules(Entry entry) {
  return [&]<size_t... i>(std::index_sequence<i...>) {
    return std::array{entry(RulesAt<i>())...};
  }(std::make_index_sequence<kVariants.size()>());
}

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_REGISTRY_H_
