#include "tara/python/judges.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/eval/players/make_player.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/utility.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/python/arguments.h"
#include "tara/python/gil.h"
#include "tara/python/module.h"
#include "tara/python/states.h"

namespace tara::python {

namespace py = pybind11;

namespace {

constexpr int64_t kCachedPositions = int64_t{1} << 16;
constexpr char kPlayouts[] = "playouts";

struct Network {
  using PythonClass = void;
  std::unique_ptr<mcts::Evaluator> evaluator;
  std::string path;
  std::string id;
  std::string precision;
};

std::unique_ptr<Network> LoadFile(const Path<"model">& given,
                                  const Text<"precision">& precision) {
  nn::InferenceOptions options;
  ThrowIfError(nn::SetInferenceOption("precision", precision.value, options));
  const std::string path = ValueOrThrow(eval::FindCheckpoint(given));
  const ReleaseGil release;
  auto id = nn::NetworkFileId(path);
  auto loaded = nn::LoadNetwork(path, options);
  const AcquireGil acquire;
  const std::string contents = ValueOrThrow(std::move(id));
  nn::LoadedNetwork network = ValueOrThrow(std::move(loaded));
  return std::make_unique<Network>(Network{
      .evaluator = std::move(network.evaluator),
      .path = path,
      .id = contents,
      .precision = std::string(nn::PrecisionName(network.info.precision))});
}

py::object EvaluateStates(const Network& network, const py::object& states) {
  const std::vector<State> list = UnfinishedStatesOf(states);
  const auto n = static_cast<py::ssize_t>(list.size());
  py::array_t<float> policy(Shape{n, kNumActions});
  py::array_t<float> result(Shape{n, 3});
  py::array_t<float> margin(Shape{n});
  float* const policies = policy.mutable_data();
  float* const results = result.mutable_data();
  float* const margins = margin.mutable_data();
  absl::Status status;
  {
    const ReleaseGil release;
    constexpr size_t kBatch = 512;
    std::vector<mcts::Evaluation> answers(std::min(kBatch, list.size()));
    std::fill_n(policies, list.size() * kNumActions, 0.0f);
    for (size_t first = 0; first < list.size() && status.ok();
         first += kBatch) {
      {
        const AcquireGil acquire;
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      }
      const auto part = absl::MakeConstSpan(list).subspan(first, kBatch);
      status = network.evaluator->Evaluate(
          part, absl::MakeSpan(answers).subspan(0, part.size()));
      for (size_t i = 0; i < part.size() && status.ok(); ++i) {
        const size_t row = first + i;
        size_t place = 0;
        LegalActions(part[i]).ForEach([&](Action action) {
          policies[row * kNumActions + static_cast<size_t>(Index(action))] =
              answers[i].priors[place++];
        });
        results[3 * row] = answers[i].win;
        results[3 * row + 1] = answers[i].draw;
        results[3 * row + 2] = answers[i].loss;
        margins[row] = answers[i].margin;
      }
    }
  }
  ThrowIfError(status);
  return New("Evaluation", policy, result, margin);
}

// Limit of nested calls of evaluators and players: each needs a stack and maybe
// threads.
constexpr int kMostNested = 100;
thread_local int nesting = 0;

// Returns an array of the memory.
template <typename T>
py::array_t<T> Owning(std::unique_ptr<T[]> memory, const Shape& shape) {
  T* const data = memory.get();
  const py::capsule owner(memory.release(),
                          [](void* owned) { delete[] static_cast<T*>(owned); });
  return py::array_t<T>(shape, data, owner);
}

// The arguments of an evaluator in Python, for some positions.
struct Question {
  explicit Question(absl::Span<const State> states)
      : n(states.size()),
        planes(new float[n * nn::kNumPlanes * nn::kNumSquares]),
        globals(new float[n * nn::kNumGlobals]),
        mask(new uint8_t[n * kNumActions]) {
    EncodeStates(
        states, nn::PlaneLayout::kChannelsFirst,
        absl::MakeSpan(planes.get(), n * nn::kNumPlanes * nn::kNumSquares),
        absl::MakeSpan(globals.get(), n * nn::kNumGlobals));
    WriteMask(states, /*seen=*/true,
              absl::MakeSpan(mask.get(), n * kNumActions));
  }

