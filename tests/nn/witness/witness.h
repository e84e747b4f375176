#ifndef TESTS_NN_WITNESS_WITNESS_H_
#define TESTS_NN_WITNESS_WITNESS_H_

// Networks of an earlier program and what they answered (README.md).

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/inference_options.h"

namespace tara::nn {

inline constexpr char kWitnessCheckpoint[] = "tests/nn/witness/checkpoint.pt";
inline constexpr char kWitnessBundle[] = "tests/nn/witness/bundle.tara";

// Sums are made in another order on other processors; 4e-6 was seen.
inline constexpr float kWitnessTolerance = 1e-4f;

struct WitnessAnswer {
  State state;
  mcts::Evaluation expected;
};

// Returns the golden positions of the bundle with what its network said of them
// when it was made.
std::vector<WitnessAnswer> WitnessAnswers();

// `evaluator`: an Evaluator or a Trainer.
template <typename Evaluates>
void ExpectAnswers(const std::vector<WitnessAnswer>& answers,
                   Evaluates& evaluator) {
  using ::testing::FloatNear;
  using ::testing::Pointwise;
  std::vector<State> states;
  for (const WitnessAnswer& answer : answers) states.push_back(answer.state);
  std::vector<mcts::Evaluation> results(states.size());
  ASSERT_TRUE(evaluator.Evaluate(states, absl::MakeSpan(results)).ok());
  for (size_t i = 0; i < states.size(); ++i) {
    const mcts::Evaluation& expected = answers[i].expected;
    const float tolerance = kWitnessTolerance;
    EXPECT_THAT(results[i].priors,
                Pointwise(FloatNear(tolerance), expected.priors));
    EXPECT_THAT(results[i].margins,
                Pointwise(FloatNear(tolerance), expected.margins));
    EXPECT_NEAR(results[i].win, expected.win, tolerance);
    EXPECT_NEAR(results[i].draw, expected.draw, tolerance);
    EXPECT_NEAR(results[i].loss, expected.loss, tolerance);
    EXPECT_NEAR(results[i].margin, expected.margin, 10 * tolerance);
  }
}

// Expects that the checkpoint and the bundle, computed in float32 by a backend,
// answer so.
void ExpectBothAnswer(const std::vector<WitnessAnswer>& answers,
                      InferenceBackend backend);

// Expects that no form of the bundle differs; returns how many agree.
int AgreeingForms();

}  // namespace tara::nn

#endif  // TESTS_NN_WITNESS_WITNESS_H_
