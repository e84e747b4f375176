#ifndef TARA_PYTHON_EVALUATORS_H_
#define TARA_PYTHON_EVALUATORS_H_

// Evaluators of positions: networks, random games, callables.

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/options/search_options.h"
#include "tara/python/workers.h"

namespace tara::python {

// A callable's evaluations of n positions, as networks see them.
struct Answer {
  std::vector<float> logits;         // [n, kNumActions]
  std::vector<float> result_logits;  // [n, 3]
  std::vector<float> margin;         // [n], or empty
};

// Returns the answer in arrays or tensors: (logits, result_logits) or (logits,
// result_logits, margin). Raises if it is invalid. Needs the GIL.
Answer AnswerOf(const pybind11::object& given, pybind11::ssize_t n);

// Fills the evaluations of the positions. INVALID_ARGUMENT for numbers that are
// not finite.
absl::Status ReadAnswer(const Answer& answer, absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results);

// For PyEvaluator::Cached: no limit.
inline constexpr int64_t kManyEvaluations = int64_t{1} << 40;

// The evaluator that an argument `evaluator` stands for. Destroyed with the
// GIL.
class PyEvaluator {
 public:
  // Refers to a callable and the workers. `seed` is the seed of random games.
  // The thread that serves the workers calls a callable, and only their work
  // may request evaluations. TypeError for anything except a Network,
  // "playouts" or a callable.
  PyEvaluator(pybind11::handle evaluator, uint64_t seed, Workers* workers);

  bool is_playouts() const { return is_playouts_; }
  // The file of a network; otherwise empty.
  const std::string& path() const { return path_; }
  // Its name in records: a network's file and number type, "playouts", or the
  // callable's name.
  const std::string& name() const { return name_; }
  // Raises ValueError if a search with the options needs outputs that it does
  // not have.
  void Check(const mcts::SearchOptions& search) const;
  // Returns the evaluator behind a new cache, for searches with the options and
  // at most this number of evaluations; thread-safe.
  mcts::Evaluator& Cached(const mcts::SearchOptions& search,
                          int64_t evaluations);

 private:
  std::shared_ptr<mcts::Evaluator> evaluator_;
  bool is_callable_ = false;
  bool is_playouts_ = false;
  std::string name_;
  std::string path_;
  std::unique_ptr<mcts::CachingEvaluator> cache_;
};

}  // namespace tara::python

#endif  // TARA_PYTHON_EVALUATORS_H_
