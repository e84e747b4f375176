#include "tara/python/search.h"

#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tara/base/option_table.h"
#include "tara/core/action.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/tree/tree.h"
#include "tara/python/arguments.h"
#include "tara/python/arrays.h"
#include "tara/python/judges.h"
#include "tara/python/states.h"
#include "tara/python/workers.h"

namespace tara::python {
namespace {

namespace py = pybind11;

struct Options {
  mcts::SearchOptions search = mcts::ForPlay();
  int leaves = 1;  // of one tree in a batch
  float confidence_z = mcts::kPlayConfidenceZ;
};

// Reads "sims=400,c_puct=2": the options of player specs.
Options ParseOptions(const std::string& text, bool is_playouts) {
  Options options;
  options.search.simulations = 400;
  if (is_playouts) {
    options.search.c_puct = mcts::kPlayoutCPuct;
    options.leaves = mcts::kPlayoutLeaves;
  }
  const OptionTable table = {
      {"leaves", &options.leaves, 1, 1024, ""},
      {"lcb", &options.confidence_z, 0, 100, ""},
  };
  for (const auto& [name, value] : SplitOptions(text)) {
    const Option* const own = FindOption(table, name);
    const absl::Status set =
        own != nullptr ? SetOption(*own, value)
                       : mcts::SetSearchOption(name, value, options.search);
    if (!set.ok()) {
      throw py::value_error(absl::StrCat("options: ", set.message()));
    }
  }
  return options;
}

py::object AnalysisOf(const mcts::Tree& tree, float confidence_z) {
  const std::vector<mcts::RootAction> root = tree.root_actions();
  std::vector<uint16_t> actions;
  std::vector<int32_t> visits;
  std::vector<float> priors, values, policy;
  for (const mcts::RootAction& each : root) {
    actions.push_back(static_cast<uint16_t>(Index(each.action)));
    visits.push_back(each.visits);
    priors.push_back(each.prior);
    values.push_back(each.mean_value);
  }
  if (tree.options().gumbel && !tree.settled()) {
    policy = tree.improved_policy();
  } else {
    const double sum = std::accumulate(visits.begin(), visits.end(), 0.0);
    for (size_t i = 0; i < visits.size(); ++i) {
      policy.push_back(sum > 0 ? static_cast<float>(visits[i] / sum)
                               : priors[i]);
    }
  }
  const std::vector<mcts::RootAction> ranked =
      mcts::RankActions(tree, confidence_z);
  std::vector<uint16_t> line;
  for (const Action action : mcts::LineAfter(tree, ranked[0].action)) {
    line.push_back(static_cast<uint16_t>(Index(action)));
  }
  const mcts::MarginBounds bounds = tree.root_bounds();
  return New("Analysis", Index(ranked[0].action), tree.root_value(),
             tree.root_margin(), ArrayOf(actions), ArrayOf(visits),
             ArrayOf(policy), ArrayOf(priors), ArrayOf(values), ArrayOf(line),
             tree.root_visits(),
             py::make_tuple(int{bounds.low}, int{bounds.high}));
}

py::list Search(const py::object& states, const py::object& judge,
                const Text<"options">& options_text, Seed seed,
                Threads<"threads"> threads) {
  const std::vector<State> list = UnfinishedStatesOf(states);
  Workers workers;
  Judge of(judge, seed, &workers);
  const Options options = ParseOptions(options_text, of.is_playouts());
  of.Check(options.search);
  mcts::Evaluator& evaluator =
      of.Cached(options.search, static_cast<int64_t>(list.size()) *
                                    (int64_t{options.search.simulations} + 1));
  std::vector<std::optional<mcts::Tree>> trees(list.size());
  mcts::SearchCounters counters;
  absl::Status status;
  workers.Run(1, [&](int) {
    status = mcts::SearchPositions(
        list,
        {.search = options.search,
         .leaves_per_game = options.leaves,
         .seed = seed,
         .threads = threads,
         .stop = [&] { return workers.stopped(); }},
        evaluator,
        [&](size_t place, mcts::Tree&& tree) {
          trees[place] = std::move(tree);
        },
        counters);
  });
  ThrowIfError(status);
  py::list analyses;
  for (const auto& tree : trees) {
    analyses.append(AnalysisOf(*tree, options.confidence_z));
  }
  return analyses;
}

}  // namespace

void DefineSearch(py::module_& module) {
  module.def("search", &Search, py::arg("states"),
             py::arg("judge") = "playouts", py::kw_only(),
             py::arg("options") = "sims=400", py::arg("seed") = 1,
             py::arg("threads") = 1,
             R"(Searches positions with MCTS; returns an Analysis per position.

states: an array of dtype STATE or a sequence of State, none of them finished.
All positions are searched together and share batches.
judge: the evaluator of leaves: a Network, "playouts" for random games, or any
callable
    judge(planes, globals, mask) -> (logits, result_logits)
with arguments float32 [n, NUM_PLANES, 7, 7], float32 [n, NUM_GLOBALS] and uint8
[n, NUM_ACTIONS]. It returns arrays (or CPU tensors) [n, NUM_ACTIONS] and [n,
3]: logits of the actions, and of win, draw and loss for the seat to move.
Actions refer to the position as planes and mask show it. The calling thread
calls it once per batch, so contexts such as torch.no_grad() apply to it. Its
result for a position must not depend on the rest of the batch. It provides no
margins, so utility=points and utility=mix are not available.
options: "sims=400,c_puct=1.5,...", with the option names of player specs
(docs/reference/config.md).
seed: seed of the random numbers, combined with the index of a position.
threads: number of threads that share the positions.

The same arguments give the same result for any number of threads, provided that
the judge's result for a position is the same in every batch. Ctrl-C interrupts
the search.

Raises ValueError and TypeError for invalid arguments and results of the judge,
and any exception that the judge raises.)");
}

}  // namespace tara::python
