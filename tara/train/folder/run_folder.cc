#include "tara/train/folder/run_folder.h"

#include <fcntl.h>
#include <google/protobuf/text_format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/train/config/config.h"
#include "tara/train/play/game_plan.h"
#include "third_party/crc32c/crc32c.h"

namespace tara::train {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kLatestFile = "checkpoints/latest";
constexpr absl::string_view kCheckpointEnding = ".pt";

// Returns the generation of "ckpt-000012.pt", or -1 for any other file, such as
// what a killed process left half written under another name.
int GenerationOfFile(absl::string_view name) {
  int generation;
  if (!absl::ConsumeSuffix(&name, kCheckpointEnding)) return -1;
  if (!absl::ConsumePrefix(&name, "ckpt-")) return -1;
  if (!absl::SimpleAtoi(name, &generation)) return -1;
  return generation;
}

// Returns OK, or the error of what was done with a path.
absl::Status Done(absl::string_view what, const std::string& path,
                  const std::error_code& error) {
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("cannot ", what, " ", path, ": ", error.message()));
}

// Checks that a folder is there or can be made, and that files can be.
absl::Status CheckFolder(const std::string& path) {
  std::error_code error;
  fs::path there = fs::absolute(path, error);
  while (!fs::exists(there, error) && there.has_relative_path()) {
    there = there.parent_path();
  }
  std::string reason;
  if (!fs::is_directory(there, error)) {
    reason = absl::StrCat(there.string(), " is not a folder");
  } else if (access(there.c_str(), W_OK | X_OK) != 0) {
    reason = absl::StrCat(there.string(), ": ", std::strerror(errno));
  } else {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("run_dir: cannot write into the folder ", path, ": ", reason,
                   "; expected a folder that can be created or written to"));
}

// Takes the lock of a run.
absl::StatusOr<FileLock> TakeLock(const std::string& path) {
  absl::StatusOr<FileLock> lock = LockFile(path, O_RDWR | O_CREAT);
  if (!absl::IsUnavailable(lock.status())) return lock;
  return absl::FailedPreconditionError(
      absl::StrCat("another process is training in this folder (it holds ",
                   path, "); wait for it, stop it, or choose another run_dir"));
}

// Removes what processes that were killed had not finished writing.
void RemoveLeftovers(const std::string& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, ignored)) {
    if (entry.is_regular_file(ignored) &&
        absl::EndsWith(entry.path().filename().string(), kTemporaryEnding)) {
      fs::remove(entry.path(), ignored);
    }
  }
}

absl::StatusOr<std::vector<int>> ListCheckpoints(absl::string_view run_dir) {
  const std::string folder = absl::StrCat(run_dir, "/checkpoints");
  std::vector<int> generations;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    const int generation = GenerationOfFile(entry.path().filename().string());
    if (generation >= 0) generations.push_back(generation);
  }
  TARA_RETURN_IF_ERROR(Done("list", folder, error));
  std::sort(generations.begin(), generations.end());
  return generations;
}

constexpr absl::string_view kAuto = "auto";

// Takes over what an earlier start of the run has chosen by measurement on a
// GPU: another choice would make other games.
void AdoptChoices(const proto::InferenceConfig& before,
                  proto::InferenceConfig& now) {
  if (before.device() != now.device() || now.device() == "cpu") return;
  if (now.backend() == kAuto) now.set_backend(before.backend());
  if (now.precision() == kAuto) now.set_precision(before.precision());
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunFolder>> RunFolder::Open(
    const proto::TrainConfig& config) {
  const std::string& path = config.run_dir();
  if (path.empty()) return absl::InvalidArgumentError("run_dir is empty");
  TARA_RETURN_IF_ERROR(CheckPath(path));
  const std::string checkpoints = absl::StrCat(path, "/checkpoints");
  std::error_code error;
  fs::create_directories(checkpoints, error);
  TARA_RETURN_IF_ERROR(Done("create the folder", checkpoints, error));
  TARA_ASSIGN_OR_RETURN(FileLock lock, TakeLock(absl::StrCat(path, "/lock")));
  auto folder =
      std::unique_ptr<RunFolder>(new RunFolder(config, std::move(lock)));
  TARA_ASSIGN_OR_RETURN(const proto::TrainConfig resumed,
                        CheckRunFolder(config));
  TARA_RETURN_IF_ERROR(folder->RecordConfig(resumed));
  RemoveLeftovers(path);
  RemoveLeftovers(checkpoints);
  return folder;
}

RunFolder::RunFolder(const proto::TrainConfig& config, FileLock lock)
    : path_(config.run_dir()), lock_(std::move(lock)), config_(config) {}

absl::Status RunFolder::RecordConfig(const proto::TrainConfig& config) {
  config_ = config;
  return WriteFileAtomically(absl::StrCat(path_, "/config.textproto"),
                             ConfigToText(config_));
}

std::string RunFolder::checkpoint_path(int generation) const {
  return absl::StrCat(path_, "/checkpoints/", CheckpointName(generation),
                      kCheckpointEnding);
}

absl::StatusOr<std::vector<int>> RunFolder::Checkpoints() const {
  return ListCheckpoints(path_);
}

absl::Status RunFolder::RemoveCheckpoint(int generation) const {
  const std::string path = checkpoint_path(generation);
  std::error_code error;
  fs::remove(path, error);
  return Done("remove", path, error);
}

absl::Status RunFolder::SetAside(int generation) const {
  const std::string path = checkpoint_path(generation);
  std::error_code error;
  fs::rename(path, path + ".damaged", error);
  return Done("rename", path, error);
}

absl::Status RunFolder::PublishLatest(int generation) const {
  return WriteFileAtomically(
      absl::StrCat(path_, "/", kLatestFile),
      absl::StrCat(CheckpointName(generation), kCheckpointEnding, "\n"));
}

absl::StatusOr<proto::TrainConfig> CheckRunFolder(
    const proto::TrainConfig& config) {
  const std::string& path = config.run_dir();
  TARA_RETURN_IF_ERROR(CheckPath(path));
  TARA_RETURN_IF_ERROR(CheckFolder(absl::StrCat(path, "/checkpoints")));
  proto::TrainConfig resumed = config;
  const std::string file = absl::StrCat(path, "/config.textproto");
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return resumed;
  TARA_ASSIGN_OR_RETURN(const proto::TrainConfig before,
                        LoadTrainConfig(file, {}));
  TARA_RETURN_IF_ERROR(Prefixed(path + ": ", CheckResumable(before, config)));
  AdoptChoices(before.inference(), *resumed.mutable_inference());
  return resumed;
}

bool HasCheckpoints(absl::string_view run_dir) {
  const absl::StatusOr<std::vector<int>> there = ListCheckpoints(run_dir);
  return there.ok() && !there->empty();
}

std::string CheckpointName(int generation) {
  return absl::StrFormat("ckpt-%06d", generation);
}

absl::StatusOr<std::string> LatestCheckpoint(absl::string_view run_dir) {
  const std::string latest = absl::StrCat(run_dir, "/", kLatestFile);
  TARA_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(latest));
  const std::string name(absl::StripAsciiWhitespace(text));
  if (GenerationOfFile(name) < 0) {
    return absl::NotFoundError(
        absl::StrCat("no checkpoint in ", run_dir, ": ", latest,
                     " does not name one (expected a training run's folder)"));
  }
  return absl::StrCat(run_dir, "/checkpoints/", name);
}

