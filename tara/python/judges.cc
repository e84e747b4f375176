#include "tara/python/judges.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/eval/players/make_player.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/utility.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/python/arrays.h"
#include "tara/python/gil.h"
#include "tara/python/states.h"

namespace tara::python {

namespace py = pybind11;

namespace {

constexpr int64_t kCachedPositions = int64_t{1} << 16;
constexpr char kPlayouts[] = "playouts";

struct Network {
  std::unique_ptr<mcts::Evaluator> evaluator;
  std::string path;
  std::string id;
  std::string precision;
};

std::unique_ptr<Network> LoadFile(const std::string& given,
                                  const std::string& precision) {
  nn::InferenceOptions options;
  ThrowIfError(nn::SetInferenceOption("precision", precision, options));
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
  auto policy = OutputArray<float>(py::none(), {n, kNumActions});
  auto result = OutputArray<float>(py::none(), {n, 3});
  auto margin = OutputArray<float>(py::none(), {n});
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

thread_local bool asks_judge = false;

}  // namespace

bool AsksJudge() { return asks_judge; }

// Asks a Python callable about positions, with the GIL, a batch at a time:
// judge(planes, globals, mask) -> (logits, result_logits). All are as seen by
// the representative symmetry of each position.
class CallableEvaluator : public mcts::Evaluator {
 public:
  // Refers to the judge.
  explicit CallableEvaluator(py::handle judge) : judge_(judge) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    const thread_local ThreadState state;
    const AcquireGil acquire;
    const bool outer = std::exchange(asks_judge, true);
    const absl::Cleanup done = [outer] { asks_judge = outer; };
    try {
      Ask(states, results);
      return absl::OkStatus();
    } catch (...) {
      if (!error_) error_ = std::current_exception();
      return absl::InternalError("the judge raised an exception");
    }
  }

  // The first exception that the judge raised, or null. Needs the GIL.
  std::exception_ptr error() const { return error_; }

 private:
  void Ask(absl::Span<const State> states,
           absl::Span<mcts::Evaluation> results) {
    const auto n = static_cast<py::ssize_t>(states.size());
    Features features =
        FeatureArrays(py::none(), n, nn::PlaneLayout::kChannelsFirst);
    auto mask = OutputArray<uint8_t>(py::none(), {n, kNumActions});
    {
      const auto planes = SpanOf(features.planes);
      const auto globals = SpanOf(features.globals);
      const auto legal = SpanOf(mask);
      const ReleaseGil release;
      EncodeStates(states, nn::PlaneLayout::kChannelsFirst, planes, globals);
      WriteMask(states, /*seen=*/true, legal);
    }
    const py::object answer =
        Call(judge_, features.planes, features.globals, mask);
    FloatArray logits;
    FloatArray result;
    OrWaitForEver([&] {  // conversions may give the GIL away
      if (!py::isinstance<py::sequence>(answer) || py::len(answer) != 2) {
        throw py::value_error(
            "judge: expected a pair (logits, result_logits) as its answer");
      }
      logits = Answer(answer[py::int_(0)], "logits", n, kNumActions);
      result = Answer(answer[py::int_(1)], "result_logits", n, 3);
    });
    const float* const of_actions = logits.data();
    const float* const of_result = result.data();
    const ReleaseGil release;
    for (size_t i = 0; i < states.size(); ++i) {
      Read(states[i], i, of_actions + i * kNumActions, of_result + i * 3,
           results[i]);
    }
  }

  using FloatArray =
      py::array_t<float, py::array::c_style | py::array::forcecast>;

  // Tensors of other libraries come by DLPack, without a copy.
  static py::object ToNumPy(const py::object& given) {
    if (py::isinstance<py::array>(given) || !py::hasattr(given, "__dlpack__")) {
      return given;
    }
    return py::module_::import("numpy").attr("from_dlpack")(given);
  }

  static FloatArray Answer(const py::object& given, const char* name,
                           py::ssize_t n, py::ssize_t width) {
    FloatArray array = FloatArray::ensure(ToNumPy(given));
    if (!array) {
      PyErr_Clear();
      throw py::type_error(
          absl::StrCat("judge: ", name, " is no array of numbers"));
    }
    if (array.ndim() != 2 || array.shape(0) != n || array.shape(1) != width) {
      throw py::value_error(absl::StrCat(
          "judge: ", name, " of shape [",
          absl::StrJoin(array.shape(), array.shape() + array.ndim(), ", "),
          "]; expected [", n, ", ", width, "]"));
    }
    return array;
  }

  static void Read(const State& state, size_t index, const float* logits,
                   const float* result_logits, mcts::Evaluation& result) {
    const Symmetry symmetry = RepresentativeSymmetry(state);
    result.priors.clear();
    LegalActions(state).ForEach([&](Action action) {
      result.priors.push_back(logits[Index(TransformAction(symmetry, action))]);
    });
    Softmax(absl::MakeSpan(result.priors), "logits", index);
    std::array<float, 3> of_result = {result_logits[0], result_logits[1],
                                      result_logits[2]};
    Softmax(absl::MakeSpan(of_result), "result_logits", index);
    result.win = of_result[0];
    result.draw = of_result[1];
    result.loss = of_result[2];
    result.margin = 0;
    result.margins.clear();
  }

