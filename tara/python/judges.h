#ifndef TARA_PYTHON_JUDGES_H_
#define TARA_PYTHON_JUDGES_H_

// Evaluators of positions ("judges" in Python): networks, random games,
// callables.

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

class CallableEvaluator;

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

// The evaluator that an argument `judge` stands for. Destroyed with the GIL.
class PyEvaluator {
 public:
  // `seed` is the seed of random games. With workers, the thread that waits for
  // them calls a callable, and only their work may request evaluations. If they
  // are null, any thread may call it, with copies of the current contexts.
  // TypeError for anything except a Network, "playouts" or a callable.
  PyEvaluator(const pybind11::object& judge, uint64_t seed, Workers* workers);
  ~PyEvaluator();

  bool is_playouts() const { return is_playouts_; }
  // Whether evaluations call Python, which needs the GIL.
  bool is_callable() const { return callable_ != nullptr; }
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

  // Raises what the callable raised, else the error of `status`.
  void Rethrow(const absl::Status& status) const;
  // Raises KeyboardInterrupt in a running callable as soon as it executes
  // Python code. For callables that any thread calls.
  void Interrupt() const;

  // The argument and its contexts, which live as long as evaluations may be
  // requested; and a function to release them.
  pybind11::handle object() const { return object_; }
  pybind11::handle contexts() const { return contexts_; }
  void Drop() { object_ = contexts_ = pybind11::object(); }

 private:
  pybind11::object object_;
  pybind11::object contexts_;
  mcts::Evaluator* evaluator_ = nullptr;  // own_, or a network's
  std::unique_ptr<mcts::Evaluator> own_;
  CallableEvaluator* callable_ = nullptr;  // own_, if it is one
  bool is_playouts_ = false;
  std::string name_;
  std::string path_;
  std::unique_ptr<mcts::CachingEvaluator> cache_;
};

// Nested calls into Python: a callable may search with another one, or with
// itself.
class Nesting {
 public:
  // For a callable or player that this thread, or others for it, will call.
  // Raises RecursionError if too many calls are nested.
  Nesting();

  // For the duration of a call.
  class Scope {
   public:
    explicit Scope(const Nesting& nesting);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const int outer_;
  };

 private:
  int depth_;
};

// Whether this thread is calling an evaluator or player in Python, whose code
// may call and destroy anything.
bool AsksPython();

}  // namespace tara::python

#endif  // TARA_PYTHON_JUDGES_H_
