#include "tara/train/play/game_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tara/base/status_macros.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/train/play/mixture.h"

namespace tara::train {
namespace {

// Whether the variant has an option of this name.
bool HasOption(Variant variant, absl::string_view name) {
  return std::any_of(kRuleOptions.begin(), kRuleOptions.end(),
                     [&](const RuleOptionInfo& info) {
                       return info.name == name &&
                              info.applies_to(Info(variant));
                     });
}

// Sets an option where it applies.
absl::Status SetWhereItApplies(absl::string_view assignment,
                               const std::vector<Variant>& variants,
                               std::vector<RuleOptions>& options) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(assignment, absl::MaxSplits('=', 1));
  bool applied = false;
  for (size_t i = 0; i < variants.size(); ++i) {
    if (!HasOption(variants[i], parts.first)) continue;
    TARA_RETURN_IF_ERROR(
        SetRuleOption(variants[i], parts.first, parts.second, options[i]));
    applied = true;
  }
  if (applied) return absl::OkStatus();
  // Says why it is wrong for one of them.
  return SetRuleOption(variants[0], parts.first, parts.second, options[0]);
}

uint64_t GamesOf(const proto::GenerationPlan& plan) {
  uint64_t games = 0;
  for (const proto::VariantGames& of : plan.variant()) games += of.games();
  return games;
}

}  // namespace

absl::StatusOr<proto::GenerationPlan> PlanGeneration(
    const proto::TrainConfig& config, GameStore& store, int generation,
    int model, const proto::GenerationPlan* before,
    const std::vector<double>& shares) {
  proto::GenerationPlan plan;
  plan.set_generation(generation);
  plan.set_model(model);
  if (before != nullptr) {
    plan.set_begin(before->begin() + GamesOf(*before));
  } else if (generation > 0) {
    TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> indices,
                          store.Indices({.generation = generation - 1}));
    if (indices.empty()) {
      return absl::DataLossError(absl::StrCat(
          "the game store has no games of generation ", generation - 1,
          ", but the run is at generation ", generation));
    }
    plan.set_begin(indices.back() + 1);
  }
  TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> stored,
                        store.Indices({.generation = generation}));
  uint64_t games = config.self_play().games_per_generation();
  if (!stored.empty()) {
    games = std::max(games, stored.back() + 1 - plan.begin());
  }
  const std::vector<int64_t> divided =
      DivideGames(static_cast<int64_t>(games), shares, plan.begin());
  for (size_t v = 0; v < divided.size(); ++v) {
    proto::VariantGames& of = *plan.add_variant();
    of.set_variant(config.variant(static_cast<int>(v)));
    of.set_games(static_cast<uint32_t>(divided[v]));
  }
  return plan;
}

absl::StatusOr<GamePlan> ExpandPlan(const proto::TrainConfig& config,
                                    GameStore& store,
                                    const proto::GenerationPlan& recorded) {
  std::vector<int64_t> games;
  for (int v = 0; v < recorded.variant_size(); ++v) {
    if (v >= config.variant_size() ||
        recorded.variant(v).variant() != config.variant(v)) {
      break;
    }
    games.push_back(recorded.variant(v).games());
  }
  if (static_cast<int>(games.size()) != config.variant_size()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the games of generation ", recorded.generation(),
                     " were planned for other variants than the config's ",
                     absl::StrJoin(config.variant(), ", ")));
  }
  GamePlan plan = {.generation = static_cast<int>(recorded.generation()),
                   .model = static_cast<int>(recorded.model()),
                   .begin = recorded.begin(),
                   .end = recorded.begin() + GamesOf(recorded),
                   .starts = VariantOrder(games, recorded.begin()),
                   .missing = {}};
  TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> stored,
                        store.Indices({.generation = plan.generation}));
  for (uint64_t index = plan.begin; index < plan.end; ++index) {
    if (!std::binary_search(stored.begin(), stored.end(), index)) {
      plan.missing.push_back(index);
    }
  }
  return plan;
}

absl::StatusOr<std::vector<GamePlan>> LostGames(
    const proto::TrainConfig& config, GameStore& store,
    const proto::RunState& state, uint64_t begin, uint64_t end) {
  TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> stored, store.Indices({}));
  std::vector<uint64_t> lost;
  for (uint64_t index = begin; index < end; ++index) {
    if (!std::binary_search(stored.begin(), stored.end(), index)) {
      lost.push_back(index);
    }
  }
  std::vector<GamePlan> plans;
  auto next = lost.begin();
  for (const proto::GenerationPlan& recorded : state.plan()) {
    if (next == lost.end() || *next < recorded.begin()) break;
    const uint64_t end_of_plan = recorded.begin() + GamesOf(recorded);
    const auto first = next;
    next = std::lower_bound(first, lost.end(), end_of_plan);
    if (first == next) continue;
    TARA_ASSIGN_OR_RETURN(GamePlan plan, ExpandPlan(config, store, recorded));
    plan.missing.assign(first, next);
    plans.push_back(std::move(plan));
  }
  if (next == lost.end()) return plans;
  return absl::DataLossError(absl::StrCat(
      "the game store lacks ", lost.end() - next,
      " games that are to be learned from, the first of them game ", *next,
      ", and the run's state has no plan to play them again by"));
}

absl::StatusOr<std::vector<State>> StartPositions(
    const proto::TrainConfig& config) {
  std::vector<Variant> variants;
  for (const std::string& id : config.variant()) {
    TARA_ASSIGN_OR_RETURN(const Variant variant, ParseVariant(id));
    variants.push_back(variant);
  }
  if (variants.empty()) {
    return absl::InvalidArgumentError("the config names no variant");
  }
  std::vector<RuleOptions> options(variants.size());
  if (const std::string& text = config.rule_options();
      !text.empty() && text != "-") {
    for (const absl::string_view assignment : absl::StrSplit(text, ',')) {
      TARA_RETURN_IF_ERROR(SetWhereItApplies(assignment, variants, options));
    }
  }
  std::vector<State> starts;
  for (size_t i = 0; i < variants.size(); ++i) {
    starts.push_back(InitialState(variants[i], options[i]));
  }
  return starts;
}

}  // namespace tara::train
