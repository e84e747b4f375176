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
#include "tara/mcts/solver/solver_table.h"
#include "tara/mcts/utility.h"

namespace tara::mcts {
namespace {

using rules::View;

// --- The alpha-beta search, for one variant's rules --------------------------

// Returns the margin of the own side that a search may begin with: a guess. In
// Four Treasures, once the board is full,
//
//   bridges of the own side - bridges of the enemy
//     = (degrees of the own hills - degrees of the enemy's) / 2
//
// where a hill's degree is the number of hills adjacent to it: of each adjacent
// pair, own hills count 1/2 each and the enemy's -1/2. So every hill has its
// own value, and without captures both sides take the best in turn.
template <typename Rules>
int GuessMargin(const rules::View& view) {
  if constexpr (!Rules::kTraits.bridges_first) {
    return rules::Margin<Rules>(view);
  }
  std::array<Board, 5> of_degree = {};
  ForEachHill(kAllHills, [&](Hill hill) {
    const Board board = BoardOf(hill);
    of_degree[static_cast<size_t>(Count(Adjacent(board)))] |= board;
  });
  int lead = 0;
  int next = 1;  // whose turn: -1 the enemy's
  for (const int degree : {4, 3, 2}) {
    const Board hills = of_degree[static_cast<size_t>(degree)];
    lead += degree * (Count(hills & view.own) - Count(hills & view.enemy));
    if (Count(hills & view.vacant()) % 2 == 0) continue;
    lead += next * degree;
    next = -next;
  }
  const Leads<int> leads = {.first = lead / 2,
                            .territory = Count(view.own) - Count(view.enemy)};
  return PointsOf(leads, 0, 0).margin();
}

// Which action the endgame solver tries first: guesses that cost little and
// can be wrong. By the form of a family's actions.

// What the guesses are made for: whether the side to move would be content if
// the game ended as it stands.
struct OrderingAim {
  bool content_now;
};

// Ringforts, of either side, around a hill: what taking it joins, and parts.
inline int Contacts(Board hill, const rules::View& view) {
  return Count(Adjacent(hill) & (view.own | view.enemy));
}

inline int Urgency(const rules::HillChoices::Move& hill,
                   const rules::View& view, OrderingAim) {
  return Contacts(hill, view);
}

// Swaps as hills; a link is worth the ringforts that it secures from swaps.
inline int Urgency(const rules::LinkChoices::Move& move,
                   const rules::View& view, OrderingAim) {
  if (move.hill != 0) return Count(Adjacent(move.hill) & view.own);
  const Board linked = view.links_east | East(view.links_east) |
                       view.links_north | North(view.links_north);
  const Board ends = move.link_east | East(move.link_east) | move.link_north |
                     North(move.link_north);
  return Count(ends & ~linked);
}

inline int Urgency(const rules::KingChoices::Move& move,
                   const rules::View& view, OrderingAim aim) {
  constexpr int kFirst = 100;
  // Passing ends the game nearly as it stands.
  if (move.to == 0) return aim.content_now ? kFirst : -kFirst;
  const Board own = view.own | move.to;
  const Board captured_kings = view.enemy_kings & view.enemy & ~move.to &
                               Besieged(own) & Adjacent(move.to);
  int urgency = Contacts(move.to, view);
  if (captured_kings != 0) urgency += 50;
  if ((move.to & view.enemy) != 0) urgency += 20;
  if ((move.to & view.vacant()) != 0) urgency += 10;
  // A sacrifice stirs a game that would else be lost as it stands.
  if (move.sacrifice) urgency += aim.content_now ? -40 : 40;
  return urgency;
}

// The limits of a search, and its cost so far.
struct SearchBudget {
  int64_t nodes = 0;       // positions looked at
  int64_t next_check = 0;  // nodes at which to call out
  bool stopped = false;
};

// Searches by null windows: each search answers whether the margin reaches a
// bound. Values are for the side to move, and change sign where the side
// changes, not with every action. Positions never recur within a line, as
// progress is never undone, and actions without are counted and limited: so
// results of a position hold wherever it occurs again. `check` is called when
// budget.nodes has reached budget.next_check; it moves that on, and may set
// `stopped`.
template <typename Rules, typename Check>
class NullWindowSearch {
 public:
  using View = rules::View;
  using Choices = typename Rules::Choices;
  using Move = typename Choices::Move;
  static constexpr bool kHillTurns =
      std::is_same_v<Choices, rules::HillChoices>;
  static constexpr int kWords = kHillTurns ? 2 : 4;

  NullWindowSearch(SolverTable<kWords>& table, int game, SearchBudget& budget,
                   Check check)
      : table_(table), game_(game), budget_(budget), check_(check) {}

