#ifndef TARA_MCTS_OPTIONS_SEARCH_OPTIONS_H_
#define TARA_MCTS_OPTIONS_SEARCH_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tara/core/board.h"
#include "tara/mcts/choice/root_exploration.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/utility.h"

namespace tara {

struct Option;  // tara/base/option_table.h

}  // namespace tara

namespace tara::mcts {

// The most simulations that a root's visits count: as good as no limit.
inline constexpr int kMaxSimulations = (1 << 24) - 2;

// How a tree is searched. Values are utilities in [-1, 1].
struct SearchOptions {
  // Simulations through the root's actions, those kept by Advance included.
  // The evaluation of the root itself is not counted, so that a search of one
  // simulation already has an action to choose.
  int simulations = 100;

  // The utility of results.
  UtilityOptions utility = {};

  // --- Selection -----------------------------------------------------------
  // Weight of priors against values: more explores more.
  float c_puct = 1.5f;
  // First-play urgency: how much worse than its parent an action not yet tried
  // is taken to be, once all prior probability has been tried; 0: equal.
  float first_play_urgency_reduction = 0.2f;

  // Each leaf in flight counts as a visit of its way, and this many as lost by
  // the side that went there: it drives several walks at a time apart.
  float virtual_loss = 1.0f;

  // --- The root ------------------------------------------------------------
  // Dirichlet noise on the root's priors (root_exploration.h); fraction 0 turns
  // it off.
  float dirichlet_concentration = 10.0f;  // the sum of its parameters
  float dirichlet_fraction = 0.0f;
  // Each action of the root that was tried gets at least sqrt(this * prior with
  // noise * visits of the root) visits; 0 turns it off. Policy targets are then
  // to be pruned. Source: Wu 2019 (arXiv:1902.10565), section 3.2.
  float forced_playouts = 0.0f;
  // Chooses at the root by Gumbel noise and sequential halving instead of the
  // above (root_exploration.h). `gumbel_noise` 0: without noise, for matches.
  // Each root gets all of `simulations` besides those kept by Advance.
  bool gumbel = false;
  GumbelOptions gumbel_options = {};
  float gumbel_noise = 1.0f;

  // --- Memory and knowledge ------------------------------------------------
  // Positions reached in different orders share a node.
  bool graph_search = false;
  // Proves bounds of the final margin, and searches no further where they
  // settle the utility of a position.
  bool proof = false;
  // proof: solves leaves with few vacant hills. Borrowed: must outlive the
  // tree. Must be thread-safe if trees on several threads share it.
  LeafSolver* solver = nullptr;
  int solver_vacant_hills = 0;
  // The tree's limit of memory; a search that meets it ends with what it has.
  // Values below some 100 KB count as that.
  int64_t max_bytes = int64_t{4} << 30;
};

// Returns `options` with what players and engines have by default: Gumbel roots
// without noise, proofs and the solver (docs/lab/2026-11-search.md).
inline SearchOptions ForPlay(SearchOptions options = {}) {
  options.gumbel_noise = 0;
  options.proof = true;
  options.solver_vacant_hills = kNumHills;
  return options;
}
// ChoiceOptions::confidence_z of these.
inline constexpr float kPlayConfidenceZ = 2;

// For random games as evaluator, whose values are noisy and priors uniform. At
// 400 simulations 3 beats 1.5 in every variant tried (62 % of 240 games over
// four), 0.7 loses to it (30 %), and 6 is no better than 3.
inline constexpr float kPlayoutCPuct = 3;
// Random games of a batch are played side by side: at equal time a gain of 62
// Elo, at equal simulations none (docs/lab/2026-11-search.md).
inline constexpr int kPlayoutLeaves = 8;

// Returns the table of the options by name, as player specs, configs and
// protocols have them: one for all.
std::vector<Option> SearchOptionTable(SearchOptions& options);

// Whether a search has an option of this name.
bool IsSearchOption(absl::string_view name);

// Sets an option, such as "c_puct" to "1.5" or "graph" to "on". Returns
// INVALID_ARGUMENT naming the option, the value and what was expected, or
// NOT_FOUND listing the names there are; the options are then as before.
absl::Status SetSearchOption(absl::string_view name, absl::string_view value,
                             SearchOptions& options);

// Returns the options that differ from the defaults, as "name=value,...", in
// the order of the list; empty if none does. SetSearchOption reads it back.
std::string FormatSearchOptions(SearchOptions options);

// Returns the list for --help, a line an option: name, meaning, default.
std::string SearchOptionsHelp(SearchOptions defaults = {});

}  // namespace tara::mcts

#endif  // TARA_MCTS_OPTIONS_SEARCH_OPTIONS_H_
