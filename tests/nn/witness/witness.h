#ifndef TESTS_NN_WITNESS_WITNESS_H_
#define TESTS_NN_WITNESS_WITNESS_H_

// Networks of an earlier program and what they answered (README.md).

#include <vector>

#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/inference_options.h"
#include "tests/nn/nn_testing.h"

namespace tara::nn {

inline constexpr char kWitnessCheckpoint[] = "tests/nn/witness/checkpoint.pt";
inline constexpr char kWitnessBundle[] = "tests/nn/witness/bundle.tara";

// Sums are made in another order on other processors; 4e-6 was seen.
inline constexpr float kWitnessTolerance = 1e-4f;

struct WitnessAnswers {
  std::vector<State> states;
  std::vector<mcts::Evaluation> expected;
};

// Returns the golden positions of the bundle with what its network said of them
// when it was made.
WitnessAnswers ReadWitnessAnswers();

// `evaluator`: an Evaluator or a Trainer.
template <typename Evaluates>
void ExpectAnswers(const WitnessAnswers& answers, Evaluates& evaluator) {
  ExpectNear(EvaluationsBy(evaluator, answers.states), answers.expected,
             kWitnessTolerance);
}

// Expects that the checkpoint and the bundle, computed in float32 by a backend,
// answer so.
void ExpectBothAnswer(const WitnessAnswers& answers, InferenceBackend backend);

// Expects that no form of the bundle differs; returns how many agree.
int AgreeingForms();

}  // namespace tara::nn

#endif  // TESTS_NN_WITNESS_WITNESS_H_
