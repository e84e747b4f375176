#ifndef TARA_CORE_RULES_TURN_H_
#define TARA_CORE_RULES_TURN_H_

// The legal actions of a seat in the forms that the families compute. Each
// counts its actions and finds the n-th in the order of the action space
// without branches that random play cannot predict; moves are bits of boards.

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tara/core/action.h"
#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::rules {

// Choices of hills only. A move is the hill's bit.
struct HillChoices {
  using Move = Board;

  Board hills;

  bool empty() const { return hills == 0; }
  int Count() const { return tara::Count(hills); }
  Move Nth(int n) const { return NthBit(hills, n); }
  LegalSet ToLegalSet() const { return {.hills = hills}; }

  static Move MoveOf(Action action) { return BoardOf(Index(action)); }
};

// Either hills or links (Stone of Destiny).
struct LinkChoices {
  // One bit of one of the three; a link by its western or southern hill.
  struct Move {
    Board hill = 0;
    Board link_east = 0;
    Board link_north = 0;
  };

  Board hills = 0;
  Board links_east = 0;
  Board links_north = 0;

  bool empty() const { return (hills | links_east | links_north) == 0; }
  int Count() const {
    return tara::Count(hills) + tara::Count(links_east) +
           tara::Count(links_north);
  }
  Move Nth(int n) const {
    if (hills != 0) return {.hill = NthBit(hills, n)};
    const HillPairs link = NthLink(links_east, links_north, n);
    return {.link_east = link.east, .link_north = link.north};
  }
  LegalSet ToLegalSet() const {
    return {
        .hills = hills, .links_east = links_east, .links_north = links_north};
  }

  static Move MoveOf(Action action) {
    const ActionParts parts = Parts(action);
    if (parts.kind != ActionKind::kLink) return {.hill = BoardOf(parts.to)};
    const Board first = BoardOf(parts.from);
    const bool east = BoardOf(parts.to) == East(first);
    return {.link_east = east ? first : 0, .link_north = east ? 0 : first};
  }
};

// A move of a king. `from` is 0 for a placement, `to` is 0 for a pass.
template <BoardWord W>
struct MovedKing {
  W from = {};
  W to = {};
  MaskOf<W> sacrifice = {};
};

// High Kings: hills (placement), or moves of up to three kings and a pass.
class KingChoices {
 public:
  using Move = MovedKing<Board>;

  KingChoices() = default;
  static KingChoices Placement(Board hills) {
    KingChoices choices;
    choices.hills_ = hills;
    return choices;
  }
  // The knight's moves of at most three `movers` to `targets`.
  static KingChoices Moves(Board movers, Board targets) {
    KingChoices choices;
    choices.movers_ = movers;
    choices.actions_ = MovesInOrder(movers, targets);
    return choices;
  }
  // The same; moves to `sacrificeable` also as sacrifices; and perhaps a pass.
  static KingChoices MovesAndMore(Board movers, Board targets,
                                  Board sacrificeable, bool pass) {
    KingChoices choices = Moves(movers, targets);
    choices.actions_ |=
        (MovesInOrder(movers, targets & sacrificeable) << kFirstSacrifice) |
        (uint64_t{pass} << kPassBit);
    return choices;
  }

  bool empty() const { return (hills_ | actions_) == 0; }
  int Count() const { return tara::Count(hills_) + tara::Count(actions_); }
  Move Nth(int n) const {
    if (hills_ != 0) return {.to = NthBit(hills_, n)};
    return MoveAt(static_cast<unsigned>(std::countr_zero(NthBit(actions_, n))));
  }
  LegalSet ToLegalSet() const;

  static Move MoveOf(Action action) {
    const ActionParts parts = Parts(action);
    return {.from = parts.from < 0 ? 0 : BoardOf(parts.from),
            .to = parts.to < 0 ? 0 : BoardOf(parts.to),
            .sacrifice = parts.kind == ActionKind::kSacrifice};
  }

 private:
  static constexpr int kMaxKings = 3;
  static constexpr int kMovesPerKing = 8;
  static constexpr unsigned kFirstSacrifice = kMaxKings * kMovesPerKing;
  static constexpr unsigned kPassBit = 2 * kFirstSacrifice;

