#include "tara/train/config/search_config.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tara/base/status_macros.h"
#include "tara/mcts/options/search_options.h"
#include "tara/nn/inference_options.h"

namespace tara::train {
namespace {

// Search options that have a field of their own in SearchConfig.
constexpr std::pair<absl::string_view, absl::string_view> kFields[] = {
    {"sims", "simulations"},
    {"c_puct", "c_puct"},
    {"fpu", "first_play_urgency_reduction"},
    {"noise", "dirichlet_fraction"},
    {"noise_concentration", "dirichlet_concentration"}};

absl::Status Bad(absl::string_view option, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("option: '", option, "': ", why));
}

// Refuses what a field of the config says already.
absl::Status CheckHasNoField(absl::string_view option, absl::string_view name,
                             absl::string_view value) {
  for (const auto& [own, field] : kFields) {
    if (name != own) continue;
    // The field is the reduction; the absolute value has none.
    if (name == "fpu" && absl::StartsWith(value, "absolute:")) continue;
    return Bad(option, absl::StrCat("this has a field of its own; set ", field,
                                    " instead"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<mcts::SearchOptions> SearchOptionsOf(
    const proto::SearchConfig& config) {
  mcts::SearchOptions options;
  options.simulations = static_cast<int>(config.simulations());
  options.c_puct = config.c_puct();
  options.first_play_urgency_reduction = config.first_play_urgency_reduction();
  options.dirichlet_concentration = config.dirichlet_concentration();
  options.dirichlet_fraction = config.dirichlet_fraction();
  std::set<std::string> seen;
  for (const std::string& option : config.option()) {
    const std::vector<std::string> parts =
        absl::StrSplit(option, absl::MaxSplits('=', 1));
    if (parts.size() != 2) return Bad(option, "expected name=value");
    TARA_RETURN_IF_ERROR(CheckHasNoField(option, parts[0], parts[1]));
    if (!seen.insert(parts[0]).second) {
      return Bad(option, absl::StrCat(parts[0], " is given twice"));
    }
    const absl::Status set = mcts::SetSearchOption(parts[0], parts[1], options);
    if (!set.ok()) return Bad(option, set.message());
  }
  if (options.solver_vacant_hills > 0 && !options.proof) {
    return Bad(absl::StrCat("solver_hills=", options.solver_vacant_hills),
               "the solver needs proof=on beside it");
  }
  return options;
}

mcts::TemperatureSchedule TemperatureOf(const proto::SearchConfig& config) {
  return {.start = config.temperature(),
          .end = config.end_temperature(),
          .halflife = config.temperature_halflife(),
          .cutoff_ply = static_cast<int>(config.temperature_plies())};
}

mcts::ResignationOptions ResignationOf(const proto::ResignationConfig& config) {
  // 0 stands for nobody; the search's threshold is a value, and that is above.
  const float threshold = config.threshold() > 0 ? -config.threshold() : 1.0f;
  return {.threshold = threshold,
          .turns = static_cast<int>(config.turns()),
          .played_on_share = config.played_on_share(),
          .max_false_positive_rate = config.max_false_positive_rate(),
          .min_games = static_cast<int>(config.min_games())};
}

absl::StatusOr<nn::InferenceOptions> InferenceOptionsOf(
    const proto::InferenceConfig& config) {
  nn::InferenceOptions options;
  TARA_RETURN_IF_ERROR(
      nn::SetInferenceOption("device", config.device(), options));
  TARA_RETURN_IF_ERROR(
      nn::SetInferenceOption("precision", config.precision(), options));
  TARA_RETURN_IF_ERROR(
      nn::SetInferenceOption("backend", config.backend(), options));
  return options;
}

}  // namespace tara::train
