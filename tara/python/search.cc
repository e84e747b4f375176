#include "tara/python/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/tree/tree.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/python/arrays.h"
#include "tara/python/states.h"

namespace tara::python {
namespace {

namespace py = pybind11;

constexpr size_t kGamesInStep = 64;
constexpr int64_t kCachedPositions = int64_t{1} << 16;
constexpr char kPlayouts[] = "playouts";

// --- Judges ------------------------------------------------------------------

struct Network {
  std::unique_ptr<mcts::Evaluator> evaluator;
  std::string path;
  std::string id;
  std::string precision;
};

std::unique_ptr<Network> LoadFile(const std::string& path,
                                  const std::string& precision) {
  nn::InferenceOptions options;
  ThrowIfError(nn::SetInferenceOption("precision", precision, options));
  const py::gil_scoped_release release;
  auto id = nn::NetworkFileId(path);
  auto loaded = nn::LoadNetwork(path, options);
  const py::gil_scoped_acquire acquire;
  const std::string contents = ValueOrThrow(std::move(id));
  nn::LoadedNetwork network = ValueOrThrow(std::move(loaded));
  return std::make_unique<Network>(Network{
      .evaluator = std::move(network.evaluator),
      .path = path,
      .id = contents,
      .precision = std::string(nn::PrecisionName(network.info.precision))});
}

// Asks a Python callable about positions, with the GIL, a batch at a time:
// judge(planes, globals, mask) -> (logits, result_logits). All are as seen by
// the representative symmetry of each position.
class CallableEvaluator : public mcts::Evaluator {
 public:
  explicit CallableEvaluator(py::object judge) : judge_(std::move(judge)) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    const py::gil_scoped_acquire acquire;
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
    EncodeStates(states, nn::PlaneLayout::kChannelsFirst,
                 SpanOf(features.planes), SpanOf(features.globals));
    auto mask = OutputArray<uint8_t>(py::none(), {n, kNumActions});
    WriteMask(states, /*seen=*/true, SpanOf(mask));
    const py::object answer = judge_(features.planes, features.globals, mask);
    if (!py::isinstance<py::sequence>(answer) || py::len(answer) != 2) {
      throw py::value_error(
          "judge: expected a pair (logits, result_logits) as its answer");
    }
    const auto logits = Answer(answer[py::int_(0)], "logits", n, kNumActions);
    const auto result = Answer(answer[py::int_(1)], "result_logits", n, 3);
    for (size_t i = 0; i < states.size(); ++i) {
      Read(states[i], i, logits.data() + i * kNumActions, result.data() + i * 3,
           results[i]);
    }
  }

  using FloatArray =
      py::array_t<float, py::array::c_style | py::array::forcecast>;

