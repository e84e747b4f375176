#include "tara/cli/learned_variants.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/cli/usage.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/learned_rules.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/train/config/config.h"
#include "tara/train/play/game_plan.h"

namespace tara::cli {
namespace {

using Learned = std::optional<std::vector<nn::BundleVariant>>;

// Returns the file of a player's network; nullopt for other players, and where
// there is none, which whoever loads it says.
std::optional<std::string> NetworkOf(const std::string& text) {
  const absl::StatusOr<eval::PlayerSpec> spec = eval::ParsePlayerSpec(text);
  if (!spec.ok() || spec->kind != eval::PlayerKind::kNet) return std::nullopt;
  const absl::StatusOr<std::string> file = eval::FindCheckpoint(spec->path);
  if (!file.ok()) return std::nullopt;
  return *file;
}

}  // namespace

void AddUntrainedFlag(Command& command, bool* untrained) {
  command.AddSwitch({.names = "--untrained",
                     .help = "let networks play variants and rule options that "
                             "they have not learned; what they play is marked"},
                    untrained);
}

Learned LearnedByModel(const std::string& file) {
  // What is wrong with a bundle or a config, whoever loads it says.
  if (nn::IsBundlePath(file)) {
    const absl::StatusOr<nn::Bundle> bundle = nn::Bundle::Open(file);
    if (!bundle.ok()) return std::nullopt;
    return bundle->manifest().variants;
  }
  const std::filesystem::path folder =
      std::filesystem::path(file).parent_path();
  const absl::StatusOr<proto::TrainConfig> config = train::LoadTrainConfig(
      (folder / ".." / "config.textproto").lexically_normal().string(), {});
  if (!config.ok()) return std::nullopt;
  const absl::StatusOr<std::vector<State>> starts =
      train::StartPositions(*config);
  if (!starts.ok()) return std::nullopt;
  std::vector<nn::BundleVariant> learned;
  for (const State& start : *starts) {
    learned.push_back({.variant = start.variant, .options = start.options});
  }
  return learned;
}

absl::Status CheckModelLearned(const std::string& name, const std::string& file,
                               absl::Span<const State> starts, bool untrained,
                               Console& console) {
  const Learned learned = LearnedByModel(file);
  if (!learned.has_value()) {
    // A damaged bundle: whoever loads it says so.
    if (nn::IsBundlePath(file)) return absl::OkStatus();
    console.err << "tara: nothing tells what " << name
                << " has learned: it is no bundle and lies in no run's "
                   "folder\n";
    return absl::OkStatus();
  }
  if (untrained) return absl::OkStatus();
  for (const State& start : starts) {
    const absl::Status status = nn::CheckNetworkLearned(name, *learned, start);
    if (status.ok()) continue;
    return UsageError(absl::StrCat(
        status.message(),
        ". Ask for what it has learned, or let it play untrained by "
        "--untrained"));
  }
  return absl::OkStatus();
}

absl::Status CheckLearned(absl::Span<const std::string> specs,
                          absl::Span<const State> starts, bool untrained,
                          Console& console) {
  for (const std::string& spec : std::set(specs.begin(), specs.end())) {
    const std::optional<std::string> file = NetworkOf(spec);
    if (!file.has_value()) continue;
    TARA_RETURN_IF_ERROR(
        CheckModelLearned(spec, *file, starts, untrained, console));
  }
  return absl::OkStatus();
}

std::string NotLearnedBy(const std::string& spec, const State& start) {
  const std::optional<std::string> file = NetworkOf(spec);
  if (!file.has_value()) return "";
  const Learned learned = LearnedByModel(*file);
  return learned.has_value() ? nn::NotLearned(*learned, start) : "";
}

std::string NotLearnedByAny(absl::Span<const std::string> specs,
                            const State& start) {
  std::string text;
  for (const std::string& spec : std::set(specs.begin(), specs.end())) {
    const std::string rules = NotLearnedBy(spec, start);
    if (rules.empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", spec, ": ", rules);
  }
  return text;
}

absl::StatusOr<std::vector<State>> StartsOfLearned(
    const GameFlags& flags, absl::Span<const std::string> specs, bool untrained,
    Console& console) {
  GameFlags wanted = flags;
  if (flags.variant.empty()) wanted.variant = "all";
  TARA_ASSIGN_OR_RETURN(std::vector<State> starts, StartsOf(wanted));
  if (flags.variant.empty() && !untrained) {
    for (const std::string& spec : specs) {
      const std::optional<std::string> file = NetworkOf(spec);
      if (!file.has_value()) continue;
      const Learned learned = LearnedByModel(*file);
      if (!learned.has_value()) continue;
      std::erase_if(starts, [&](const State& start) {
        return std::none_of(learned->begin(), learned->end(),
                            [&](const nn::BundleVariant& each) {
                              return each.variant == start.variant;
                            });
      });
    }
  }
  if (starts.empty()) {
    return UsageError(
        "there is no variant that all these networks have learned; name one by "
        "--variant, and let them play untrained by --untrained");
  }
  TARA_RETURN_IF_ERROR(CheckLearned(specs, starts, untrained, console));
  return starts;
}

}  // namespace tara::cli
