#include "tara/engine/engine.h"

#include <algorithm>
#include <new>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tara/base/check.h"
#include "tara/base/clocks.h"
#include "tara/base/option_table.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/levels/levels.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/inference/network_evaluator.h"

namespace tara::engine {
namespace {

// The engine's own.
OptionTable EngineOptionTable(EngineOptions& options) {
  const auto set_level = [&options](absl::string_view value) {
    int number;
    if (!ReadNumber(value, 0, mcts::kNumLevels, number)) return false;
    options.level = number;
    if (number == 0) return true;
    const mcts::Level& level = mcts::kLevels[number - 1];
    const int64_t max_bytes = options.search.max_bytes;
    options.search = mcts::SearchOfLevel(level);
    options.search.max_bytes = max_bytes;
    options.leaves_per_game = mcts::LeavesTogether(level.simulations);
    options.reuse = false;
    options.confidence_z = mcts::kPlayConfidenceZ;
    options.temperature = 0;
    options.value_margin = level.value_margin;
    return true;
  };
  return {
      {"ms", Milliseconds{&options.time}, 0, 3600000,
       "milliseconds per action, replaces sims; 0: none"},
      {"threads", &options.threads, 1, 1024,
       "threads; line protocol: threads per search"},
      {"leaves", &options.leaves_per_game, 1, 4096,
       "leaves of a position in one batch"},
      {"positions", &options.positions, 1, 65536,
       "JSON: concurrent positions per thread"},
      {"reuse", &options.reuse, "keep the tree of the last position"},
      {"lcb", &options.confidence_z, 0, 100,
       "choose by mean - this x standard error; 0: visits"},
      {"temperature", &options.temperature, 0, 10,
       "draw actions by visits^(1/this); 0: the best"},
      {"value_margin", &options.value_margin, 0, 2,
       "loss of value accepted for a higher score now"},
      {"level",
       Custom{"a whole number", set_level,
              [&options] { return absl::StrCat(options.level); }},
       0, mcts::kNumLevels, "level of strength, which sets options; 0: none"},
      {"seed", &options.seed, 0, 0x1p64, "seed of all random draws"},
  };
}

absl::Status SetOne(absl::string_view name, absl::string_view value,
                    EngineOptions& options) {
  const OptionTable table = EngineOptionTable(options);
  if (const Option* const option = FindOption(table, name)) {
    return SetOption(*option, value);
  }
  if (mcts::IsSearchOption(name)) {
    return mcts::SetSearchOption(name, value, options.search);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown option '", Shown(name), "'; expected ", OptionNames(table),
      ", or an option of the search such as sims, c_puct or graph"));
}

// Remembers why an evaluator failed, for the searches that it breaks off.
class NotingEvaluator : public mcts::Evaluator {
 public:
  explicit NotingEvaluator(mcts::Evaluator* evaluator)
      : evaluator_(evaluator) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    status_ =
        CatchExhaustion([&] { return evaluator_->Evaluate(states, results); });
    return status_;
  }
  const absl::Status& status() const { return status_; }

 private:
  mcts::Evaluator* const evaluator_;
  absl::Status status_;
};

bool IsCancelled(const AnalysisTask& task) {
  return task.cancelled != nullptr &&
         task.cancelled->load(std::memory_order_relaxed);
}

}  // namespace

absl::Status SetEngineOption(absl::string_view name, absl::string_view value,
                             EngineOptions& options) {
  EngineOptions changed = options;
  TARA_RETURN_IF_ERROR(SetOne(name, value, changed));
  if (changed.search.gumbel && changed.threads > 1) {
    return absl::InvalidArgumentError(
        "threads cannot be combined with gumbel: a Gumbel root plans its "
        "visits one by one; expected threads=1 or gumbel=off");
  }
  options = changed;
  return absl::OkStatus();
}

