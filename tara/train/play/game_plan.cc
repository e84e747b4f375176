#include "tara/train/play/game_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"

namespace tara::train {
namespace {

constexpr double kMaxWeight = 1e6;

using WeightOfValue = std::map<int, double>;

// The values of a variant's options that are given.
using Given = std::map<const RuleOptionInfo*, WeightOfValue>;

absl::StatusOr<int> ParseValue(Variant variant, const RuleOptionInfo& option,
                               absl::string_view text) {
  RuleOptions options;
  TARA_RETURN_IF_ERROR(SetRuleOption(variant, option.name, text, options));
  return option.get(options);
}

// Adds a part "FROM..TO*WEIGHT", in which only FROM is required.
absl::Status AddValues(Variant variant, const RuleOptionInfo& option,
                       absl::string_view part, WeightOfValue& values) {
  const std::vector<absl::string_view> weighted =
      absl::StrSplit(part, absl::MaxSplits('*', 1));
  double weight = 1;
  // Written so that NaN fails too.
  if (weighted.size() > 1 && (!ParseDecimal(weighted[1], &weight) ||
                              !(weight > 0 && weight <= kMaxWeight))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rule option ", option.name, ": bad weight '", Shown(weighted[1]),
        "'; expected a number above 0 and of at most 1000000"));
  }
  const std::vector<absl::string_view> range =
      absl::StrSplit(weighted[0], absl::MaxSplits("..", 1));
  TARA_ASSIGN_OR_RETURN(const int from, ParseValue(variant, option, range[0]));
  TARA_ASSIGN_OR_RETURN(const int to,
                        ParseValue(variant, option, range.back()));
  if (to < from) {
    return absl::InvalidArgumentError(
        absl::StrCat("rule option ", option.name, ": bad range '",
                     Shown(weighted[0]), "'; expected the lower value first"));
  }
  for (int value = from; value <= to; ++value) values[value] += weight;
  return absl::OkStatus();
}

absl::Status Assign(const OptionText& assignment,
                    absl::Span<const Variant> variants,
                    std::vector<Given>& given) {
  if (!assignment.has_value) {
    return absl::InvalidArgumentError(
        absl::StrCat("bad rule option '", Shown(assignment.text),
                     "'; expected name=value or variant:name=value"));
  }
  const std::vector<absl::string_view> left =
      absl::StrSplit(assignment.name, absl::MaxSplits(':', 1));
  const absl::string_view name = left.back();
  bool is_there = left.size() == 1;
  bool applied = false;
  for (size_t i = 0; i < variants.size(); ++i) {
    if (left.size() > 1 && left[0] != Info(variants[i]).id) continue;
    is_there = true;
    const RuleOptionInfo* const option = FindRuleOption(name);
    if (option == nullptr || !option->applies_to(Info(variants[i]))) continue;
    WeightOfValue values;
    for (const absl::string_view part : absl::StrSplit(assignment.value, '/')) {
      TARA_RETURN_IF_ERROR(AddValues(variants[i], *option, part, values));
    }
    given[i][option] = std::move(values);
    applied = true;
  }
  if (applied) return absl::OkStatus();
  if (!is_there) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", Shown(assignment.text), "': the config does not name variant '",
        Shown(left[0]), "'"));
  }
  // Finds the reason for one of them.
  Variant one = variants[0];
  if (left.size() > 1) {
    TARA_ASSIGN_OR_RETURN(one, ParseVariant(left[0]));
  }
  RuleOptions options;
  return SetRuleOption(one, name, assignment.value, options);
}

GameRules RulesBy(Variant variant, const Given& given) {
  RuleOptions options;
  GameRules rules;
  for (const RuleOptionInfo& option : kRuleOptions) {
    const auto found = given.find(&option);
    if (found == given.end()) continue;
    const WeightOfValue& values = found->second;
    const auto likeliest = std::max_element(
        values.begin(), values.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    option.set(options, values.contains(option.DefaultValue())
                            ? option.DefaultValue()
                            : likeliest->first);
    if (values.size() == 1) continue;
    DrawnOption& drawn = rules.drawn.emplace_back(DrawnOption{&option, {}, {}});
    for (const auto& [value, weight] : values) {
      drawn.values.push_back(value);
      drawn.weights.push_back(weight);
    }
  }
  rules.start = InitialState(variant, options);
  return rules;
}

}  // namespace