  // Returns, at bits 8 k ... 8 k + 7 for the k-th mover, which of its knight's
  // moves on the empty board lead to `targets`.
  static uint64_t MovesInOrder(Board movers, Board targets) {
    uint64_t moves = 0;
    Unrolled<kMaxKings>([&](auto king) {
      const Board reach = kKnightMovesFrom[std::countr_zero(movers)];
      moves |= BitsAt(targets, reach) << (kMovesPerKing * king);
      movers &= movers - 1;
    });
    return moves;
  }

  Move MoveAt(unsigned bit) const {
    if (bit == kPassBit) return {};
    const bool sacrifice = bit >= kFirstSacrifice;
    const unsigned move = sacrifice ? bit - kFirstSacrifice : bit;
    const Board from = NthBit(movers_, static_cast<int>(move / kMovesPerKing));
    const Board reach = kKnightMovesFrom[std::countr_zero(from)];
    return {.from = from,
            .to = NthBit(reach, static_cast<int>(move % kMovesPerKing)),
            .sacrifice = sacrifice};
  }

  // By the origin's bit; nothing for bit 64, a king that is not there.
  static constexpr std::array<Board, 65> kKnightMovesFrom = [] {
    std::array<Board, 65> moves{};
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      moves[BitOf(hill)] = KnightMoves(BoardOf(hill));
    }
    return moves;
  }();

  Board hills_ = 0;
  Board movers_ = 0;
  uint64_t actions_ = 0;  // as MovesInOrder; sacrifices; pass
};

inline LegalSet KingChoices::ToLegalSet() const {
  LegalSet legal = {.hills = hills_};
  Board rest = movers_;
  for (int king = 0; king < kMaxKings && rest != 0; rest &= rest - 1) {
    const Board reach = kKnightMovesFrom[std::countr_zero(rest)];
    const uint64_t moves = actions_ >> (kMovesPerKing * king);
    legal.kings[king++] = {
        .origin = FirstHill(rest),
        .moves = BitsTo(moves & 0xff, reach),
        .sacrifices = BitsTo((moves >> kFirstSacrifice) & 0xff, reach)};
  }
  legal.pass = (actions_ >> kPassBit) != 0;
  return legal;
}

// How turns follow one another and games end: what all families share.
//
// A family of rules is a struct of static functions on View, the position as
// the seat to move sees it:
//   Choices                 the form of its legal actions
//   void    Start(view)     the board before the first turn
//   Choices BeginTurn(view) resolves what happens at a turn's start (Battle
//                           starting, a stranded king lost), which may finish
//                           the game, and returns the legal actions of the
//                           seat to move; changes nothing when called again
//   void    Play(move, view)  plays a move of Choices and passes the turn, or
//                           finishes the game; Settle must follow
//   void    Finish(view)    what is due when the game ends
//   kTraits                 a FamilyTraits
//   kSeats                  2 or 4
//   kNoActionIsOut          a seat without a legal action is out (else its
//                           turn is skipped)

// Ends the game as it stands; `ending` names why.
template <typename Rules>
void FinishGame(Ending ending, View& view) {
  view.ending = ending;
  view.turns_left = 0;
  Rules::Finish(view);
  view.phase = Phase::kFinished;
  if (view.side() != kRed) view.ExchangeSides<Rules>();
  view.seat = 0;
}

// Announces the end: one more turn of each other seat (none without the option
// last_turns), then the game is over. The first trigger names the ending.
template <typename Rules>
void StartClosing(Ending ending, View& view) {
  if (view.ending != Ending::kNone) return;
  view.ending = ending;
  view.turns_left = view.options->last_turns ? Rules::kSeats - 1 : 0;
}

// Makes the next seat clockwise the seat to move.
template <typename Rules>
void PassTurn(View& view) {
  view.ExchangeSides<Rules>();
  view.seat = (view.seat + 1) & (Rules::kSeats - 1);
}

// Goes on from the seat to move to the first seat that has a choice to make,
// or to the end of the game. Returns the legal actions there.
template <typename Rules>
typename Rules::Choices Settle(View& view) {
  while (!view.finished()) {
    const bool closing = view.ending != Ending::kNone;
    if (closing && view.turns_left == 0) {
      FinishGame<Rules>(view.ending, view);
      break;
    }
    const typename Rules::Choices legal = Rules::BeginTurn(view);
    if (!legal.empty()) return legal;
    if (view.finished()) break;
    if (closing) {
      --view.turns_left;
    } else if (Rules::kNoActionIsOut) {
      StartClosing<Rules>(Ending::kOut, view);
    }
    PassTurn<Rules>(view);
  }
  return {};
}

