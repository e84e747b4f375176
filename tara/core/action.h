#ifndef TARA_CORE_ACTION_H_
#define TARA_CORE_ACTION_H_

// The space of 570 actions that all variants share: the contract with
// networks, game records and front-ends. It never changes.
//
//     0 ..  44  a hill, canonical order: build, place, capture or swap
//    45 .. 268  king moves, by origin, then destination
//   269 .. 492  the same moves with sacrifice of the destination
//   493 .. 568  links of two adjacent hills, by first, then second hill
//         569  pass; where the pie rule allows it, swap

#include <array>
#include <bitset>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/core/board.h"

namespace tara {

enum class Action : uint16_t {};

inline constexpr int kNumKnightMoves = 224;
inline constexpr int kNumLinks = 76;
inline constexpr int kFirstKingMove = kNumHills;
inline constexpr int kFirstSacrifice = kFirstKingMove + kNumKnightMoves;
inline constexpr int kFirstLink = kFirstSacrifice + kNumKnightMoves;
inline constexpr int kPassIndex = kFirstLink + kNumLinks;
inline constexpr int kNumActions = kPassIndex + 1;
inline constexpr Action kPass = static_cast<Action>(kPassIndex);
static_assert(kNumActions == 570);

constexpr int Index(Action action) { return static_cast<int>(action); }

enum class ActionKind : uint8_t { kHill, kKingMove, kSacrifice, kLink, kPass };

// An action taken apart. kHill: `to` is the hill, `from` is -1. kLink: from <
// to in canonical order. kPass: both -1.
struct ActionParts {
  ActionKind kind;
  int8_t from;
  int8_t to;
};

namespace internal {

struct ActionTables {
  std::array<ActionParts, kNumActions> parts{};
  std::array<int16_t, kNumHills> first_knight_move{};  // 0..223, by origin
  std::array<int16_t, kNumHills> first_link{};         // 0..75, by first hill
};

inline constexpr ActionTables kActionTables = [] {
  ActionTables tables;
  int knight_move = 0;
  int link = 0;
  for (int8_t from = 0; from < kNumHills; ++from) {
    tables.parts[from] = {ActionKind::kHill, -1, from};
    tables.first_knight_move[from] = static_cast<int16_t>(knight_move);
    tables.first_link[from] = static_cast<int16_t>(link);
    for (Board rest = KnightMoves(BoardOf(from)); rest != 0; rest &= rest - 1) {
      const auto to = static_cast<int8_t>(FirstHill(rest));
      tables.parts[kFirstKingMove + knight_move] = {ActionKind::kKingMove, from,
                                                    to};
      tables.parts[kFirstSacrifice + knight_move] = {ActionKind::kSacrifice,
                                                     from, to};
      ++knight_move;
    }
    const Board later = East(BoardOf(from)) | North(BoardOf(from));
    for (Board rest = later; rest != 0; rest &= rest - 1) {
      tables.parts[kFirstLink + link++] = {
          ActionKind::kLink, from, static_cast<int8_t>(FirstHill(rest))};
    }
  }
  tables.parts[kPassIndex] = {ActionKind::kPass, -1, -1};
  return tables;
}();

}  // namespace internal

constexpr ActionParts Parts(Action action) {
  return internal::kActionTables.parts[Index(action)];
}

constexpr Action HillAction(Hill hill) { return static_cast<Action>(hill); }

// REQUIRES: `to` is a knight's move from `from`.
constexpr Action KingMove(Hill from, Hill to, bool sacrifice = false) {
  const Board before = KnightMoves(BoardOf(from)) & (BoardOf(to) - 1);
  return static_cast<Action>((sacrifice ? kFirstSacrifice : kFirstKingMove) +
                             internal::kActionTables.first_knight_move[from] +
                             Count(before));
}

// REQUIRES: `first` < `second` are adjacent hills.
constexpr Action LinkAction(Hill first, Hill second) {
  const bool has_east = East(BoardOf(first)) != 0;
  const bool is_north = BoardOf(second) == North(BoardOf(first));
  return static_cast<Action>(kFirstLink +
                             internal::kActionTables.first_link[first] +
                             (is_north && has_east ? 1 : 0));
}

// Returns a hill as text, "D4".
std::string HillToText(Hill hill);

// Returns the hill written as "D4", or INVALID_ARGUMENT.
absl::StatusOr<Hill> ParseHill(absl::string_view text);

// Returns the notation of docs/reference/rules.md section 1: "D4", "D4-E6",
// "C5-B3*", "D4=E4", "pass". Needs no position; where there is one, the
// function of the same name in tara/core/rules.h knows "swap" (the pie rule).
std::string ActionToText(Action action);

// The inverse of ActionToText; also accepts lower-case hills. Returns
// INVALID_ARGUMENT with the reason for anything else.
absl::StatusOr<Action> ParseAction(absl::string_view text);

// One bit for each of the 570 actions.
using LegalMask = std::bitset<kNumActions>;

// The legal actions of a position as bitboards. Count, list, mask and random
// choice derive from them, in increasing index. No heap; cheap to copy.
struct LegalSet {
  struct KingMoves {
    Hill origin = -1;
    Board moves = 0;       // destinations
    Board sacrifices = 0;  // destinations, a subset of moves
  };

  Board hills = 0;
  std::array<KingMoves, 3> kings = {};  // by increasing origin; origin -1: none
  Board links_east = 0;                 // pairs by their western hill
  Board links_north = 0;                // pairs by their southern hill
  bool pass = false;

  bool empty() const { return Count() == 0; }
  int Count() const;

  // Calls visit(Action) for each legal action, in increasing index.
  template <typename Visitor>
  void ForEach(Visitor&& visit) const;

  // Returns the n-th legal action in increasing index.
  // REQUIRES: 0 <= n < Count().
  Action Nth(int n) const;

  bool Contains(Action action) const;
  LegalMask ToMask() const;
};

inline int LegalSet::Count() const {
  const int count = tara::Count(hills) + tara::Count(links_east) +
                    tara::Count(links_north) + (pass ? 1 : 0);
  if (kings[0].origin < 0) return count;
  return count + tara::Count(kings[0].moves) + tara::Count(kings[1].moves) +
         tara::Count(kings[2].moves) + tara::Count(kings[0].sacrifices) +
         tara::Count(kings[1].sacrifices) + tara::Count(kings[2].sacrifices);
}

template <typename Visitor>
void LegalSet::ForEach(Visitor&& visit) const {
  ForEachHill(hills, [&](Hill hill) { visit(HillAction(hill)); });
  for (const KingMoves& king : kings) {
    ForEachHill(king.moves, [&](Hill to) { visit(KingMove(king.origin, to)); });
  }
  for (const KingMoves& king : kings) {
    ForEachHill(king.sacrifices,
                [&](Hill to) { visit(KingMove(king.origin, to, true)); });
  }
  ForEachHill(links_east | links_north, [&](Hill first) {
    const Board board = BoardOf(first);
    if (links_east & board) visit(LinkAction(first, FirstHill(East(board))));
    if (links_north & board) visit(LinkAction(first, FirstHill(North(board))));
  });
  if (pass) visit(kPass);
}

}  // namespace tara

#endif  // TARA_CORE_ACTION_H_
