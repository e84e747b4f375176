#ifndef TARA_PYTHON_JUDGES_H_
#define TARA_PYTHON_JUDGES_H_

// Judges of positions: networks, random games, Python callables.

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

// What a callable answers about n positions, as they are seen.
struct Answer {
  std::vector<float> logits;         // [n, kNumActions]
  std::vector<float> result_logits;  // [n, 3]
  std::vector<float> margin;         // [n], or empty
};

// Returns the answer of arrays or tensors: (logits, result_logits) or (logits,
// result_logits, margin). Raises what is wrong with it. Needs the GIL.
Answer AnswerOf(const pybind11::object& given, pybind11::ssize_t n);

// Fills the evaluations of the positions. INVALID_ARGUMENT for numbers that are
// not finite.
absl::Status ReadAnswer(const Answer& answer, absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results);

// Of Judge::Cached: without a bound.
inline constexpr int64_t kManyEvaluations = int64_t{1} << 40;

// What the argument `judge` means. Destroyed with the GIL.
class Judge {
 public:
  // `seed` is that of random games. A callable is called by who waits for the
  // workers, whose work alone may ask then; where they are null, by any thread
  // that asks, with copies of the contexts of now. TypeError for anything else
  // than a Network, "playouts" or a callable.
  Judge(const pybind11::object& judge, uint64_t seed, Workers* workers);
  ~Judge();

  bool is_playouts() const { return is_playouts_; }
  // Whether it is Python that judges, which needs the GIL.
  bool is_callable() const { return callable_ != nullptr; }
  // The file of a network; empty of others.
  const std::string& path() const { return path_; }
  // What records call it: a network by its file and number type, "playouts", or
  // the callable's name.
  const std::string& name() const { return name_; }
  // Raises ValueError where a search with the options needs what the judge does
  // not give.
  void Check(const mcts::SearchOptions& search) const;
  // Returns the judge behind a new cache, for searches with the options, which
  // ask for so many evaluations at most; thread-safe.
  mcts::Evaluator& Cached(const mcts::SearchOptions& search,
                          int64_t evaluations);

  // Raises what the callable raised, else the error of `status`.
  void Rethrow(const absl::Status& status) const;
  // Raises KeyboardInterrupt in a callable that is called at the moment, as
  // soon as it runs Python's code. Of one that any thread calls.
  void Interrupt() const;

  // What is kept while it judges, the argument and its contexts; and to let it
  // go when it no longer does.
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

// Calls into Python that are within each other: a judge that searches asks
// another one, maybe itself.
class Nesting {
 public:
  // Of a judge or player that this thread will ask, or has others ask. Raises
  // RecursionError where it is in too many others.
  Nesting();

  // While one is asked.
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

// Whether this thread is asking a judge or player in Python, in whose code
// anything may be called and destroyed.
bool AsksPython();

}  // namespace tara::python

#endif  // TARA_PYTHON_JUDGES_H_