  size_t n;
  std::unique_ptr<float[]> planes, globals;
  std::unique_ptr<uint8_t[]> mask;
};

using FloatArray =
    py::array_t<float, py::array::c_style | py::array::forcecast>;

// Tensors of other libraries come by DLPack, without a copy.
py::object ToNumPy(const py::object& given, const char* name) {
  if (py::isinstance<py::array>(given) || !py::hasattr(given, "__dlpack__")) {
    return given;
  }
  try {
    return Call(py::module_::import("numpy").attr("from_dlpack"), given);
  } catch (py::error_already_set& error) {
    // Of a device, of a gradient, of a number type that NumPy lacks. Any
    // exception of a library may come.
    if (!error.matches(PyExc_Exception)) throw;
    const py::object copy = New("in_memory", given);
    if (!copy.is_none()) return copy;
    const py::object dtype =
        py::getattr(given, "dtype", py::str("unknown type"));
    py::raise_from(
        error, PyExc_TypeError,
        absl::StrCat("judge: ", name, " is a tensor of ",
                     std::string(py::str(dtype)), " that NumPy does not take (",
                     std::string(py::str(error.value())),
                     "); expected one of real numbers, such as float32")
            .c_str());
    throw py::error_already_set();
  }
}

std::vector<float> Values(const py::object& given, const char* name,
                          py::ssize_t n, py::ssize_t width) {
  const std::string what = absl::StrCat("judge: ", name);
  const py::object in_numpy = ToNumPy(given, name);
  py::array any;
  OrWaitForEver([&] { any = py::array::ensure(in_numpy); });
  if (!any || absl::StrContains("USOcmM", any.dtype().kind())) {
    PyErr_Clear();
    ThrowTypeError(what, any ? any : in_numpy, "an array of real numbers");
  }
  const bool is_row = width == 0;
  if (any.ndim() != (is_row ? 1 : 2) || any.shape(0) != n ||
      (!is_row && any.shape(1) != width)) {
    ThrowValueError(what, any,
                    is_row ? absl::StrCat("shape [", n, "]")
                           : absl::StrCat("shape [", n, ", ", width, "]"));
  }
  FloatArray array;
  OrWaitForEver([&] { array = FloatArray::ensure(any); });
  if (!array) throw py::error_already_set();
  return {array.data(), array.data() + array.size()};
}

absl::Status Softmax(absl::Span<float> values, const char* name, size_t index) {
  const float most = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (float& value : values) {
    if (!std::isfinite(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("judge: ", name, "[", index, "] has ", value,
                       "; expected finite numbers"));
    }
    value = std::exp(value - most);
    sum += value;
  }
  for (float& value : values) value = static_cast<float>(value / sum);
  return absl::OkStatus();
}

absl::Status ReadRow(const State& state, size_t index, const float* logits,
                     const float* result_logits, mcts::Evaluation& result) {
  const Symmetry symmetry = RepresentativeSymmetry(state);
  result.priors.clear();
  LegalActions(state).ForEach([&](Action action) {
    result.priors.push_back(logits[Index(TransformAction(symmetry, action))]);
  });
  TARA_RETURN_IF_ERROR(Softmax(absl::MakeSpan(result.priors), "logits", index));
  std::array<float, 3> of_result = {result_logits[0], result_logits[1],
                                    result_logits[2]};
  TARA_RETURN_IF_ERROR(
      Softmax(absl::MakeSpan(of_result), "result_logits", index));
  result.win = of_result[0];
  result.draw = of_result[1];
  result.loss = of_result[2];
  result.margin = 0;
  result.margins.clear();
  return absl::OkStatus();
}

}  // namespace

Answer AnswerOf(const py::object& given, py::ssize_t n) {
  Answer answer;
  OrWaitForEver([&] {  // conversions may give the GIL away
    const auto size = py::isinstance<py::sequence>(given) ? py::len(given) : 0;
    if (size != 2 && size != 3) {
      ThrowValueError("judge", given,
                      "(logits, result_logits) or (logits, result_logits, "
                      "margin) as its answer");
    }
    answer.logits = Values(given[py::int_(0)], "logits", n, kNumActions);
    answer.result_logits = Values(given[py::int_(1)], "result_logits", n, 3);
    if (size == 2) return;
    answer.margin = Values(given[py::int_(2)], "margin", n, 0);
  });
  return answer;
}

absl::Status ReadAnswer(const Answer& answer, absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) {
  for (size_t i = 0; i < states.size(); ++i) {
    TARA_RETURN_IF_ERROR(
        ReadRow(states[i], i, answer.logits.data() + i * kNumActions,
                answer.result_logits.data() + i * 3, results[i]));
    if (answer.margin.empty()) continue;
    if (!std::isfinite(answer.margin[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("judge: margin[", i, "] has ", answer.margin[i],
                       "; expected finite numbers"));
    }
    results[i].margin = answer.margin[i];
  }
  return absl::OkStatus();
}

Nesting::Nesting() : depth_(nesting + 1) {
  if (depth_ <= kMostNested) return;
  PyErr_SetString(PyExc_RecursionError,
                  absl::StrCat("judges and players ask each other ",
                               kMostNested, " deep; expected an end of it")
                      .c_str());
  throw py::error_already_set();
}

Nesting::Scope::Scope(const Nesting& of)
    : outer_(std::exchange(nesting, of.depth_)) {}

Nesting::Scope::~Scope() { nesting = outer_; }

bool AsksPython() { return nesting > 0; }

// Calls a Python callable with positions, a batch at a time:
// judge(planes, globals, mask) -> (logits, result_logits). All are as seen by
// the representative symmetry of each position.
class CallableEvaluator : public mcts::Evaluator {
 public:
  // Refers to all arguments; either workers or contexts is null.
  CallableEvaluator(py::handle judge, Workers* workers, py::handle contexts)
      : judge_(judge), workers_(workers), contexts_(contexts) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    Question question(states);
    Answer answer;
    if (workers_ != nullptr) {
      if (!workers_->Call([&] { answer = Ask(question); })) {
        return absl::CancelledError("the search is stopped");
      }
    } else if (!AskHere(question, answer)) {
      return absl::InternalError("the judge raised an exception");
    }
    return ReadAnswer(answer, states, results);
  }

  // The first exception that the judge raised outside of workers, or null.
  // Needs the GIL, as the next one.
  std::exception_ptr error() const { return error_; }

  void Interrupt() const {
    for (const unsigned long thread : asking_) {
      PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt);
    }
  }