absl::StatusOr<std::vector<GameRules>> RulesOf(
    const proto::TrainConfig& config) {
  std::vector<Variant> variants;
  for (const std::string& id : config.variant()) {
    TARA_ASSIGN_OR_RETURN(const Variant variant, ParseVariant(id));
    variants.push_back(variant);
  }
  if (variants.empty()) {
    return absl::InvalidArgumentError("the config names no variant");
  }
  std::vector<Given> given(variants.size());
  if (const std::string& text = config.rule_options();
      !text.empty() && text != "-") {
    const absl::StatusOr<std::vector<OptionText>> list = ParseOptionList(text);
    if (!list.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("rule option ", list.status().message()));
    }
    for (const OptionText& assignment : *list) {
      TARA_RETURN_IF_ERROR(Assign(assignment, variants, given));
    }
  }
  std::vector<GameRules> rules;
  for (size_t i = 0; i < variants.size(); ++i) {
    rules.push_back(RulesBy(variants[i], given[i]));
  }
  return rules;
}

absl::StatusOr<std::vector<State>> StartPositions(
    const proto::TrainConfig& config) {
  TARA_ASSIGN_OR_RETURN(const std::vector<GameRules> rules, RulesOf(config));
  std::vector<State> starts;
  for (const GameRules& each : rules) starts.push_back(each.start);
  return starts;
}

State DrawStart(const State& start, const std::vector<DrawnOption>& drawn,
                Random& random) {
  if (drawn.empty()) return start;
  RuleOptions options = start.options;
  for (const DrawnOption& each : drawn) {
    double left = random.Uniform() * std::accumulate(each.weights.begin(),
                                                     each.weights.end(), 0.0);
    size_t chosen = 0;
    while (chosen + 1 < each.values.size() && left >= each.weights[chosen]) {
      left -= each.weights[chosen++];
    }
    each.option->set(options, each.values[chosen]);
  }
  return InitialState(start.variant, options);
}

Opening DrawOpening(const OpeningOptions& options, const State& start,
                    Random& random) {
  TARA_CHECK(options.max_plies >= 1, "max_plies must be >= 1");
  Opening opening = {.actions = {}, .state = start};
  if (options.share <= 0 || random.Uniform() >= options.share) return opening;
  const uint32_t plies =
      1 + random.Below(static_cast<uint32_t>(options.max_plies));
  for (uint32_t ply = 0; ply < plies; ++ply) {
    const Action action = RandomAction(opening.state, random);
    State next = opening.state;
    ApplyAction(action, next);
    if (next.finished()) break;
    opening.actions.push_back(action);
    opening.state = next;
  }
  return opening;
}

namespace {

absl::Status BadWeight(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("mixture.weight: '", text, "': ", why));
}

// Returns the variants in the order in which they take turns from `begin` on.
std::vector<int> TurnsFrom(uint64_t begin, int variants) {
  std::vector<int> turns(variants);
  for (int i = 0; i < variants; ++i) {
    turns[i] = static_cast<int>((begin + i) % variants);
  }
  return turns;
}

}  // namespace

