#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tara/base/option_table.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/tree.h"
#include "tara/python/arguments.h"
#include "tara/python/evaluators.h"
#include "tara/python/module.h"
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
  double sum = 0;
  for (const mcts::RootAction& each : root) {
    actions.push_back(static_cast<uint16_t>(Index(each.action)));
    visits.push_back(each.visits);
    priors.push_back(each.prior);
    values.push_back(each.mean_value);
    sum += each.visits;
  }
  if (tree.options().gumbel && !tree.settled()) {
    policy = tree.improved_policy();
  } else if (sum == 0) {
    policy = priors;
  } else {
    for (const int32_t of : visits) {
      policy.push_back(static_cast<float>(of / sum));
    }
  }
  const std::vector<mcts::RootAction> ranked =
      mcts::RankActions(tree, confidence_z);
  std::vector<uint16_t> line;
  for (const Action action : mcts::LineAfter(tree, ranked[0].action)) {
    line.push_back(static_cast<uint16_t>(Index(action)));
  }
  const mcts::MarginBounds bounds = tree.root_bounds();
  // A search without simulations only has priors.
  return New("Analysis", Index(ranked[0].action), tree.root_value(),
             tree.root_margin(), ArrayOf(actions), ArrayOf(visits),
             ArrayOf(policy), ArrayOf(priors), ArrayOf(values), ArrayOf(line),
             tree.root_visits(),
             py::make_tuple(int{bounds.low}, int{bounds.high}));
}

