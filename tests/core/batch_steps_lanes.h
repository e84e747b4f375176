#ifndef TESTS_CORE_BATCH_STEPS_LANES_H_
#define TESTS_CORE_BATCH_STEPS_LANES_H_

// What batch_steps_*.cc instantiate.

#include <type_traits>

#include "tara/core/batch/avx512_forms.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/playout_lanes.h"
#include "tara/core/outcome.h"
#include "tara/core/rules/registry.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
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
    for (int i = 0; i < kStepLanes; i += W::kLanes) {
      const rules::BoardView<W> view = {.own = W::Load(own + i),
                                        .enemy = W::Load(enemy + i),
                                        .seat = seat,
                                        .options = &options};
      W hills = Rules::BattleTargets(view);
      if constexpr (Rules::kHasManoeuvres) {
        const W targets = Rules::ManoeuvresTargets(view);
        if (manoeuvres) {
          hills = Select(Rules::ManoeuvresOver(targets, view), hills, targets);
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
      using Rules = rules::RulesOf<i>;
      if constexpr (std::is_same_v<typename Rules::Choices,
                                   rules::HillChoices>) {
        return LegalHillsOf<Rules>(options, own, enemy, seat, manoeuvres,
                                   legal);
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
      CountComponentsOfBoth(W::Load(hills + i), W::Load(hills + i))
          .second.Store(counts + i);
    }
  }

  static void RandomHills(const Board* boards, uint64_t seed, int draws,
                          Board* hills) {
    for (int i = 0; i < kStepLanes; i += W::kLanes) {
      RandomLanes<kSet> random(seed, static_cast<uint64_t>(i));
      const W board = W::Load(boards + i);
      for (int draw = 0; draw < draws; ++draw) {
        NthBit(board, random.Below(Count(board)))
            .Store(hills + draw * kStepLanes + i);
      }
    }
  }

  static StepFunctions All() { return {&LegalHills, &Kingdoms, &RandomHills}; }
};

}  // namespace tara::batch

#endif  // TESTS_CORE_BATCH_STEPS_LANES_H_
