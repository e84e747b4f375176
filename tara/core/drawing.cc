#include "tara/core/drawing.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"

namespace tara {
namespace {

using BySide = std::array<absl::string_view, 2>;

struct Glyphs {
  absl::string_view vacant;
  BySide ringfort;
  BySide king;
  // To the east, then to the north.
  std::array<BySide, 2> bridge;
  std::array<absl::string_view, 2> marked;
};

constexpr Glyphs kUnicodeGlyphs = {
    "·", {"●", "○"}, {"♚", "♔"}, {{{"━━━", "───"}, {"┃", "│"}}}, {"╌╌╌", "╎"}};
constexpr Glyphs kAsciiGlyphs = {
    ".", {"o", "x"}, {"K", "Q"}, {{{"===", "---"}, {"H", "|"}}}, {"...", ":"}};

constexpr absl::string_view kPlaces[] = {"South", "West", "North", "East"};

constexpr absl::string_view kSideColours[] = {"\x1b[1;31m", "\x1b[1;34m"};
constexpr absl::string_view kMarkColour = "\x1b[1;32m";
constexpr absl::string_view kFaintColour = "\x1b[2m";
constexpr absl::string_view kPlain = "\x1b[0m";

class Drawing {
 public:
  Drawing(const State& state, const DrawOptions& options)
      : state_(state),
        glyphs_(options.unicode ? kUnicodeGlyphs : kAsciiGlyphs),
        colour_(options.colour),
        bridges_{BridgesOf(state, kRed), BridgesOf(state, kBlue)},
        marked_hills_(options.highlight.hills),
        marked_links_{options.highlight.links_east,
                      options.highlight.links_north} {
    for (const LegalSet::KingMoves& king : options.highlight.kings) {
      marked_hills_ |= king.moves | king.sacrifices;
    }
  }

  std::string Draw() {
    DrawFiles();
    for (int rank = kBoardSize - 1; rank >= 0; --rank) {
      DrawRank(rank);
      if (rank > 0) DrawBridgesNorth(rank - 1);
    }
    DrawFiles();
    return std::move(text_);
  }

 private:
  void Put(absl::string_view text, absl::string_view colour = "") {
    const bool coloured = colour_ && !colour.empty();
    absl::StrAppend(&text_, coloured ? colour : "", text,
                    coloured ? kPlain : "");
  }

  void EndLine() {
    while (!text_.empty() && text_.back() == ' ') text_.pop_back();
    text_.push_back('\n');
  }

  void DrawFiles() {
    Put("   ");
    for (int file = 0; file < kBoardSize; ++file) {
      Put(std::string(1, static_cast<char>('A' + file)), kFaintColour);
      Put("     ");
    }
    EndLine();
  }

  void DrawRank(int rank) {
    Put(absl::StrCat(rank + 1), kFaintColour);
    Put(" ");
    for (int file = 0; file < kBoardSize; ++file) {
      const Hill hill = HillAt(file, rank);
      if (hill < 0) {
        Put("      ");
        continue;
      }
      DrawHill(BoardOf(hill));
      DrawBridge(BoardOf(hill), /*direction=*/0, "   ");
    }
    Put(absl::StrCat(rank + 1), kFaintColour);
    EndLine();
  }

  // Three columns: "[x]" marked, " x!" with a stranded king.
  void DrawHill(Board hill) {
    const bool marked = (marked_hills_ & hill) != 0;
    Put(marked ? "[" : " ", marked ? kMarkColour : "");
    const Side ringfort = (state_.ringforts[kBlue] & hill) != 0 ? kBlue : kRed;
    const Side king = (state_.kings[kBlue] & hill) != 0 ? kBlue : kRed;
    const bool has_king = (state_.kings[king] & hill) != 0;
    if ((state_.vacant() & hill) != 0) {
      Put(glyphs_.vacant, kFaintColour);
    } else if (has_king) {
      Put(glyphs_.king[king], kSideColours[king]);
    } else {
      Put(glyphs_.ringfort[ringfort], kSideColours[ringfort]);
    }
    const bool stranded = has_king && king != ringfort;
    Put(marked ? "]" : (stranded ? "!" : " "),
        marked ? kMarkColour : (stranded ? kSideColours[ringfort] : ""));
  }

