#include "tara/train/config/config_options.h"

#include <google/protobuf/descriptor.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/train/config/config.h"

namespace tara::train {
namespace {

using google::protobuf::Descriptor;

absl::Status Bad(absl::string_view option, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("option: '", Shown(option), "': ", why));
}

// Sets options that are written "name=value".
absl::Status SetOptions(absl::Span<const absl::string_view> texts,
                        mcts::SearchOptions& options) {
  const absl::StatusOr<std::vector<OptionText>> list = ParseOptionList(texts);
  if (!list.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("option: ", list.status().message()));
  }
  for (const OptionText& option : *list) {
    if (!option.has_value) return Bad(option.text, "expected name=value");
    const absl::Status set =
        mcts::SetSearchOption(option.name, option.value, options);
    if (!set.ok()) return Bad(option.text, set.message());
  }
  return absl::OkStatus();
}

// A network that the run begins with has learned something.
bool IsWarmStart(const proto::TrainConfig& config, uint32_t generation) {
  return generation < config.self_play().warm_start().generations() &&
         config.init_from() == "-";
}

}  // namespace

bool IsLight(const proto::TrainConfig& config) {
  return config.network().kind() == "light";
}

bool PlaysGames(const proto::TrainConfig& config) {
  return config.games_from() == "-";
}

absl::StatusOr<mcts::SearchOptions> ToSearchOptions(
    const proto::SearchConfig& config) {
  // Fields that are options as "name=value", or begin as one.
  mcts::SearchOptions options;
  proto::SearchConfig fields = config;
  const Descriptor& type = *config.GetDescriptor();
  std::map<std::string, std::string> field_of;
  for (int i = 0; i < type.field_count(); ++i) {
    const std::string& search =
        type.field(i)->options().GetExtension(proto::info).search();
    if (search.empty()) continue;
    field_of[search] = type.field(i)->name();
    TARA_RETURN_IF_ERROR(
        SetOptions({search + FieldToText({&fields, type.field(i)})}, options));
  }
  for (const std::string& option : config.option()) {
    for (const auto& [search, field] : field_of) {
      if (!absl::StartsWith(absl::StrReplaceAll(option, {{" ", ""}}), search)) {
        continue;
      }
      return Bad(option, absl::StrCat("this has a field of its own; set ",
                                      field, " instead"));
    }
  }
  TARA_RETURN_IF_ERROR(
      SetOptions(std::vector<absl::string_view>(config.option().begin(),
                                                config.option().end()),
                 options));
  if (options.solver_vacant_hills > 0 && !options.proof) {
    return Bad(absl::StrCat("solver_hills=", options.solver_vacant_hills),
               "the solver requires proof=on");
  }
  return options;
}

absl::StatusOr<nn::InferenceOptions> ToInferenceOptions(
    const proto::InferenceConfig& config) {
  nn::InferenceOptions options;
  TARA_RETURN_IF_ERROR(
      nn::SetInferenceOption("device", config.device(), options));
  // Runs before 0.3.0 recorded int16 for towers.
  TARA_RETURN_IF_ERROR(nn::SetInferenceOption(
      "precision", config.precision() == "int16" ? "auto" : config.precision(),
      options));
  TARA_RETURN_IF_ERROR(
      nn::SetInferenceOption("backend", config.backend(), options));
  return options;
}

absl::StatusOr<SelfPlayOptions> ToSelfPlayOptions(
    const proto::TrainConfig& config) {
  const proto::SelfPlayConfig& self_play = config.self_play();
  SelfPlayOptions options;
  TARA_ASSIGN_OR_RETURN(const std::vector<GameRules> rules, RulesOf(config));
  for (const GameRules& each : rules) {
    options.starts.push_back(each.start);
    options.drawn.push_back(each.drawn);
  }
  TARA_ASSIGN_OR_RETURN(options.search, ToSearchOptions(self_play.search()));
  options.temperature = self_play.search().temperature();
  options.temperature_plies =
      static_cast<int>(self_play.search().temperature_plies());
  options.full_search_share = self_play.playout_cap().full_share();
  options.fast_simulations =
      static_cast<int>(self_play.playout_cap().fast_simulations());
  const proto::ResignationConfig& resignation = self_play.resignation();
  if (resignation.threshold() > 0) {
    options.resignation.threshold = -resignation.threshold();
  }
  options.resignation.turns = static_cast<int>(resignation.turns());
  options.resignation.played_on_share = resignation.played_on_share();
  options.opening = {
      .share = self_play.opening().share(),
      .max_plies = static_cast<int>(self_play.opening().max_plies())};
  options.run_seed = config.seed();
  options.threads = static_cast<int>(self_play.threads());
  options.games_per_thread = static_cast<int>(self_play.games_per_thread());
  options.leaves_per_game = static_cast<int>(self_play.leaves_per_game());
  options.evaluation_groups = static_cast<int>(self_play.evaluation_groups());
  return options;
}

absl::StatusOr<SelfPlayOptions> ToSelfPlayOptions(
    const proto::PlayRequest& request) {
  const proto::TrainConfig& config = request.config();
  TARA_ASSIGN_OR_RETURN(SelfPlayOptions options, ToSelfPlayOptions(config));
  if (IsWarmStart(config, request.generation())) {
    options.search.simulations =
        static_cast<int>(config.self_play().warm_start().simulations());
  }
  options.generation = request.generation();
  options.model_id = request.model_id();
  options.start_of =
      [begin = request.begin(),
       starts = std::vector<uint32_t>(request.start().begin(),
                                      request.start().end())](uint64_t index) {
        TARA_CHECK(index >= begin && index - begin < starts.size(),
                   "a game of another generation");
        return static_cast<int>(starts[index - begin]);
      };
  return options;
}

std::unique_ptr<mcts::Evaluator> WarmStartEvaluator(
    const proto::PlayRequest& request) {
  if (!IsWarmStart(request.config(), request.generation())) return nullptr;
  return std::make_unique<mcts::PlayoutEvaluator>(/*playouts=*/1,
                                                  request.config().seed());
}

proto::PlayRequest PlayRequestFor(const proto::TrainConfig& config,
                                  const GamePlan& plan,
                                  absl::string_view model_id) {
  proto::PlayRequest request;
  *request.mutable_config() = config;
  request.set_generation(static_cast<uint32_t>(plan.generation));
  request.set_model_id(IsWarmStart(config, request.generation())
                           ? "random games"
                           : std::string(model_id));
  request.set_begin(plan.begin);
  for (const int start : plan.starts) {
    request.add_start(static_cast<uint32_t>(start));
  }
  return request;
}

SamplerOptions ToSamplerOptions(const proto::LearnerConfig& config) {
  return {.window = {.max_games = static_cast<int>(config.window_games()),
                     .growth = config.window_growth(),
                     .growth_rate = config.window_growth_rate(),
                     .min_games = static_cast<int>(config.window_min_games())},
          .value = {.search_share = config.value_search_share(),
                    .horizon = config.value_horizon()},
          .held_out_share = config.held_out_share()};
}

}  // namespace tara::train
