#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "tara/core/drawing.h"
#include "tara/core/rules.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {
namespace {

// The rows on which the seats of doubles act.
constexpr absl::string_view kAreaNames[] = {"ranks 1 to 4", "files A to D",
                                            "ranks 4 to 7", "files D to G"};
constexpr int kMiddle = kBoardSize / 2;  // the file and rank of D4
constexpr int kKnightsMove = 5;          // its squared distance

std::string FileName(int file) {
  return absl::StrCat("file ", std::string(1, static_cast<char>('A' + file)));
}

std::string RankName(int rank) { return absl::StrCat("rank ", rank + 1); }

// "F2, F4 or G5": at most three of the hills.
std::string NamesOf(Board hills) {
  std::vector<std::string> names;
  ForEachHill(hills, [&](Hill hill) { names.push_back(HillToText(hill)); });
  names.resize(std::min<size_t>(names.size(), 3));
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last
                       : absl::StrCat(absl::StrJoin(names, ", "), " or ", last);
}

// A hill of a position, as the side to move sees it.
class Question {
 public:
  Question(const State& state, Hill hill, Hill chosen)
      : state_(state),
        info_(Info(state.variant)),
        view_(state),
        hill_(hill),
        at_(BoardOf(hill)),
        chosen_(chosen < 0 ? 0 : BoardOf(chosen)),
        name_(HillToText(hill)),
        us_(kSideNames[state.side()]),
        them_(kSideNames[Opponent(state.side())]),
        area_(info_.seats == 4 ? rules::kDoublesAreas[state.seat] : kAllHills),
        captures_(BesiegedIn(view_.enemy & area_, view_.own)) {}

  std::string Answer() const {
    if ((area_ & at_) == 0) {
      return absl::StrCat(name_, " is outside the rows of ",
                          SeatName(state_.variant, state_.seat), ": ",
                          kAreaNames[state_.seat], ".");
    }
    if (const std::string why = Opening(); !why.empty()) return why;
    switch (info_.family) {
      case Family::kSacredHill:
        return SacredHill();
      case Family::kFourTreasures:
        return FourTreasures();
      case Family::kHighKings:
        return HighKings();
      case Family::kPoisonedChalice:
        return PoisonedChalice();
      case Family::kStoneOfDestiny:
        return StoneOfDestiny();
    }
    return "";
  }

 private:
  const RuleOptions& options() const { return state_.options; }
  bool own() const { return (view_.own & at_) != 0; }
  bool enemy() const { return (view_.enemy & at_) != 0; }
  bool vacant() const { return (view_.vacant() & at_) != 0; }
  bool manoeuvres() const { return state_.phase == Phase::kManoeuvres; }

  // The first ringfort of a game may have to keep off D4 (section 10.1).
  std::string Opening() const {
    const int least = options().opening_distance;
    const int distance = std::max(std::abs(FileOf(hill_) - kMiddle),
                                  std::abs(RankOf(hill_) - kMiddle));
    if (state_.vacant() != kAllHills || distance >= least) return "";
    return absl::StrCat("The first ringfort must be at least ", least,
                        least == 1 ? " step" : " steps", " from D4.");
  }

  std::string Taken() const {
    return absl::StrCat("A ", own() ? us_ : them_, " ringfort stands on ",
                        name_, " already.");
  }

  std::string MustCapture() const {
    return absl::StrCat(us_, " must capture a besieged ringfort first: ",
                        NamesOf(captures_), ".");
  }

  // Why the enemy ringfort on the hill cannot be captured.
  std::string NotBesieged() const {
    if (BesiegedIn(at_, view_.own) != 0) return "";
    if (const Board friends = Adjacent(at_) & view_.enemy; friends != 0) {
      return absl::StrCat(name_, " is linked to ", NamesOf(FirstBit(friends)),
                          ": only a single ringfort can be besieged.");
    }
    return absl::StrCat(name_, " is not besieged: no ", us_, " ringfort on ",
                        NamesOf(Adjacent(at_) & ~view_.own), ".");
  }

  std::string NextTo(Board pieces, absl::string_view what) const {
    const Board next = Adjacent(at_) & pieces;
    if (next == 0) return "";
    return absl::StrCat(name_, " is next to the ", us_, " ", what, " on ",
                        NamesOf(FirstBit(next)), ".");
  }

