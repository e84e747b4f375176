#ifndef TESTS_TRAIN_PIPELINE_TESTING_H_
#define TESTS_TRAIN_PIPELINE_TESTING_H_

// What the tests of whole runs share.

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "proto/game.pb.h"
#include "tara/record/game_store.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/pipeline.h"
#include "tara/train/run/run_log.h"
#include "tests/train/tiny_training.h"
#include "tests/train/train_testing.h"

namespace tara::train {

// Returns configs/tiny.textproto for a folder, with overrides.
inline proto::TrainConfig Tiny(const std::string& run_dir,
                               std::vector<std::string> overrides = {}) {
  return TinyConfig(run_dir, std::move(overrides)).value();
}

// Trains and shows nothing.
inline absl::StatusOr<TrainSummary> Train(const proto::TrainConfig& config,
                                          const TrainCallbacks& callbacks = {},
                                          const StopCheck& stop = kNeverStop) {
  Progress progress({.form = ProgressForm::kLines, .interval = absl::Hours(1)});
  return RunTraining(config, callbacks, stop, progress);
}

// The same, where it must succeed.
inline TrainSummary Trained(const proto::TrainConfig& config,
                            const TrainCallbacks& callbacks = {},
                            const StopCheck& stop = kNeverStop) {
  return Train(config, callbacks, stop).value();
}

// Trains until the store has so many new games, or some more.
inline TrainSummary TrainedUntil(int games, const proto::TrainConfig& config,
                                 TrainCallbacks callbacks = {}) {
  std::atomic<int> stored = 0;
  callbacks.on_game_stored = [&](uint64_t) { ++stored; };
  return Trained(config, callbacks, [&] { return stored >= games; });
}

// Returns the lines of metrics.jsonl of a run: all, or those of one event.
inline std::vector<std::string> MetricsOf(const std::string& run_dir,
                                          const std::string& event = "") {
  auto lines = ReadMetricsLines(run_dir + "/metrics.jsonl").value();
  std::erase_if(lines, [&](const std::string& line) {
    return !event.empty() &&
           !absl::StrContains(line, "\"event\":\"" + event + "\"");
  });
  return lines;
}

// Returns the path of a checkpoint, of the first ten.
inline std::string CheckpointFile(const std::string& run_dir, int generation) {
  return absl::StrCat(run_dir, "/checkpoints/ckpt-00000", generation, ".pt");
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
