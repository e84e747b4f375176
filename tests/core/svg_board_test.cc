#include "tara/core/svg_board.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/drawing.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int CountOf(absl::string_view part, absl::string_view text) {
  int count = 0;
  for (size_t at = text.find(part); at != absl::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

// Returns what is in the group of a class, up to its end; it has no others.
std::string Group(const std::string& svg, absl::string_view name) {
  const size_t start = svg.find(absl::StrCat("class=\"", name, "\""));
  if (start == std::string::npos) return "";
  return svg.substr(start, svg.find("</g>", start) - start);
}

// Whether each tag is closed, in order.
bool IsBalanced(absl::string_view svg) {
  std::vector<std::string> open;
  for (size_t at = svg.find('<'); at != absl::string_view::npos;
       at = svg.find('<', at + 1)) {
    const absl::string_view tag =
        svg.substr(at + 1, svg.find('>', at) - at - 1);
    if (tag.back() == '/') continue;
    const std::string name(tag.substr(0, tag.find(' ')));
    if (name[0] != '/') {
      open.push_back(name);
    } else {
      if (open.empty() || "/" + open.back() != name) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

void ExpectAllIsDrawn(const State& state, const std::string& svg) {
  const Board red = state.ringforts[kRed];
  const Board blue = state.ringforts[kBlue];
  int bridges = 0;
  for (const Side side : {kRed, kBlue}) {
    const std::string name = side == kRed ? "red" : "blue";
    EXPECT_EQ(CountOf("<circle ",
                      Group(svg, absl::StrCat("tara-", name, "-ringforts"))),
              Count(state.ringforts[side]));
    EXPECT_EQ(CountOf(absl::StrCat("class=\"tara-", name, "-king"), svg),
              Count(state.kings[side]));
    bridges +=
        CountOf("<path ", Group(svg, absl::StrCat("tara-", name, "-bridges")));
  }
  EXPECT_EQ(bridges, state.variant == Variant::kStoneOfDestiny
                         ? Count(state.links_east) + Count(state.links_north)
                         : CountAdjacentPairs(red) + CountAdjacentPairs(blue));
  EXPECT_EQ(CountOf("tara-stranded", svg),
            Count((state.kings[kRed] & blue) | (state.kings[kBlue] & red)));
}

TEST(SvgBoardTest, IsAsWideAsAskedFor) {
  const State state = InitialState(Variant::kFourTreasures);
  const std::string own = SvgBoard(state);
  EXPECT_THAT(own.substr(0, own.find('>')), Not(HasSubstr(" width=")));
  const std::string narrow = SvgBoard(state, {.width = 300});
  EXPECT_THAT(narrow.substr(0, narrow.find('>')), HasSubstr(" width=\"300\""));
  EXPECT_EQ(narrow.substr(narrow.find('>')), own.substr(own.find('>')));
}

TEST(SvgBoardTest, DrawsAllOfEveryPositionOfRandomGames) {
  Random random(7);
  for (int variant = 0; variant < kNumVariants; ++variant) {
    State state = InitialState(static_cast<Variant>(variant));
    SCOPED_TRACE(Info(state.variant).id);
    std::optional<Action> last;
    while (true) {
      const LegalSet legal = LegalActions(state);
      const std::string svg =
          SvgBoard(state, {.highlight = legal, .last = last});
      ExpectAllIsDrawn(state, svg);
      EXPECT_TRUE(IsBalanced(svg));
      EXPECT_LT(svg.size(), 30'000u);
      EXPECT_EQ(svg, SvgBoard(state, {.highlight = legal, .last = last}));
      EXPECT_THAT(svg, HasSubstr(DescribeTurn(state)));
      EXPECT_THAT(svg, HasSubstr(DescribeSide(state, kBlue)));
      for (const absl::string_view never :
           {" id=", "url(", "<script", "<style", "href", "nan", "inf\""}) {
        EXPECT_THAT(svg, Not(HasSubstr(never)));
      }
      if (state.finished()) break;
      last = legal.Nth(static_cast<int>(random.Below(legal.Count())));
      ApplyAction(*last, state);
    }
  }
}

// Red besieges A2 and must capture it.
TEST(SvgBoardTest, MarksLegalHillsAndTheLastAction) {
  const State state =
      Position("sacred_hill_l1 5/3b3/2bb3/7/r6/br5/5 0 battle - 0,0 0 - -");
  EXPECT_THAT(SvgBoard(state), Not(HasSubstr("tara-legal")));
  EXPECT_THAT(SvgBoard(state), Not(HasSubstr("tara-last")));
  const std::string svg = SvgBoard(state, {.highlight = LegalActions(state),
                                           .last = HillAction(HillAt(3, 5))});
  EXPECT_THAT(Group(svg, "tara-legal"),
              HasSubstr("<circle cx=\"124\" cy=\"624\" r=\"40\" "
                        "stroke-dasharray"));
  // Twice: dark below light. D6 is 100 below rank 7, which is at 124.
  EXPECT_EQ(CountOf("<circle cx=\"424\" cy=\"224\" r=\"41\"/>", svg), 2);
  EXPECT_THAT(svg, HasSubstr("Last action: D6."));
}

// The stranded Red king on A4 may go to C3 or, with a knight's move, others.
TEST(SvgBoardTest, MarksWhereKingsMayGo) {
  const State state = Position(
      "high_kings_l2 bbbbb/bBbBbBb/bbbbbbb/Sbr1b1b/brrrrrr/rrrRrrr/rrrrr 0 "
      "battle - 0,1 0 - -");
  const LegalSet legal = LegalActions(state);
  const std::string svg = SvgBoard(state, {.highlight = legal});
  Board ends = 0;
  for (const LegalSet::KingMoves& king : legal.kings) ends |= king.moves;
  ASSERT_NE(ends, 0u);
  EXPECT_EQ(CountOf("r=\"10\"/>", Group(svg, "tara-legal")), Count(ends));
  EXPECT_THAT(svg, HasSubstr("tara-red-king tara-stranded"));
}

// Of links by their middles: 50 units from the hill.
TEST(SvgBoardTest, DrawsPoliciesAsSharesOfTheirSum) {
  const State state = Position(
      "stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/rrrrr 0 "
      "link B1=C1 0,0 0 - -");
  const std::string svg = SvgBoard(
      state,
      {.policy = {{LinkAction(1, 2), 6}, {kPass, 2}, {HillAction(2), 0}}});
  const std::string group = svg.substr(svg.find("tara-policy"));
  EXPECT_THAT(group, HasSubstr("<circle cx=\"374\" cy=\"724\" r=\"36\""));
  EXPECT_THAT(group, HasSubstr(">75</text>"));
  EXPECT_EQ(CountOf("fill-opacity", group), 1);
  EXPECT_THAT(svg, HasSubstr("pass: 25 %."));
}

TEST(SvgBoardTest, ArrowsShowWhereAKingCameFrom) {
  const State state = Position(
      "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/rrrrr 0 "
      "battle - 0,0 7 - -");
  const Action move = KingMove(HillAt(1, 1), HillAt(2, 3));
  const std::string svg = SvgBoard(state, {.last = move});
  EXPECT_EQ(CountOf("<path d=\"M", Group(svg, "tara-last")), 1);
  EXPECT_THAT(svg, HasSubstr("Last action: B2-C4."));
}

}  // namespace
}  // namespace tara
