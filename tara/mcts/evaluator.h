#ifndef TARA_MCTS_EVALUATOR_H_
#define TARA_MCTS_EVALUATOR_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/core/state.h"

namespace tara::mcts {

// An evaluator's result for a position. All values are for the side to move.
struct Evaluation {
  // Prior probability of each legal action, in the order of
  // LegalSet::ForEach; sums to 1.
  std::vector<float> priors;
  // Probabilities of the game's result; sum to 1.
  float win = 0;
  float draw = 0;
  float loss = 0;
  // Expected points of the side to move minus points of its opponent.
  float margin = 0;
  // Probability of each final margin: margins[m + kMaxMargin] that the side to
  // move ends m points ahead. kNumMargins long, sums to 1, with mean `margin`;
  // empty where the evaluator has none. May differ a little from `win` and
  // `loss`: a network learns both.
  std::vector<float> margins;

  // Win minus loss probability, in [-1, 1].
  float value() const { return win - loss; }
};

// Queue of positions of one caller for an evaluator. Requests without
// computation (cached ones) are answered immediately, so batches contain only
// the others. Any thread may call, one at a time.
class EvaluationQueue {
 public:
  struct Request {
    const State* state = nullptr;  // both stay until the request is answered
    Evaluation* result = nullptr;
    int tag = 0;  // names the request when it is answered
  };

  virtual ~EvaluationQueue() = default;

  // Answers the requests that need no computing and appends their tags to
  // `answered`; the others wait. REQUIRES: no state is finished.
  virtual void Submit(absl::Span<const Request> requests,
                      std::vector<int>& answered) = 0;

  // How many requests wait.
  virtual size_t waiting() const = 0;

  // Evaluates a batch of the waiting positions, oldest first, and appends their
  // tags to `answered`. The size of a batch is BatchSize the number of waiting
  // positions. REQUIRES: at least one waits. Errors of Evaluator::Evaluate; the
  // queue is empty then.
  virtual absl::Status Evaluate(std::vector<int>& answered) = 0;
};

// Returns the size of the next batch for a number of positions: all of them or,
// from `multiple` on, the largest multiple of it.
inline size_t BatchSize(size_t positions, size_t multiple) {
  return positions < multiple ? positions : positions - positions % multiple;
}

// Evaluates positions: the seam between search and networks. Thread-safe.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Fills results[i] with the evaluation of states[i]; blocks until done.
  // Results may be reused between calls (their memory is).
  // REQUIRES: no state is finished; the spans have one size.
  // Returns INTERNAL when the backend fails; results are then unspecified.
  virtual absl::Status Evaluate(absl::Span<const State> states,
                                absl::Span<Evaluation> results) = 0;

  // Batches of a multiple of this number have the lowest cost per position.
  virtual size_t batch_multiple() const { return 1; }

  // Returns a queue for one caller, which borrows this. By default every
  // request becomes a position of a batch.
  virtual std::unique_ptr<EvaluationQueue> NewQueue();
};

// Solves positions near the end of the game: the seam between the search and
// an exact solver.
class LeafSolver {
 public:
  virtual ~LeafSolver() = default;

  // Returns Red's points minus Blue's under best play of both sides, or
  // nothing where it gives up. REQUIRES: the state is not finished.
  virtual std::optional<int> SolveRedMargin(const State& state) = 0;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_EVALUATOR_H_
