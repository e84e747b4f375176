#include "tara/cli/learned_variants.h"

#include <algorithm>
#include <filesystem>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tara/base/status_macros.h"
#include "tara/cli/usage.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/train/config/config.h"

namespace tara {
namespace {

bool Has(const std::vector<Variant>& variants, Variant variant) {
  return std::find(variants.begin(), variants.end(), variant) != variants.end();
}

// None where the bundle cannot be read: whoever loads its network says why.
std::optional<std::vector<Variant>> VariantsOfBundle(const std::string& path) {
  const absl::StatusOr<Bundle> bundle = Bundle::Open(path);
  if (!bundle.ok()) return std::nullopt;
  std::vector<Variant> variants;
  for (const BundleVariant& learned : bundle->manifest().variants) {
    variants.push_back(learned.variant);
  }
  return variants;
}

}  // namespace

void AddUntrainedFlag(Command& command, bool* untrained) {
  command.AddSwitch({.names = "--untrained",
                     .help = "let networks play variants that they have not "
                             "learned"},
                    untrained);
}

std::optional<std::vector<Variant>> LearnedVariants(absl::string_view text) {
  const absl::StatusOr<PlayerSpec> spec = ParsePlayerSpec(text);
  if (!spec.ok() || spec->kind != PlayerKind::kNet) return std::nullopt;
  const absl::StatusOr<std::string> checkpoint = FindCheckpoint(spec->path);
  if (!checkpoint.ok()) return std::nullopt;
  if (IsBundlePath(*checkpoint)) return VariantsOfBundle(*checkpoint);
  const std::filesystem::path folder =
      std::filesystem::path(*checkpoint).parent_path();
  // Whatever is wrong with a config is not for its readers to tell.
  const absl::StatusOr<proto::TrainConfig> config = LoadTrainConfig(
      (folder / ".." / "config.textproto").lexically_normal().string(), {});
  if (!config.ok() || config->init_from() != "-") return std::nullopt;
  std::vector<Variant> variants;
  for (const std::string& id : config->variant()) {
    const absl::StatusOr<Variant> variant = ParseVariant(id);
    if (variant.ok()) variants.push_back(*variant);
  }
  return variants;
}

absl::Status CheckLearned(absl::Span<const std::string> specs,
                          absl::Span<const State> starts) {
  for (const std::string& spec : specs) {
    const auto learned = LearnedVariants(spec);
    if (!learned.has_value()) continue;
    for (const State& start : starts) {
      if (Has(*learned, start.variant)) continue;
      const auto append_id = [](std::string* out, Variant variant) {
        absl::StrAppend(out, Info(variant).id);
      };
      return UsageError(absl::StrCat(
          spec, " has not learned ", Info(start.variant).id,
          "; its run learned ", absl::StrJoin(*learned, ", ", append_id),
          ". Name what it has learned by --variant, or let it play untrained "
          "by --untrained"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<State>> StartsOfLearned(
    const GameFlags& flags, absl::Span<const std::string> specs,
    bool untrained) {
  GameFlags wanted = flags;
  if (flags.variant.empty()) wanted.variant = "all";
  TARA_ASSIGN_OR_RETURN(std::vector<State> starts, StartsOf(wanted));
  if (untrained) return starts;
  if (!flags.variant.empty()) {
    TARA_RETURN_IF_ERROR(CheckLearned(specs, starts));
    return starts;
  }
  for (const std::string& spec : specs) {
    const auto learned = LearnedVariants(spec);
    if (!learned.has_value()) continue;
    std::erase_if(starts, [&](const State& start) {
      return !Has(*learned, start.variant);
    });
  }
  if (starts.empty()) {
    return UsageError(
        "there is no variant that all these networks have learned; name one by "
        "--variant, and let them play untrained by --untrained");
  }
  return starts;
}

}  // namespace tara
