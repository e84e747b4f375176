#include "tara/mcts/options/search_options.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "tara/base/text.h"
#include "tara/mcts/options/option_table.h"
#include "tara/mcts/utility.h"

namespace tara::mcts {
namespace {

using Row = Option<SearchOptions>;

bool SetUtility(const Row&, absl::string_view value, SearchOptions& options) {
  const absl::StatusOr<UtilityKind> kind = ParseUtilityKind(value);
  if (kind.ok()) options.utility.kind = *kind;
  return kind.ok();
}

std::string GetUtility(const SearchOptions& options) {
  return std::string(UtilityKindName(options.utility.kind));
}

// "reduction:0.2" or "absolute:-1", of all nodes but the root.
bool SetFirstPlayUrgency(const Row&, absl::string_view value,
                         SearchOptions& options) {
  if (absl::ConsumePrefix(&value, "reduction:")) {
    if (!ReadNumber(value, 0, 2, options.first_play_urgency_reduction)) {
      return false;
    }
    options.first_play_urgency = FirstPlayUrgency::kReduction;
    return true;
  }
  if (!absl::ConsumePrefix(&value, "absolute:") ||
      !ReadNumber(value, -1, 1, options.first_play_urgency_value)) {
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

bool SetRootUrgency(const Row&, absl::string_view value,
                    SearchOptions& options) {
  if (value == "same") {
    options.root_first_play_urgency.reset();
    return true;
  }
  float number;
  if (!ReadNumber(value, -1, 2, number)) return false;
  options.root_first_play_urgency = number;
  return true;
}

std::string GetRootUrgency(const SearchOptions& options) {
  return options.root_first_play_urgency.has_value()
             ? absl::StrCat(*options.root_first_play_urgency)
             : "same";
}

bool SetMemory(const Row& option, absl::string_view value,
               SearchOptions& options) {
  int64_t megabytes;
  if (!ReadNumber(value, option.low, option.high, megabytes)) return false;
  options.max_bytes = megabytes << 20;
  return true;
}

std::string GetMemory(const SearchOptions& options) {
  return absl::StrCat(options.max_bytes >> 20);
}

// The table.
constexpr Row kOptions[] = {
    NumberOption<&SearchOptions::simulations>("sims", 1, kMaxSimulations,
                                              "simulations an action"),
    {.name = "utility",
     .expected = "win, points, mix or match",
     .help = "utility of results: win, points, mix, match",
     .set = SetUtility,
     .get = GetUtility},
    NumberOption<&SearchOptions::utility, &UtilityOptions::points_weight>(
        "points_weight", 0, 1, "share of points in the mix"),
    NumberOption<&SearchOptions::utility, &UtilityOptions::points_scale>(
        "points_scale", 0.1, 100, "margin with half of the largest utility"),
    NumberOption<&SearchOptions::c_puct>("c_puct", 0, 100,
                                         "weight of priors against values"),
    NumberOption<&SearchOptions::c_puct_growth>(
        "c_puct_growth", 0, 100, "growth of c_puct with log visits"),
    NumberOption<&SearchOptions::c_puct_base>(
        "c_puct_base", 1, 1e9, "visits from which that growth counts"),
    NumberOption<&SearchOptions::prior_temperature>(
        "prior_temperature", 0.1, 10,
        "priors ^ (1 / this): above 1 they count less"),
    NumberOption<&SearchOptions::utility_deviation_scale>(
        "deviation_scale", 0, 1,
        "more exploration where results differ; 0: none"),
    NumberOption<&SearchOptions::utility_deviation_prior>(
        "deviation_prior", 0.01, 1, "usual deviation of results"),
    NumberOption<&SearchOptions::utility_deviation_prior_weight>(
        "deviation_prior_weight", 0, 1000, "visits that it counts for"),
    {.name = "fpu",
     .expected = "reduction:X or absolute:X",
     .help = "untried: X below the parent, or X",
     .set = SetFirstPlayUrgency,
     .get = GetFirstPlayUrgency},
    {.name = "root_fpu",
     .expected = "same, or a number from -1 to 2",
     .help = "the X of fpu at the root",
     .set = SetRootUrgency,
     .get = GetRootUrgency},
    NumberOption<&SearchOptions::virtual_loss>(
        "virtual_loss", 0, 10, "losses a leaf in flight counts for"),
    NumberOption<&SearchOptions::dirichlet_fraction>(
        "noise", 0, 1, "share of Dirichlet noise in the root's priors"),
    NumberOption<&SearchOptions::dirichlet_concentration>(
        "noise_concentration", 0.001, 10000,
        "its alpha times the number of legal actions"),
    SwitchOption<&SearchOptions::dirichlet_shaped>(
        "noise_shaped", "more of that noise where the priors are high"),
    NumberOption<&SearchOptions::forced_playouts>(
        "forced_playouts", 0, 100, "k of forced playouts at the root; 0: none"),
    SwitchOption<&SearchOptions::gumbel>(
        "gumbel", "Gumbel noise and sequential halving at the root"),
    NumberOption<&SearchOptions::gumbel_options,
                 &GumbelOptions::considered_actions>(
        "gumbel_actions", 1, 570, "actions that a Gumbel root considers"),
    NumberOption<&SearchOptions::gumbel_options, &GumbelOptions::c_visit>(
        "gumbel_c_visit", 0, 1e6, "weight of values there, beside visits"),
    NumberOption<&SearchOptions::gumbel_options, &GumbelOptions::c_scale>(
        "gumbel_c_scale", 0, 1000, "weight of values there, as a factor"),
    NumberOption<&SearchOptions::gumbel_noise>(
        "gumbel_noise", 0, 10, "weight of the noise; 0 in matches"),
    SwitchOption<&SearchOptions::graph_search>("graph",
                                               "equal positions share a node"),
    SwitchOption<&SearchOptions::proof>(
        "proof", "proved bounds; stop where they decide"),
    NumberOption<&SearchOptions::solver_vacant_hills>(
        "solver_hills", 0, 45,
        "solve leaves with at most so many vacant hills"),
    {.name = "max_mb",
     .expected = "a whole number",
     .low = 1,
     .high = 1 << 20,
     .help = "memory of the tree in MiB",
     .set = SetMemory,
     .get = GetMemory},
};

}  // namespace

absl::Span<const Row> SearchOptionTable() { return kOptions; }

bool IsSearchOption(absl::string_view name) {
  return FindOption(kOptions, name) != nullptr;
}

absl::Status SetSearchOption(absl::string_view name, absl::string_view value,
                             SearchOptions& options) {
  const Row* const option = FindOption(kOptions, name);
  if (option == nullptr) {
    return absl::NotFoundError(absl::StrCat("unknown search option '",
                                            Shown(name), "'; expected one of ",
                                            OptionNames(kOptions)));
  }
  return SetOption(*option, value, options);
}

std::string FormatSearchOptions(const SearchOptions& options) {
  const SearchOptions defaults;
  std::vector<std::string> parts;
  for (const Row& option : kOptions) {
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
