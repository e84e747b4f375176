#ifndef TARA_MCTS_EVALUATOR_H_
#define TARA_MCTS_EVALUATOR_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/core/state.h"

namespace tara {

// What an evaluator says of a position. All values are for the side to move.
struct Evaluation {
  // Prior probability of each legal action, in the order of
  // LegalSet::ForEach; sums to 1.
  std::vector<float> priors;
  // Probabilities of the game's result; sum to 1.
  float win = 0;
  float draw = 0;
  float loss = 0;
  // Expected points of the side to move minus those of its opponent.
  float margin = 0;
  // Probability of each final margin: margins[m + kMaxMargin] that the side to
  // move ends m points ahead. kNumMargins long (tara/core/outcome.h), sums to
  // 1 and has the mean `margin`; empty where the evaluator cannot say. What it
  // says of wins and losses may differ a little from `win` and `loss`: a
  // network learns both.
  std::vector<float> margins;

  // Win minus loss probability, in [-1, 1].
  float value() const { return win - loss; }
};

// Judges positions: the seam between search and networks. Thread-safe.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Fills results[i] with the evaluation of states[i]; blocks until done.
  // Results may be reused between calls (their memory is).
  // REQUIRES: no state is finished; the spans have one size.
  // Returns INTERNAL when the backend fails; results are then unspecified.
  virtual absl::Status Evaluate(absl::Span<const State> states,
                                absl::Span<Evaluation> results) = 0;
};

}  // namespace tara

#endif  // TARA_MCTS_EVALUATOR_H_
