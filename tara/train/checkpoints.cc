#include "tara/train/checkpoints.h"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/train/config.h"
#include "tara/train/learner_config.h"

namespace tara {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kNone = "-";

NetworkShape ShapeOf(const proto::TrainConfig& config) {
  return {.channels = static_cast<int>(config.network().channels()),
          .blocks = static_cast<int>(config.network().blocks())};
}

std::string ShapeText(const NetworkShape& shape) {
  return absl::StrCat(shape.channels, " channels and ", shape.blocks,
                      " blocks");
}

absl::Status InitError(const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("init_from: ", status.message()));
}

// Returns the file that `init_from` means.
absl::StatusOr<std::string> InitFile(const proto::TrainConfig& config) {
  if (fs::is_directory(config.init_from())) {
    return LatestCheckpoint(config.init_from());
  }
  return config.init_from();
}

// Returns the config of the run in whose folder a checkpoint lies, or NOT_FOUND
// if it lies elsewhere.
absl::StatusOr<proto::TrainConfig> ConfigOfRun(const std::string& checkpoint) {
  return LoadTrainConfig(
      (fs::path(checkpoint).parent_path().parent_path() / "config.textproto")
          .string(),
      {});
}

absl::StatusOr<std::unique_ptr<Trainer>> FirstTrainer(
    const proto::TrainConfig& config) {
  const TrainerOptions options = TrainerOptionsOf(config);
  if (config.init_from() == kNone) {
    return NewTrainer(
        ShapeOf(config), options,
        DeriveSeed(config.seed(), 0, StreamPurpose::kInitialWeights));
  }
  TARA_ASSIGN_OR_RETURN(const std::string path, InitFile(config));
  TARA_ASSIGN_OR_RETURN(auto loaded, LoadTrainer(path, options));
  return std::move(loaded.first);
}

// Loads a checkpoint of the run. DATA_LOSS if it is damaged.
absl::StatusOr<StandingTrainer> LoadCheckpoint(const proto::TrainConfig& config,
                                               const std::string& path,
                                               int generation) {
  TARA_ASSIGN_OR_RETURN(auto loaded,
                        LoadTrainer(path, TrainerOptionsOf(config)));
  StandingTrainer standing;
  std::tie(standing.trainer, standing.progress) = std::move(loaded);
  if (standing.progress.generation == generation) return standing;
  return absl::DataLossError(
      absl::StrCat(path, " holds the network after generation ",
                   standing.progress.generation, "; expected ", generation));
}

}  // namespace

absl::StatusOr<StandingTrainer> OpenNewestCheckpoint(
    const proto::TrainConfig& config, const RunFolder& folder) {
  TARA_ASSIGN_OR_RETURN(const std::vector<int> there, folder.Checkpoints());
  std::vector<std::string> notes;
  for (auto it = there.rbegin(); it != there.rend(); ++it) {
    const std::string path = folder.checkpoint_path(*it);
    absl::StatusOr<StandingTrainer> standing =
        LoadCheckpoint(config, path, *it);
    if (!absl::IsDataLoss(standing.status())) {
      if (standing.ok()) standing->notes = std::move(notes);
      return standing;
    }
    TARA_RETURN_IF_ERROR(folder.SetAside(*it));
    notes.push_back(
        absl::StrCat(standing.status().message(), "; it was renamed to ", path,
                     ".damaged, and its generation is learned anew"));
  }
  TARA_ASSIGN_OR_RETURN(std::unique_ptr<Trainer> first, FirstTrainer(config));
  StandingTrainer standing = {
      .trainer = std::move(first), .progress = {}, .notes = std::move(notes)};
  TARA_RETURN_IF_ERROR(
      standing.trainer->Save(folder.checkpoint_path(0), standing.progress));
  return standing;
}

absl::Status CheckInitFrom(const proto::TrainConfig& config) {
  if (config.init_from() == kNone) return absl::OkStatus();
  // A run that has begun does not need it any more.
  if (HasCheckpoints(config.run_dir())) return absl::OkStatus();
  const absl::StatusOr<std::string> path = InitFile(config);
  if (!path.ok()) return InitError(path.status());
  if (IsBundlePath(*path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "init_from: ", *path,
        " is a model bundle, whose norms are folded into its weights for "
        "playing; expected a checkpoint or the folder of a run"));
  }
  const absl::StatusOr<Checkpoint> checkpoint = ReadCheckpoint(*path);
  if (!checkpoint.ok()) return InitError(checkpoint.status());
  if (!(checkpoint->shape == ShapeOf(config))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "init_from: the network of ", *path, " has ",
        ShapeText(checkpoint->shape), ", that of the config (network) ",
        ShapeText(ShapeOf(config)), "; expected the same"));
  }
  const absl::StatusOr<proto::TrainConfig> before = ConfigOfRun(*path);
  if (!before.ok()) return absl::OkStatus();
  for (const std::string& id : config.variant()) {
    const auto& learned = before->variant();
    if (std::find(learned.begin(), learned.end(), id) != learned.end()) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "init_from: the network of ", *path, " has not learned ", id,
        "; expected variants among ", absl::StrJoin(learned, ", "),
        ". (A copy of the file outside of its run's folder is taken for any "
        "variant.)"));
  }
  return absl::OkStatus();
}

}  // namespace tara