py::list Search(const py::object& states, const py::object& given,
                const Text<"options">& options_text, Seed seed,
                Threads<"threads"> threads) {
  const std::vector<State> list = UnfinishedStatesOf(states);
  Workers workers;
  PyEvaluator of(given, seed, &workers);
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

// Searches of positions, one tree each, that go on when they are asked to.
//
// A round gathers leaves of all trees that are not done, which wait for their
// evaluations in `leaves_`: either within `Run`, or until `Answer`. Methods are
// called with the GIL, one at a time.
class SearchTrees {
  // One call at a time: others could arrive while an evaluator in Python runs.
  auto Use(const char* what) {
    if (std::exchange(used_, true)) {
      throw std::runtime_error(absl::StrCat(
          what,
          ": the search is in use by another call; expected one at a time"));
    }
    return absl::MakeCleanup([this] { used_ = false; });
  }

 public:
  using PythonClass = void;

  SearchTrees(const py::object& states, const py::object& evaluator,
              const Text<"options">& options_text, Seed seed)
      : evaluator_(evaluator), seed_(seed) {
    if (evaluator.is_none()) {
      options_ = ParseOptions(options_text, /*is_playouts=*/false);
    } else {
      const PyEvaluator of(evaluator, seed, /*workers=*/nullptr);
      options_ = ParseOptions(options_text, of.is_playouts());
      of.Check(options_.search);  // raises
    }
    const std::vector<State> list = UnfinishedStatesOf(states);
    for (const State& state : list) {
      mcts::SearchOptions search = options_.search;
      mcts::SetForVariant(state.variant, &solver_, search);
      trees_.emplace_back(
          search, state,
          DeriveSeed(seed, trees_.size(), StreamPurpose::kArena));
    }
  }

  py::ssize_t size() const { return static_cast<py::ssize_t>(trees_.size()); }

  py::array States() {
    const auto use = Use("states");
    NewStates states(trees_.size());
    for (size_t i = 0; i < trees_.size(); ++i) {
      states.data()[i] = trees_[i].root();
    }
    return std::move(states).ToPython();
  }

  // Searches until each tree has had `sims` simulations more, or those of the
  // options; or until the time is over; or for one batch. Returns the number of
  // simulations.
  int64_t Run(const py::object& sims, const py::object& ms, bool once = false) {
    const auto use = Use("run");
    if (evaluator_.is_none()) {
      throw py::value_error(
          "run: the search has no evaluator; expected leaves and answer");
    }
    CheckNothingWaits("run");
    if (!sims.is_none()) {
      SetMore(IntegerOf<int>("sims", sims, 1, kMostSims));
    } else if (!ms.is_none()) {
      SetMore(kMostSims);
    }
    const auto end =
        ms.is_none() ? Clock::time_point::max()
                     : Clock::now() + std::chrono::milliseconds(
                                          IntegerOf<int>("ms", ms, 1, 1 << 30));
    const int64_t before = Visits();
    Workers workers;
    PyEvaluator of(evaluator_, seed_, &workers);
    mcts::Evaluator& evaluator = of.Cached(options_.search, int64_t{1} << 16);
    absl::Status status;
    workers.Run(1, [&](int) {
      std::vector<State> states;
      std::vector<mcts::Evaluation> results;
      while (status.ok() && !workers.stopped() && Gather(options_.leaves)) {
        states.clear();
        for (const Leaf& leaf : leaves_) states.push_back(leaf.leaf.state);
        results.resize(states.size());
        status = evaluator.Evaluate(states, absl::MakeSpan(results));
        if (status.ok()) Apply(results);
        if (once || Clock::now() >= end) break;
      }
      Cancel();  // what a failure has left
      for (mcts::Tree& tree : trees_) {
        if (tree.finished() || options_.search.gumbel) continue;
        tree.SetSimulations(options_.search.simulations);
      }
    });
    ThrowIfError(status);
    return Visits() - before;
  }

  py::array_t<bool> Done() {
    const auto use = Use("done");
    py::array_t<bool> done(Shape{size()});
    for (size_t i = 0; i < trees_.size(); ++i) {
      done.mutable_data()[i] = trees_[i].done();
    }
    return done;
  }

  // Returns the leaves that wait for an answer: earlier or new ones.
  py::object Leaves(Integer<"per_tree", int, 1, 1024> per_tree) {
    const auto use = Use("leaves");
    if (leaves_.empty()) {
      const ReleaseGil release;
      Gather(per_tree);
    }
    NewStates states(leaves_.size());
    std::vector<int64_t> trees;
    for (size_t i = 0; i < leaves_.size(); ++i) {
      states.data()[i] = leaves_[i].leaf.state;
      trees.push_back(static_cast<int64_t>(leaves_[i].tree));
    }
    return New("Leaves", std::move(states).ToPython(), ArrayOf(trees));
  }

  void Answer(const py::object& logits, const py::object& result_logits,
              const py::object& margin) {
    const auto use = Use("answer");
    if (leaves_.empty()) {
      throw py::value_error("answer: no leaf waits; expected leaves before");
    }
    const auto n = static_cast<py::ssize_t>(leaves_.size());
    const python::Answer answer = AnswerOf(
        margin.is_none() ? py::make_tuple(logits, result_logits)
                         : py::make_tuple(logits, result_logits, margin),
        n);
    std::vector<State> states;
    for (const Leaf& leaf : leaves_) states.push_back(leaf.leaf.state);
    std::vector<mcts::Evaluation> results(states.size());
    ThrowIfError(ReadAnswer(answer, states, absl::MakeSpan(results)));
    const ReleaseGil release;
    Apply(results);
  }

  // Plays an action in each position; the trees below them are kept.
  void Play(const py::object& actions, Truth<"seen"> seen) {
    const auto use = Use("play");
    CheckNothingWaits("play");
    Moves moves = MovesOf(size(), actions, py::none());
    std::vector<State> roots;
    for (const mcts::Tree& tree : trees_) roots.push_back(tree.root());
    for (size_t i = 0; i < trees_.size(); ++i) {
      if (roots[i].finished()) continue;
      if (seen) TurnBack(roots[i], moves, i);
      if (!IsLegal(roots[i], moves.actions[i])) {
        ThrowIfError(IllegalMove(roots[i], moves, i));
      }
    }
    const ReleaseGil release;
    for (size_t i = 0; i < trees_.size(); ++i) {
      mcts::Tree& tree = trees_[i];
      if (tree.finished()) continue;
      tree.SetSimulations(options_.search.simulations);
      tree.Advance(static_cast<Action>(moves.actions[i]));
    }
  }

  // Returns an Analysis per position; None where there is nothing to tell: no
  // evaluation, or a finished game.
  py::list Analyses() {
    const auto use = Use("analyses");
    py::list analyses;
    for (const mcts::Tree& tree : trees_) {
      if (tree.finished() || tree.root_actions().empty()) {
        analyses.append(py::none());
      } else {
        analyses.append(AnalysisOf(tree, options_.confidence_z));
      }
    }
    return analyses;
  }

  // Returns the Node that `line` leads to from a root.
  py::object Node(const py::object& tree_index, const py::object& line) {
    const auto use = Use("node");
    const auto place = static_cast<size_t>(
        IntegerOf<int64_t>("tree", tree_index, 0, size() - 1));
    const mcts::SearchData& data = trees_[place].data();
    uint32_t node = mcts::SearchData::kRoot;
    State state = trees_[place].root();
    if (!py::isinstance<py::iterable>(line)) {
      ThrowTypeError("line", line, "a sequence of actions");
    }
    size_t ply = 0;
    for (const py::handle& each : line) {
      const std::string name = absl::StrCat("line[", ply++, "]");
      const auto action =
          static_cast<Action>(IntegerOf<int>(name, each, 0, kNumActions - 1));
      const absl::Status played = PlayAction(action, state);
      if (!played.ok()) {
        throw py::value_error(absl::StrCat(name, ": ", played.message()));
      }
      uint32_t child = mcts::kNoIndex;
      data.store.ForEachEdge(data.store.node(node),
                             [&](uint32_t, const mcts::TreeEdge& edge) {
                               if (edge.action() == action) child = edge.child;
                             });
      if (child == mcts::kNoIndex) return py::none();
      node = child;
    }
    return NodeOf(data, node, state);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kMostSims = 1 << 23;

  struct Leaf {
    size_t tree;
    mcts::SearchLeaf leaf;
  };

  void CheckNothingWaits(const char* what) const {
    if (leaves_.empty()) return;
    throw py::value_error(absl::StrCat(what, ": ", leaves_.size(),
                                       " leaves wait; expected answer before"));
  }

  int64_t Visits() const {
    int64_t visits = 0;
    for (const mcts::Tree& tree : trees_) {
      if (!tree.finished()) visits += tree.root_visits();
    }
    return visits;
  }

  void SetMore(int sims) {
    if (options_.search.gumbel) {
      throw py::value_error(
          "sims, ms: the options have gumbel=true, whose plan is made for "
          "sims of the options; expected neither");
    }
    for (mcts::Tree& tree : trees_) {
      if (tree.finished()) continue;
      tree.SetSimulations(std::min(kMostSims, tree.root_visits() + sims));
    }
  }

  // Gathers leaves of all trees; returns whether there are any.
  bool Gather(int per_tree) {
    for (size_t i = 0; i < trees_.size(); ++i) {
      mcts::Tree& tree = trees_[i];
      for (int wanted = per_tree; wanted > 0 && !tree.finished() &&
                                  !tree.done() &&
                                  tree.simulations_left() > tree.in_flight();) {
        Leaf leaf = {.tree = i, .leaf = {}};
        const mcts::Gathered gathered = tree.Gather(leaf.leaf);
        if (gathered == mcts::Gathered::kFinished) continue;
        if (gathered != mcts::Gathered::kLeaf) break;
        leaves_.push_back(std::move(leaf));
        --wanted;
      }
    }
    return !leaves_.empty();
  }

  void Apply(const std::vector<mcts::Evaluation>& results) {
    for (size_t i = 0; i < leaves_.size(); ++i) {
      trees_[leaves_[i].tree].Apply(leaves_[i].leaf, results[i]);
    }
    leaves_.clear();
  }

  void Cancel() {
    for (const Leaf& each : leaves_) trees_[each.tree].Cancel(each.leaf);
    leaves_.clear();
  }

  static py::object NodeOf(const mcts::SearchData& data, uint32_t index,
                           const State& state) {
    const mcts::TreeNode& node = data.store.node(index);
    const float sign = state.side() == kRed ? 1.0f : -1.0f;
    std::vector<uint16_t> actions;
    std::vector<int32_t> visits;
    std::vector<float> values;
    data.store.ForEachEdge(node, [&](uint32_t, const mcts::TreeEdge& edge) {
      if (edge.counts.visits == 0) return;
      actions.push_back(edge.action_index);
      visits.push_back(static_cast<int32_t>(edge.counts.visits));
      values.push_back(sign * data.ValueOf(data.store.node(edge.child)));
    });
    const int low = node.bounds.low, high = node.bounds.high;
    return New("Node", py::cast(PythonState{state}),
               mcts::UnpackTotals(node.totals).visits,
               sign * data.ValueOf(node), sign * node.means.margin,
               ArrayOf(actions), ArrayOf(visits), ArrayOf(values),
               state.side() == kRed ? py::make_tuple(low, high)
                                    : py::make_tuple(-high, -low));
  }

  const py::object evaluator_;  // None: leaves are answered by the caller
  const uint64_t seed_;
  Options options_;
  mcts::SharedSolver solver_;  // of the trees
  std::vector<mcts::Tree> trees_;
  std::vector<Leaf> leaves_;  // that wait for an answer
  bool used_ = false;         // guarded by the GIL
};

}  // namespace

void DefineSearch(py::module_& module) {
  module.def("search", &Search, py::arg("states"),
             py::arg("evaluator") = "playouts", py::kw_only(),
             py::arg("options") = "sims=400", py::arg("seed") = 1,
             py::arg("threads") = 1,
             R"(Searches positions with MCTS; returns an Analysis per position.

states: an array of dtype STATE or a sequence of State, none of them finished.
All positions are searched together and share batches.
evaluator: the evaluator of leaves: a Network, "playouts" for random games, or
any callable
    evaluator(planes, globals, mask) -> (logits, result_logits)
with arguments float32 [n, NUM_PLANES, 7, 7], float32 [n, NUM_GLOBALS] and uint8
[n, NUM_ACTIONS]. It returns arrays [n, NUM_ACTIONS] and [n, 3]: logits of the
actions, and of win, draw and loss for the seat to move. It may return a third
one [n]: expected points of its side minus the opponent's. They may be tensors
of any device and real type (DLPack), such as bfloat16. Actions refer to the
position as planes and mask show it. The calling thread calls it once per batch,
so contexts such as torch.no_grad() apply to it. Its result for a position must
not depend on the rest of the batch. It provides no probabilities of margins, so
utility=points and utility=mix are not available.
options: "sims=400,c_puct=1.5,..." or a dict such as {"sims": 400}, with the
option names of player specs (docs/reference/config.md).
seed: seed of the random numbers, combined with the index of a position.
threads: number of threads that share the positions.

The same arguments give the same result for any number of threads, provided that
the evaluator's result for a position is the same in every batch. Ctrl-C
interrupts the search.

Raises ValueError and TypeError for invalid arguments and results of the
evaluator, and any exception that the evaluator raises.)");
  py::class_<SearchTrees> type(module, "Search",
                               R"(A search of positions in steps.

Each position has a tree. `run` searches all of them in shared batches. Without
an evaluator, `leaves` returns positions to evaluate, and `answer` takes their
evaluations, for example from a GPU or another process. `play` keeps the part
of each tree below the action.

    search = tara.Search([tara.State("four_treasures")], options="sims=100")
    search.run()
    best = search.analyses()[0].action
    search.play([best])
    search.run(ms=100)
    print(search.node(0, [search.analyses()[0].action]).visits)

states: an array of dtype STATE or a sequence of State, none of them finished.
evaluator: as in `search`; None: leaves are answered with `answer`. options: as
in `search`. seed: seed of the random numbers, combined with the index of a
position.

Concurrent calls raise RuntimeError. Raises ValueError and TypeError
as `search` does.)");
  type.def(py::init<const py::object&, const py::object&,
                    const Text<"options">&, Seed>(),
           py::arg("states"), py::arg("evaluator") = "playouts", py::kw_only(),
           py::arg("options") = "sims=400", py::arg("seed") = 1);
  type.def(
      "run",
      [](SearchTrees& self, const py::object& sims, const py::object& ms) {
        return self.Run(sims, ms);
      },
      py::arg("sims") = py::none(), py::kw_only(), py::arg("ms") = py::none(),
      R"(Searches; returns the number of simulations made.

sims: simulations to add to each tree (default: up to the number in the
options). ms: time limit in milliseconds; the current batch is completed. With
both, the first limit ends the search. Neither is available with the option
gumbel=true.

With the defaults, and without an earlier `play`, `analyses` returns the result
of tara.search. Ctrl-C interrupts the search; the trees keep their
simulations.)");
  type.def(
      "step",
      [](SearchTrees& self) {
        return self.Run(py::none(), py::none(), /*once=*/true);
      },
      R"(Evaluates one batch, with leaves of all trees that are not done;
returns the number of simulations made. Evaluations of roots do not count.)");
  type.def("leaves", &SearchTrees::Leaves, py::arg("per_tree") = 1,
           R"(Returns the Leaves that wait for `answer`. If there are none,
selects new ones in all trees that are not done.

per_tree: maximum number of new leaves per tree. They are selected without the
values of each other.)");
  type.def("answer", &SearchTrees::Answer, py::arg("logits"),
           py::arg("result_logits"), py::arg("margin") = py::none(),
           R"(Passes the evaluations of the waiting Leaves to the trees.

logits, result_logits, margin: arrays or tensors as an evaluator returns them
(tara.search), with an entry per leaf. Raises ValueError and TypeError for
invalid ones; the leaves then keep waiting.)");
  type.def("play", &SearchTrees::Play, py::arg("actions"), py::kw_only(),
           py::arg("seen") = false,
           R"(Plays an action in each position, and keeps the tree below it.

actions: integers [n]; ignored where a game is over. seen: whether they refer to
the positions as `encode` shows them. Raises ValueError for an illegal action,
and while leaves wait; nothing changes in either case.)");
  type.def("analyses", &SearchTrees::Analyses,
           R"(Returns a list with the Analysis of each position, or None if it
is not evaluated yet or finished.)");
  type.def("node", &SearchTrees::Node, py::arg("tree"),
           py::arg("line") = py::tuple(),
           R"(Returns the Node of a tree at the end of a line, or None if the
search has not reached it.

tree: index of the tree. line: actions on the positions, from the root on.)");
  type.def("__len__", &SearchTrees::size);
  type.def_property_readonly(
      "states", &SearchTrees::States,
      "The positions at the roots: read-only, of dtype STATE and shape [n].");
  type.def_property_readonly(
      "done", &SearchTrees::Done,
      "bool [n]: trees with all simulations, a proved result or a finished "
      "game.");
}

}  // namespace tara::python
