#include "tara/train/folder/checkpoints.h"

#include <cstdint>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "tara/base/files.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/state.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/weights/fold_norms.h"
#include "tara/train/config/config.h"
#include "tara/train/config/learn_config.h"
#include "tara/train/learn/learner.h"
#include "tara/train/play/game_plan.h"
#include "third_party/crc32c/crc32c.h"

namespace tara::train {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kNone = "-";

std::string ShapeText(const nn::NetworkShape& shape) {
  return absl::StrCat(shape.channels, " channels and ", shape.blocks,
                      shape.kind == nn::NetworkKind::kLight
                          ? " layers (kind light)"
                          : " blocks");
}

// Returns the file that `init_from` means.
absl::StatusOr<std::string> InitFile(const proto::TrainConfig& config) {
  if (fs::is_directory(config.init_from())) {
    return LatestCheckpoint(config.init_from());
  }
  return config.init_from();
}

// Reads a checkpoint, or that of a bundle.
absl::StatusOr<nn::Checkpoint> ReadInitFile(const std::string& path) {
  if (!nn::IsBundlePath(path)) return nn::ReadCheckpoint(path);
  TARA_ASSIGN_OR_RETURN(const nn::Bundle bundle, nn::Bundle::Open(path));
  return bundle.ReadCheckpointToLearnOn();
}

absl::StatusOr<std::unique_ptr<nn::Trainer>> FirstTrainer(
    const proto::TrainConfig& config) {
  const nn::TrainerOptions options = ToTrainerOptions(config);
  const uint64_t seed =
      DeriveSeed(config.seed(), 0, StreamPurpose::kInitialWeights);
  if (config.init_from() == kNone) {
    TARA_ASSIGN_OR_RETURN(const nn::Checkpoint checkpoint,
                          train::NewCheckpoint(ToNetworkShape(config), seed));
    return train::MakeTrainer("the new network", checkpoint, options);
  }
  TARA_ASSIGN_OR_RETURN(const std::string path, InitFile(config));
  TARA_ASSIGN_OR_RETURN(nn::Checkpoint checkpoint, ReadInitFile(path));
  if (!(checkpoint.shape == ToNetworkShape(config))) {
    TARA_ASSIGN_OR_RETURN(nn::Checkpoint larger,
                          train::NewCheckpoint(ToNetworkShape(config), seed));
    TARA_ASSIGN_OR_RETURN(checkpoint,
                          nn::GrowNetwork(checkpoint, std::move(larger)));
  }
  return train::MakeTrainer(path, checkpoint, options);
}

// Loads a checkpoint of the run. DATA_LOSS if it is damaged.
absl::StatusOr<ResumedTrainer> LoadCheckpoint(const proto::TrainConfig& config,
                                              const std::string& path,
                                              int generation) {
  TARA_ASSIGN_OR_RETURN(const nn::Checkpoint checkpoint,
                        nn::ReadCheckpoint(path));
  TARA_ASSIGN_OR_RETURN(
      auto trainer, train::MakeTrainer(absl::StrCat("Checkpoint ", path),
                                       checkpoint, ToTrainerOptions(config)));
  ResumedTrainer standing = {.trainer = std::move(trainer),
                             .progress = checkpoint.progress,
                             .notes = {}};
  if (standing.progress.generation == generation) return standing;
  return absl::DataLossError(
      absl::StrCat(path, " holds the network after generation ",
                   standing.progress.generation, "; expected ", generation));
}

}  // namespace

absl::StatusOr<ResumedTrainer> OpenNewestCheckpoint(
    const proto::TrainConfig& config, const RunFolder& folder) {
  TARA_ASSIGN_OR_RETURN(const std::vector<int> there, folder.Checkpoints());
  std::vector<std::string> notes;
  for (auto it = there.rbegin(); it != there.rend(); ++it) {
    const std::string path = folder.checkpoint_path(*it);
    absl::StatusOr<ResumedTrainer> standing = LoadCheckpoint(config, path, *it);
    if (!absl::IsDataLoss(standing.status())) {
      if (standing.ok()) standing->notes = std::move(notes);
      return standing;
    }
    TARA_RETURN_IF_ERROR(folder.SetAside(*it));
    notes.push_back(
        absl::StrCat(standing.status().message(), "; it was renamed to ", path,
                     ".damaged, and its generation is learned again"));
  }
  TARA_ASSIGN_OR_RETURN(std::unique_ptr<nn::Trainer> first,
                        FirstTrainer(config));
  ResumedTrainer standing = {
      .trainer = std::move(first), .progress = {}, .notes = std::move(notes)};
  if (config.init_from() != kNone) {
    TARA_ASSIGN_OR_RETURN(const std::string path, InitFile(config));
    TARA_ASSIGN_OR_RETURN(const std::string file, ReadWholeFile(path));
    standing.begun_with_crc32c =
        absl::StrFormat("%08x", crc32c::Crc32c(file.data(), file.size()));
  }
  TARA_RETURN_IF_ERROR(
      standing.trainer->Save(folder.checkpoint_path(0), standing.progress));
  return standing;
}

namespace {

// Checks the file of `init_from`. Errors do not name the field.
absl::Status CheckInitFile(const proto::TrainConfig& config) {
  TARA_ASSIGN_OR_RETURN(const std::string path, InitFile(config));
  TARA_ASSIGN_OR_RETURN(const nn::Checkpoint checkpoint, ReadInitFile(path));
  const nn::NetworkShape shape = ToNetworkShape(config);
  if (!nn::CanGrow(checkpoint.shape, shape)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the network of ", path, " has ", ShapeText(checkpoint.shape),
        ", that of the config (network) ", ShapeText(shape),
        "; expected no more, of the same kind (a tower may grow, not shrink)"));
  }
  TARA_RETURN_IF_ERROR(
      train::MakeTrainer(path, checkpoint, ToTrainerOptions(config)).status());
  const Learned learned = LearnedByModel(path);
  if (!learned.has_value()) return absl::OkStatus();
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartPositions(config));
  for (const State& start : starts) {
    const absl::Status status = nn::CheckNetworkLearned(
        absl::StrCat("the network of ", path), *learned, start);
    if (status.ok()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        status.message(),
        ". (A copy of the file outside of its run's folder is taken for any "
        "rules.)"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckInitFrom(const proto::TrainConfig& config) {
  // A run that has begun no longer needs it.
  if (config.init_from() == kNone || HasCheckpoints(config.run_dir())) {
    return absl::OkStatus();
  }
  return Prefixed("init_from: ", CheckInitFile(config));
}

std::vector<int> CheckpointsToRemove(const std::vector<int>& there,
                                     const proto::RetentionConfig& config,
                                     const std::set<int>& needed) {
  // The untrained network, and the first that has learned.
  constexpr int kFirst = 1;
  const uint32_t last = config.keep_last_checkpoints();
  const uint32_t every = config.keep_every_checkpoints();
  if (last == 0 && every == 0) return {};
  std::vector<int> removed;
  for (size_t i = 0; i < there.size(); ++i) {
    const bool newest = i + last >= there.size();
    const bool is_each = every > 0 && there[i] % static_cast<int>(every) == 0;
    if (there[i] > kFirst && !newest && !is_each &&
        !needed.contains(there[i])) {
      removed.push_back(there[i]);
    }
  }
  return removed;
}

}  // namespace tara::train