 private:
  // Asks on this thread, which is one of ours.
  bool AskHere(Question& question, Answer& answer) {
    const thread_local ThreadState state;
    const AcquireGil acquire;
    asking_.push_back(PyThread_get_thread_ident());
    const absl::Cleanup asked = [this] {
      std::erase(asking_, PyThread_get_thread_ident());
    };
    try {
      // A context can be entered once at a time.
      const auto contexts =
          py::reinterpret_steal<py::object>(PyContext_Copy(contexts_.ptr()));
      if (!contexts || PyContext_Enter(contexts.ptr()) != 0) {
        throw py::error_already_set();
      }
      const absl::Cleanup left = [&contexts] {
        const py::error_scope kept;
        if (PyContext_Exit(contexts.ptr()) != 0) PyErr_Clear();
      };
      answer = Ask(question);
      return true;
    } catch (...) {
      if (!error_) error_ = std::current_exception();
      return false;
    }
  }

  // Needs the GIL.
  Answer Ask(Question& question) const {
    const Nesting::Scope scope(nesting_);
    const auto n = static_cast<py::ssize_t>(question.n);
    const auto planes =
        Owning(std::move(question.planes), {n, nn::kNumPlanes, 7, 7});
    const auto globals =
        Owning(std::move(question.globals), {n, nn::kNumGlobals});
    const auto mask = Owning(std::move(question.mask), {n, kNumActions});
    const py::object given = Call(judge_, planes, globals, mask);
    return AnswerOf(given, n);
  }

