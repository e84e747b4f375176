#include "gtest/gtest.h"
#include "tara/mcts/search/many_games.h"

namespace tara::mcts {
namespace {

// A golden number, pasted from the code's own output: it says that nothing has
// changed, not that it is right. A commit that is to change what searches do
// renews it with the output of `bin/tara bench search --signature`, and says
// so; one that is not, and moves it, has an error.
constexpr uint64_t kGolden = 0xaa242752114b63ec;

TEST(SearchSignatureTest, SearchesAreTheSameByteForByte) {
  EXPECT_EQ(SearchSignature(), kGolden);
}

}  // namespace
}  // namespace tara::mcts
