#include "tara/python/evaluators.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
#include "tara/python/module.h"
#include "tara/python/states.h"
#include "tara/python/workers.h"

namespace tara::python {

namespace py = pybind11;

namespace {

constexpr int64_t kCachedPositions = int64_t{1} << 16;
constexpr char kPlayouts[] = "playouts";

struct Network {
  using PythonClass = void;
  std::shared_ptr<mcts::Evaluator> evaluator;
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
  const Column<float> policy(list.size(), {kNumActions}, 0);
  const Column<float> result(list.size(), {3}, 0), margin(list.size(), {}, 0);
  constexpr size_t kBatch = 512;
  std::vector<mcts::Evaluation> answers(std::min(kBatch, list.size()));
  for (size_t first = 0; first < list.size(); first += kBatch) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    const auto part = absl::MakeConstSpan(list).subspan(first, kBatch);
    ThrowIfError(WithoutGil([&] {
      return network.evaluator->Evaluate(
          part, absl::MakeSpan(answers).subspan(0, part.size()));
    }));
    for (size_t i = 0; i < part.size(); ++i) {
      const size_t row = first + i;
      size_t place = 0;
      LegalActions(part[i]).ForEach([&](Action action) {
        policy.values[row * kNumActions + static_cast<size_t>(Index(action))] =
            answers[i].priors[place++];
      });
      result.values[3 * row] = answers[i].win;
      result.values[3 * row + 1] = answers[i].draw;
      result.values[3 * row + 2] = answers[i].loss;
      margin.values[row] = answers[i].margin;
    }
  }
  return New("Evaluation", policy.array, result.array, margin.array);
}

absl::Status Softmax(absl::Span<float> values, const char* name, size_t index) {
  const float most = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (float& value : values) {
    if (!std::isfinite(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("evaluator: ", name, "[", index, "] has ", value,
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
  const py::object arrays =
      Call(Type("answer"), given, py::make_tuple(n, kNumActions));
  const auto values = [&](int place) {
    const auto array =
        arrays[py::int_(place)].cast<py::array_t<float, py::array::c_style>>();
    return std::vector<float>(array.data(), array.data() + array.size());
  };
  return {.logits = values(0), .result_logits = values(1), .margin = values(2)};
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
          absl::StrCat("evaluator: margin[", i, "] has ", answer.margin[i],
                       "; expected finite numbers"));
    }
    results[i].margin = answer.margin[i];
  }
  return absl::OkStatus();
}

namespace {

// Calls a Python callable with positions, a batch at a time:
// evaluator(planes, globals, mask) -> (logits, result_logits). All are as seen
// by the representative symmetry of each position.
class CallableEvaluator : public mcts::Evaluator {
 public:
  // Refers to both.
  CallableEvaluator(py::handle callable, Workers* workers)
      : callable_(callable), workers_(workers) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    Answer answer;
    if (!workers_->Call([&] { answer = Ask(states); })) {
      return absl::CancelledError("the evaluations are stopped");
    }
    return ReadAnswer(answer, states, results);
  }

 private:
  // Needs the GIL.
  Answer Ask(absl::Span<const State> states) const {
    const py::object features = EncodedFeatures(states, {"NCHW"}, py::none(),
                                                py::none(), /*threads=*/1);
    const py::object mask =
        MaskArray(states, /*seen=*/true, py::none(), /*threads=*/1);
    return AnswerOf(
        Call(callable_, features[py::int_(0)], features[py::int_(1)], mask),
        static_cast<py::ssize_t>(states.size()));
  }

  const py::handle callable_;
  Workers* const workers_;
};

}  // namespace

PyEvaluator::PyEvaluator(py::handle evaluator, uint64_t seed,
                         Workers* workers) {
  if (py::isinstance<Network>(evaluator)) {
    const auto& network = evaluator.cast<const Network&>();
    evaluator_ = network.evaluator;
    path_ = network.path;
    // Another number type plays other games.
    name_ = absl::StrCat(std::filesystem::path(network.path).stem().string(),
                         ",precision=", network.precision);
  } else if (py::isinstance<py::str>(evaluator) &&
             evaluator.equal(py::str(kPlayouts))) {
    evaluator_ = std::make_shared<mcts::PlayoutEvaluator>(1, seed);
    is_playouts_ = true;
    name_ = kPlayouts;
  } else if (PyCallable_Check(evaluator.ptr()) != 0) {
    evaluator_ = std::make_shared<CallableEvaluator>(evaluator, workers);
    is_callable_ = true;
    const py::handle named = py::hasattr(evaluator, "__name__")
                                 ? evaluator
                                 : py::type::handle_of(evaluator);
    name_ = py::str(named.attr("__name__"));
  } else {
    ThrowTypeError("evaluator", evaluator,
                   "a Network, 'playouts' or a callable");
  }
}

void PyEvaluator::Check(const mcts::SearchOptions& search) const {
  using enum mcts::UtilityKind;
  if (!is_callable_ || search.utility.kind == kMatch ||
      !mcts::Utility(search.utility).needs_margins()) {
    return;  // a match has typical margins for who gives none
  }
  throw py::value_error(absl::StrCat(
      "options: utility=", mcts::UtilityKindName(search.utility.kind),
      " with an evaluator that is a callable; expected utility=win or match: "
      "it gives no margins"));
}

mcts::Evaluator& PyEvaluator::Cached(const mcts::SearchOptions& search,
                                     int64_t evaluations) {
  cache_ = std::make_unique<mcts::CachingEvaluator>(
      evaluator_.get(),
      mcts::CachingOptions{
          .positions =
              std::clamp(evaluations, int64_t{1} << 8, kCachedPositions),
          .symmetric = !is_playouts_,
          .margins = mcts::Utility(search.utility).needs_margins()});
  return *cache_;
}

void DefineEvaluators(py::module_& module) {
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