namespace {

// More generations than a run has to go back to find an intact checkpoint.
constexpr int kPlansKept = 64;

// The first line of the file, and what begins its last, which has the CRC-32C
// of all before it: the text of a state that was cut off is one, too. Versions
// before wrote no last line, and another first one.
constexpr absl::string_view kFirstLine =
    "# Where the run stands; written by the program, with a checksum.\n";
constexpr absl::string_view kChecksum = "# CRC-32C ";

std::string ChecksumLine(absl::string_view text) {
  return absl::StrCat(
      kChecksum,
      absl::Hex(crc32c::Crc32c(text.data(), text.size()), absl::kZeroPad8),
      "\n");
}

// Whether the text of a state is complete.
bool IsWhole(absl::string_view text, const proto::RunState& state) {
  // No version has written a state of nothing.
  if (!absl::StartsWith(text, kFirstLine)) return state.ByteSizeLong() > 0;
  const size_t end = text.rfind(kChecksum);
  return end != absl::string_view::npos &&
         text.substr(end) == ChecksumLine(text.substr(0, end));
}

}  // namespace

absl::StatusOr<RunStateFile> RunStateFile::Open(const std::string& path) {
  RunStateFile file(path);
  absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (absl::IsNotFound(text.status())) return file;
  TARA_RETURN_IF_ERROR(text.status());
  const absl::Status parsed =
      ParseText(*text, path, "the state of a run", file.state_);
  if (parsed.ok() && IsWhole(*text, file.state_)) return file;
  return absl::DataLossError(absl::StrCat(
      parsed.ok() ? absl::StrCat(path, ": cut off or changed")
                  : std::string(parsed.message()),
      "; expected the state of a run as it was written. Without this file the "
      "run resumes from its games and checkpoints; the games of a generation "
      "may then be divided in another way, and the gate starts again"));
}

absl::Status RunStateFile::Save() const {
  std::string text;
  google::protobuf::TextFormat::PrintToString(state_, &text);
  text = absl::StrCat(kFirstLine, text);
  return WriteFileAtomically(path_, absl::StrCat(text, ChecksumLine(text)));
}

const proto::GenerationPlan* RunStateFile::PlanOf(int generation) const {
  for (const proto::GenerationPlan& plan : state_.plan()) {
    if (static_cast<int>(plan.generation()) == generation) return &plan;
  }
  return nullptr;
}

absl::Status RunStateFile::AddPlan(const proto::GenerationPlan& plan) {
  *state_.add_plan() = plan;
  if (const int old = state_.plan_size() - kPlansKept; old > 0) {
    state_.mutable_plan()->DeleteSubrange(0, old);
  }
  return Save();
}

namespace {

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

// Adds which file the run began with and, if the checkpoint is the run's
// newest, the time up to it.
absl::Status ReadState(const fs::path& run, nn::BundleProvenance& provenance) {
  TARA_ASSIGN_OR_RETURN(const RunStateFile file,
                        RunStateFile::Open((run / "state.textproto").string()));
  const proto::RunState& state = file.state();
  provenance.begun_with_crc32c = state.begun_with_crc32c();
  const absl::StatusOr<std::string> latest = LatestCheckpoint(run.string());
  if (!latest.ok() ||
      fs::path(*latest).stem() != fs::path(provenance.checkpoint) ||
      // The best before a gate, which later ones have not passed.
      state.generations() > provenance.generation) {
    return absl::OkStatus();
  }
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
  }
  config.set_games_from(fs::path(config.games_from()).filename().string());
  provenance.config = ConfigToText(config);
  TARA_RETURN_IF_ERROR(
      ReadMetrics((run / "metrics.jsonl").string(), provenance));
  TARA_RETURN_IF_ERROR(ReadState(run, provenance));
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