  // --- Sacred Hill: sections 3 to 5 ------------------------------------------

  std::string SacredHill() const {
    if (manoeuvres()) return Spreading();
    if (own()) return Taken();
    if (enemy() && BesiegedIn(at_, view_.own) == 0) return NotBesieged();
    return info_.level == 2 ? ByPriority() : CaptureThenGrow();
  }

  std::string Spreading() const {
    if (own()) return Taken();
    if (enemy()) {
      return absl::StrCat("A ", them_, " ringfort stands on ", name_,
                          ": captures begin with Battle.");
    }
    if (view_.own == 0) return SharedRow();
    const int bound = options().proximity_bound;
    Board near = 0;
    ForEachHill(view_.own, [&](Hill fort) {
      const int files = FileOf(fort) - FileOf(hill_);
      const int ranks = RankOf(fort) - RankOf(hill_);
      if (files * files + ranks * ranks < bound) near |= BoardOf(fort);
    });
    if (near != 0) {
      return absl::StrCat(
          name_, " is too near to ", NamesOf(FirstBit(near)),
          bound == kKnightsMove ? ": nearer than a knight's move." : ".");
    }
    if ((KnightMoves(at_) & view_.own) != 0) return "";
    return absl::StrCat(name_, " is not a knight's move from a ", us_,
                        " ringfort.");
  }

  std::string SharedRow() const {
    const bool is_bound = info_.seats == 4 && options().shared_row_opening;
    const bool red = state_.side() == kRed;
    if (!is_bound || (red ? RankOf(hill_) : FileOf(hill_)) == kMiddle) {
      return "";
    }
    return absl::StrCat("The first ", us_, " ringfort must be on ",
                        red ? RankName(kMiddle) : FileName(kMiddle),
                        ", which the partners share.");
  }

  // Battle of Level 1.
  std::string CaptureThenGrow() const {
    if (!vacant()) return "";
    if (captures_ != 0 && !options().free_capture) return MustCapture();
    const Board beside = view_.vacant() & Adjacent(view_.own);
    const bool can_grow = (beside & area_) != 0;
    if (options().build_apart || !can_grow || (beside & at_) != 0) return "";
    return absl::StrCat(name_, " is not next to a ", us_, " ringfort.");
  }

  int OwnBeside(Hill hill) const {
    return Count(Adjacent(BoardOf(hill)) & view_.own);
  }

  // Battle of Level 2.
  std::string ByPriority() const {
    if (options().capture_first && captures_ != 0) {
      return vacant() ? MustCapture() : "";
    }
    const int least = options().build_apart ? 1 : 0;
    const auto priority = [&](Hill hill) {
      return std::max(least, OwnBeside(hill));
    };
    Hill best = hill_;
    ForEachHill((view_.vacant() & area_) | captures_, [&](Hill hill) {
      if (priority(hill) > priority(best)) best = hill;
    });
    if (best == hill_) return "";
    const auto count = [&](Hill hill) {
      const int own = OwnBeside(hill);
      return own == 0 ? "none" : absl::StrCat(own);
    };
    return absl::StrCat(name_, " has ", count(hill_), " of ", us_,
                        "'s ringforts next to it, ", HillToText(best), " has ",
                        count(best), ": the most ringforts come first.");
  }

  // --- Four Treasures: sections 5 and 6 --------------------------------------

  std::string FourTreasures() const {
    if (own()) return Taken();
    if (enemy()) return NotBesieged();
    return captures_ != 0 && !options().free_capture ? MustCapture() : "";
  }

  // --- High Kings: section 7 -------------------------------------------------

  std::string HighKings() const {
    if (state_.phase == Phase::kPlacement) {
      return vacant() ? NextTo(view_.own, "ringfort") : Taken();
    }
    const LegalSet legal = LegalActions(state_);
    if (legal.pass && legal.Count() == 1) {
      return absl::StrCat(us_, " can only pass: no ", us_, " king has a move.");
    }
    const Board stranded = view_.own_kings & view_.enemy;
    const Board movers = stranded != 0 ? stranded : view_.own_kings;
    if ((view_.own_kings & at_) != 0) {
      return (movers & at_) != 0
                 ? KingWithoutMove(movers)
                 : absl::StrCat("The stranded king on ", NamesOf(stranded),
                                " must move first.");
    }
    return Destination((chosen_ & movers) != 0 ? chosen_ : movers, movers);
  }

