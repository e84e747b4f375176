#ifndef TARA_CORE_BATCH_FOUR_TREASURES_LANES_H_
#define TARA_CORE_BATCH_FOUR_TREASURES_LANES_H_

#include <cstdint>

#include "tara/core/batch/formulas.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"

namespace tara::batch {

// Four Treasures (docs/reference/rules.md sections 5 and 6).
template <InstructionSet kSet, int kSeatCount>
class FourTreasuresRules {
 public:
  using W = Word<kSet>;
  static constexpr int kSeats = kSeatCount;
  static constexpr bool kHasManoeuvres = false;

  TARA_INLINE explicit FourTreasuresRules(const RuleOptions&) {}

  TARA_INLINE W BattleTargets(W own, W enemy, int seat) const {
    const W area = Area<kSeats, kSet>(seat);
    const W vacant = area & ~(own | enemy);
    return FirstNonEmpty(Steps<kSet>(own).BesiegedIn(enemy & area), vacant);
  }

  static TARA_INLINE W Margin(W red, W blue) {
    return TwoTierMargin(Bridges(red) - Bridges(blue),
                         PopCount(red) - PopCount(blue));
  }

 private:
  static TARA_INLINE W Bridges(W own) {
    const W pairs = AdjacentPairs(own);
    return Select(Less(pairs, W(kMaxBridges)), pairs, W(kMaxBridges));
  }
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_FOUR_TREASURES_LANES_H_
