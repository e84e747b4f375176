#ifndef TARA_CORE_RULES_CHOICES_H_
#define TARA_CORE_RULES_CHOICES_H_

// The legal actions of a seat in the forms in which the families compute them,
// from which LegalSet derives. Each form counts its actions and finds the n-th
// in the order of the action space without branches that random play cannot
// predict. Each names its moves by bits of boards rather than by indices.

#include <array>
#include <bit>
#include <cstdint>

#include "tara/core/action.h"
#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/legal_set.h"

namespace tara::rules {

// Hills alone. A move is the hill's bit.
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
    const LinkBit link = NthLink(links_east, links_north, n);
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

// High Kings: hills (placement), or moves of up to three kings and a pass.
class KingChoices {
 public:
  // `from` is 0 for a placement, `to` is 0 for a pass.
  struct Move {
    Board from = 0;
    Board to = 0;
    bool sacrifice = false;
  };

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

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_CHOICES_H_