  // Returns a bound of the margin for the side to move: a lower one if it is
  // at least `beta`, else an upper one; anything if the budget is stopped.
  // `depth` is the number of actions since the search began.
  int Search(const View& view, const Choices& legal, int beta, int depth) {
    CountNode();
    // Only High Kings gets so deep, with 40 actions for each progress.
    if (depth > kMaxDepth) [[unlikely]]
      budget_.stopped = true;
    if (budget_.stopped) [[unlikely]]
      return 0;
    const int standing = kCountsProgress ? rules::Margin<Rules>(view) : 0;
    const PackedPosition<kWords> position = Pack(view);
    SolverBounds known = Known(position, view, standing);
    if (known.lower >= beta) return known.lower;
    if (known.upper < beta) return known.upper;

    const int64_t nodes_before = budget_.nodes;
    const Best best = SearchActions(
        view, legal, beta, depth, {.first = known.best, .standing = standing});
    if (budget_.stopped) return 0;
    (best.value >= beta ? known.lower : known.upper) = best.value;
    known.best = best.number;
    if constexpr (kCountsProgress) known.no_progress = view.no_progress;
    table_.Store(
        position, game_, known,
        std::bit_width(static_cast<uint64_t>(budget_.nodes - nodes_before)));
    return best.value;
  }

 private:
  static constexpr bool kCountsProgress = Rules::kTraits.kings_move;
  static constexpr int kMaxChoices = 96;
  // Frames have less than 2 KB: 4 MB of stack.
  static constexpr int kMaxDepth = 2000;

  // Without the move, which is made again when it is tried: stacks are small.
  struct ScoredMove {
    int urgency;
    int number;
  };
  struct Best {
    int value;
    int number;
  };
  struct Hints {
    int first;  // number of the action to try first
    int standing;
  };

  static PackedPosition<kWords> Pack(const View& view) {
    if constexpr (kHillTurns) {
      return PackHillPosition(view);
    } else {
      return PackPosition(view);
    }
  }

  void CountNode() {
    if (budget_.nodes >= budget_.next_check) [[unlikely]]
      check_();
    ++budget_.nodes;
  }

  // Returns the bounds of the table, as far as they hold here.
  //
  // In High Kings the bounds are for another number of actions without
  // progress. At the limit the game ends with the current score, which is
  // constant without progress. A side that can force a margin no better than
  // that can also force it with a closer limit; and one that makes sure of more
  // does so before the limit, and when that is further away. (A stranded king
  // makes a difference at the limit; but it becomes stranded by progress, and
  // moves in its side's next turn.)
  SolverBounds Known(const PackedPosition<kWords>& position, const View& view,
                     int standing) const {
    SolverBounds known = {.lower = -kMaxMargin, .upper = kMaxMargin};
    if (!table_.Find(position, game_, known)) return known;
    if constexpr (kCountsProgress) {
      const bool stranded =
          ((view.own_kings & view.enemy) | (view.enemy_kings & view.own)) != 0;
      const int more = view.no_progress - known.no_progress;
      const bool nearer = stranded ? more == 0 : more >= 0;
      const bool further = stranded ? more == 0 : more <= 0;
      if (!(known.lower <= standing ? nearer : further)) {
        known.lower = -kMaxMargin;
      }
      if (!(known.upper >= standing ? nearer : further)) {
        known.upper = kMaxMargin;
      }
    }
    return known;
  }

  Best SearchActions(const View& view, const Choices& legal, int beta,
                     int depth, Hints hints) {
    std::array<ScoredMove, kMaxChoices> moves;
    const int count = legal.Count();
    const OrderingAim aim = {.content_now = hints.standing >= beta};
    for (int i = 0; i < count; ++i) {
      ScoredMove& scored = moves[static_cast<size_t>(i)];
      scored.number = i;
      scored.urgency =
          i == hints.first ? 1 << 20 : Urgency(legal.Nth(i), view, aim);
    }
    Best best = {.value = -kMaxMargin - 1, .number = SolverBounds::kNoBest};
    for (auto* next = moves.data(); next != moves.data() + count; ++next) {
      // The most urgent of those left; of equals, the first.
      std::swap(*next,
                *std::max_element(next, moves.data() + count,
                                  [](const ScoredMove& a, const ScoredMove& b) {
                                    return a.urgency < b.urgency;
                                  }));
      const int value = After(view, legal.Nth(next->number), beta, depth);
      if (budget_.stopped) break;
      if (value <= best.value) continue;
      best = {.value = value, .number = next->number};
      if (value >= beta) break;
    }
    return best;
  }

  // Returns a bound as Search does, for the side that moves.
  int After(const View& view, const Move& move, int beta, int depth) {
    View next = view;
    Rules::Play(move, next);
    const Choices legal = rules::Settle<Rules>(next);
    if (next.finished()) {
      CountNode();
      // Seen from Red's seat.
      const int red_margin = rules::Margin<Rules>(next);
      return view.side() == kRed ? red_margin : -red_margin;
    }
    if (next.side() == view.side()) return Search(next, legal, beta, depth + 1);
    return -Search(next, legal, 1 - beta, depth + 1);
  }

  SolverTable<kWords>& table_;
  int game_;
  SearchBudget& budget_;
  Check check_;
};

// --- The solver --------------------------------------------------------------

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

  // Resets the counters.
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
  // Every action is at most as good for its side; the best ones are as good.
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
