#include "tara/mcts/options/search_options.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tara/mcts/options/option_text.h"
#include "tara/mcts/utility.h"

namespace tara::mcts {
namespace {

bool SetUtility(absl::string_view value, SearchOptions& options) {
  const absl::StatusOr<UtilityKind> kind = ParseUtilityKind(value);
  if (kind.ok()) options.utility.kind = *kind;
  return kind.ok();
}

std::string GetUtility(const SearchOptions& options) {
  return std::string(UtilityKindName(options.utility.kind));
}

// "reduction:0.2" or "absolute:-1", of all nodes but the root.
bool SetFirstPlayUrgency(absl::string_view value, SearchOptions& options) {
  if (absl::ConsumePrefix(&value, "reduction:")) {
    if (!ReadNumber(value, 0.0f, 2.0f, options.first_play_urgency_reduction)) {
      return false;
    }
    options.first_play_urgency = FirstPlayUrgency::kReduction;
    return true;
  }
  if (!absl::ConsumePrefix(&value, "absolute:") ||
      !ReadNumber(value, -1.0f, 1.0f, options.first_play_urgency_value)) {
    return false;
  }
  options.first_play_urgency = FirstPlayUrgency::kAbsolute;
  return true;
}

std::string GetFirstPlayUrgency(const SearchOptions& options) {
  return options.first_play_urgency == FirstPlayUrgency::kReduction
             ? absl::StrCat("reduction:", options.first_play_urgency_reduction)
             : absl::StrCat("absolute:", options.first_play_urgency_value);
}

bool SetRootUrgency(absl::string_view value, SearchOptions& options) {
  if (value == "same") {
    options.root_first_play_urgency.reset();
    return true;
  }
  float number;
  if (!ReadNumber(value, -1.0f, 2.0f, number)) return false;
  options.root_first_play_urgency = number;
  return true;
}

std::string GetRootUrgency(const SearchOptions& options) {
  return options.root_first_play_urgency.has_value()
             ? absl::StrCat(*options.root_first_play_urgency)
             : "same";
}

bool SetMemory(absl::string_view value, SearchOptions& options) {
  int64_t megabytes;
  if (!ReadNumber(value, int64_t{1}, int64_t{1} << 20, megabytes)) return false;
  options.max_bytes = megabytes << 20;
  return true;
}

std::string GetMemory(const SearchOptions& options) {
  return absl::StrCat(options.max_bytes >> 20);
}

// The list.
constexpr OptionText<SearchOptions> kOptions[] = {
    NumberOption<Range{1, 16777214}, &SearchOptions::simulations>(
        "sims", "a whole number from 1 to 16777214", "simulations an action"),
    {.name = "utility",
     .expected = "win, points, mix or match",
     .help = "what counts: win, points, mix, match",
     .set = SetUtility,
     .get = GetUtility},
    NumberOption<Range{0.0f, 1.0f}, &SearchOptions::utility,
                 &UtilityOptions::points_weight>(
        "points_weight", "a number from 0 to 1", "share of points in the mix"),
    NumberOption<Range{0.1f, 100.0f}, &SearchOptions::utility,
                 &UtilityOptions::points_scale>(
        "points_scale", "a number from 0.1 to 100",
        "margin worth half of the most"),
    NumberOption<Range{0.0f, 100.0f}, &SearchOptions::c_puct>(
        "c_puct", "a number from 0 to 100", "weight of priors against values"),
    NumberOption<Range{0.0f, 100.0f}, &SearchOptions::c_puct_growth>(
        "c_puct_growth", "a number from 0 to 100",
        "growth of c_puct with log visits"),
    NumberOption<Range{1.0f, 1e9f}, &SearchOptions::c_puct_base>(
        "c_puct_base", "a number from 1 to 1e9",
        "visits from which that growth counts"),
    NumberOption<Range{0.1f, 10.0f}, &SearchOptions::prior_temperature>(
        "prior_temperature", "a number from 0.1 to 10",
        "above 1: priors count less"),
    NumberOption<Range{0.0f, 1.0f}, &SearchOptions::utility_deviation_scale>(
        "deviation_scale", "a number from 0 to 1",
        "explore more where results differ; 0: not"),
    NumberOption<Range{0.01f, 1.0f}, &SearchOptions::utility_deviation_prior>(
        "deviation_prior", "a number from 0.01 to 1",
        "usual deviation of results"),
    NumberOption<Range{0.0f, 1000.0f},
                 &SearchOptions::utility_deviation_prior_weight>(
        "deviation_prior_weight", "a number from 0 to 1000",
        "visits that it counts for"),
    {.name = "fpu",
     .expected = "reduction:X or absolute:X",
     .help = "untried: X below parent, or X",
     .set = SetFirstPlayUrgency,
     .get = GetFirstPlayUrgency},
    {.name = "root_fpu",
     .expected = "same, or a number from -1 to 2",
     .help = "the X of fpu at the root",
     .set = SetRootUrgency,
     .get = GetRootUrgency},
    NumberOption<Range{0.0f, 10.0f}, &SearchOptions::virtual_loss>(
        "virtual_loss", "a number from 0 to 10",
        "losses a leaf in flight counts for"),
    NumberOption<Range{0.0f, 1.0f}, &SearchOptions::dirichlet_fraction>(
        "noise", "a number from 0 to 1",
        "Dirichlet noise in the root's priors"),
    NumberOption<Range{0.01f, 1000.0f},
                 &SearchOptions::dirichlet_concentration>(
        "noise_concentration", "a number from 0.01 to 1000",
        "its alpha times the legal actions"),
    SwitchOption<&SearchOptions::dirichlet_shaped>(
        "noise_shaped", "more of that noise where the priors are high"),
    NumberOption<Range{0.0f, 100.0f}, &SearchOptions::forced_playouts>(
        "forced_playouts", "a number from 0 to 100",
        "k of forced playouts at the root; 0: none"),
    SwitchOption<&SearchOptions::gumbel>(
        "gumbel", "Gumbel noise and sequential halving at the root"),
    NumberOption<Range{1, 570}, &SearchOptions::gumbel_options,
                 &GumbelOptions::considered_actions>(
        "gumbel_actions", "a whole number from 1 to 570",
        "actions that Gumbel considers"),
    NumberOption<Range{0.0f, 1e6f}, &SearchOptions::gumbel_options,
                 &GumbelOptions::c_visit>(
        "gumbel_c_visit", "a number from 0 to 1e6",
        "weight of values there, beside visits"),
    NumberOption<Range{0.0f, 1000.0f}, &SearchOptions::gumbel_options,
                 &GumbelOptions::c_scale>(
        "gumbel_c_scale", "a number from 0 to 1000",
        "weight of values there, as a factor"),
    NumberOption<Range{0.0f, 10.0f}, &SearchOptions::gumbel_noise>(
        "gumbel_noise", "a number from 0 to 10",
        "weight of the noise; 0 in matches"),
    SwitchOption<&SearchOptions::graph_search>("graph",
                                               "equal positions share a node"),
    SwitchOption<&SearchOptions::proof>("proof",
                                        "prove bounds; stop where they decide"),
    NumberOption<Range{0, 45}, &SearchOptions::solver_vacant_hills>(
        "solver_hills", "a whole number from 0 to 45",
        "solve leaves of so many vacant hills"),
    {.name = "max_mb",
     .expected = "a whole number from 1 to 1048576",
     .help = "memory of the tree in MiB",
     .set = SetMemory,
     .get = GetMemory},
};

}  // namespace

bool IsSearchOption(absl::string_view name) {
  return FindOption(kOptions, name) != nullptr;
}

absl::Status SetSearchOption(absl::string_view name, absl::string_view value,
                             SearchOptions& options) {
  const OptionText<SearchOptions>* const option = FindOption(kOptions, name);
  if (option == nullptr) {
    return absl::NotFoundError(absl::StrCat("unknown search option '", name,
                                            "'; expected one of ",
                                            OptionNames(kOptions)));
  }
  return SetOption(*option, value, options);
}

std::string FormatSearchOptions(const SearchOptions& options) {
  const SearchOptions defaults;
  std::vector<std::string> parts;
  for (const OptionText<SearchOptions>& option : kOptions) {
    const std::string value = option.get(options);
    if (value == option.get(defaults)) continue;
    parts.push_back(absl::StrCat(option.name, "=", value));
  }
  return absl::StrJoin(parts, ",");
}

std::string SearchOptionsHelp(const SearchOptions& defaults) {
  return OptionsHelp(kOptions, defaults);
}

}  // namespace tara::mcts