  void DrawBridgesNorth(int rank) {
    Put("   ");
    for (int file = 0; file < kBoardSize; ++file) {
      const Hill hill = HillAt(file, rank);
      DrawBridge(hill < 0 ? 0 : BoardOf(hill), /*direction=*/1, " ");
      Put("     ");
    }
    EndLine();
  }

  void DrawBridge(Board hill, int direction, absl::string_view none) {
    for (const Side side : {kRed, kBlue}) {
      if ((bridges_[side][direction] & hill) == 0) continue;
      return Put(glyphs_.bridge[direction][side], kSideColours[side]);
    }
    const bool marked = (marked_links_[direction] & hill) != 0;
    Put(marked ? glyphs_.marked[direction] : none, marked ? kMarkColour : "");
  }

  const State& state_;
  const Glyphs& glyphs_;
  const bool colour_;
  const std::array<std::array<Board, 2>, 2> bridges_;  // by side
  Board marked_hills_;
  const std::array<Board, 2> marked_links_;
  std::string text_;
};

}  // namespace

std::string SeatName(Variant variant, Seat seat) {
  const absl::string_view side = kSideNames[SideOf(seat)];
  if (Info(variant).seats == 2) return std::string(side);
  return absl::StrCat(side, " ", kPlaces[seat]);
}

std::array<Board, 2> BridgesOf(const State& state, Side side) {
  const bool by_links = TraitsOf(state.variant).has_links;
  const Board own = state.ringforts[side];
  return {own & (by_links ? state.links_east : West(own)),
          own & (by_links ? state.links_north : South(own))};
}

std::string DescribeTurn(const State& state) {
  if (state.finished()) {
    const Outcome outcome = Score(state);
    return absl::StrCat("Finished (", EndingName(state.ending), "): Red ",
                        outcome.points[kRed], ", Blue ", outcome.points[kBlue],
                        CompensationText(outcome.compensation_halves), ".");
  }
  std::string text =
      absl::StrCat(SeatName(state.variant, state.seat), " to move (seat ",
                   state.seat, "), ", PhaseName(state.phase), ".");
  if (state.ending != Ending::kNone) {
    absl::StrAppend(&text, " Ends (", EndingName(state.ending),
                    "), turns left: ", state.turns_left, ".");
  }
  if (state.no_progress > 0) {
    absl::StrAppend(&text, " Without progress: ", state.no_progress, " of ",
                    state.options.no_progress_limit, ".");
  }
  if (state.options.compensation_halves != 0) {
    absl::StrAppend(&text, " Blue is given ",
                    state.options.compensation_halves / 2.0, " points.");
  }
  if (MaySwap(state)) absl::StrAppend(&text, " May swap.");
  return text;
}

std::string DescribeSide(const State& state, Side side) {
  const Outcome outcome = Score(state);
  std::string text =
      absl::StrCat(kSideNames[side], " ringforts: ", outcome.territory[side],
                   ", kingdoms: ", outcome.kingdoms[side]);
  if (TraitsOf(state.variant).bridges_first) {
    absl::StrAppend(&text, ", bridges: ", outcome.bridges[side]);
  }
  if (TraitsOf(state.variant).kings_move) {
    absl::StrAppend(&text, ", kings captured: ", outcome.kings_captured[side]);
  }
  return text;
}

std::string DescribeState(const State& state) {
  return absl::StrCat(Info(state.variant).name, ". ", DescribeTurn(state), "\n",
                      DescribeSide(state, kRed), ". ",
                      DescribeSide(state, kBlue), ".");
}

std::string DrawBoard(const State& state, const DrawOptions& options) {
  return absl::StrCat(Drawing(state, options).Draw(), "\n",
                      DescribeState(state), "\n");
}

}  // namespace tara