absl::StatusOr<std::vector<double>> MixtureShares(
    const proto::TrainConfig& config) {
  std::array<std::optional<double>, kNumVariants> given;
  for (const std::string& text : config.mixture().weight()) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    const absl::StatusOr<Variant> variant = ParseVariant(parts.first);
    if (!variant.ok()) {
      return BadWeight(
          text, absl::StrCat("expected variant=weight, of ", VariantIds()));
    }
    std::optional<double>& weight = given[static_cast<int>(*variant)];
    if (weight.has_value()) {
      return BadWeight(text, "this variant has a weight already");
    }
    // Written so that NaN fails too.
    if (!ParseDecimal(parts.second, &weight.emplace()) ||
        !(*weight > 0 && *weight <= kMaxWeight)) {
      return BadWeight(text,
                       "expected a number above 0 and of at most 1000000");
    }
  }
  std::vector<double> shares;
  for (const std::string& id : config.variant()) {
    TARA_ASSIGN_OR_RETURN(const Variant variant, ParseVariant(id));
    shares.push_back(given[static_cast<int>(variant)].value_or(1.0));
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<int64_t> DivideGames(int64_t games, absl::Span<const double> shares,
                                 uint64_t begin) {
  std::vector<int64_t> divided;
  std::vector<int64_t> fractions;  // in millionths: exactly comparable
  int64_t left = games;
  for (const double share : shares) {
    const double exact = share * static_cast<double>(games);
    // Rounds up numbers that rounding errors have put just below a whole one.
    const double whole = std::floor(exact + 1e-6);
    divided.push_back(static_cast<int64_t>(whole));
    fractions.push_back(std::llround((exact - whole) * 1e6));
    left -= divided.back();
  }
  std::vector<int> turns = TurnsFrom(begin, static_cast<int>(shares.size()));
  std::stable_sort(turns.begin(), turns.end(),
                   [&](int a, int b) { return fractions[a] > fractions[b]; });
  for (int64_t i = 0; i < left; ++i) ++divided[turns[i % turns.size()]];
  return divided;
}

std::vector<int> VariantOrder(absl::Span<const int64_t> games, uint64_t begin) {
  const int64_t total = std::accumulate(games.begin(), games.end(), int64_t{0});
  const std::vector<int> turns =
      TurnsFrom(begin, static_cast<int>(games.size()));
  // How far each variant is behind its share, in parts of a game of 1 / total.
  std::vector<int64_t> behind(games.size(), 0);
  std::vector<int> order;
  order.reserve(total);
  for (int64_t i = 0; i < total; ++i) {
    int next = turns[0];
    for (const int v : turns) {
      behind[v] += games[v];
      if (behind[v] > behind[next]) next = v;
    }
    behind[next] -= total;
    order.push_back(next);
  }
  return order;
}

namespace {

uint64_t GamesOf(const proto::GenerationPlan& plan) {
  uint64_t games = 0;
  for (const proto::VariantGames& of : plan.variant()) games += of.games();
  return games;
}

// Returns the indices from `begin` to before `end` that are not among `stored`,
// which are ascending.
std::vector<uint64_t> Missing(const std::vector<uint64_t>& stored,
                              uint64_t begin, uint64_t end) {
  std::vector<uint64_t> missing;
  for (uint64_t index = begin; index < end; ++index) {
    if (!std::binary_search(stored.begin(), stored.end(), index)) {
      missing.push_back(index);
    }
  }
  return missing;
}

}  // namespace

absl::StatusOr<proto::GenerationPlan> PlanGeneration(
    const proto::TrainConfig& config, record::GameStore& store, int generation,
    int model, const proto::GenerationPlan* before) {
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
  TARA_ASSIGN_OR_RETURN(const std::vector<double> shares,
                        MixtureShares(config));
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
                                    record::GameStore& store,
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
  plan.missing = Missing(stored, plan.begin, plan.end);
  return plan;
}

absl::StatusOr<std::vector<GamePlan>> LostGames(
    const proto::TrainConfig& config, record::GameStore& store,
    const proto::RunState& state, uint64_t begin, uint64_t end) {
  TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> stored, store.Indices({}));
  const std::vector<uint64_t> lost = Missing(stored, begin, end);
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
  return absl::DataLossError(
      absl::StrCat("the game store lacks ", lost.end() - next,
                   " games that learning needs, the first of them game ", *next,
                   ", and the run's state has no plan to play them again by"));
}

}  // namespace tara::train