  static FloatArray Answer(const py::object& given, const char* name,
                           py::ssize_t n, py::ssize_t width) {
    FloatArray array = FloatArray::ensure(given);
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

  const py::object judge_;
  std::exception_ptr error_;
};

// What the argument `judge` means, for one call.
struct Judge {
  std::unique_ptr<mcts::Evaluator> own;  // of playouts or a callable
  mcts::Evaluator* evaluator;
  const CallableEvaluator* callable = nullptr;
  bool is_playouts = false;
};

Judge JudgeOf(const py::object& judge, uint64_t seed) {
  if (py::isinstance<Network>(judge)) {
    return {.own = nullptr,
            .evaluator = judge.cast<const Network&>().evaluator.get()};
  }
  if (py::isinstance<py::str>(judge) &&
      judge.cast<std::string>() == kPlayouts) {
    auto own = std::make_unique<mcts::PlayoutEvaluator>(1, seed);
    mcts::Evaluator* const evaluator = own.get();
    return {.own = std::move(own),
            .evaluator = evaluator,
            .callable = nullptr,
            .is_playouts = true};
  }
  if (PyCallable_Check(judge.ptr()) != 0) {
    auto own = std::make_unique<CallableEvaluator>(judge);
    CallableEvaluator* const evaluator = own.get();
    return {
        .own = std::move(own), .evaluator = evaluator, .callable = evaluator};
  }
  throw py::type_error(
      absl::StrCat("judge: ", std::string(py::str(py::repr(judge))),
                   "; expected a Network, 'playouts' or a callable"));
}

// --- Search ------------------------------------------------------------------

struct Options {
  mcts::SearchOptions search = mcts::ForPlay();
  int leaves = 1;  // of one tree in a batch
  float confidence_z = mcts::kPlayConfidenceZ;
};

// Reads "sims=400,c_puct=2": the options of player specs.
Options ParseOptions(const std::string& text, bool is_playouts) {
  Options options;
  options.search.simulations = 400;
  if (is_playouts) {
    options.search.c_puct = mcts::kPlayoutCPuct;
    options.leaves = mcts::kPlayoutLeaves;
  }
  for (const absl::string_view part :
       absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    const bool is_sims = pair.first == "sims";
    if (is_sims || pair.first == "leaves") {
      int number = 0;
      const int most = is_sims ? 1 << 30 : 1024;
      if (!absl::SimpleAtoi(pair.second, &number) || number < 1 ||
          number > most) {
        throw py::value_error(absl::StrCat("options: ", pair.first, "=",
                                           pair.second, "; expected 1 to ",
                                           most));
      }
      (is_sims ? options.search.simulations : options.leaves) = number;
      continue;
    }
    if (pair.first == "lcb") {
      if (!absl::SimpleAtof(pair.second, &options.confidence_z) ||
          !(options.confidence_z >= 0 && options.confidence_z <= 100)) {
        throw py::value_error(
            absl::StrCat("options: lcb=", pair.second, "; expected 0 to 100"));
      }
      continue;
    }
    const absl::Status set =
        mcts::SetSearchOption(pair.first, pair.second, options.search);
    if (!set.ok()) {
      throw py::value_error(absl::StrCat("options: ", set.message()));
    }
  }
  return options;
}

// Calls work(0), ..., work(threads - 1) on threads of their own, without the
// GIL, and waits for them. Ctrl-C sets `stop`, and is raised when all have
// returned.
void RunInterruptibly(int threads, std::atomic<bool>& stop,
                      const std::function<void(int)>& work) {
  std::mutex mutex;
  std::condition_variable returned;
  int running = threads;
  std::unique_ptr<py::error_already_set> interrupt;
  {
    const py::gil_scoped_release release;
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i) {
      workers.emplace_back([&, i] {
        work(i);
        const std::lock_guard lock(mutex);
        --running;
        returned.notify_all();
      });
    }
    std::unique_lock lock(mutex);
    while (!returned.wait_for(lock, std::chrono::milliseconds(50),
                              [&] { return running == 0; })) {
      lock.unlock();
      if (interrupt == nullptr) {
        const py::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) {
          interrupt = std::make_unique<py::error_already_set>();
          stop = true;
        }
      }
      lock.lock();
    }
    lock.unlock();
    for (std::thread& worker : workers) worker.join();
  }
  if (interrupt != nullptr) throw py::error_already_set(*interrupt);
}

