#include "tara/mcts/solver/endgame_solver.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/rules/registry.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/mcts/solver/solver_search.h"
#include "tara/mcts/solver/solver_table.h"
#include "tara/mcts/utility.h"

namespace tara::mcts {
namespace {

using rules::View;

constexpr int64_t kCheckInterval = 1 << 14;

// By variant; measured in docs/lab/2026-11-search.md. Stone of Destiny has no
// vacant hills where its endgame begins.
constexpr std::array<int, kNumVariants> kSolvableVacantHills =
    std::to_array({8, 10, 10, 12, 7, 9, 0, 0, 6, -1});

constexpr std::array<int (*)(const View&), kNumVariants> kGuesses =
    rules::TableOfRules([]<typename Rules>(std::type_identity<Rules>) {
      return &GuessMargin<Rules>;
    });

}  // namespace

class EndgameSolver::Impl {
 public:
  explicit Impl(const SolverOptions& options) : options_(options) {}

  // Starts counting anew.
  void Begin() {
    budget_ = {};
    progress_ = {
        .low = -kMaxMargin, .high = kMaxMargin, .nodes = 0, .iteration = 0};
    SetNextCheck();
  }

  // Returns Red's margin, narrowing progress() on the way.
  std::optional<int> RedMargin(const State& state);

  // Returns whether Red's margin is at least `bound`.
  std::optional<bool> RedMarginIsAtLeast(const State& state, int bound);

  SolverProgress progress_ = {};

 private:
  using NullWindow = int (*)(Impl&, const State&, int beta);

  template <typename Rules>
  static int SearchBy(Impl& impl, const State& state, int beta) {
    const auto check = [&impl] { impl.Check(); };
    NullWindowSearch<Rules, decltype(check)> search(
        impl.TableFor<decltype(search)::kWords>(), impl.GameOf(state),
        impl.budget_, check);
    const View view(state);
    return search.Search(view, rules::Legal<Rules>(view), beta, 0);
  }

  template <int kWords>
  SolverTable<kWords>& TableFor() {
    auto& table = std::get < kWords == 2 ? 0 : 1 > (tables_);
    if (table == nullptr) {
      table = std::make_unique<SolverTable<kWords>>(options_.table_bytes);
    }
    return *table;
  }

  // Variants and rule options that the tables know, by number.
  int GameOf(const State& state);

  void SetNextCheck() {
    budget_.next_check = budget_.nodes + kCheckInterval;
    if (options_.node_limit > 0) {
      budget_.next_check = std::min(budget_.next_check, options_.node_limit);
    }
  }

  void Check() {
    progress_.nodes = budget_.nodes;
    if (options_.node_limit > 0 && budget_.nodes >= options_.node_limit) {
      budget_.stopped = true;
    }
    if (options_.keep_going && !options_.keep_going(progress_)) {
      budget_.stopped = true;
    }
    SetNextCheck();
  }

  // One null window for Red. Returns a lower bound if it is at least `beta`,
  // else an upper one.
  int RedNullWindow(const State& state, int beta);

