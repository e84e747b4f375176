#include "tara/train/folder/run_provenance.h"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "proto/config.pb.h"
#include "tara/base/atomic_file.h"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/train/config/config.h"
#include "tara/train/folder/run_folder.h"
#include "tara/train/play/game_plan.h"

namespace tara::train {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::json;

bool IsOfRun(const fs::path& checkpoint) {
  std::error_code error;  // an unreadable folder is not a run
  return checkpoint.parent_path().filename() == "checkpoints" &&
         fs::is_regular_file(
             checkpoint.parent_path().parent_path() / "config.textproto",
             error);
}

// Adds the data of the checkpoint in metrics.jsonl: the games that were played
// before it, and the newest evaluation up to it.
absl::Status ReadMetrics(const std::string& path,
                         nn::BundleProvenance& provenance) {
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  if (!text.ok()) return text.status();
  int64_t games = 0;
  bool is_final = false;
  const auto read = [&](const Json& event) {
    const std::string kind = event.value("event", "");
    const int64_t generation = event.value("generation", int64_t{0});
    if (kind == "self_play" && generation < provenance.generation) {
      games += event.value("games", int64_t{0});
    }
    if (kind != "strength" || generation > provenance.generation) return;
    const nn::BundleScore score = {.variant = event.at("variant"),
                                   .opponent = event.at("opponent"),
                                   .generation = generation,
                                   .games = event.at("games"),
                                   .score = event.at("score"),
                                   .low = event.at("score_low"),
                                   .high = event.at("score_high")};
    // A later evaluation, or the last one of a run, replaces the others.
    const bool final = event.value("final", false);
    if (!provenance.scores.empty() &&
        (provenance.scores[0].generation != generation || is_final != final)) {
      provenance.scores.clear();
    }
    is_final = final;
    // The same evaluation made again, of other games.
    std::erase_if(provenance.scores, [&](const nn::BundleScore& earlier) {
      return earlier.variant == score.variant &&
             earlier.opponent == score.opponent;
    });
    provenance.scores.push_back(score);
  };
  for (const absl::string_view line :
       absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    try {
      read(ParseJson<Json>(line).value_or(Json()));
    } catch (const Json::exception&) {
      // Damaged, or a run in progress is writing its end.
    }
  }
  provenance.games = games;
  return absl::OkStatus();
}

// Adds which file the run began with.
absl::Status ReadBegin(const fs::path& run, nn::BundleProvenance& provenance) {
  TARA_ASSIGN_OR_RETURN(const RunStateFile state,
                        RunStateFile::Open((run / "state.textproto").string()));
  provenance.begun_with_crc32c = state.state().begun_with_crc32c();
  return absl::OkStatus();
}

// Adds the time of the run up to the checkpoint, where it is its newest.
absl::Status ReadTime(const fs::path& run, nn::BundleProvenance& provenance) {
  const absl::StatusOr<std::string> latest = LatestCheckpoint(run.string());
  if (!latest.ok() ||
      fs::path(*latest).stem() != fs::path(provenance.checkpoint)) {
    return absl::OkStatus();
  }
  TARA_ASSIGN_OR_RETURN(const RunStateFile file,
                        RunStateFile::Open((run / "state.textproto").string()));
  const proto::RunState& state = file.state();
  // The best before a gate, which later ones have not passed.
  if (state.generations() > provenance.generation) return absl::OkStatus();
  // A run whose newest generation is learned, but not done.
  const bool unfinished = state.generations() < provenance.generation;
  const double seconds =
      state.seconds() + (unfinished ? state.unfinished_seconds() : 0);
  const double cpu_seconds =
      state.cpu_seconds() + (unfinished ? state.unfinished_cpu_seconds() : 0);
  if (seconds > 0) provenance.training_seconds = seconds;
  if (cpu_seconds > 0) provenance.processor_seconds = cpu_seconds;
  return absl::OkStatus();
}

// Returns the rules that a run of the config learns.
absl::StatusOr<std::vector<nn::BundleVariant>> LearnedBy(
    const proto::TrainConfig& config) {
  TARA_ASSIGN_OR_RETURN(const std::vector<GameRules> rules, RulesOf(config));
  std::vector<nn::BundleVariant> learned;
  for (const GameRules& each : rules) {
    nn::BundleVariant& variant = learned.emplace_back(nn::BundleVariant{
        .variant = each.start.variant, .options = each.start.options});
    for (const DrawnOption& drawn : each.drawn) {
      variant.drawn.push_back({drawn.option, drawn.values});
    }
  }
  return learned;
}

}  // namespace

absl::StatusOr<RunProvenance> ProvenanceOf(const std::string& path,
                                           const nn::Checkpoint& checkpoint) {
  // The folder "." has no telling name.
  std::error_code error;
  fs::path file = fs::weakly_canonical(path, error);
  if (error) file = path;
  RunProvenance found;
  nn::BundleProvenance& provenance = found.provenance;
  provenance.checkpoint = file.stem().string();
  provenance.generation = checkpoint.progress.generation;
  provenance.steps = checkpoint.progress.step;
  provenance.samples = checkpoint.progress.samples;
  if (!IsOfRun(file)) return found;

  const fs::path run = file.parent_path().parent_path();
  TARA_ASSIGN_OR_RETURN(
      proto::TrainConfig config,
      LoadTrainConfig((run / "config.textproto").string(), {}));
  provenance.run = run.filename().string();
  provenance.seed = config.seed();
  TARA_ASSIGN_OR_RETURN(found.variants, LearnedBy(config));
  config.clear_run_dir();
  if (config.init_from() != "-") {
    provenance.begun_with = fs::path(config.init_from()).filename().string();
    config.set_init_from(provenance.begun_with);
    TARA_RETURN_IF_ERROR(ReadBegin(run, provenance));
  }
  config.set_games_from(fs::path(config.games_from()).filename().string());
  provenance.config = ConfigToText(config);
  TARA_RETURN_IF_ERROR(
      ReadMetrics((run / "metrics.jsonl").string(), provenance));
  TARA_RETURN_IF_ERROR(ReadTime(run, provenance));
  return found;
}

Learned LearnedByModel(const std::string& file) {
  // Errors of a bundle or a config are reported by the code that loads it.
  if (nn::IsBundlePath(file)) {
    const absl::StatusOr<nn::Bundle> bundle = nn::Bundle::Open(file);
    if (!bundle.ok()) return std::nullopt;
    return bundle->manifest().variants;
  }
  const fs::path config_file =
      fs::path(file).parent_path() / ".." / "config.textproto";
  const absl::StatusOr<proto::TrainConfig> config =
      LoadTrainConfig(config_file.lexically_normal().string(), {});
  if (!config.ok()) return std::nullopt;
  absl::StatusOr<std::vector<nn::BundleVariant>> learned = LearnedBy(*config);
  if (!learned.ok()) return std::nullopt;
  return *std::move(learned);
}

}  // namespace tara::train
