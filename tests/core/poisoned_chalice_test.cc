#include "tara/core/rules/poisoned_chalice.h"

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/board.h"

namespace tara {
namespace {

// The qualified rows of one board are counted by a faster form.
TEST(PoisonedChaliceTest, RowsByFieldsOfAWordAreThoseOfTheSimpleForm) {
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  for (int i = 0; i < 100000; ++i) {
    Board own = random() & kAllHills;
    if (i % 2 == 1) own &= random();
    const Board enemy = random() & kAllHills & ~own;
    ASSERT_EQ(rules::QualifiedFiles(own, enemy) & kAllHills,
              rules::QualifiedFiles<Board>(own, enemy) & kAllHills);
    ASSERT_EQ(rules::QualifiedRanks(own, enemy) & kAllHills,
              rules::QualifiedRanks<Board>(own, enemy) & kAllHills);
  }
}

}  // namespace
}  // namespace tara
