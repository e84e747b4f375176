#include "tara/train/config/autopilot.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/threads.h"
#include "tara/core/random_action.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/train/config/config.h"
#include "tara/train/config/config_options.h"
#include "tara/train/config/learn_config.h"
#include "tara/train/learn/trainers.h"
#include "tara/train/play/game_rules.h"

namespace tara::train {
namespace {

constexpr int kLeastGames = 8;
constexpr int kMostGames = 1024;
constexpr double kGoodEnough = 0.98;
constexpr absl::Duration kMeasuringTime = absl::Milliseconds(100);

struct Measured {
  AutopilotChoice choice;
  double rate;
};

// Returns the numbers of threads that may pay.
std::vector<int> ThreadCounts(const AutopilotLimits& limits) {
  if (limits.on_cpu) return {limits.cores};
  // One thread uses the device while the others search.
  std::vector<int> counts = {1, 2, limits.cores};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::vector<State> SomePositions(absl::Span<const State> starts) {
  constexpr size_t kPositions = 1024;
  Random random(1);
  return RandomPositions(starts, kPositions, random);
}

// One thread's part of a measurement: evaluates until the time is over, adds up
// what it did by then, and returns the first error.
class Worker {
 public:
  Worker(mcts::Evaluator& evaluator, absl::Span<const State> positions,
         int batch)
      : evaluator_(evaluator),
        positions_(positions),
        batch_(std::min<size_t>(static_cast<size_t>(batch), positions.size())),
        results_(batch_) {}

  absl::Status Evaluate() {
    if (next_ + batch_ > positions_.size()) next_ = 0;
    const absl::Span<const State> states = positions_.subspan(next_, batch_);
    next_ += batch_;
    return evaluator_.Evaluate(states, absl::MakeSpan(results_));
  }

  absl::StatusOr<double> Run() {
    // The first calls of a size may prepare something.
    for (int i = 0; i < 2; ++i) TARA_RETURN_IF_ERROR(Evaluate());
    const absl::Time begin = SteadyTime();
    double count = 0;
    absl::Duration time;
    do {
      TARA_RETURN_IF_ERROR(Evaluate());
      count += static_cast<double>(batch_);
      time = SteadyTime() - begin;
    } while (time < kMeasuringTime);
    return count / absl::ToDoubleSeconds(time);
  }

 private:
  mcts::Evaluator& evaluator_;
  const absl::Span<const State> positions_;
  const size_t batch_;
  size_t next_ = 0;
  std::vector<mcts::Evaluation> results_;
};

// The choice that is recorded in the run's folder, if there is one.
std::optional<AutopilotChoice> RecordedChoice(
    const proto::TrainConfig& config) {
  const std::string path = absl::StrCat(config.run_dir(), "/config.textproto");
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  const absl::StatusOr<proto::TrainConfig> before = LoadTrainConfig(path, {});
  // Whoever opens the folder says what is wrong with it.
  if (!before.ok() || !before->self_play().autopilot()) return std::nullopt;
  return AutopilotChoice{
      .threads = static_cast<int>(before->self_play().threads()),
      .games_per_thread =
          static_cast<int>(before->self_play().games_per_thread())};
}

absl::StatusOr<AutopilotChoice> MeasuredChoice(
    const proto::TrainConfig& config) {
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartPositions(config));
  TARA_ASSIGN_OR_RETURN(const nn::InferenceOptions inference,
                        ToInferenceOptions(config.inference()));
  TARA_ASSIGN_OR_RETURN(
      const nn::Checkpoint checkpoint,
      train::NewCheckpoint(ToNetworkShape(config), /*seed=*/1));
  TARA_ASSIGN_OR_RETURN(
      const nn::LoadedNetwork network,
      nn::MakeNetwork("a new network", checkpoint, inference));
  return ChooseBatches(
      {.cores = static_cast<int>(config.self_play().threads()),
       .games = static_cast<int>(config.self_play().games_per_generation()),
       .on_cpu = inference.device == "cpu"},
      MeasureEvaluator(*network.evaluator, starts));
}

}  // namespace

absl::StatusOr<AutopilotChoice> ChooseBatches(const AutopilotLimits& limits,
                                              const MeasureRate& measure) {
  std::vector<Measured> measured;
  double best = 0;
  for (const int threads : ThreadCounts(limits)) {
    const int most =
        std::clamp((limits.games + threads - 1) / threads, 1, kMostGames);
    double best_here = 0;
    int worse = 0;
    for (int games = std::min(kLeastGames, most); worse < 2;) {
      TARA_ASSIGN_OR_RETURN(const double rate,
                            measure(threads, games - games / 4));
      measured.push_back({{threads, games}, rate});
      worse = rate > best_here ? 0 : worse + 1;
      best_here = std::max(best_here, rate);
      if (games == most) break;
      games = std::min(2 * games, most);
    }
    best = std::max(best, best_here);
  }
  const auto in_step = [](const Measured& each) {
    return each.choice.threads * each.choice.games_per_thread;
  };
  const Measured* choice = nullptr;
  for (const Measured& each : measured) {
    if (each.rate < kGoodEnough * best) continue;
    if (choice == nullptr || in_step(each) < in_step(*choice)) choice = &each;
  }
  return choice->choice;
}

MeasureRate MeasureEvaluator(mcts::Evaluator& evaluator,
                             absl::Span<const State> starts) {
  return [&evaluator, positions = SomePositions(starts)](
             int threads, int batch) -> absl::StatusOr<double> {
    absl::Mutex mutex;
    absl::Status status;
    double sum = 0;
    RunOnThreads(threads, [&](int) {
      const absl::StatusOr<double> rate =
          Worker(evaluator, positions, batch).Run();
      absl::MutexLock lock(&mutex);
      status.Update(rate.status());
      sum += rate.value_or(0);
    });
    TARA_RETURN_IF_ERROR(status);
    return sum;
  };
}

absl::Status ApplyAutopilot(proto::TrainConfig& config) {
  if (!config.self_play().autopilot() || !PlaysGames(config)) {
    return absl::OkStatus();
  }
  std::optional<AutopilotChoice> choice = RecordedChoice(config);
  if (!choice.has_value()) {
    TARA_ASSIGN_OR_RETURN(choice, MeasuredChoice(config));
  }
  config.mutable_self_play()->set_threads(
      static_cast<uint32_t>(choice->threads));
  config.mutable_self_play()->set_games_per_thread(
      static_cast<uint32_t>(choice->games_per_thread));
  return absl::OkStatus();
}

}  // namespace tara::train
