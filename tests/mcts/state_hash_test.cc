#include "tara/mcts/state_hash.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

TEST(StateHashTest, DifferentPositionsHaveDifferentHashes) {
  // Some 4000 positions: a collision of 64 bits has a chance of 1e-12.
  std::vector<State> states;
  std::set<uint64_t> hashes;
  for (const VariantInfo& info : kVariants) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      for (const State& state : RandomGame(info.variant, seed)) {
        if (std::find(states.begin(), states.end(), state) == states.end()) {
          states.push_back(state);
          hashes.insert(HashState(state));
        }
      }
    }
  }
  EXPECT_EQ(hashes.size(), states.size());
}

TEST(StateHashTest, EveryByteOfAPositionCounts) {
  const State state = RandomGame(Variant::kStoneOfDestiny, 1)[60];
  std::set<uint64_t> hashes = {HashState(state)};
  for (size_t byte = 0; byte < sizeof(State); ++byte) {
    unsigned char bytes[sizeof(State)];
    std::memcpy(bytes, &state, sizeof(State));
    bytes[byte] ^= 1;
    State changed;
    std::memcpy(static_cast<void*>(&changed), bytes, sizeof(State));
    EXPECT_TRUE(hashes.insert(HashState(changed)).second) << byte;
  }
}

}  // namespace
}  // namespace tara::mcts
