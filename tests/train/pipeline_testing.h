#ifndef TESTS_TRAIN_PIPELINE_TESTING_H_
#define TESTS_TRAIN_PIPELINE_TESTING_H_

// What the tests of whole runs share.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "proto/game.pb.h"
#include "tara/record/game_store.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/pipeline.h"
#include "tests/train/tiny_training.h"

namespace tara::train {

// Returns configs/tiny.textproto for a folder, with overrides.
inline proto::TrainConfig Tiny(const std::string& run_dir,
                               std::vector<std::string> overrides = {}) {
  return TinyConfig(run_dir, std::move(overrides)).value();
}

// Trains and shows nothing.
inline absl::StatusOr<TrainSummary> Train(
    const proto::TrainConfig& config, const TrainCallbacks& callbacks = {},
    const StopCheck& stop = [] { return false; }) {
  Progress progress({.form = ProgressForm::kLines, .interval = absl::Hours(1)});
  return RunTraining(config, callbacks, stop, progress);
}

// The same, where it must succeed.
inline TrainSummary Trained(
    const proto::TrainConfig& config, const TrainCallbacks& callbacks = {},
    const StopCheck& stop = [] { return false; }) {
  return Train(config, callbacks, stop).value();
}

// Returns the lines of metrics.jsonl of a run.
inline std::vector<std::string> MetricsOf(const std::string& run_dir) {
  return ReadMetricsLines(run_dir + "/metrics.jsonl").value();
}

// Returns all games of a run, by increasing index.
inline std::vector<proto::GameRecord> GamesOf(const std::string& run_dir) {
  const auto store =
      record::OpenGameStore(run_dir + "/games.db", record::StoreMode::kReadOnly)
          .value();
  const std::vector<uint64_t> indices = store->Indices({}).value();
  std::vector<proto::GameRecord> games;
  for (const uint64_t index : indices) {
    games.push_back(store->Get(index).value());
  }
  return games;
}

}  // namespace tara::train

#endif  // TESTS_TRAIN_PIPELINE_TESTING_H_
