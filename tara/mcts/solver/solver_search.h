#ifndef TARA_MCTS_SOLVER_SOLVER_SEARCH_H_
#define TARA_MCTS_SOLVER_SOLVER_SEARCH_H_

// The alpha-beta search of the endgame solver, for one variant's rules.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/solver/solver_table.h"

namespace tara::mcts {

// Returns the margin of the own side that a search may begin with: a guess. In
// Four Treasures, once the board is full,
//
//   bridges of the own side - bridges of the enemy
//     = (degrees of the own hills - degrees of the enemy's) / 2
//
// where a hill's degree is the number of hills adjacent to it: of each adjacent
// pair, own hills count 1/2 each and the enemy's -1/2. So every hill has a
// value of its own, and without captures both sides take the best in turn.
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

// What limits a search, and what it has cost.
struct SearchBudget {
  int64_t nodes = 0;       // positions looked at
  int64_t next_check = 0;  // nodes at which to call out
  bool stopped = false;
};

// Searches by null windows: each search answers whether the margin reaches a
// bound. Values are for the side to move, and change sign where the side
// changes, not with every action.
//
// Positions never recur within a line: what progress there is, is never
// undone, and actions without progress are counted and limited. So whatever a
// search finds out of a position holds, wherever it is met again.
//
// `check` is called when budget.nodes has reached budget.next_check; it moves
// that on, and may set `stopped`.
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
    // High Kings alone gets so deep, with 40 actions for each progress.
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

  // Without the move itself, which is made again when it is tried: stacks are
  // small, and most are not.
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

  // Returns what the table knows and what holds here.
  //
  // In High Kings it knows bounds for another number of actions without
  // progress. At the limit the game ends as it stands, and it stands the same
  // as long as there is no progress. A side that makes sure of a margin which
  // it would also have as things stand makes sure of it when the limit is
  // nearer, too: the limit only ends its play earlier. And a side that makes
  // sure of more than that does so before the limit, and when the limit is
  // further away. (A stranded king makes a difference at the limit; but it
  // becomes stranded by progress, and moves in its side's next turn.)
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

}  // namespace tara::mcts

#endif  // TARA_MCTS_SOLVER_SOLVER_SEARCH_H_
