// Why a hill cannot be acted on: that every illegal hill has a reason, that the
// reason is true, and what it says.

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/rules.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

constexpr int kGames = 2;  // per variant and options, and per position

// A reason taken apart: the hills that it names, in order.
struct Said {
  const State& state;
  Hill hill;
  std::vector<Hill> named;

  Board own() const { return state.ringforts[state.side()]; }
  Board enemy() const { return state.ringforts[Opponent(state.side())]; }
  Board own_kings() const { return state.kings[state.side()]; }
  Board at() const { return BoardOf(hill); }
  // Hills that are named besides the one that the reason is about.
  Board others() const {
    Board board = 0;
    for (const Hill each : named) board |= BoardOf(each);
    return board & ~at();
  }
  bool is_vacant() const { return ((own() | enemy()) & at()) == 0; }
};

bool IsWithin(Board part, Board whole) {
  return part != 0 && (part & ~whole) == 0;
}

std::vector<Hill> HillsIn(const std::string& reason) {
  std::vector<Hill> hills;
  for (absl::string_view word :
       absl::StrSplit(reason, absl::ByAnyChar(" ,.:;"))) {
    const absl::StatusOr<Hill> hill = ParseHill(word.substr(0, 2));
    const bool whole = word.size() == 2 || absl::EndsWith(word, "'s");
    if (whole && hill.ok()) hills.push_back(*hill);
  }
  return hills;
}

bool IsBesieged(Hill hill, const Said& said) {
  return IsWithin(Adjacent(BoardOf(hill)), said.own()) &&
         (said.enemy() & BoardOf(hill)) != 0;
}

// What each sentence claims, by a part of it, the first that fits. Written from
// docs/reference/rules.md, without the formulas of the rules.
const std::vector<std::pair<std::string, std::function<bool(const Said&)>>>&
Claims() {
  using S = const Said&;
  static const auto& claims = *new std::vector<
      std::pair<std::string, std::function<bool(const Said&)>>>{
      {"outside the rows of",
       [](S s) { return (rules::kDoublesAreas[s.state.seat] & s.at()) == 0; }},
      {"The first ringfort must be",
       [](S s) { return s.state.vacant() == kAllHills; }},
      {"which the partners share",
       [](S s) { return s.own() == 0 && s.state.options.shared_row_opening; }},
      {"captures begin with Battle",
       [](S s) {
         return (s.enemy() & s.at()) != 0 &&
                s.state.phase == Phase::kManoeuvres;
       }},
      {" already.",
       [](S s) {
         // "Red has a ringfort on file A already." is about an edge.
         return s.named.empty() ? s.is_vacant() : !s.is_vacant();
       }},
      {"must capture a besieged",
       [](S s) {
         for (const Hill hill : s.named) {
           if (!IsBesieged(hill, s)) return false;
         }
         return !s.named.empty() && !IsBesieged(s.hill, s);
       }},
      {"only a single ringfort",
       [](S s) { return IsWithin(s.others(), Adjacent(s.at()) & s.enemy()); }},
      {"is not besieged",
       [](S s) { return IsWithin(s.others(), Adjacent(s.at()) & ~s.own()); }},
      {"is too near to",
       [](S s) {
         const Hill other = s.named.at(1);
         const int files = FileOf(other) - FileOf(s.hill);
         const int ranks = RankOf(other) - RankOf(s.hill);
         return (s.own() & BoardOf(other)) != 0 &&
                files * files + ranks * ranks < s.state.options.proximity_bound;
       }},
      {"ringforts next to it",
       [](S s) {
         return Count(Adjacent(s.at()) & s.own()) <
                Count(Adjacent(s.others()) & s.own());
       }},
      {"another king can, and must move",
       [](S s) { return (s.own_kings() & s.at()) != 0; }},
      {"is not next to a",
       [](S s) { return (Adjacent(s.at()) & s.own()) == 0; }},
      {"is not next to ",
       [](S s) { return (Adjacent(s.at()) & s.others()) == 0; }},
      {"is next to the",
       [](S s) { return IsWithin(s.others(), Adjacent(s.at()) & s.own()); }},
      {"can only pass",
       [](S s) {
         return LegalTexts(s.state) == std::vector<std::string>{"pass"};
       }},
      {"must move first",
       [](S s) {
         return IsWithin(BoardOf(s.named.at(0)), s.own_kings() & s.enemy());
       }},
      {"has no hill to go to",
       [](S s) { return (s.own_kings() & s.at()) != 0; }},
      {" king stands on ",
       [](S s) {
         return ((s.state.kings[0] | s.state.kings[1]) & s.at()) != 0;
       }},
      {"knight's move from the king on",
       [](S s) {
         return IsWithin(s.others(), s.own_kings()) &&
                (KnightMoves(s.at()) & s.others()) == 0;
       }},
      {"knight's move from a",
       [](S s) {
         const bool kings = TraitsOf(s.state.variant).kings_move;
         return (KnightMoves(s.at()) & (kings ? s.own_kings() : s.own())) == 0;
       }},
      {"A ringfort stands on", [](S s) { return !s.is_vacant(); }},
      {"and must build there before",
       [](S s) { return IsBesieged(s.hill, s); }},
      {"does not qualify", [](S s) { return s.is_vacant(); }},
      {"is not on an edge",
       [](S s) { return Count(Adjacent(s.at()) | Diagonal(s.at())) >= 7; }},
      {"is opposite the ringfort",
       [](S s) {
         return IsWithin(s.others(), s.own() | s.enemy()) &&
                (FileOf(s.named.at(1)) == FileOf(s.hill) ||
                 RankOf(s.named.at(1)) == RankOf(s.hill));
       }},
      {"is not one or two steps",
       [](S s) {
         return (WithinTwoStepsOfOne(s.others()) & s.at()) == 0 &&
                s.is_vacant();
       }},
      {" ringfort is swapped", [](S s) { return (s.own() & s.at()) != 0; }},
      {"is linked and therefore permanently safe",
       [](S s) { return (s.enemy() & s.at()) != 0; }},
      {" ringforts are linked", [](S s) { return (s.enemy() & s.at()) != 0; }},
      {"that it is not linked with",
       [](S s) { return (s.own() & s.at()) != 0; }},
  };
  return claims;
}