  const py::handle judge_;
  Workers* const workers_;
  const py::handle contexts_;
  const Nesting nesting_;
  std::exception_ptr error_;           // guarded by the GIL, as the next
  std::vector<unsigned long> asking_;  // threads, by Python's numbers
};

PyEvaluator::PyEvaluator(const py::object& judge, uint64_t seed,
                         Workers* workers)
    : object_(judge) {
  if (py::isinstance<Network>(judge)) {
    const auto& network = judge.cast<const Network&>();
    evaluator_ = network.evaluator.get();
    path_ = network.path;
    // Another number type plays other games.
    name_ = absl::StrCat(std::filesystem::path(network.path).stem().string(),
                         ",precision=", network.precision);
  } else if (py::isinstance<py::str>(judge) &&
             judge.equal(py::str(kPlayouts))) {
    own_ = std::make_unique<mcts::PlayoutEvaluator>(1, seed);
    evaluator_ = own_.get();
    is_playouts_ = true;
    name_ = kPlayouts;
  } else if (PyCallable_Check(judge.ptr()) != 0) {
    if (workers == nullptr) {
      contexts_ = py::reinterpret_steal<py::object>(PyContext_CopyCurrent());
      if (!contexts_) throw py::error_already_set();
    }
    auto own = std::make_unique<CallableEvaluator>(judge, workers, contexts_);
    callable_ = own.get();
    evaluator_ = callable_;
    own_ = std::move(own);
    const py::object named =
        py::hasattr(judge, "__name__") ? judge : py::type::of(judge);
    name_ = py::str(named.attr("__name__"));
  } else {
    ThrowTypeError("judge", judge, "a Network, 'playouts' or a callable");
  }
}

void PyEvaluator::Check(const mcts::SearchOptions& search) const {
  using enum mcts::UtilityKind;
  if (callable_ == nullptr || search.utility.kind == kMatch ||
      !mcts::Utility(search.utility).needs_margins()) {
    return;  // a match has typical margins for who gives none
  }
  throw py::value_error(absl::StrCat(
      "options: utility=", mcts::UtilityKindName(search.utility.kind),
      " with a judge that is a callable; expected utility=win or match: it "
      "gives no margins"));
}

mcts::Evaluator& PyEvaluator::Cached(const mcts::SearchOptions& search,
                                     int64_t evaluations) {
  cache_ = std::make_unique<mcts::CachingEvaluator>(
      evaluator_,
      mcts::CachingOptions{
          .positions =
              std::clamp(evaluations, int64_t{1} << 8, kCachedPositions),
          .symmetric = !is_playouts_,
          .margins = mcts::Utility(search.utility).needs_margins()});
  return *cache_;
}

PyEvaluator::~PyEvaluator() = default;

void PyEvaluator::Rethrow(const absl::Status& status) const {
  if (callable_ != nullptr && callable_->error() != nullptr) {
    std::rethrow_exception(callable_->error());
  }
  ThrowIfError(status);
}

void PyEvaluator::Interrupt() const {
  if (callable_ != nullptr) callable_->Interrupt();
}

void DefineJudges(py::module_& module) {
  py::class_<Network> network(
      module, "Network",
      R"(A trained network for inference on the CPU, as returned by tara.load.

Several threads may use it concurrently.)");
  network.def("evaluate", &EvaluateStates, py::arg("states"),
              R"(Returns the Evaluation of unfinished positions.

Actions refer to the given positions, not to the network's inputs. Releases the
GIL.

states: an array of dtype STATE and shape [n], or a sequence of State. Raises
ValueError, naming the position, for a finished or impossible one.)");
  network.def_property_readonly(
      "info",
      [](const Network& self) {
        py::dict info;
        info["path"] = self.path;
        info["id"] = self.id;
        info["precision"] = self.precision;
        return info;
      },
      R"(Information about the network: "path", its file; "id", an identifier of
the file's contents; "precision", the number type of its computations.)");
  module.def("_load", &LoadFile, py::arg("model"), py::arg("precision"));
}

}  // namespace tara::python