template <typename T>
py::array_t<T> ArrayOf(const std::vector<T>& values) {
  auto array =
      OutputArray<T>(py::none(), {static_cast<py::ssize_t>(values.size())});
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

py::object AnalysisOf(const mcts::Tree& tree, float confidence_z) {
  const std::vector<mcts::RootAction> root = tree.root_actions();
  std::vector<uint16_t> actions;
  std::vector<int32_t> visits;
  std::vector<float> priors, values, policy;
  for (const mcts::RootAction& each : root) {
    actions.push_back(static_cast<uint16_t>(Index(each.action)));
    visits.push_back(each.visits);
    priors.push_back(each.prior);
    values.push_back(each.mean_value);
  }
  if (tree.options().gumbel && !tree.settled()) {
    policy = tree.improved_policy();
  } else {
    const double sum = std::accumulate(visits.begin(), visits.end(), 0.0);
    for (size_t i = 0; i < visits.size(); ++i) {
      policy.push_back(sum > 0 ? static_cast<float>(visits[i] / sum)
                               : priors[i]);
    }
  }
  const std::vector<mcts::RootAction> ranked =
      mcts::RankActions(tree, confidence_z);
  std::vector<uint16_t> line;
  for (const Action action : mcts::LineAfter(tree, ranked[0].action)) {
    line.push_back(static_cast<uint16_t>(Index(action)));
  }
  const mcts::MarginBounds bounds = tree.root_bounds();
  return Type("Analysis")(Index(ranked[0].action), tree.root_value(),
                          tree.root_margin(), ArrayOf(actions), ArrayOf(visits),
                          ArrayOf(policy), ArrayOf(priors), ArrayOf(values),
                          ArrayOf(line), tree.root_visits(),
                          py::make_tuple(int{bounds.low}, int{bounds.high}));
}

py::list Search(const py::object& states, const py::object& judge,
                const std::string& options_text, uint64_t seed, int threads) {
  CheckThreads(threads);
  const std::vector<State> list = UnfinishedStatesOf(states);
  const Judge of = JudgeOf(judge, seed);
  const Options options = ParseOptions(options_text, of.is_playouts);
  mcts::CachingEvaluator cache(
      of.evaluator, mcts::CachingOptions{.positions = kCachedPositions,
                                         .symmetric = !of.is_playouts});
  std::vector<std::unique_ptr<mcts::Tree>> trees(list.size());
  std::vector<mcts::EndgameSolver> solvers(static_cast<size_t>(threads));
  mcts::SearchCounters counters;
  std::vector<absl::Status> statuses(static_cast<size_t>(threads));
  std::atomic<size_t> next = 0;
  std::atomic<bool> stop = false;
  const auto in_step = static_cast<int>(std::clamp<size_t>(
      list.size() / static_cast<size_t>(threads), 1, kGamesInStep));
  RunInterruptibly(threads, stop, [&](int thread) {
    const auto t = static_cast<size_t>(thread);
    const auto next_game = [&]() -> std::unique_ptr<mcts::SearchedGame> {
      const size_t i = next++;
      if (i >= list.size()) return nullptr;
      mcts::SearchOptions search = options.search;
      mcts::SetForVariant(list[i].variant, &solvers[t], search);
      trees[i] = std::make_unique<mcts::Tree>(
          search, list[i], DeriveSeed(seed, i, StreamPurpose::kArena));
      return std::make_unique<mcts::OneSearch>(trees[i].get());
    };
    statuses[t] = mcts::PlayManyGames(
        {.games = in_step, .leaves_per_game = options.leaves}, next_game, cache,
        [&] { return stop.load(); }, counters);
    if (!statuses[t].ok()) stop = true;
  });
  if (of.callable != nullptr && of.callable->error() != nullptr) {
    std::rethrow_exception(of.callable->error());
  }
  for (const absl::Status& status : statuses) {
    if (!status.ok()) throw std::runtime_error(std::string(status.message()));
  }
  py::list analyses;
  for (const auto& tree : trees)
    analyses.append(AnalysisOf(*tree, options.confidence_z));
  return analyses;
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
    const py::gil_scoped_release release;
    constexpr size_t kBatch = 512;
    std::vector<mcts::Evaluation> answers(std::min(kBatch, list.size()));
    std::fill_n(policies, list.size() * kNumActions, 0.0f);
    for (size_t first = 0; first < list.size() && status.ok();
         first += kBatch) {
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
  return Type("Evaluation")(policy, result, margin);
}

}  // namespace

void DefineSearch(py::module_& module) {
  py::class_<Network> network(
      module, "Network",
      "A trained network for inference on the CPU, as tara.load returns it.");
  network.def("evaluate", &EvaluateStates, py::arg("states"),
              "Returns the Evaluation of positions, which must not be "
              "finished.\n\n"
              "states: an array of dtype STATE, or a sequence of State.");
  network.def_property_readonly(
      "info",
      [](const Network& self) {
        py::dict info;
        info["path"] = self.path;
        info["id"] = self.id;
        info["precision"] = self.precision;
        return info;
      },
      "What it is: its file's path, an identifier of the file's contents, and\n"
      "the number type that it computes in.");
  module.def("_load", &LoadFile, py::arg("path"), py::arg("precision"));
  module.def("search", &Search, py::arg("states"), py::arg("judge") = kPlayouts,
             py::kw_only(), py::arg("options") = "sims=400",
             py::arg("seed") = 1, py::arg("threads") = 1,
             R"(Searches positions by MCTS; returns an Analysis of each.

states: an array of dtype STATE or a sequence of State; none finished. All are
searched together: their leaves share batches.
judge: what judges leaves. A Network; "playouts", random games; or any callable
    judge(planes, globals, mask) -> (logits, result_logits)
of float32 [n, NUM_PLANES, 7, 7], float32 [n, NUM_GLOBALS] and uint8
[n, NUM_ACTIONS], which returns arrays (or CPU tensors) [n, NUM_ACTIONS] and
[n, 3]: logits of actions, and of win, draw and loss of the seat to move.
Actions are those of the position as planes and mask show it. It is called with
the GIL, a batch at a time, and must answer each position by itself.
options: "sims=400,c_puct=1.5,...", the names of player specs.
The same arguments give the same result, whatever `threads` is, where the judge
gives a position the same answer in every batch. Ctrl-C ends the search.
Raises ValueError and TypeError for wrong arguments and answers, and what the
judge raises.)");
}

}  // namespace tara::python