  // The neighbours that a king must avoid: in Manoeuvres ringforts of its side,
  // in Battle other kings of its side.
  std::string KeepsAway() const {
    return manoeuvres() ? NextTo(view_.own, "ringfort")
                        : NextTo(view_.own_kings, "king");
  }

  // Whether one of the kings reaches a vacant hill.
  bool CanBuild(Board kings) const {
    const Board away = manoeuvres() ? view_.own : view_.own_kings;
    return (KnightMoves(kings) & view_.vacant() & ~Beside(away)) != 0;
  }

  std::string KingWithoutMove(Board movers) const {
    if (CanBuild(at_)) return "";
    if (CanBuild(movers)) {
      return absl::StrCat("The king on ", name_,
                          " reaches no vacant hill that is not next to a ", us_,
                          manoeuvres() ? " ringfort" : " king",
                          "; another king can, and must move.");
    }
    bool can_move = false;
    ForEachHill(KnightMoves(at_), [&](Hill to) {
      can_move |= Question(state_, to, hill_).Destination(at_, movers).empty();
    });
    if (can_move) return "";
    return absl::StrCat("The king on ", name_, " has no hill to go to.");
  }

  // Why none of the kings `from` can go to the hill.
  std::string Destination(Board from, Board movers) const {
    if (((view_.own_kings | view_.enemy_kings) & at_) != 0) {
      const bool is_own = (view_.own_kings & at_) != 0;
      return absl::StrCat(
          "A ", is_own ? us_ : them_, " king stands on ", name_,
          is_own ? "." : ": kings are captured by besieging them.");
    }
    if ((KnightMoves(at_) & from) == 0) {
      return absl::StrCat(name_, " is not a knight's move from ",
                          Count(from) == 1
                              ? absl::StrCat("the king on ", NamesOf(from), ".")
                              : absl::StrCat("a ", us_, " king."));
    }
    if (vacant()) return KeepsAway();
    if (manoeuvres()) {
      return absl::StrCat("A ringfort stands on ", name_,
                          ": in Manoeuvres kings go to vacant hills.");
    }
    if (!own()) {
      if (const std::string why = NotBesieged(); !why.empty()) return why;
    }
    if (CanBuild(movers)) {
      return absl::StrCat("A ringfort stands on ", name_,
                          ": as long as a king can reach a vacant hill, one "
                          "must.");
    }
    return KeepsAway();
  }

  // --- Poisoned Chalice: section 8.1 -----------------------------------------

  // Rows of the side to move: Red's are files, Blue's ranks.
  Board Row(int row) const {
    return state_.side() == kRed ? FileBoard(row) : RankBoard(row);
  }

  std::string RowName(int row) const {
    return state_.side() == kRed ? FileName(row) : RankName(row);
  }

  bool Qualifies(int row) const {
    const int enemies = Count(Row(row) & view_.enemy);
    return (Row(row) & view_.vacant()) != 0 && enemies > 0 &&
           Count(Row(row) & view_.own) <= enemies;
  }

  std::string PoisonedChalice() const {
    if (manoeuvres()) return OnEdges();
    if (own()) return Taken();
    int qualified = 0;
    while (qualified < kBoardSize && !Qualifies(qualified)) ++qualified;
    const bool must_build = qualified < kBoardSize;
    if (enemy()) {
      const std::string siege = NotBesieged();
      if (!siege.empty() || !must_build) return siege;
      return absl::StrCat(us_, " has a qualified row, ", RowName(qualified),
                          ", and must build there before capturing.");
    }
    if (!must_build) return captures_ != 0 ? MustCapture() : "";
    const int row = state_.side() == kRed ? FileOf(hill_) : RankOf(hill_);
    if (Qualifies(row)) return "";
    std::string name = RowName(row);
    name[0] = state_.side() == kRed ? 'F' : 'R';
    return (Row(row) & view_.enemy) == 0
               ? absl::StrCat(name, " does not qualify: it has no ", them_,
                              " ringfort.")
               : absl::StrCat(name, " does not qualify: it has more ", us_,
                              " ringforts than ", them_, " ones.");
  }