  SolverOptions options_;
  SearchBudget budget_;
  std::pair<std::unique_ptr<SolverTable<2>>, std::unique_ptr<SolverTable<4>>>
      tables_;
  struct Game {
    Variant variant;
    RuleOptions options;
    friend bool operator==(const Game&, const Game&) = default;
  };
  std::vector<Game> games_;
};

int EndgameSolver::Impl::GameOf(const State& state) {
  Game game = {.variant = state.variant, .options = state.options};
  game.options.compensation_halves = 0;  // margins are as scored
  auto found = std::find(games_.begin(), games_.end(), game);
  if (found == games_.end()) {
    if (games_.size() == SolverTable<2>::kMaxGames) {
      games_.clear();
      if (tables_.first != nullptr) tables_.first->Clear();
      if (tables_.second != nullptr) tables_.second->Clear();
    }
    games_.push_back(game);
    found = games_.end() - 1;
  }
  return static_cast<int>(found - games_.begin());
}

int EndgameSolver::Impl::RedNullWindow(const State& state, int beta) {
  static constexpr std::array<NullWindow, kNumVariants> kSearches =
      rules::TableOfRules([]<typename Rules>(std::type_identity<Rules>) {
        return NullWindow(&SearchBy<Rules>);
      });
  const NullWindow search = kSearches[static_cast<size_t>(state.variant)];
  if (state.side() == kRed) return search(*this, state, beta);
  return -search(*this, state, 1 - beta);
}

std::optional<int> EndgameSolver::Impl::RedMargin(const State& state) {
  if (state.finished()) {
    progress_.low = progress_.high = Score(state).margin();
    return progress_.low;
  }
  progress_.low = -kMaxMargin;
  progress_.high = kMaxMargin;
  // The families' rules know no swap, and nobody solves a game of one ringfort.
  if (HasOpeningOptions(state)) return std::nullopt;
  const View view(state);
  int guess = kGuesses[static_cast<size_t>(state.variant)](view);
  if (view.side() != kRed) guess = -guess;
  guess = std::clamp(guess, -kMaxMargin, kMaxMargin);
  while (progress_.low < progress_.high) {
    const int beta = std::max(guess, progress_.low + 1);
    ++progress_.iteration;
    guess = RedNullWindow(state, beta);
    if (budget_.stopped) return std::nullopt;
    progress_.nodes = budget_.nodes;
    (guess >= beta ? progress_.low : progress_.high) = guess;
  }
  return progress_.low;
}

std::optional<bool> EndgameSolver::Impl::RedMarginIsAtLeast(const State& state,
                                                            int bound) {
  if (state.finished()) return Score(state).margin() >= bound;
  const int value = RedNullWindow(state, bound);
  if (budget_.stopped) return std::nullopt;
  progress_.nodes = budget_.nodes;
  return value >= bound;
}

EndgameSolver::EndgameSolver(const SolverOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
EndgameSolver::~EndgameSolver() = default;
EndgameSolver::EndgameSolver(EndgameSolver&&) noexcept = default;
EndgameSolver& EndgameSolver::operator=(EndgameSolver&&) noexcept = default;

const SolverProgress& EndgameSolver::progress() const {
  return impl_->progress_;
}

std::optional<int> EndgameSolver::SolveRedMargin(const State& state) {
  impl_->Begin();
  return impl_->RedMargin(state);
}

std::optional<EndgameSolver::Solution> EndgameSolver::Solve(
    const State& state) {
  impl_->Begin();
  const std::optional<int> margin = impl_->RedMargin(state);
  if (!margin.has_value()) return std::nullopt;
  Solution solution = {.red_margin = *margin, .best_actions = {}};
  // No action is better for its side; the best ones are no worse.
  const bool red = state.side() == kRed;
  bool stopped = false;
  LegalActions(state).ForEach([&](Action action) {
    if (stopped) return;
    State next = state;
    ApplyAction(action, next);
    const std::optional<bool> at_least =
        impl_->RedMarginIsAtLeast(next, *margin + (red ? 0 : 1));
    stopped = !at_least.has_value();
    if (!stopped && *at_least == red) solution.best_actions.push_back(action);
  });
  if (stopped) return std::nullopt;
  return solution;
}

std::optional<std::vector<EndgameSolver::ActionValue>>
EndgameSolver::SolveActions(const State& state) {
  impl_->Begin();
  std::vector<ActionValue> values;
  bool stopped = false;
  LegalActions(state).ForEach([&](Action action) {
    if (stopped) return;
    State next = state;
    ApplyAction(action, next);
    const std::optional<int> margin = impl_->RedMargin(next);
    stopped = !margin.has_value();
    if (!stopped) values.push_back({.action = action, .red_margin = *margin});
  });
  if (stopped) return std::nullopt;
  return values;
}

int SolvableVacantHills(Variant variant) {
  return kSolvableVacantHills[static_cast<size_t>(variant)];
}

void SetForVariant(Variant variant, LeafSolver* solver,
                   SearchOptions& options) {
  options.utility.margin_deviation = MarginDeviation(variant);
  options.solver_vacant_hills =
      std::min(options.solver_vacant_hills, SolvableVacantHills(variant));
  options.solver = options.solver_vacant_hills > 0 ? solver : nullptr;
}

SharedSolver::SharedSolver(const SolverOptions& options) : options_(options) {}

std::optional<int> SharedSolver::SolveRedMargin(const State& state) {
  std::unique_ptr<EndgameSolver> solver;
  {
    absl::MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      solver = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (solver == nullptr) solver = std::make_unique<EndgameSolver>(options_);
  const std::optional<int> margin = solver->SolveRedMargin(state);
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(solver));
  return margin;
}

}  // namespace tara::mcts
