#include "tara/engine/thinker.h"

#include <algorithm>
#include <memory>

#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/engine/analysis_engine.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/search/search_until.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/time/stop_rule.h"
#include "tara/mcts/utility.h"

namespace tara::engine {
namespace {

// Simulations of an analysis between two looks at the clock and the input: a
// millisecond with a small network.
constexpr int kStep = 32;

}  // namespace

void Thinker::Forget() {
  tree_.reset();
  drawn_ = 0;
}

bool Thinker::Follow(const EngineGame& game, const EngineOptions& options) {
  if (!tree_.has_value() || !options.reuse || !(start_ == game.start()) ||
      game.actions().size() < plies_ || tree_->options().gumbel ||
      options.search.gumbel) {
    return false;
  }
  for (const Action action : game.actions().subspan(plies_)) {
    if (tree_->finished() || !LegalActions(tree_->root()).Contains(action)) {
      return false;
    }
    tree_->Advance(action);
  }
  return !tree_->finished() && tree_->root() == game.state();
}

mcts::Tree& Thinker::TreeOf(const EngineGame& game,
                            const EngineOptions& options) {
  if (!Follow(game, options)) {
    mcts::SearchOptions search = options.search;
    search.utility.margin_deviation =
        mcts::MarginDeviation(game.state().variant);
    mcts::SolveLeaves(game.state().variant, &solver_, search);
    tree_.emplace(search, game.state(),
                  DeriveSeed(options.seed, drawn_++, StreamPurpose::kArena));
    start_ = game.start();
  }
  plies_ = game.actions().size();
  return *tree_;
}

absl::StatusOr<Action> Thinker::Choose(const EngineGame& game,
                                       const EngineOptions& options,
                                       std::optional<mcts::MoveBudget> budget) {
  const absl::Time start = SteadyTime();
  const LegalSet legal = LegalActions(game.state());
  if (legal.Count() == 1) return legal.Nth(0);
  mcts::Tree& tree = TreeOf(game, options);
  const absl::Status status = Search(tree, options, budget, start);
  if (!status.ok()) {
    tree_.reset();
    return status;
  }
  Random random(DeriveSeed(options.seed, drawn_++, StreamPurpose::kArena));
  return ChooseFrom(tree, options.confidence_z, options.temperature, random);
}

absl::Status Thinker::Search(mcts::Tree& tree, const EngineOptions& options,
                             std::optional<mcts::MoveBudget> budget,
                             absl::Time start) {
  const bool timed = budget.has_value() || options.time > absl::ZeroDuration();
  tree.SetSimulations(timed ? mcts::kEndlessSimulations
                            : options.search.simulations);
  if (tree.done()) return absl::OkStatus();
  if (!timed && options.threads == 1) {
    mcts::Tree* const trees[] = {&tree};
    return mcts::RunSearches(trees, *evaluator_,
                             {.leaves_per_tree = options.leaves});
  }
  mcts::SearchUntilOptions until = {.threads = options.threads,
                                    .leaves_per_batch = options.leaves};
  mcts::AnyOf rules;
  if (budget.has_value()) {
    // The clock runs while a kept tree is advanced, too.
    const absl::Duration spent = SteadyTime() - start;
    until.time = std::max(absl::ZeroDuration(), budget->limit - spent);
    rules.Add(std::make_unique<mcts::TargetTime>(budget->target - spent));
  } else if (timed) {
    until.time = options.time;
  }
  if (timed) {
    rules.Add(std::make_unique<mcts::SettledRoot>(mcts::SettledRootOptions{
        .simulations = std::nullopt, .time = until.time}));
  }
  return mcts::SearchUntil(tree, *evaluator_, rules, until,
                           [] { return false; });
}

absl::Status Thinker::Step(mcts::Tree& tree, const EngineOptions& options,
                           int limit, absl::Duration time,
                           const std::function<bool()>& stop) {
  if (options.threads > 1 && tree.root_visits() > 0) {
    tree.SetSimulations(limit);
    return mcts::SearchUntil(tree, *evaluator_, mcts::AnyOf(),
                             {.threads = options.threads,
                              .leaves_per_batch = options.leaves,
                              .time = std::max(time, absl::Milliseconds(1))},
                             stop);
  }
  tree.SetSimulations(
      std::min(limit, tree.root_visits() + std::max(kStep, options.leaves)));
  mcts::Tree* const trees[] = {&tree};
  return mcts::RunSearches(trees, *evaluator_,
                           {.leaves_per_tree = options.leaves});
}

absl::Status Thinker::Analyze(
    const EngineGame& game, const EngineOptions& options,
    const AnalysisLimits& limits, const std::function<bool()>& stop,
    const std::function<void(const mcts::Tree&)>& report) {
  // A Gumbel root plans for a number of simulations; an analysis has none.
  EngineOptions endless = options;
  endless.search.gumbel = false;
  mcts::Tree& tree = TreeOf(game, endless);
  const int limit =
      limits.simulations > 0 ? limits.simulations : mcts::kEndlessSimulations;
  int reported = -1;
  absl::Time next_report = SteadyTime() + limits.interval;
  const auto over = [&] {
    tree.SetSimulations(limit);
    return tree.done();
  };
  while (!over()) {
    const absl::Status status =
        Step(tree, endless, limit, next_report - SteadyTime(), stop);
    if (!status.ok()) {
      tree_.reset();
      return status;
    }
    if (SteadyTime() >= next_report) {
      report(tree);
      reported = tree.root_visits();
      next_report = SteadyTime() + limits.interval;
    }
    if (stop()) break;
  }
  if (tree.root_visits() != reported) report(tree);
  return absl::OkStatus();
}

}  // namespace tara::engine
