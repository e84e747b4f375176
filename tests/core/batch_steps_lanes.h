#ifndef TESTS_CORE_BATCH_STEPS_LANES_H_
#define TESTS_CORE_BATCH_STEPS_LANES_H_

// What batch_steps_*.cc instantiate.

#include "tara/core/batch/formulas.h"
#include "tara/core/batch/four_treasures_lanes.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/poisoned_chalice_lanes.h"
#include "tara/core/batch/random_lanes.h"
#include "tara/core/batch/sacred_hill_lanes.h"
#include "tara/core/variant.h"
#include "tests/core/batch_steps.h"

namespace tara::batch {

template <InstructionSet kSet>
struct Steppers {
  using W = Word<kSet>;

  template <typename Rules>
  static bool LegalHillsOf(const RuleOptions& options, const Board* own,
                           const Board* enemy, int seat, bool manoeuvres,
                           Board* legal) {
    const Rules rules(options);
    for (int i = 0; i < kStepLanes; i += W::kLanes) {
      const W mine = W::Load(own + i), theirs = W::Load(enemy + i);
      W hills = rules.BattleTargets(mine, theirs, seat);
      if constexpr (Rules::kHasManoeuvres) {
        const W targets = rules.ManoeuvresTargets(mine, theirs, seat);
        if (manoeuvres) {
          hills = Select(rules.StillManoeuvres(targets, mine, theirs), targets,
                         hills);
        }
      }
      hills.Store(legal + i);
    }
    return true;
  }

  template <int i>
  static bool LegalHillsAt(int variant, const RuleOptions& options,
                           const Board* own, const Board* enemy, int seat,
                           bool manoeuvres, Board* legal) {
    if constexpr (i == kNumVariants) {
      return false;
    } else if (variant != i) {
      return LegalHillsAt<i + 1>(variant, options, own, enemy, seat, manoeuvres,
                                 legal);
    } else {
      constexpr VariantInfo kInfo = kVariants[i];
      if constexpr (kInfo.family == Family::kSacredHill) {
        return LegalHillsOf<SacredHillRules<kSet, kInfo.level, kInfo.seats>>(
            options, own, enemy, seat, manoeuvres, legal);
      } else if constexpr (kInfo.family == Family::kFourTreasures) {
        return LegalHillsOf<FourTreasuresRules<kSet, kInfo.seats>>(
            options, own, enemy, seat, manoeuvres, legal);
      } else if constexpr (kInfo.family == Family::kPoisonedChalice) {
        return LegalHillsOf<PoisonedChaliceRules<kSet>>(
            options, own, enemy, seat, manoeuvres, legal);
      }
      return false;
    }
  }

  static bool LegalHills(int variant, const RuleOptions& options,
                         const Board* own, const Board* enemy, int seat,
                         bool manoeuvres, Board* legal) {
    return LegalHillsAt<0>(variant, options, own, enemy, seat, manoeuvres,
                           legal);
  }

  static void Kingdoms(const Board* hills, uint64_t* counts) {
    for (int i = 0; i < kStepLanes; i += W::kLanes) {
      CountKingdoms(W::Load(hills + i)).Store(counts + i);
    }
  }

  static void RandomHills(const Board* boards, uint64_t seed, int draws,
                          Board* hills) {
    for (int i = 0; i < kStepLanes; i += W::kLanes) {
      RandomLanes<kSet> random(seed, static_cast<uint64_t>(i));
      const W board = W::Load(boards + i);
      for (int draw = 0; draw < draws; ++draw) {
        NthBit(board, random.Below(PopCount(board)))
            .Store(hills + draw * kStepLanes + i);
      }
    }
  }

  static StepFunctions All() { return {&LegalHills, &Kingdoms, &RandomHills}; }
};

}  // namespace tara::batch

#endif  // TESTS_CORE_BATCH_STEPS_LANES_H_
