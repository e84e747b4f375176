#include "tara/train/config/config_check.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tara/base/status_macros.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/utility.h"
#include "tara/train/config/learner_check.h"
#include "tara/train/config/learner_device.h"
#include "tara/train/config/search_config.h"
#include "tara/train/learn/replay_window.h"
#include "tara/train/play/game_plan.h"
#include "tara/train/play/mixture.h"

namespace tara::train {
namespace {

// More actions than games last: those of the longest variants have some 150.
constexpr int64_t kLongestGame = 1000;

// Returns the error of a field whose value does not go with others.
template <typename Value>
absl::Status Bad(absl::string_view field, const Value& value,
                 absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", value, "; expected ", expected));
}

// Whether the search has been given an option of its own by this name.
bool HasOption(const proto::SearchConfig& config, absl::string_view name) {
  return std::any_of(config.option().begin(), config.option().end(),
                     [&](const std::string& option) {
                       return absl::StartsWith(option, absl::StrCat(name, "="));
                     });
}

absl::Status CheckGumbel(const proto::SelfPlayConfig& config,
                         const mcts::SearchOptions& search) {
  constexpr absl::string_view kField = "self_play.search.option";
  const auto simulations = static_cast<int>(config.search().simulations());
  for (const absl::string_view name :
       {"gumbel_actions", "gumbel_c_visit", "gumbel_c_scale", "gumbel_noise"}) {
    if (!search.gumbel && HasOption(config.search(), name)) {
      return Bad(kField, name, "gumbel=on beside it: it has no effect without");
    }
  }
  if (!search.gumbel) return absl::OkStatus();
  if (search.forced_playouts > 0) {
    return Bad(kField, "forced_playouts beside gumbel=on",
               "one of the two: both say how the root explores");
  }
  const int considered = search.gumbel_options.considered_actions;
  if (HasOption(config.search(), "gumbel_actions") &&
      considered > simulations) {
    return Bad(
        kField, absl::StrCat("gumbel_actions=", considered),
        absl::StrCat("at most self_play.search.simulations, ", simulations,
                     ": each action that is considered needs one"));
  }
  return absl::OkStatus();
}

absl::Status CheckSearch(const proto::SelfPlayConfig& config) {
  const absl::StatusOr<mcts::SearchOptions> search =
      SearchOptionsOf(config.search());
  if (!search.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("self_play.search.", search.status().message()));
  }
  TARA_RETURN_IF_ERROR(CheckGumbel(config, *search));
  if (config.end_when_proved() && !search->proof) {
    return absl::InvalidArgumentError(
        "self_play.end_when_proved: true, but nothing is proved without "
        "self_play.search.option proof=on");
  }
  const proto::PlayoutCapConfig& cap = config.playout_cap();
  if (cap.full_share() < 1 &&
      cap.fast_simulations() >= config.search().simulations()) {
    return Bad("self_play.playout_cap.fast_simulations", cap.fast_simulations(),
               absl::StrCat("less than a full search has (self_play.search."
                            "simulations: ",
                            config.search().simulations(), ")"));
  }
  if (config.evaluation_groups() > config.games_per_thread()) {
    return Bad(
        "self_play.evaluation_groups", config.evaluation_groups(),
        absl::StrCat("at most self_play.games_per_thread, ",
                     config.games_per_thread(), ": each group needs a game"));
  }
  return absl::OkStatus();
}

absl::Status CheckTargets(const proto::TrainConfig& config) {
  // CheckSearch has seen to it that there are options.
  const mcts::UtilityKind utility =
      SearchOptionsOf(config.self_play().search())->utility.kind;
  if (config.learner().value_search_share() > 0 &&
      utility != mcts::UtilityKind::kWinLoss) {
    return absl::InvalidArgumentError(absl::StrCat(
        "learner.value_search_share: ", config.learner().value_search_share(),
        ", but the searches say utilities (self_play.search.option utility=",
        mcts::UtilityKindName(utility), "); expected 0, or utility=win"));
  }
  return absl::OkStatus();
}

absl::Status CheckWindow(const proto::TrainConfig& config) {
  const proto::LearnerConfig& learner = config.learner();
  const int64_t in_all =
      int64_t{config.generations()} * config.self_play().games_per_generation();
  const int64_t games = std::min<int64_t>(in_all, learner.window_games());
  if (learner.batch_size() > games * kLongestGame) {
    return Bad("learner.batch_size", learner.batch_size(),
               absl::StrCat("less than a window can ever hold: ", games,
                            " games of at most some ", kLongestGame,
                            " positions (learner.window_games, and all games "
                            "of the run)"));
  }
  return absl::OkStatus();
}

absl::Status CheckHeldOut(const proto::TrainConfig& config) {
  const float share = config.learner().held_out_share();
  const uint32_t games = config.self_play().games_per_generation();
  for (uint32_t index = 0; index < games; ++index) {
    if (!IsHeldOut(share, config.seed(), index)) return absl::OkStatus();
  }
  return Bad("learner.held_out_share", share,
             absl::StrCat("less: it leaves nothing to learn from among the ",
                          games, " games of the first generation"));
}

absl::Status CheckMixture(const proto::TrainConfig& config) {
  const uint32_t games = config.self_play().games_per_generation();
  if (games < static_cast<uint32_t>(config.variant_size())) {
    return Bad("self_play.games_per_generation", games,
               absl::StrCat("a game at least for each of the ",
                            config.variant_size(), " variants"));
  }
  TARA_RETURN_IF_ERROR(MixtureShares(config, {}).status());
  if (config.mixture().mode() == "adaptive" &&
      config.evaluation().every() == 0) {
    return Bad("mixture.mode", "adaptive",
               "evaluations during training, to see which variants are behind "
               "(evaluation.every: 0 has none)");
  }
  return absl::OkStatus();
}

absl::Status CheckRetention(const proto::TrainConfig& config) {
  const int64_t kept = config.retention().keep_games();
  const int64_t needed = int64_t{config.learner().window_games()} +
                         config.self_play().games_per_generation();
  if (kept == 0 || kept >= needed) return absl::OkStatus();
  return Bad("retention.keep_games", kept,
             absl::StrCat("0 (all), or at least ", needed,
                          ": a window (learner.window_games) and a "
                          "generation"));
}

}  // namespace

absl::Status CheckConfig(const proto::TrainConfig& config) {
  const absl::Status rules = StartPositions(config).status();
  if (!rules.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rule_options: ", rules.message()));
  }
  if (config.init_from().empty()) {
    return Bad("init_from", "empty", "a checkpoint, a run's folder, or -");
  }
  const absl::Status inference =
      InferenceOptionsOf(config.inference()).status();
  if (!inference.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("inference.", inference.message()));
  }
  TARA_RETURN_IF_ERROR(CheckLearner(config.learner()));
  TARA_RETURN_IF_ERROR(LearnerDeviceOf(config.learner()).status());
  TARA_RETURN_IF_ERROR(CheckSearch(config.self_play()));
  TARA_RETURN_IF_ERROR(CheckTargets(config));
  TARA_RETURN_IF_ERROR(CheckMixture(config));
  TARA_RETURN_IF_ERROR(CheckWindow(config));
  TARA_RETURN_IF_ERROR(CheckHeldOut(config));
  return CheckRetention(config);
}

}  // namespace tara::train
