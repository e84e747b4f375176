#include "tara/nn/encode/encoded_batch.h"

#include <cstddef>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tara/mcts/evaluator.h"

namespace tara::nn {
namespace {

TEST(IsFiniteTest, FindsWhatIsNotFiniteWhereverItIs) {
  using Limits = std::numeric_limits<float>;
  for (size_t count = 0; count <= 50; ++count) {
    mcts::Evaluation evaluation;
    // As large as numbers are: their sum is not finite, and need not be.
    evaluation.priors.assign(count, Limits::max());
    EXPECT_TRUE(IsFinite(evaluation)) << count;
    std::vector<float*> numbers = {&evaluation.win, &evaluation.draw,
                                   &evaluation.loss, &evaluation.margin};
    for (float& prior : evaluation.priors) numbers.push_back(&prior);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const float finite = *numbers[i];
      for (const float other : {Limits::infinity(), -Limits::infinity(),
                                Limits::quiet_NaN(), -Limits::quiet_NaN()}) {
        *numbers[i] = other;
        EXPECT_FALSE(IsFinite(evaluation)) << other << " at " << i;
      }
      *numbers[i] = finite;
    }
  }
}

}  // namespace
}  // namespace tara::nn
