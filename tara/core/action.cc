#include "tara/core/action.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/core/bits.h"

namespace tara {
namespace {

absl::Status BadAction(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("bad action '", Shown(text), "': ", why,
                   "; expected a hill (D4), a king move (D4-E6 or C5-B3*), a "
                   "link (D4=E4) or pass"));
}

}  // namespace

std::string HillToText(Hill hill) {
  return {static_cast<char>('A' + FileOf(hill)),
          static_cast<char>('1' + RankOf(hill))};
}

absl::StatusOr<Hill> ParseHill(absl::string_view text) {
  if (text.size() == 2) {
    const Hill hill =
        HillAt(absl::ascii_toupper(static_cast<unsigned char>(text[0])) - 'A',
               text[1] - '1');
    if (hill >= 0) return hill;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", Shown(text),
                   "' is not a hill; expected a file A-G and a rank 1-7, "
                   "without the corners A1, G1, A7, G7"));
}

std::string ActionToText(Action action) {
  const auto [kind, from, to] = Parts(action);
  if (kind == ActionKind::kPass) return "pass";
  if (kind == ActionKind::kHill) return HillToText(to);
  return absl::StrCat(HillToText(from), kind == ActionKind::kLink ? "=" : "-",
                      HillToText(to),
                      kind == ActionKind::kSacrifice ? "*" : "");
}

absl::StatusOr<Action> ParseAction(absl::string_view text) {
  if (absl::EqualsIgnoreCase(text, "pass")) return kPass;
  const bool is_link = absl::StrContains(text, '=');
  if (!is_link && !absl::StrContains(text, '-')) {
    const absl::StatusOr<Hill> hill = ParseHill(text);
    if (!hill.ok()) return BadAction(text, hill.status().message());
    return HillAction(*hill);
  }
  const bool sacrifice = !is_link && absl::EndsWith(text, "*");
  const std::vector<absl::string_view> ends = absl::StrSplit(
      text.substr(0, text.size() - sacrifice), is_link ? '=' : '-');
  if (ends.size() != 2) {
    return BadAction(text, is_link ? "more than one '='" : "more than one '-'");
  }
  TARA_ASSIGN_OR_RETURN(const Hill from, ParseHill(ends[0]));
  TARA_ASSIGN_OR_RETURN(const Hill to, ParseHill(ends[1]));
  if (is_link && (Adjacent(BoardOf(from)) & BoardOf(to)) == 0) {
    return BadAction(text, "the hills of a link are adjacent");
  }
  if (is_link && from > to) {
    return BadAction(text,
                     absl::StrCat("a link names its hills in canonical order, ",
                                  ends[1], "=", ends[0]));
  }
  if (!is_link && (KnightMoves(BoardOf(from)) & BoardOf(to)) == 0) {
    return BadAction(text, "a king moves by a knight's move");
  }
  return is_link ? LinkAction(from, to) : KingMove(from, to, sacrifice);
}

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
  const HillPairs link = NthLink(links_east, links_north, n);
  return LinkAction(
      FirstHill(link.east | link.north),
      FirstHill(link.east != 0 ? East(link.east) : North(link.north)));
}

bool LegalSet::Contains(Action action) const {
  const auto [kind, from, to] = Parts(action);
  if (kind == ActionKind::kPass) return pass;
  const Board target = BoardOf(to);
  if (kind == ActionKind::kHill) return (hills & target) != 0;
  if (kind == ActionKind::kLink) {
    const bool east = target == East(BoardOf(from));
    return ((east ? links_east : links_north) & BoardOf(from)) != 0;
  }
  for (const KingMoves& king : kings) {
    if (king.origin != from) continue;
    const bool sacrifice = kind == ActionKind::kSacrifice;
    return ((sacrifice ? king.sacrifices : king.moves) & target) != 0;
  }
  return false;
}

LegalMask LegalSet::ToMask() const {
  LegalMask mask;
  ForEach([&](Action action) { mask.set(Index(action)); });
  return mask;
}

}  // namespace tara
