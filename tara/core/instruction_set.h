#ifndef TARA_CORE_INSTRUCTION_SET_H_
#define TARA_CORE_INSTRUCTION_SET_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace tara {

// What the batched core is compiled for; one of them is chosen at run time.
enum class InstructionSet : uint8_t {
  kPortable,  // any processor, WebAssembly too
  kAvx2,      // with BMI2: Haswell (2013), Zen (2017) and later
  kAvx512,    // with BITALG, GFNI, VBMI and VPOPCNTDQ: Ice Lake (2019), Zen 4
};
inline constexpr int kNumInstructionSets = 3;

// Returns the instruction sets that this processor and its operating system
// support, slowest first: the last is the one to use. Never empty.
std::vector<InstructionSet> SupportedInstructionSets();

// Returns "portable", "avx2" or "avx512".
absl::string_view InstructionSetName(InstructionSet instruction_set);

}  // namespace tara

#endif  // TARA_CORE_INSTRUCTION_SET_H_