void ExpectTrue(const std::string& reason, const State& state, Hill hill) {
  for (const auto& [part, holds] : Claims()) {
    if (!absl::StrContains(reason, part)) continue;
    const Said said = {.state = state, .hill = hill, .named = HillsIn(reason)};
    EXPECT_TRUE(holds(said)) << reason << "\n" << PositionToText(state);
    return;
  }
  ADD_FAILURE() << "what does it claim? " << reason;
}

// Expects that the hills of no legal action are those with a reason, after each
// king or ringfort that may be chosen first.
void ExpectReasons(const State& state) {
  // Where an action begins, and by what is chosen before, where it ends.
  Board starts = 0;
  std::map<Hill, Board> ends;
  LegalActions(state).ForEach([&](Action action) {
    const auto [kind, from, to] = Parts(action);
    if (kind == ActionKind::kHill) starts |= BoardOf(to);
    if (from < 0) return;
    starts |= BoardOf(from);
    ends[from] |= BoardOf(to);
    if (kind != ActionKind::kLink) return;
    starts |= BoardOf(to);
    ends[to] |= BoardOf(from);
  });
  const auto expect = [&](Hill hill, Hill chosen, bool is_legal) {
    const std::string reason = WhyNot(state, hill, chosen);
    ASSERT_EQ(reason.empty(), is_legal)
        << HillToText(hill) << " after " << chosen << ": " << reason << "\n"
        << PositionToText(state);
    if (!is_legal) ExpectTrue(reason, state, hill);
  };
  Board all_ends = 0;
  for (const auto& [start, board] : ends) all_ends |= board;
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    // Where a king goes can be pointed at before the king.
    expect(hill, -1, ((starts | all_ends) & BoardOf(hill)) != 0);
    for (const auto& [chosen, board] : ends) {
      // Another king would be chosen instead.
      const bool is_start = (starts & BoardOf(hill)) != 0;
      if (chosen == hill || (is_start && state.phase != Phase::kLink)) continue;
      expect(hill, chosen, (board & BoardOf(hill)) != 0);
    }
  }
}

// The same along random games from a position.
void ExpectReasonsInGamesFrom(const State& start) {
  Random random(17);
  for (int game = 0; game < kGames; ++game) {
    State state = start;
    while (!state.finished()) {
      ASSERT_NO_FATAL_FAILURE(ExpectReasons(state));
      const LegalSet legal = LegalActions(state);
      ApplyAction(legal.Nth(static_cast<int>(random.Below(legal.Count()))),
                  state);
    }
    EXPECT_EQ(WhyNot(state, 0), "");
  }
}

TEST(WhyNotTest, EveryIllegalHillHasATrueReasonInGamesOfAllVariants) {
  for (const VariantInfo& info : kVariants) {
    SCOPED_TRACE(info.id);
    std::vector<RuleOptions> all = EachRuleOption(info);
    all.push_back(RuleOptions());
    all.push_back(ChangedOptions(info));
    for (const RuleOptions& options : all) {
      ExpectReasonsInGamesFrom(InitialState(info.variant, options));
    }
  }
}

struct Case {
  std::string position;
  // By hill; "D3/E4" is E4 when D3, a king or a ringfort to link, was chosen.
  std::vector<std::pair<std::string, std::string>> reasons;
};

