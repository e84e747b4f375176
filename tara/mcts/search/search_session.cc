#include "tara/mcts/search/search_session.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "tara/base/check.h"
#include "tara/base/exhaustion.h"
#include "tara/base/status_macros.h"
#include "tara/core/rules.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/search/search_until.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/time/stop_rule.h"

namespace tara::mcts {
namespace {

// Simulations of an analysis between two looks at the clock and the input: a
// millisecond with a small network.
constexpr int kStep = 32;

}  // namespace

// `tree` and `status` belong to the thread until it is joined.
struct Pondering::Search {
  explicit Search(Tree searched) : tree(std::move(searched)) {}

  void Join() {
    stop.store(true, std::memory_order_relaxed);
    thread.join();
  }

  Tree tree;
  absl::Status status;
  std::atomic<bool> stop = false;
  std::thread thread;
};

Pondering::Pondering() = default;

Pondering::~Pondering() {
  if (started()) search_->Join();
}

void Pondering::Start(Tree tree, Evaluator& evaluator,
                      const PonderingLimits& limits) {
  TARA_CHECK(!started(), "pondering was started already");
  auto pondered = std::make_unique<Search>(std::move(tree));
  Search* const search = pondered.get();
  const auto ponder = [search, &evaluator, limits] {
    Tree& tree = search->tree;
    const int simulations = tree.options().simulations;
    tree.SetSimulations(limits.simulations);
    search->status = CatchExhaustion([&] {
      return SearchUntil(
          tree, evaluator,
          {.threads = limits.threads,
           .leaves_per_game = limits.leaves_per_game},
          [search] { return search->stop.load(std::memory_order_relaxed); });
    });
    tree.SetSimulations(simulations);
  };
  try {
    search->thread = std::thread(ponder);
  } catch (const std::system_error&) {
    return;
  }
  search_ = std::move(pondered);
}

absl::StatusOr<Tree> Pondering::Stop() {
  TARA_CHECK(started(), "pondering was not started");
  search_->Join();
  const std::unique_ptr<Search> search = std::move(search_);
  TARA_RETURN_IF_ERROR(search->status);
  return std::move(search->tree);
}

SearchSession::SearchSession(const SessionOptions& options,
                             Evaluator* evaluator, LeafSolver* solver)
    : options_(options), evaluator_(evaluator), solver_(solver) {
  TARA_CHECK(!options.search.gumbel || options.threads == 1,
             "a Gumbel root needs threads = 1");
}

bool SearchSession::Follow(const State& state,
                           absl::Span<const Action> actions) {
  if (!tree_.has_value() || !options_.reuse || options_.search.gumbel ||
      actions.size() < plies_) {
    return false;
  }
  for (const Action action : actions.subspan(plies_)) {
    if (tree_->finished() || !LegalActions(tree_->root()).Contains(action)) {
      return false;
    }
    tree_->Advance(action);
  }
  return tree_->root() == state;
}

void SearchSession::GoTo(const State& state, absl::Span<const Action> actions,
                         const std::function<uint64_t()>& draw_seed) {
  TARA_CHECK(!pondering_.started(), "not while pondering");
  if (!Follow(state, actions)) {
    SearchOptions search = options_.search;
    SetForVariant(state.variant, solver_, search);
    tree_.emplace(search, state, draw_seed());
  }
  plies_ = actions.size();
}

void SearchSession::SetSimulations(const SearchTime& time) {
  tree_->SetSimulations(time.limited() ? kMaxSimulations
                                       : options_.search.simulations);
}

absl::Status SearchSession::Search(const SearchTime& time,
                                   const std::function<bool()>& stop) {
  SetSimulations(time);
  if (tree_->done()) return absl::OkStatus();
  absl::Status status;
  if (!time.limited() && options_.threads == 1) {
    status =
        RunSearches({&*tree_}, *evaluator_, options_.leaves_per_game, &stop);
  } else {
    SearchUntilOptions until = {.threads = options_.threads,
                                .leaves_per_game = options_.leaves_per_game,
                                .clock = time.clock};
    std::optional<absl::Duration> target;
    if (time.budget.has_value()) {
      // The clock runs while a kept tree is advanced, too.
      const absl::Duration spent = time.clock() - time.start;
      until.time = std::max(absl::ZeroDuration(), time.budget->limit - spent);
      target = time.budget->target - spent;
    } else if (time.limited()) {
      until.time = time.time;
    }
    if (time.limited()) {
      until.is_enough = [&](const SearchProgress& progress) {
        return (target.has_value() && IsTargetReached(progress, *target)) ||
               IsSettled(progress, {.time = until.time});
      };
    }
    status = SearchUntil(*tree_, *evaluator_, until, stop);
  }
  if (!status.ok()) tree_.reset();
  return status;
}

absl::Status SearchSession::AnalyzeSome(int limit, absl::Duration time,
                                        const std::function<bool()>& stop) {
  if (options_.threads > 1 && tree_->root_visits() > 0) {
    tree_->SetSimulations(limit);
    return SearchUntil(*tree_, *evaluator_,
                       {.threads = options_.threads,
                        .leaves_per_game = options_.leaves_per_game,
                        .time = std::max(time, absl::Milliseconds(1))},
                       stop);
  }
  const int some = std::max(kStep, options_.leaves_per_game);
  tree_->SetSimulations(std::min(limit, tree_->root_visits() + some));
  return RunSearches({&*tree_}, *evaluator_, options_.leaves_per_game);
}

absl::Status SearchSession::Analyze(
    const AnalysisLimits& limits, const std::function<bool()>& stop,
    const std::function<void(const Tree&)>& report) {
  const int limit =
      limits.simulations > 0 ? limits.simulations : kMaxSimulations;
  int reported = -1;
  absl::Time next_report = SteadyTime() + limits.interval;
  const auto over = [&] {
    tree_->SetSimulations(limit);
    return tree_->done();
  };
  while (!over()) {
    const absl::Status status =
        AnalyzeSome(limit, next_report - SteadyTime(), stop);
    if (!status.ok()) {
      tree_.reset();
      return status;
    }
    if (SteadyTime() >= next_report) {
      report(*tree_);
      reported = tree_->root_visits();
      next_report = SteadyTime() + limits.interval;
    }
    if (stop()) break;
  }
  if (tree_->root_visits() != reported) report(*tree_);
  return absl::OkStatus();
}

void SearchSession::Ponder(Action action, int simulations) {
  const Side side = tree_->root().side();
  tree_->Advance(action);
  ++plies_;
  if (tree_->finished() || tree_->root().side() == side) return;
  pondering_.Start(*std::exchange(tree_, std::nullopt), *evaluator_,
                   {.threads = options_.threads,
                    .leaves_per_game = options_.leaves_per_game,
                    .simulations = simulations});
}

absl::Status SearchSession::StopPondering() {
  if (!pondering_.started()) return absl::OkStatus();
  absl::StatusOr<Tree> tree = pondering_.Stop();
  if (tree.ok()) tree_ = *std::move(tree);
  return tree.status();
}

}  // namespace tara::mcts