  static void Softmax(absl::Span<float> values, const char* name,
                      size_t index) {
    const float most = *std::max_element(values.begin(), values.end());
    double sum = 0;
    for (float& value : values) {
      if (!std::isfinite(value)) {
        throw py::value_error(absl::StrCat("judge: ", name, "[", index,
                                           "] has ", value,
                                           "; expected finite numbers"));
      }
      value = std::exp(value - most);
      sum += value;
    }
    for (float& value : values) value = static_cast<float>(value / sum);
  }

  const py::handle judge_;
  std::exception_ptr error_;
};

Judge::Judge(const py::object& judge, uint64_t seed) : object_(judge) {
  if (py::isinstance<Network>(judge)) {
    const auto& network = judge.cast<const Network&>();
    evaluator_ = network.evaluator.get();
    path_ = network.path;
    // Another number type plays other games.
    name_ = absl::StrCat(std::filesystem::path(network.path).stem().string(),
                         ",precision=", network.precision);
  } else if (py::isinstance<py::str>(judge) &&
             judge.cast<std::string>() == kPlayouts) {
    own_ = std::make_unique<mcts::PlayoutEvaluator>(1, seed);
    evaluator_ = own_.get();
    is_playouts_ = true;
    name_ = kPlayouts;
  } else if (PyCallable_Check(judge.ptr()) != 0) {
    auto own = std::make_unique<CallableEvaluator>(judge);
    callable_ = own.get();
    evaluator_ = callable_;
    own_ = std::move(own);
    const py::object named =
        py::hasattr(judge, "__name__") ? judge : py::type::of(judge);
    name_ = py::str(named.attr("__name__"));
  } else {
    throw py::type_error(
        absl::StrCat("judge: ", std::string(py::str(py::repr(judge))),
                     "; expected a Network, 'playouts' or a callable"));
  }
}

mcts::Evaluator& Judge::Cached(const mcts::SearchOptions& search,
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

Judge::~Judge() = default;

void Judge::Rethrow(const absl::Status& status) const {
  if (callable_ != nullptr && callable_->error() != nullptr) {
    std::rethrow_exception(callable_->error());
  }
  ThrowIfError(status);
}

void RunInterruptibly(int threads, std::atomic<bool>& stop,
                      const std::function<void(int)>& work) {
  std::mutex mutex;
  std::condition_variable returned;
  int running = threads;     // guarded by mutex, as the next
  std::exception_ptr error;  // the first
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    if (error == nullptr) error = std::current_exception();
    stop = true;
  };
  const auto run = [&](int i) {
    try {
      work(i);
    } catch (const std::exception&) {  // no memory
      fail();
    }
    const std::lock_guard lock(mutex);
    --running;
    returned.notify_all();
  };
  {
    const ReleaseGil release;
    std::vector<std::thread> workers;
    try {
      for (int i = 0; i < threads; ++i) workers.emplace_back(run, i);
    } catch (const std::system_error&) {  // no more threads
      fail();
      const std::lock_guard lock(mutex);
      running -= threads - static_cast<int>(workers.size());
    }
    std::unique_lock lock(mutex);
    while (!returned.wait_for(lock, std::chrono::milliseconds(50),
                              [&] { return running == 0; })) {
      lock.unlock();
      try {
        const AcquireGil acquire;
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      } catch (const py::error_already_set&) {
        fail();
      }
      lock.lock();
    }
    lock.unlock();
    for (std::thread& worker : workers) worker.join();
  }
  if (error != nullptr) std::rethrow_exception(error);
}

void DefineJudges(py::module_& module) {
  py::class_<Network> network(
      module, "Network",
      "A trained network for inference on the CPU, as tara.load returns it.\n\n"
      "Several threads may use it at the same time.");
  network.def("evaluate", &EvaluateStates, py::arg("states"),
              "Returns the Evaluation of positions, which must not be "
              "finished.\n\n"
              "Actions are those of the positions as they are, not as the\n"
              "network sees them. Releases the GIL.\n\n"
              "states: an array of dtype STATE and shape [n], or a sequence\n"
              "of State. Raises ValueError, naming the position, for one\n"
              "that is finished or impossible.");
  network.def_property_readonly(
      "info",
      [](const Network& self) {
        py::dict info;
        info["path"] = self.path;
        info["id"] = self.id;
        info["precision"] = self.precision;
        return info;
      },
      "What it is: \"path\", its file; \"id\", an identifier of the file's\n"
      "contents; \"precision\", the number type that it computes in.");
  module.def("_load", &LoadFile, py::arg("path"), py::arg("precision"));
}

}  // namespace tara::python
