#include "tara/core/legal_set.h"

#include "tara/core/bits.h"

namespace tara {

Action LegalSet::Nth(int n) const {
  TARA_DCHECK(n >= 0 && n < Count(), "no such legal action");
  const int num_hills = tara::Count(hills);
  if (n < num_hills) return HillAction(NthHill(hills, n));
  n -= num_hills;
  if (kings[0].origin >= 0) {
    for (const KingMoves& king : kings) {
      const int num_moves = tara::Count(king.moves);
      if (n < num_moves) return KingMove(king.origin, NthHill(king.moves, n));
      n -= num_moves;
    }
    for (const KingMoves& king : kings) {
      const int num_moves = tara::Count(king.sacrifices);
      if (n < num_moves) {
        return KingMove(king.origin, NthHill(king.sacrifices, n), true);
      }
      n -= num_moves;
    }
    return kPass;
  }
  if (n >= tara::Count(links_east) + tara::Count(links_north)) return kPass;
  const LinkBit link = NthLink(links_east, links_north, n);
  return LinkAction(
      FirstHill(link.east | link.north),
      FirstHill(link.east != 0 ? East(link.east) : North(link.north)));
}

bool LegalSet::Contains(Action action) const {
  const ActionParts parts = Parts(action);
  switch (parts.kind) {
    case ActionKind::kHill:
      return (hills & BoardOf(parts.to)) != 0;
    case ActionKind::kKingMove:
    case ActionKind::kSacrifice:
      for (const KingMoves& king : kings) {
        if (king.origin != parts.from) continue;
        const Board targets =
            parts.kind == ActionKind::kKingMove ? king.moves : king.sacrifices;
        return (targets & BoardOf(parts.to)) != 0;
      }
      return false;
    case ActionKind::kLink: {
      const Board first = BoardOf(parts.from);
      const bool east = BoardOf(parts.to) == East(first);
      return ((east ? links_east : links_north) & first) != 0;
    }
    case ActionKind::kPass:
      break;
  }
  return pass;
}

LegalMask LegalSet::ToMask() const {
  LegalMask mask;
  ForEach([&](Action action) { mask.set(Index(action)); });
  return mask;
}

}  // namespace tara
