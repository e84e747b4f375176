#ifndef TARA_MCTS_SOLVER_SEARCH_H_
#define TARA_MCTS_SOLVER_SEARCH_H_

// The alpha-beta search of the endgame solver for one variant's rules.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules/choices.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/solver_bounds.h"
#include "tara/mcts/solver_table.h"

namespace tara {

// What limits a search, and what it has cost.
struct SearchBudget {
  int64_t nodes = 0;
  int64_t next_check = 0;  // nodes at which to call out
  bool stopped = false;
};

template <typename Rules, Family kFamily, typename CheckBudget>
class NullWindowSearch {
 public:
  using View = rules::View;
  using Choices = typename Rules::Choices;
  using Move = typename Choices::Move;
  static constexpr bool kHillTurns =
      std::is_same_v<Choices, rules::HillChoices>;
  static constexpr int kWords = kHillTurns ? 2 : 4;
  using Table = SolverTable<kWords>;
  using Position = PackedPosition<kWords>;

  NullWindowSearch(Table& table, int game, SearchBudget& budget,
                   CheckBudget check)
      : table_(table), game_(game), budget_(budget), check_(check) {}

  // Returns a bound of the margin for the side to move: a lower one if it is
  // at least `beta`, an upper one if it is less. Unless stopped: then nothing.
  int Search(const View& view, const Choices& legal, int beta, int depth) {
    CountNode();
    if (depth > kMaxDepth) budget_.stopped = true;
    if (budget_.stopped) return 0;
    const Position position = Pack(view);
    SolverBounds known = {.lower = -kMaxMargin, .upper = kMaxMargin};
    if (table_.Find(position, game_, known)) {
      if (known.lower >= beta) return known.lower;
      if (known.upper < beta) return known.upper;
    }
    const int64_t nodes_before = budget_.nodes;
    const int count = legal.Count();
    std::array<int, kMaxChoices> order;
    for (int i = 0; i < count; ++i) {
      order[static_cast<size_t>(i)] = i;
    }
    if (known.best < count) std::swap(order[0], order[known.best]);
    int best_value = -kMaxMargin - 1;
    int best = SolverBounds::kNoBest;
    for (int i = 0; i < count; ++i) {
      const int n = order[static_cast<size_t>(i)];
      const int value = After(view, legal.Nth(n), beta, depth);
      if (budget_.stopped) return 0;
      if (value > best_value) {
        best_value = value;
        best = n;
        if (value >= beta) break;
      }
    }
    if (best_value >= beta) {
      known.lower = best_value;
    } else {
      known.upper = best_value;
    }
    known.best = std::min(best, SolverBounds::kNoBest);
    table_.Store(
        position, game_, known,
        std::bit_width(static_cast<uint64_t>(budget_.nodes - nodes_before)));
    return best_value;
  }

  // The same for the position after a move, for the side that makes it.
  int After(const View& view, const Move& move, int beta, int depth) {
    View child = view;
    Rules::Play(move, child);
    const Choices legal = rules::Settle<Rules>(child);
    if (child.finished()) {
      CountNode();
      const int margin = FinalMargin(child, kFamily);  // Red's
      return view.side() == kRed ? margin : -margin;
    }
    if (child.side() == view.side()) {
      return Search(child, legal, beta, depth + 1);
    }
    return -Search(child, legal, 1 - beta, depth + 1);
  }

 private:
  static constexpr int kMaxChoices = 96;
  static constexpr int kMaxDepth = 4000;

  void CountNode() {
    if (budget_.nodes >= budget_.next_check) check_();
    ++budget_.nodes;
  }

  static Position Pack(const View& view) {
    if constexpr (kHillTurns) {
      return PackHillPosition(view);
    } else {
      return PackPosition(view);
    }
  }

  Table& table_;
  int game_;
  SearchBudget& budget_;
  CheckBudget check_;
};

}  // namespace tara

#endif  // TARA_MCTS_SOLVER_SEARCH_H_