absl::Status SetEngineOptions(absl::string_view text, EngineOptions& options) {
  if (text.empty()) return absl::OkStatus();
  TARA_ASSIGN_OR_RETURN(const auto list, ParseOptionList(text));
  for (const OptionText& option : list) {
    TARA_RETURN_IF_ERROR(SetEngineOption(option.name, option.value, options));
  }
  return absl::OkStatus();
}

std::string ListEngineOptions(EngineOptions options) {
  std::string list = absl::StrCat("sims ", options.search.simulations, "\n");
  for (const Option& option : EngineOptionTable(options)) {
    absl::StrAppend(&list, option.name, " ", option.Get(), "\n");
  }
  mcts::SearchOptions others = options.search;
  others.simulations = mcts::SearchOptions().simulations;
  const std::string search = mcts::FormatSearchOptions(others);
  if (!search.empty()) {
    absl::StrAppend(
        &list, absl::StrReplaceAll(search, {{",", "\n"}, {"=", " "}}), "\n");
  }
  return list;
}

std::string EngineOptionsHelp() {
  EngineOptions defaults;
  return absl::StrCat(OptionsHelp(EngineOptionTable(defaults)),
                      mcts::SearchOptionsHelp(defaults.search));
}

EngineModel::EngineModel(std::unique_ptr<mcts::Evaluator> evaluator,
                         bool is_network, int64_t cache_positions)
    : evaluator_(std::move(evaluator)),
      is_network_(is_network),
      cache_positions_(cache_positions),
      cache_(NewCache(/*margins=*/false)) {}

std::unique_ptr<mcts::CachingEvaluator> EngineModel::NewCache(
    bool margins) const {
  return std::make_unique<mcts::CachingEvaluator>(
      evaluator_.get(), mcts::CachingOptions{.positions = cache_positions_,
                                             .symmetric = is_network_,
                                             .margins = margins});
}

std::unique_ptr<EngineModel> EngineModel::OfPlayouts(uint64_t seed,
                                                     int64_t cache_positions) {
  auto model = std::unique_ptr<EngineModel>(
      new EngineModel(std::make_unique<mcts::PlayoutEvaluator>(1, seed),
                      /*is_network=*/false, cache_positions));
  model->name_ = "random games";
  return model;
}

absl::StatusOr<std::unique_ptr<EngineModel>> EngineModel::OfNetwork(
    const std::string& path, const nn::InferenceOptions& inference,
    int64_t cache_positions) {
  TARA_ASSIGN_OR_RETURN(auto network, nn::LoadNetwork(path, inference));
  auto model = OfEvaluator(std::move(network.evaluator), cache_positions);
  model->name_ = path;
  model->backend_ = std::string(nn::BackendName(network.info.backend));
  model->precision_ = std::string(nn::PrecisionName(network.info.precision));
  return model;
}

std::unique_ptr<EngineModel> EngineModel::OfEvaluator(
    std::unique_ptr<mcts::Evaluator> evaluator, int64_t cache_positions) {
  auto model = std::unique_ptr<EngineModel>(new EngineModel(
      std::move(evaluator), /*is_network=*/true, cache_positions));
  model->name_ = "network";
  return model;
}

absl::Status EngineModel::Evaluate(absl::Span<const State> states,
                                   absl::Span<mcts::Evaluation> results) {
  absl::ReaderMutexLock lock(&clearing_);
  return cache_->Evaluate(states, results);
}

void EngineModel::ClearCache() {
  absl::WriterMutexLock lock(&clearing_);
  cache_->Clear();
}

void EngineModel::KeepMargins() {
  absl::WriterMutexLock lock(&clearing_);
  if (keeps_margins_) return;
  keeps_margins_ = true;
  cache_ = NewCache(/*margins=*/true);
}

absl::Status EngineModel::EvaluateFully(const State& state,
                                        mcts::Evaluation& evaluation) {
  return evaluator_->Evaluate(absl::MakeConstSpan(&state, 1),
                              absl::MakeSpan(&evaluation, 1));
}