TEST(WhyNotTest, NamesTheRule) {
  const std::vector<Case> cases = {
      {"sacred_hill_l1 5/4r2/7/3r3/7/7/5 0 manoeuvres - 0,0 0 - -",
       {{"D4", "A Red ringfort stands on D4 already."},
        {"E4", "E4 is too near to D4: nearer than a knight's move."},
        {"A2", "A2 is not a knight's move from a Red ringfort."},
        {"D5", "D5 is too near to D4: nearer than a knight's move."}}},
      {"sacred_hill_l1 5/4r2/7/3b3/7/7/5 0 manoeuvres - 0,0 0 - -",
       {{"D4", "A Blue ringfort stands on D4: captures begin with Battle."}}},
      {"sacred_hill_l1 5/7/7/3r3/7/7/5 0 manoeuvres - 0,0 0 - "
       "proximity_bound=3",
       {{"E5", "E5 is too near to D4."},
        {"D6", "D6 is not a knight's move from a Red ringfort."}}},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - opening_distance=2",
       {{"E5", "The first ringfort must be at least 2 steps from D4."}}},
      {"sacred_hill_l1 5/7/7/7/r6/br5/5 0 battle - 0,0 0 - -",
       {{"C2", "Red must capture a besieged ringfort first: A2."},
        {"B2", "A Red ringfort stands on B2 already."}}},
      {"sacred_hill_l1 5/7/3b3/3bb2/r6/7/5 0 battle - 0,0 0 - -",
       {{"D5", "D5 is linked to D4: only a single ringfort can be besieged."},
        {"G6", "G6 is not next to a Red ringfort."}}},
      {"sacred_hill_l1 5/7/7/7/r6/b6/5 0 battle - 0,0 0 - -",
       {{"A2", "A2 is not besieged: no Red ringfort on B2."}}},
      {"sacred_hill_l2 5/7/7/7/7/1r1r3/br3 0 battle - 0,0 0 - -",
       {{"B1",
         "B1 has 2 of Red's ringforts next to it, C2 has 3: the most "
         "ringforts come first."},
        {"G6",
         "G6 has none of Red's ringforts next to it, C2 has 3: the most "
         "ringforts come first."}}},
      {"sacred_hill_l2 5/7/7/2r1r2/r2r3/br5/5 0 battle - 0,0 0 - "
       "capture_first=true",
       {{"D4", "Red must capture a besieged ringfort first: A2."}}},
      {"sacred_hill_doubles_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - -",
       {{"D6", "D6 is outside the rows of Red South: ranks 1 to 4."},
        {"D3",
         "The first Red ringfort must be on rank 4, which the partners "
         "share."}}},
      {"sacred_hill_doubles_l1 5/7/7/4r2/7/7/5 1 manoeuvres - 0,0 0 - -",
       {{"E5", "E5 is outside the rows of Blue West: files A to D."},
        {"C3",
         "The first Blue ringfort must be on file D, which the partners "
         "share."}}},
      {"four_treasures 5/7/7/7/r6/br5/5 0 battle - 0,0 0 - -",
       {{"G6", "Red must capture a besieged ringfort first: A2."}}},
      {"high_kings_l1 5/7/7/3R3/7/7/1B3 0 placement - 0,0 0 - -",
       {{"D5", "D5 is next to the Red ringfort on D4."},
        {"C1", "A Blue ringfort stands on C1 already."}}},
      {"high_kings_l1 3B1/R4B1/7/7/3R3/7/Br2R 0 manoeuvres - 0,0 0 - -",
       {{"B1",
         "A Blue king stands on B1: kings are captured by besieging them."},
        {"D6", "D6 is not a knight's move from a Red king."},
        {"C1",
         "A ringfort stands on C1: in Manoeuvres kings go to vacant hills."},
        {"D3/E4", "E4 is not a knight's move from the king on D3."},
        {"A6/B6", "B6 is not a knight's move from the king on A6."}}},
      {"high_kings_l1 1Bbrr/rbrrrrr/RrrBrrr/rrrrrrr/rrrrrRr/rRrrrrB/rrrr1 0 "
       "battle - 0,0 0 - -",
       {{"B2",
         "The king on B2 reaches no vacant hill that is not next to a Red "
         "king; another king can, and must move."},
        {"C6",
         "A ringfort stands on C6: as long as a king can reach a vacant hill, "
         "one must."},
        {"B6", "B6 is not a knight's move from a Red king."}}},
      {"high_kings_l1 Rrr1r/rrrrrrr/Rrrrrrr/rrrrrrr/rrrrrrR/Brrrrrr/Brrrr 1 "
       "battle - 1,0 0 - -",
       {{"A2", "Blue can only pass: no Blue king has a move."}}},
      {"high_kings_l2 rrr1r/rrrrrrr/Rrrrrrr/rrrrrrR/rrTrrrr/rrrrrrB/brrrR 1 "
       "battle - 1,0 0 - -",
       {{"G2", "The stranded king on C3 must move first."},
        {"E1", "E1 is not a knight's move from the king on C3."}}},
      {"poisoned_chalice 3r1/7/7/7/7/7/5 1 manoeuvres - 0,0 0 - -",
       {{"E1", "E1 is opposite the ringfort on E7."},
        {"D4",
         "D4 is not on an edge: Manoeuvres are played on the four edges."}}},
      {"poisoned_chalice 3r1/6b/7/7/7/7/5 0 manoeuvres - 0,0 0 - -",
       {{"B7", "Red has a ringfort on rank 7 already."},
        {"A6", "A6 is opposite the ringfort on G6."}}},
      {"poisoned_chalice b1r2/6b/r6/7/6r/b6/1r1b1 0 battle - 0,0 0 - -",
       {{"C4", "File C does not qualify: it has no Blue ringfort."},
        {"A2", "A2 is not besieged: no Red ringfort on B2 or A3."}}},
      {"poisoned_chalice b1r2/6b/r6/7/6r/b6/1r1b1 1 battle - 0,0 0 - -",
       {{"D2", "Rank 2 does not qualify: it has no Red ringfort."}}},
      {"poisoned_chalice b1r2/6b/r6/r6/6r/b6/1r1b1 0 battle - 0,0 0 - -",
       {{"A3",
         "File A does not qualify: it has more Red ringforts than Blue "
         "ones."}}},
      {"poisoned_chalice b1r2/1r4b/r6/7/r3r1r/br2r1r/1r1b1 0 battle - 0,0 0 - "
       "-",
       {{"C3", "Red must capture a besieged ringfort first: A2."}}},
      {"poisoned_chalice b1r2/6b/r6/7/r3r1r/br2r1r/1r1b1 0 battle - 0,0 0 - -",
       {{"A2",
         "Red has a qualified row, file B, and must build there before "
         "capturing."}}},
      {"stone_of_destiny 5/7/7/3R3/7/7/5 1 manoeuvres - 0,0 0 - -",
       {{"B3",
         "B3 is not one or two steps, straight or diagonal, from the Red king "
         "on D4."},
        {"D4", "A Red ringfort stands on D4 already."}}},
      {"stone_of_destiny rbbrb/rrbrbbr/rbrbrrb/bbBbrbr/brrbbrb/rbrrbrb/brRbr 0 "
       "battle E1=E2 0,0 0 - -",
       {{"C4", "The Blue king stands on C4."},
        {"E1", "E1 is linked and therefore permanently safe."},
        {"B7", "B7 is Red's: a Blue ringfort is swapped."}}},
      {"stone_of_destiny rbbrb/rrbrbbr/rbrbrrb/bbBbrbr/brrbbrb/rbrrbrb/brRbr 1 "
       "link - 0,0 0 - -",
       {{"B7", "B7 is Red's: two Blue ringforts are linked."},
        {"G5",
         "G5 has no Blue ringfort next to it that it is not linked with."},
        {"A3/C4", "C4 is not next to A3."}}},
  };
  for (const auto& [text, reasons] : cases) {
    const State state = Position(text);
    ExpectReasonsInGamesFrom(state);
    for (const auto& [where, reason] : reasons) {
      const std::vector<std::string> names = absl::StrSplit(where, '/');
      const Hill hill = ParseHill(names.back()).value();
      const Hill chosen = names.size() > 1 ? ParseHill(names[0]).value() : -1;
      EXPECT_EQ(WhyNot(state, hill, chosen), reason) << text;
    }
  }
}

TEST(WhyNotTest, NamesTheRuleOfAnAction) {
  const auto why = [](absl::string_view position, absl::string_view action) {
    const State state = Position(position);
    return WhyNot(state, ParseAction(action, state).value());
  };
  constexpr absl::string_view kKings =
      "high_kings_l1 3B1/R4B1/7/7/3R3/7/Br2R 0 manoeuvres - 0,0 0 - -";
  EXPECT_EQ(why(kKings, "D3-C1"),
            "A ringfort stands on C1: in Manoeuvres kings go to vacant hills.");
  EXPECT_EQ(why(kKings, "D4-E6"), "No Red king stands on D4.");
  EXPECT_EQ(why(kKings, "D3-E5"), "");  // it is legal
  // Of another kind than the turn's.
  EXPECT_EQ(why(kKings, "D4"), "");
  EXPECT_EQ(why(kKings, "D4=E4"), "");
  EXPECT_EQ(why(kKings, "pass"), "");
}

}  // namespace
}  // namespace tara
