#ifndef TARA_CORE_VARIANT_H_
#define TARA_CORE_VARIANT_H_

// The one list of variants. Registry, rules, command line, tests and documents
// fold over kVariants; adding a variant means adding a line here and, if it
// is of a new family, its rules under tara/core/rules.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tara {

enum class Variant : uint8_t {
  kSacredHillL1,
  kSacredHillL2,
  kSacredHillDoublesL1,
  kSacredHillDoublesL2,
  kFourTreasures,
  kFourTreasuresDoubles,
  kHighKingsL1,
  kHighKingsL2,
  kPoisonedChalice,
  kStoneOfDestiny,
};

// Variants of one family share their rule code, by level and seats.
enum class Family : uint8_t {
  kSacredHill,
  kFourTreasures,
  kHighKings,
  kPoisonedChalice,
  kStoneOfDestiny,
};

struct VariantInfo {
  Variant variant;
  absl::string_view id;    // as in configs and on the command line
  absl::string_view name;  // for people
  Family family;
  int level;  // 1 or 2
  int seats;  // 2 (singles) or 4 (doubles)
};

inline constexpr std::array kVariants = {
    VariantInfo{Variant::kSacredHillL1, "sacred_hill_l1",
                "Sacred Hill, Level 1", Family::kSacredHill, 1, 2},
    VariantInfo{Variant::kSacredHillL2, "sacred_hill_l2",
                "Sacred Hill, Level 2", Family::kSacredHill, 2, 2},
    VariantInfo{Variant::kSacredHillDoublesL1, "sacred_hill_doubles_l1",
                "Sacred Hill Doubles, Level 1", Family::kSacredHill, 1, 4},
    VariantInfo{Variant::kSacredHillDoublesL2, "sacred_hill_doubles_l2",
                "Sacred Hill Doubles, Level 2", Family::kSacredHill, 2, 4},
    VariantInfo{Variant::kFourTreasures, "four_treasures", "Four Treasures",
                Family::kFourTreasures, 1, 2},
    VariantInfo{Variant::kFourTreasuresDoubles, "four_treasures_doubles",
                "Four Treasures Doubles", Family::kFourTreasures, 1, 4},
    VariantInfo{Variant::kHighKingsL1, "high_kings_l1",
                "High Kings of Tara, Level 1", Family::kHighKings, 1, 2},
    VariantInfo{Variant::kHighKingsL2, "high_kings_l2",
                "High Kings of Tara, Level 2", Family::kHighKings, 2, 2},
    VariantInfo{Variant::kPoisonedChalice, "poisoned_chalice",
                "Poisoned Chalice", Family::kPoisonedChalice, 1, 2},
    VariantInfo{Variant::kStoneOfDestiny, "stone_of_destiny",
                "Stone of Destiny", Family::kStoneOfDestiny, 1, 2},
};
inline constexpr int kNumVariants = static_cast<int>(kVariants.size());

// The number of families, which is the size of tables by family.
inline constexpr int kNumFamilies = [] {
  int last = 0;
  for (const VariantInfo& info : kVariants) {
    last = std::max(last, static_cast<int>(info.family));
  }
  return last + 1;
}();

constexpr const VariantInfo& Info(Variant variant) {
  return kVariants[static_cast<int>(variant)];
}

// Returns the variant with an identifier such as "high_kings_l2", or
// INVALID_ARGUMENT naming the identifiers there are.
absl::StatusOr<Variant> ParseVariant(absl::string_view id);

// Returns all identifiers, separated by ", ".
std::string VariantIds();

}  // namespace tara

#endif  // TARA_CORE_VARIANT_H_