void EngineModel::SetLearned(std::vector<nn::BundleVariant> learned,
                             bool untrained) {
  learned_ = std::move(learned);
  untrained_ = untrained;
}

absl::Status EngineModel::CheckLearned(const State& state) const {
  if (!learned_.has_value() || untrained_) return absl::OkStatus();
  const absl::Status status = nn::CheckNetworkLearned(name_, *learned_, state);
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(),
                   ". Started with --untrained, the engine answers, marked"));
}

std::string EngineModel::NotLearnedOf(const State& state) const {
  return learned_.has_value() ? nn::NotLearned(*learned_, state) : "";
}

EngineOptions EngineModel::default_options() const {
  EngineOptions options;
  if (!is_network_) {
    options.search.c_puct = mcts::kPlayoutCPuct;
    options.leaves_per_game = mcts::kPlayoutLeaves;
  }
  return options;
}

// The data of one thread.
struct AnalysisEngine::Worker {
  NotingEvaluator evaluator;
  mcts::EndgameSolver solver;
  int64_t searching = 0;  // tasks; guarded by the engine's mutex
};

// The search of a task. Its destructor reports the end. The tree is created
// with the first progress, so that a lack of memory fails only this task
// (SearchedGame::RunOut).
class AnalysisEngine::TaskSearch : public mcts::SearchedGame {
 public:
  TaskSearch(std::unique_ptr<AnalysisTask> task, AnalysisEngine* engine,
             Worker* worker)
      : task_(std::move(task)),
        engine_(engine),
        worker_(worker),
        has_clock_(std::min(task_->time, task_->report_every) <
                   absl::InfiniteDuration()),
        start_(has_clock_ ? SteadyTime() : absl::Time()),
        next_report_(start_ + task_->report_every) {}

  ~TaskSearch() override {
    if (!ended_) {
      tree_.reset();  // the answer takes memory, too
      failure_.Update(worker_->evaluator.status());
      failure_.Update(absl::ResourceExhaustedError("out of memory"));
      task_->listener(AnalysisEvent::kFailed, nullptr, failure_);
    }
    engine_->Leave(*worker_);
  }

  mcts::Tree& tree() override { return *tree_; }

  bool searched() override {
    if (!tree_.has_value()) {
      tree_.emplace(SearchOf(*task_, worker_->solver), task_->state,
                    task_->seed);
      tree_->Reserve();
    }
    if (tree_->done() || IsCancelled(*task_)) return true;
    if (!has_clock_ || tree_->root_visits() == 0) return false;
    const absl::Time now = SteadyTime();
    if (now - start_ >= task_->time) return true;
    if (now >= next_report_ && tree_->in_flight() == 0) {
      task_->listener(AnalysisEvent::kProgress, &*tree_, absl::OkStatus());
      next_report_ = now + task_->report_every;
    }
    return false;
  }

  absl::StatusOr<bool> Play() override {
    task_->listener(
        IsCancelled(*task_) ? AnalysisEvent::kCancelled : AnalysisEvent::kDone,
        &*tree_, absl::OkStatus());
    ended_ = true;
    return false;
  }

  absl::Status RunOut() override {
    failure_ =
        mcts::NoMoreSimulations(tree_.has_value() ? tree_->root_visits() : 0);
    return absl::OkStatus();
  }

 private:
  static mcts::SearchOptions SearchOf(const AnalysisTask& task,
                                      mcts::LeafSolver& solver) {
    mcts::SearchOptions search = task.search;
    mcts::SetForVariant(task.state.variant, &solver, search);
    return search;
  }

  const std::unique_ptr<AnalysisTask> task_;
  AnalysisEngine* const engine_;
  Worker* const worker_;
  std::optional<mcts::Tree> tree_;
  const bool has_clock_;
  const absl::Time start_;
  absl::Time next_report_;
  absl::Status failure_;
  bool ended_ = false;
};

