#ifndef TARA_CORE_RULES_VERSION_H_
#define TARA_CORE_RULES_VERSION_H_

#include <cstdint>

namespace tara {

// Version of docs/rules.md that the core implements. Raised when a game that
// was legal, or its result, would no longer be the same.
inline constexpr uint32_t kRulesVersion = 1;

}  // namespace tara

#endif  // TARA_CORE_RULES_VERSION_H_
