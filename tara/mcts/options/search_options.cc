#include "tara/mcts/options/search_options.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tara/base/option_table.h"
#include "tara/base/text.h"
#include "tara/mcts/utility.h"

namespace tara::mcts {
namespace {

Custom UtilityMember(UtilityOptions& utility) {
  return {
      .expected = "win, points, mix or match",
      .set =
          [&utility](absl::string_view value) {
            const absl::StatusOr<UtilityKind> kind = ParseUtilityKind(value);
            if (kind.ok()) utility.kind = *kind;
            return kind.ok();
          },
      .get = [&utility] { return std::string(UtilityKindName(utility.kind)); }};
}

// "reduction:0.2".
Custom FirstPlayUrgencyMember(float& reduction) {
  const auto set = [&reduction](absl::string_view value) {
    return absl::ConsumePrefix(&value, "reduction:") &&
           ReadNumber(value, 0, 2, reduction);
  };
  return {"reduction:X", set,
          [&reduction] { return absl::StrCat("reduction:", reduction); }};
}

constexpr int kMaxMegabytes = 1 << 20;

Custom MemoryMember(int64_t& max_bytes) {
  const auto set = [&max_bytes](absl::string_view value) {
    int64_t megabytes;
    if (!ReadNumber(value, 1, kMaxMegabytes, megabytes)) return false;
    max_bytes = megabytes << 20;
    return true;
  };
  return {"a whole number", set,
          [&max_bytes] { return absl::StrCat(max_bytes >> 20); }};
}

}  // namespace

OptionTable SearchOptionTable(SearchOptions& options) {
  return {
      {"sims", &options.simulations, 1, kMaxSimulations,
       "simulations per action"},
      {"utility", UtilityMember(options.utility),
       "utility of results: win, points, mix, match"},
      {"points_weight", &options.utility.points_weight, 0, 1,
       "share of points in the mix"},
      {"points_scale", &options.utility.points_scale, 0.1, 100,
       "margin worth half of the largest utility"},
      {"c_puct", &options.c_puct, 0, 100, "weight of priors against values"},
      {"fpu", FirstPlayUrgencyMember(options.first_play_urgency_reduction),
       "value if untried: parent - X"},
      {"virtual_loss", &options.virtual_loss, 0, 10,
       "losses counted for a leaf in flight"},
      {"noise", &options.dirichlet_fraction, 0, 1,
       "share of Dirichlet noise in the root's priors"},
      {"noise_concentration", &options.dirichlet_concentration, 0.001, 10000,
       "alpha of that noise x number of legal actions"},
      {"forced_playouts", &options.forced_playouts, 0, 100,
       "k of forced playouts at the root; 0: none"},
      {"gumbel", &options.gumbel,
       "Gumbel noise and sequential halving at the root"},
      {"gumbel_actions", &options.gumbel_options.considered_actions, 1, 570,
       "actions considered at a Gumbel root"},
      {"gumbel_c_visit", &options.gumbel_options.c_visit, 0, 1e6,
       "constant added to visits in the weight of values"},
      {"gumbel_c_scale", &options.gumbel_options.c_scale, 0, 1000,
       "factor of that weight of values"},
      {"gumbel_noise", &options.gumbel_noise, 0, 10,
       "weight of the Gumbel noise; 0 in matches"},
      {"graph", &options.graph_search, "equal positions share a node"},
      {"proof", &options.proof, "prove bounds; stop once they decide"},
      {"solver_hills", &options.solver_vacant_hills, 0, 45,
       "solve leaves with at most this many vacant hills"},
      {"max_mb", MemoryMember(options.max_bytes), 1, kMaxMegabytes,
       "memory of the tree in MiB"},
  };
}

bool IsSearchOption(absl::string_view name) {
  SearchOptions options;
  return FindOption(SearchOptionTable(options), name) != nullptr;
}

absl::Status SetSearchOption(absl::string_view name, absl::string_view value,
                             SearchOptions& options) {
  const OptionTable table = SearchOptionTable(options);
  const Option* const option = FindOption(table, name);
  if (option == nullptr) {
    return absl::NotFoundError(absl::StrCat("unknown search option '",
                                            Shown(name), "'; expected one of ",
                                            OptionNames(table)));
  }
  return SetOption(*option, value);
}

std::string FormatSearchOptions(SearchOptions options) {
  SearchOptions defaults;
  const OptionTable table = SearchOptionTable(options);
  const OptionTable default_table = SearchOptionTable(defaults);
  std::vector<std::string> parts;
  for (size_t i = 0; i < table.size(); ++i) {
    const std::string value = table[i].Get();
    if (value == default_table[i].Get()) continue;
    parts.push_back(absl::StrCat(table[i].name, "=", value));
  }
  return absl::StrJoin(parts, ",");
}

std::string SearchOptionsHelp(SearchOptions defaults) {
  return OptionsHelp(SearchOptionTable(defaults));
}

}  // namespace tara::mcts