// Returns the legal actions of the seat to move in a settled position.
template <typename Rules>
typename Rules::Choices Legal(View view) {
  return view.finished() ? typename Rules::Choices() : Rules::BeginTurn(view);
}

// Ends the turn of the seat to move. `closing_turn`: it was one of those left
// after the end was announced.
template <typename Rules>
void EndTurn(bool closing_turn, View& view) {
  if (closing_turn) --view.turns_left;
  PassTurn<Rules>(view);
}

// --- Formulas ----------------------------------------------------------------
//
// From here on all is written on words (see BoardWord), for single positions
// and for lanes of them alike.

// Builds on a vacant hill, or captures the enemy ringfort on it.
template <BoardWord W>
TARA_INLINE void TakeHill(W hill, BoardView<W>& view) {
  view.own |= hill;
  view.enemy &= ~hill;
}

// Returns `first` if it has hills, else `second`.
constexpr Board FirstNonEmpty(Board first, Board second) {
  return first != 0 ? first : second;
}

// The same by a branch, for choices that are nearly always the second: a
// predicted branch is faster than waiting for the first. An empty statement
// that cannot be moved keeps compilers from waiting anyway.
template <BoardWord W>
constexpr W MostlySecond(W first, W second) {
  if constexpr (std::same_as<W, Board>) {
    if (first != 0) [[unlikely]] {
      if (!std::is_constant_evaluated()) asm volatile("");
      return first;
    }
    return second;
  } else {
    return FirstNonEmpty(first, second);
  }
}

// The same without a branch: for choices that no processor predicts.
template <BoardWord W>
constexpr W SelectNonEmpty(W first, W second) {
  W selected = FirstNonEmpty(first, second);
  // Were it known where the result comes from, compilers would branch.
  if constexpr (std::same_as<W, Board>) {
    if (!std::is_constant_evaluated()) asm("" : "+r"(selected));
  }
  return selected;
}

// By how much the own side leads as the board stands.
template <typename Rules, BoardWord W>
TARA_INLINE Leads<NumberOf<W>> LeadsOf(const BoardView<W>& view) {
  NumberOf<W> territory = Count(view.own) - Count(view.enemy);
  if (!view.options->territory_breaks_ties) territory = NumberOf<W>(0);
  if constexpr (Rules::kTraits.bridges_first) {
    return {CountBridges(view.own) - CountBridges(view.enemy), territory};
  } else if constexpr (Rules::kTraits.has_links) {
    const auto [own, enemy] = CountLinkedKingdoms(
        view.own, view.enemy, view.links_east, view.links_north);
    return {enemy - own, territory};
  } else {
    const auto [own, enemy] = CountComponentsOfBoth(view.own, view.enemy);
    return {enemy - own, territory};
  }
}

// Points of the own side minus the enemy's if the game ended as it stands. Of a
// finished game this is its result.
template <typename Rules, BoardWord W>
TARA_INLINE NumberOf<W> Margin(const BoardView<W>& view) {
  return PointsOf(LeadsOf<Rules>(view), view.kings_captured, view.kings_lost)
      .margin();
}

// What the families share whose every turn takes one hill. Rules has
//   kHasManoeuvres             whether there is a phase before Battle
// and these formulas, on a BoardView<W>:
//   W ManoeuvresTargets(view) the legal hills in Manoeuvres, if it continues
//   MaskOf<W> ManoeuvresOver(targets, view) whether Battle starts instead
//   W BattleTargets(view)      the legal hills in Battle
template <typename Rules>
struct HillTurns {
  using Choices = HillChoices;
  static constexpr bool kNoActionIsOut = true;

  static void Start(View& view) {
    view.phase = Rules::kHasManoeuvres ? Phase::kManoeuvres : Phase::kBattle;
  }

  static HillChoices BeginTurn(View& view) {
    if constexpr (Rules::kHasManoeuvres) {
      if (view.phase == Phase::kManoeuvres) {
        const Board targets = Rules::ManoeuvresTargets(view);
        if (!Rules::ManoeuvresOver(targets, view)) return {targets};
        view.phase = Phase::kBattle;
      }
    }
    return {Rules::BattleTargets(view)};
  }

  static void Play(Board hill, View& view) {
    TakeHill(hill, view);
    EndTurn<Rules>(view.ending != Ending::kNone, view);
  }

  static void Finish(View&) {}
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_TURN_H_