  std::string OnEdges() const {
    constexpr int kLast = kBoardSize - 1;
    const int file = FileOf(hill_);
    const int rank = RankOf(hill_);
    // No hill is on two edges: the corners are not hills.
    const bool on_rank = rank == 0 || rank == kLast;
    if (!on_rank && file != 0 && file != kLast) {
      return absl::StrCat(
          name_,
          " is not on an edge: Manoeuvres are played on the four edges.");
    }
    if (!vacant()) return Taken();
    if (((on_rank ? RankBoard(rank) : FileBoard(file)) & view_.own) != 0) {
      return absl::StrCat(us_, " has a ringfort on ",
                          on_rank ? RankName(rank) : FileName(file),
                          " already.");
    }
    const Hill opposite =
        on_rank ? HillAt(file, kLast - rank) : HillAt(kLast - file, rank);
    if ((BoardOf(opposite) & view_.vacant()) != 0) return "";
    return absl::StrCat(name_, " is opposite the ringfort on ",
                        HillToText(opposite), ".");
  }

  // --- Stone of Destiny: section 8.2 -----------------------------------------

  std::string StoneOfDestiny() const {
    if (state_.phase == Phase::kLink) return Linking();
    const Board king = view_.enemy_kings;
    if (manoeuvres()) {
      if (!vacant()) return Taken();
      const Board reach = WithinTwoStepsOfOne(king) & view_.vacant();
      if (reach == 0 || (reach & at_) != 0) return "";
      return absl::StrCat(name_,
                          " is not one or two steps, straight or diagonal, "
                          "from the ",
                          them_, " king on ", NamesOf(king), ".");
    }
    if (own()) {
      return absl::StrCat(name_, " is ", us_, "'s: a ", them_,
                          " ringfort is swapped.");
    }
    if ((king & at_) != 0) {
      return absl::StrCat("The ", them_, " king stands on ", name_, ".");
    }
    if (LinkedTo() == 0) return "";
    return absl::StrCat(name_, " is linked and therefore permanently safe.");
  }

  // The hills that the hill is linked with.
  Board LinkedTo() const {
    const Board east = view_.links_east;
    const Board north = view_.links_north;
    return East(at_ & east) | North(at_ & north) | (West(at_) & east) |
           (South(at_) & north);
  }

  std::string Linking() const {
    if (!own()) {
      return absl::StrCat(name_, " is ", them_, "'s: two ", us_,
                          " ringforts are linked.");
    }
    const Board open = Adjacent(at_) & view_.own & ~LinkedTo();
    if (open == 0) {
      return absl::StrCat(name_, " has no ", us_,
                          " ringfort next to it that it is not linked with.");
    }
    if (chosen_ == 0 || (open & chosen_) != 0) return "";
    return (LinkedTo() & chosen_) != 0
               ? absl::StrCat(name_, " and ", NamesOf(chosen_),
                              " are linked already.")
               : absl::StrCat(name_, " is not next to ", NamesOf(chosen_), ".");
  }

  const State& state_;
  const VariantInfo& info_;
  const rules::View view_;
  const Hill hill_;
  const Board at_;      // the hill
  const Board chosen_;  // 0: none
  const std::string name_;
  const absl::string_view us_;
  const absl::string_view them_;
  const Board area_;      // where the seat may act
  const Board captures_;  // besieged enemy ringforts in it
};

}  // namespace

std::string WhyNot(const State& state, Hill hill, Hill chosen) {
  if (state.finished()) return "";
  return Question(state, hill, chosen).Answer();
}

std::string WhyNot(const State& state, Action action) {
  const ActionParts parts = Parts(action);
  const bool moves_kings =
      TraitsOf(state.variant).kings_move && state.phase != Phase::kPlacement;
  const ActionKind kind = state.phase == Phase::kLink ? ActionKind::kLink
                          : moves_kings               ? ActionKind::kKingMove
                                                      : ActionKind::kHill;
  const bool is_sacrifice = parts.kind == ActionKind::kSacrifice;
  if (kind != (is_sacrifice ? ActionKind::kKingMove : parts.kind)) return "";
  if (parts.from < 0) return WhyNot(state, parts.to);
  const Side side = state.side();
  if (moves_kings && (state.kings[side] & BoardOf(parts.from)) == 0) {
    return absl::StrCat("No ", kSideNames[side], " king stands on ",
                        HillToText(parts.from), ".");
  }
  const std::string why = WhyNot(state, parts.from);
  return !why.empty() ? why : WhyNot(state, parts.to, parts.from);
}

}  // namespace tara
