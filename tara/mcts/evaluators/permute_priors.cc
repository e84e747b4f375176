#include "tara/mcts/evaluators/permute_priors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"

namespace tara::mcts {

void PermutePriors(const Symmetry& symmetry, const State& state,
                   std::vector<float>& priors) {
  if (symmetry.board == kIdentityTransform) return;
  constexpr size_t kWords = (kNumActions + 63) / 64;
  std::array<uint64_t, kWords> mask = {};  // legal in the transformed state
  std::array<uint16_t, kNumActions> images;
  std::array<float, kNumActions> before;
  size_t count = 0;
  LegalActions(state).ForEach([&](Action action) {
    const int image = Index(TransformAction(symmetry, action));
    images[count++] = static_cast<uint16_t>(image);
    mask[image / 64] |= uint64_t{1} << (image % 64);
  });
  TARA_CHECK(count == priors.size(), "expected a prior for each legal action");
  std::array<uint16_t, kWords> actions_before = {};
  for (size_t word = 1; word < kWords; ++word) {
    actions_before[word] = static_cast<uint16_t>(actions_before[word - 1] +
                                                 std::popcount(mask[word - 1]));
  }
  std::copy(priors.begin(), priors.end(), before.begin());
  for (size_t i = 0; i < count; ++i) {
    const int word = images[i] / 64;
    const uint64_t below = (uint64_t{1} << (images[i] % 64)) - 1;
    priors[i] =
        before[actions_before[word] + std::popcount(mask[word] & below)];
  }
}

}  // namespace tara::mcts
