#ifndef TARA_CORE_BATCH_SACRED_HILL_LANES_H_
#define TARA_CORE_BATCH_SACRED_HILL_LANES_H_

#include <cstdint>

#include "tara/core/batch/formulas.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules/view.h"

namespace tara::batch {

// Sacred Hill, singles and doubles (docs/reference/rules.md sections 3 to 5).
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
    // One and two files away, in either direction; from these the other steps.
    const W one = (own << 1) | (own >> 1);
    const W two = (own << 2) | (own >> 2);
    const auto ranks = [](W hills, int n) {
      return (hills << (kRankStride * n)) | (hills >> (kRankStride * n));
    };
    const W knight_moves = ranks(two, 1) | ranks(one, 2);
    W near;
    if (proximity_bound_ == 5) [[likely]] {
      near = one | two | ranks(own | one, 1) | ranks(own, 2);
    } else {
      near = KeepIf(M(proximity_bound_ > 1), Adjacent(own)) |
             KeepIf(M(proximity_bound_ > 2), Diagonal(own));
    }
    W first = vacant;
    if (kSeats == 4 && shared_row_opening_) {
      first &= W(rules::kSharedRows[seat % 2]);
    }
    return Select(NonZero(own), vacant & knight_moves & ~near, first);
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

  static TARA_INLINE W Margin(W red, W blue) {
    return TwoTierMargin(KingdomLead(red, blue),
                         PopCount(red) - PopCount(blue));
  }

 private:
  // Returns those of `targets` with the most adjacent ringforts: those with
  // four if there are any, else those with at least three, and so on.
  static TARA_INLINE W HighestPriority(W targets, const Steps<kSet>& steps) {
    // Of three directions, then with the fourth.
    const W any = steps.north | steps.south | steps.east;
    const W pair = Majority(steps.north, steps.south, steps.east);
    const W all = steps.north & steps.south & steps.east;
    const W one = targets & (any | steps.west);
    const W two = targets & (pair | (any & steps.west));
    const W three = targets & (all | (pair & steps.west));
    const W four = targets & all & steps.west;
    return FirstNonEmpty(
        four,
        FirstNonEmpty(three, FirstNonEmpty(two, FirstNonEmpty(one, targets))));
  }

  int proximity_bound_;
  bool shared_row_opening_;
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_SACRED_HILL_LANES_H_
