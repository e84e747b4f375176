#ifndef TARA_PYTHON_JUDGES_H_
#define TARA_PYTHON_JUDGES_H_

// Judges of positions: networks, random games, Python callables; and work on
// threads that Ctrl-C ends.

#include <pybind11/pybind11.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/options/search_options.h"

namespace tara::python {

class CallableEvaluator;

// Of Judge::Cached: without a bound.
inline constexpr int64_t kManyEvaluations = int64_t{1} << 40;

// What the argument `judge` means. Destroyed with the GIL.
class Judge {
 public:
  // `seed` is that of random games. TypeError for anything else than a Network,
  // "playouts" or a callable.
  Judge(const pybind11::object& judge, uint64_t seed);
  ~Judge();

  bool is_playouts() const { return is_playouts_; }
  // Whether it is Python that judges, which needs the GIL.
  bool is_callable() const { return callable_ != nullptr; }
  // The file of a network; empty of others.
  const std::string& path() const { return path_; }
  // What records call it: a network by its file and number type, "playouts", or
  // the callable's name.
  const std::string& name() const { return name_; }
  // Returns the judge behind a new cache, for searches with the options, which
  // ask for so many evaluations at most; thread-safe.
  mcts::Evaluator& Cached(const mcts::SearchOptions& search,
                          int64_t evaluations);

  // Raises what the callable raised, else the error of `status`.
  void Rethrow(const absl::Status& status) const;

  // The argument, kept while it judges; and to let it go when it no longer
  // does.
  pybind11::handle object() const { return object_; }
  void Drop() { object_ = pybind11::object(); }

 private:
  pybind11::object object_;
  mcts::Evaluator* evaluator_ = nullptr;  // own_, or a network's
  std::unique_ptr<mcts::Evaluator> own_;
  CallableEvaluator* callable_ = nullptr;  // own_, if it is one
  bool is_playouts_ = false;
  std::string name_;
  std::string path_;
  std::unique_ptr<mcts::CachingEvaluator> cache_;
};

// Whether this thread is asking a judge in Python, in whose code anything may
// be called and destroyed.
bool AsksJudge();

// Calls work(0), ..., work(threads - 1) on threads of their own, without the
// GIL, and waits for them. Ctrl-C sets `stop`, and so does what they throw; the
// first of these is raised when all have returned.
void RunInterruptibly(int threads, std::atomic<bool>& stop,
                      const std::function<void(int)>& work);

// Networks: tara.Network.
void DefineJudges(pybind11::module_& module);

}  // namespace tara::python

#endif  // TARA_PYTHON_JUDGES_H_
