#include "tara/core/instruction_set.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "absl/strings/string_view.h"

namespace tara {

namespace {

std::vector<InstructionSet> AllSupported() {
  std::vector<InstructionSet> sets = {InstructionSet::kPortable};
#if defined(__x86_64__)
  // These ask the operating system too whether it saves the registers.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) {
    return sets;
  }
  sets.push_back(InstructionSet::kAvx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vbmi") &&
      __builtin_cpu_supports("avx512bitalg") &&
      __builtin_cpu_supports("avx512vpopcntdq") &&
      __builtin_cpu_supports("gfni")) {
    sets.push_back(InstructionSet::kAvx512);
  }
#endif
  return sets;
}

}  // namespace

std::vector<InstructionSet> SupportedInstructionSets() {
  std::vector<InstructionSet> sets = AllSupported();
  // For measurements of the code for other processors.
  if (const char* const highest = std::getenv("TARA_INSTRUCTION_SET")) {
    const auto it = std::find_if(sets.begin(), sets.end(), [&](auto set) {
      return InstructionSetName(set) == highest;
    });
    if (it != sets.end()) sets.erase(it + 1, sets.end());
  }
  return sets;
}

absl::string_view InstructionSetName(InstructionSet instruction_set) {
  constexpr absl::string_view kNames[] = {"portable", "avx2", "avx512"};
  return kNames[static_cast<int>(instruction_set)];
}

}  // namespace tara