AnalysisEngine::AnalysisEngine(mcts::Evaluator* evaluator,
                               const EngineOptions& options)
    : evaluator_(evaluator), options_(options) {
  TARA_CHECK(options.threads >= 1 && options.positions >= 1 &&
                 options.leaves_per_game >= 1,
             "threads, positions and leaves must be >= 1");
  for (int i = 0; i < options.threads; ++i) {
    try {
      threads_.emplace_back([this] { Run(); });
    } catch (const std::system_error&) {
      if (i == 0) throw;
      break;
    }
  }
}

AnalysisEngine::~AnalysisEngine() { Finish(); }

void AnalysisEngine::Add(AnalysisTask task) {
  TARA_CHECK(!task.state.finished(), "the root must not be a finished game");
  auto waiting = std::make_unique<AnalysisTask>(std::move(task));
  absl::MutexLock lock(&mutex_);
  TARA_CHECK(!closed_, "not after Finish");
  const std::pair<int, int64_t> key = {-waiting->priority, arrivals_++};
  waiting_.emplace(key, std::move(waiting));
  num_waiting_ = static_cast<int64_t>(waiting_.size());
}

void AnalysisEngine::SweepCancelled() {
  std::vector<std::unique_ptr<AnalysisTask>> swept;
  {
    absl::MutexLock lock(&mutex_);
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (IsCancelled(*it->second)) {
        swept.push_back(std::move(it->second));
        it = waiting_.erase(it);
      } else {
        ++it;
      }
    }
    num_waiting_ = static_cast<int64_t>(waiting_.size());
  }
  for (const auto& task : swept) {
    task->listener(AnalysisEvent::kCancelled, nullptr, absl::OkStatus());
  }
}

void AnalysisEngine::Finish() {
  {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void AnalysisEngine::AwaitRoom() {
  absl::MutexLock lock(&mutex_);
  const auto has_room = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return static_cast<int64_t>(waiting_.size()) < kMaxWaiting;
  };
  mutex_.Await(absl::Condition(&has_room));
}

bool AnalysisEngine::AwaitTasks() {
  absl::MutexLock lock(&mutex_);
  const auto ready = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return closed_ || !waiting_.empty();
  };
  mutex_.Await(absl::Condition(&ready));
  return !waiting_.empty();
}

std::unique_ptr<AnalysisTask> AnalysisEngine::Next(Worker& worker) {
  // Asked for each free place before each batch.
  if (num_waiting_.load(std::memory_order_relaxed) == 0) return nullptr;
  absl::MutexLock lock(&mutex_);
  if (waiting_.empty()) return nullptr;
  const int64_t all = static_cast<int64_t>(waiting_.size()) + searching_;
  const int64_t share = (all + options_.threads - 1) / options_.threads;
  if (worker.searching >= share) return nullptr;
  std::unique_ptr<AnalysisTask> task = std::move(waiting_.begin()->second);
  waiting_.erase(waiting_.begin());
  num_waiting_ = static_cast<int64_t>(waiting_.size());
  ++worker.searching;
  ++searching_;
  return task;
}

void AnalysisEngine::Leave(Worker& worker) {
  absl::MutexLock lock(&mutex_);
  --worker.searching;
  --searching_;
}

void AnalysisEngine::Run() {
  Worker worker = {.evaluator = NotingEvaluator(evaluator_),
                   .solver = mcts::EndgameSolver()};
  while (AwaitTasks()) {
    // An error has broken all searches of this thread off, and their listeners
    // were called with it; there may be others.
    mcts::PlayManyGames(
        {.games = options_.positions,
         .leaves_per_game = options_.leaves_per_game},
        [&]() -> std::unique_ptr<mcts::SearchedGame> {
          std::unique_ptr<AnalysisTask> task = Next(worker);
          if (task == nullptr) return nullptr;
          try {
            return std::make_unique<TaskSearch>(std::move(task), this, &worker);
          } catch (const std::bad_alloc&) {
            Leave(worker);
            throw;
          }
        },
        worker.evaluator, [] { return false; }, counters_)
        .IgnoreError();
  }
}

}  // namespace tara::engine
