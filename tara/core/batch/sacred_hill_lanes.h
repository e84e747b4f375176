#ifndef TARA_CORE_BATCH_SACRED_HILL_LANES_H_
#define TARA_CORE_BATCH_SACRED_HILL_LANES_H_

#include <cstdint>

#include "tara/core/batch/areas.h"
#include "tara/core/batch/formulas.h"
#include "tara/core/batch/hill_games.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules/areas.h"

namespace tara::batch {

// Sacred Hill, singles and doubles (docs/rules.md sections 3 to 5).
template <InstructionSet kSet, int kLevel, int kSeatCount>
class SacredHillRules {
 public:
  using W = Word<kSet>;
  using M = Mask<kSet>;
  static constexpr int kSeats = kSeatCount;
  static constexpr bool kHasManoeuvres = true;

  TARA_INLINE explicit SacredHillRules(const RuleOptions& options)
      : proximity_bound_(options.proximity_bound),
        shared_row_opening_(options.shared_row_opening) {}

  TARA_INLINE W ManoeuvresTargets(W own, W enemy, int seat) const {
    const W vacant = Area<kSeats, kSet>(seat) & ~(own | enemy);
    W near(uint64_t{0});
    if (proximity_bound_ > 1) near |= Adjacent(own);
    if (proximity_bound_ > 2) near |= Diagonal(own);
    if (proximity_bound_ > 4) near |= TwoStepsStraight(own);
    W first = vacant;
    if (kSeats == 4 && shared_row_opening_) {
      first &= W(rules::kSharedRows[seat % 2]);
    }
    return Select(NonZero(own), vacant & KnightMoves(own) & ~near, first);
  }

  TARA_INLINE M StillManoeuvres(W targets, W, W) const {
    return NonZero(targets);
  }

  TARA_INLINE W BattleTargets(W own, W enemy, int seat) const {
    const W area = Area<kSeats, kSet>(seat);
    const W vacant = area & ~(own | enemy);
    const Steps<kSet> steps(own);
    const W captures = steps.BesiegedIn(enemy & area);
    if constexpr (kLevel == 2) {
      return HighestPriority(vacant | captures, steps);
    } else {
      return FirstNonEmpty(captures,
                           FirstNonEmpty(steps.AdjacentIn(vacant), vacant));
    }
  }

  // Fewer kingdoms lead.
  static TARA_INLINE W Margin(W red, W blue) {
    return TwoTierMargin(CountKingdoms(blue) - CountKingdoms(red),
                         PopCount(red) - PopCount(blue));
  }

 private:
  // Returns those of `targets` with the most adjacent ringforts: keeps those
  // with at least one, two, three, four, as long as there are any.
  static TARA_INLINE W HighestPriority(W targets, const Steps<kSet>& steps) {
    const W any_ns = steps.north | steps.south;
    const W pair_ns = steps.north & steps.south;
    const W any_ew = steps.east | steps.west;
    const W pair_ew = steps.east & steps.west;
    targets = FirstNonEmpty(targets & (any_ns | any_ew), targets);
    targets = FirstNonEmpty(targets & (pair_ns | pair_ew | (any_ns & any_ew)),
                            targets);
    targets = FirstNonEmpty(targets & ((pair_ns & any_ew) | (pair_ew & any_ns)),
                            targets);
    return FirstNonEmpty(targets & pair_ns & pair_ew, targets);
  }

  int proximity_bound_;
  bool shared_row_opening_;
};

template <InstructionSet kSet, int kLevel, int kSeats>
using SacredHillLanes = HillGames<kSet, SacredHillRules<kSet, kLevel, kSeats>>;

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_SACRED_HILL_LANES_H_
