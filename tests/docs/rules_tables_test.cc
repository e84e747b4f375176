// Holds the tables of docs/reference/rules.md to the code: readers rely on them
// to talk to networks, records and configs.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tests/docs/document.h"
#include "tests/docs/drawing_tokens.h"
#include "tests/docs/transcript.h"

namespace tara {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RulesTablesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<Document> read = ReadDocument("docs/reference/rules.md");
    ASSERT_TRUE(read.ok()) << read.status();
    document_ = *read;
    std::vector<std::string> lines;
    for (const DocumentLine& line : document_.lines) lines.push_back(line.text);
    text_ = absl::StrJoin(lines, " ");
  }

  std::vector<TableRow> Table(absl::string_view header) const {
    const absl::StatusOr<std::vector<TableRow>> rows =
        FindTable(document_, header);
    if (!rows.ok()) {
      ADD_FAILURE() << rows.status();
      return {};
    }
    return *rows;
  }

  // Returns the two drawings of the block whose first line starts so.
  std::vector<HillTokens> TwoDrawings(absl::string_view title) const {
    for (const FencedBlock& block : document_.blocks) {
      if (block.lines.empty() ||
          !absl::StartsWith(block.lines[0].text, title)) {
        continue;
      }
      std::vector<HillTokens> drawings = Drawings(block);
      if (drawings.size() == 2) return drawings;
      ADD_FAILURE() << document_.At(block.number) << ": expected two drawings";
      return std::vector<HillTokens>(2);
    }
    ADD_FAILURE() << document_.name << " has no drawing '" << title << "'";
    return std::vector<HillTokens>(2);
  }

  Document document_;
  std::string text_;  // all lines, joined by spaces
};

std::string Quoted(absl::string_view text) {
  return absl::StrCat("`", text, "`");
}

// The identifiers of the variants for which the predicate holds.
template <typename Predicate>
std::string IdsOf(Predicate&& predicate) {
  std::vector<absl::string_view> ids;
  for (const VariantInfo& info : kVariants) {
    if (predicate(info)) ids.push_back(info.id);
  }
  return absl::StrJoin(ids, " ");
}

// What the column "variants" of the rule options says, in identifiers.
std::string IdsOfWords(absl::string_view words) {
  const auto all = [](const VariantInfo&) { return true; };
  const auto two_seats = [](const VariantInfo& i) { return i.seats == 2; };
  const auto but = [](Family family) {
    return IdsOf([=](const VariantInfo& i) { return i.family != family; });
  };
  const std::map<std::string, std::string> meaning = {
      {"all ten", IdsOf(all)},
      {"all of two seats", IdsOf(two_seats)},
      {"all but Poisoned Chalice", but(Family::kPoisonedChalice)},
      {"all but Stone of Destiny", but(Family::kStoneOfDestiny)},
      {"Sacred Hill L1, singles and doubles",
       "sacred_hill_l1 sacred_hill_doubles_l1"},
      {"Sacred Hill L2, singles and doubles",
       "sacred_hill_l2 sacred_hill_doubles_l2"},
      {"Four Treasures, singles and doubles",
       "four_treasures four_treasures_doubles"},
      {"High Kings L1, L2", "high_kings_l1 high_kings_l2"},
      {"Stone of Destiny", "stone_of_destiny"},
      {"all four Sacred Hill",
       "sacred_hill_l1 sacred_hill_l2 sacred_hill_doubles_l1 "
       "sacred_hill_doubles_l2"},
      {"Sacred Hill doubles L1, L2",
       "sacred_hill_doubles_l1 sacred_hill_doubles_l2"},
  };
  std::vector<std::string> ids;
  for (const absl::string_view part : absl::StrSplit(words, "; ")) {
    const auto found = meaning.find(std::string(part));
    ids.push_back(found != meaning.end()
                      ? found->second
                      : absl::StrCat("unknown words '", part, "'"));
  }
  return absl::StrJoin(ids, " ");
}

TEST_F(RulesTablesTest, VariantsAreThoseOfTheCodeInItsOrder) {
  const std::vector<TableRow> rows = Table("| id | sides x seats |");
  ASSERT_EQ(rows.size(), kVariants.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const VariantInfo& info = kVariants[i];
    SCOPED_TRACE(document_.At(rows[i].number));
    EXPECT_EQ(rows[i].cells[0], Quoted(info.id));
    EXPECT_EQ(rows[i].cells[1], absl::StrCat("2 x ", info.seats / 2));
    EXPECT_EQ(absl::StrContains(rows[i].cells[2], "Level"),
              absl::StrContains(info.name, "Level"));
    EXPECT_EQ(absl::EndsWith(rows[i].cells[2], "Level 2"), info.level == 2);
  }
}

TEST_F(RulesTablesTest, RuleOptionsAreThoseOfTheCodeInItsOrder) {
  const std::vector<TableRow> rows = Table("| option | values | default |");
  ASSERT_EQ(rows.size(), kRuleOptions.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const RuleOptionInfo& option = kRuleOptions[i];
    SCOPED_TRACE(document_.At(rows[i].number));
    EXPECT_EQ(rows[i].cells[0], Quoted(option.name));
    EXPECT_EQ(rows[i].cells[1],
              option.is_switch()
                  ? "bool"
                  : absl::StrReplaceAll(DescribeRuleOptionValues(option),
                                        {{" to ", ".."}}));
    // Switches are quoted as code, numbers are not.
    const std::string value =
        FormatRuleOptionValue(option, option.DefaultValue());
    EXPECT_EQ(rows[i].cells[2], option.is_switch() ? Quoted(value) : value);
    EXPECT_EQ(IdsOfWords(rows[i].cells[3]), IdsOf(option.applies_to));
  }
}

TEST_F(RulesTablesTest, ActionIndicesAreThoseOfTheCode) {
  constexpr std::array kKinds = {ActionKind::kHill, ActionKind::kKingMove,
                                 ActionKind::kSacrifice, ActionKind::kLink,
                                 ActionKind::kPass};
  const std::vector<TableRow> rows = Table("| index | how many | action |");
  ASSERT_EQ(rows.size(), kKinds.size());
  int next = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(document_.At(rows[i].number));
    const int first = next;
    while (next < kNumActions &&
           Parts(static_cast<Action>(next)).kind == kKinds[i]) {
      ++next;
    }
    const int last = next - 1;
    EXPECT_EQ(rows[i].cells[0], first == last
                                    ? absl::StrCat(first)
                                    : absl::StrCat(first, " - ", last));
    EXPECT_EQ(rows[i].cells[1], absl::StrCat(next - first));
  }
  EXPECT_EQ(next, kNumActions);
}

TEST_F(RulesTablesTest, HillsHaveTheNamesAndIndicesOfTheCode) {
  const std::vector<HillTokens> drawings = TwoDrawings("names ");
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    EXPECT_EQ(drawings[0][hill], HillToText(hill));
    EXPECT_EQ(drawings[1][hill], absl::StrCat(hill));
  }
}

TEST_F(RulesTablesTest, FirstMovesAndLinksOfHillsAreThoseOfTheCode) {
  const std::vector<HillTokens> drawings = TwoDrawings("first king move from");
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    // The lowest index whose action starts at the hill; "-" if none does.
    const auto first_of = [hill](ActionKind kind) -> std::string {
      for (int i = 0; i < kNumActions; ++i) {
        const ActionParts parts = Parts(static_cast<Action>(i));
        if (parts.kind == kind && parts.from == hill) return absl::StrCat(i);
      }
      return "-";
    };
    EXPECT_EQ(drawings[0][hill], first_of(ActionKind::kKingMove))
        << HillToText(hill);
    EXPECT_EQ(drawings[1][hill], first_of(ActionKind::kLink))
        << HillToText(hill);
  }
}

// The document says "`B1-D2` is 45, `B1-A3` is 46".
TEST_F(RulesTablesTest, ActionsGivenAsExamplesHaveTheirIndices) {
  const std::vector<std::string> parts = absl::StrSplit(text_, '`');
  int found = 0;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const absl::StatusOr<Action> action = ParseAction(parts[i]);
    const std::vector<std::string> words = absl::StrSplit(
        parts[i + 1], absl::ByAnyChar(" ,;."), absl::SkipEmpty());
    int index = 0;
    if (!action.ok() || words.size() < 2 || words[0] != "is" ||
        !absl::SimpleAtoi(words[1], &index)) {
      continue;
    }
    ++found;
    EXPECT_EQ(index, Index(*action)) << parts[i];
  }
  EXPECT_GE(found, 8) << "section 1.4 gives eight examples";
}

TEST_F(RulesTablesTest, PhasesAreThoseOfTheCode) {
  const std::vector<TableRow> rows = Table("| | field | form |");
  ASSERT_EQ(rows.size(), 9);
  std::vector<std::string> phases;
  for (int i = 0; i <= static_cast<int>(Phase::kFinished); ++i) {
    phases.emplace_back(PhaseName(static_cast<Phase>(i)));
  }
  EXPECT_EQ(CodeSpans(rows[3].cells[2]), phases)
      << document_.At(rows[3].number);
}

TEST_F(RulesTablesTest, EndingsAreThoseOfTheCode) {
  std::vector<std::string> endings;
  for (int i = 1; i <= static_cast<int>(Ending::kNoProgress); ++i) {
    endings.push_back(Quoted(EndingName(static_cast<Ending>(i))));
  }
  const std::string last = endings.back();
  endings.pop_back();
  const std::string sentence = absl::StrCat(
      "`ended_by` is ", absl::StrJoin(endings, ", "), " or ", last, ".");
  EXPECT_TRUE(absl::StrContains(text_, sentence))
      << document_.name << " should say: " << sentence;
}

TEST_F(RulesTablesTest, SymmetriesOfTheSquareAreThoseOfTheCode) {
  const std::map<std::string, int> transforms = {
      {"identity", kIdentityTransform},
      {"quarter turn, clockwise", kClockwiseTurn},
      {"half turn", kHalfTurn},
      {"quarter turn, counter-clockwise", kAnticlockwiseTurn},
      {"flip east-west", 1},
      {"flip north-south", 2},
      {"transposition (B1 to A2)", kTranspose},
      {"transposition (B1 to G6)", kTranspose | kHalfTurn},
  };
  const std::vector<TableRow> rows = Table("| | (f, r) goes to |");
  ASSERT_EQ(rows.size() * 2, transforms.size());
  std::map<std::string, std::string> described;
  for (const TableRow& row : rows) {
    described[row.cells[0]] = row.cells[1];
    described[row.cells[2]] = row.cells[3];
  }
  for (const auto& [name, transform] : transforms) {
    ASSERT_TRUE(described.contains(name)) << name;
    const std::vector<std::string> terms = absl::StrSplit(
        described[name], absl::ByAnyChar("(, )"), absl::SkipEmpty());
    ASSERT_EQ(terms.size(), 2) << name;
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      // Files and ranks from 1, as in the document.
      const auto value = [hill](absl::string_view term) {
        const int of = absl::EndsWith(term, "f") ? FileOf(hill) : RankOf(hill);
        return absl::StartsWith(term, "8-") ? 8 - (of + 1) : of + 1;
      };
      EXPECT_EQ(TransformHill(transform, hill),
                HillAt(value(terms[0]) - 1, value(terms[1]) - 1))
          << name << " of " << HillToText(hill);
    }
  }
}

// --- Rules transcripts -------------------------------------------------------

// Replays every example of docs/reference/rules.md, and shows that a wrong one
// would be found.

constexpr absl::string_view kStart =
    "position  sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - -";

class RulesTranscriptsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<Document> read = ReadDocument("docs/reference/rules.md");
    ASSERT_TRUE(read.ok()) << read.status();
    document_ = *read;
    for (const FencedBlock& block : document_.blocks) {
      if (block.language == "transcript") transcripts_.push_back(block);
    }
    ASSERT_FALSE(transcripts_.empty())
        << "docs/reference/rules.md has no block ```transcript";
  }

  Document document_;
  std::vector<FencedBlock> transcripts_;
};

// Returns the texts of the block's positions.
std::vector<std::string> Positions(const FencedBlock& block) {
  std::vector<std::string> positions;
  for (const DocumentLine& line : block.lines) {
    const TranscriptLine split = SplitTranscriptLine(line.text);
    if (split.keyword == "position") positions.push_back(split.text);
  }
  return positions;
}

// Returns the drawings of a block if they are of positions alone, without
// marks or numbers.
std::vector<HillTokens> PositionDrawings(const FencedBlock& block) {
  const std::vector<HillTokens> drawings = Drawings(block);
  for (const HillTokens& drawing : drawings) {
    const bool plain = std::all_of(
        drawing.begin(), drawing.end(), [](const std::string& token) {
          return token.size() == 1 && absl::StrContains(".rbRBST", token);
        });
    if (!plain) return {};
  }
  return drawings;
}

// Returns what is wrong with the only block of a document.
std::vector<std::string> Replayed(absl::string_view lines) {
  const absl::StatusOr<Document> document = ParseDocument(
      "page.md", absl::StrCat("```transcript\n", lines, "\n```\n"));
  if (!document.ok()) return {document.status().ToString()};
  return ReplayTranscript(*document, document->blocks.at(0));
}

TEST_F(RulesTranscriptsTest, EveryTranscriptReplays) {
  for (const FencedBlock& block : transcripts_) {
    for (const std::string& wrong : ReplayTranscript(document_, block)) {
      ADD_FAILURE() << wrong;
    }
  }
}

TEST_F(RulesTranscriptsTest, EveryFamilyHasATranscript) {
  std::set<Family> families;
  for (const FencedBlock& block : transcripts_) {
    for (const std::string& text : Positions(block)) {
      const absl::StatusOr<State> state = ParsePosition(text);
      if (state.ok()) families.insert(Info(state->variant).family);
    }
  }
  for (const VariantInfo& info : kVariants) {
    EXPECT_TRUE(families.contains(info.family)) << info.id;
  }
}

TEST_F(RulesTranscriptsTest, EmptyBoardsWithSeat0ToMoveAreInitialPositions) {
  int found = 0;
  for (const FencedBlock& block : transcripts_) {
    for (const std::string& text : Positions(block)) {
      if (!absl::StrContains(text, " 5/7/7/7/7/7/5 0 ")) continue;
      ++found;
      const std::vector<std::string> fields = absl::StrSplit(text, ' ');
      const absl::StatusOr<Variant> variant = ParseVariant(fields[0]);
      ASSERT_TRUE(variant.ok()) << document_.At(block.number);
      const absl::StatusOr<RuleOptions> options =
          ParseRuleOptions(*variant, fields.back());
      ASSERT_TRUE(options.ok()) << document_.At(block.number);
      EXPECT_EQ(text, PositionToText(InitialState(*variant, *options)))
          << document_.At(block.number);
    }
  }
  EXPECT_GE(found, 2) << "section 12.2 shows two of them";
}

// Where drawings introduce a transcript, they show its first positions.
TEST_F(RulesTranscriptsTest, DrawingsShowThePositionsOfTheirTranscripts) {
  int compared = 0;
  const FencedBlock* drawn = nullptr;
  for (const FencedBlock& block : document_.blocks) {
    if (block.language == "text") drawn = &block;
    if (block.language != "transcript") continue;
    const FencedBlock* drawing_block = drawn;
    drawn = nullptr;  // a second transcript goes on from elsewhere
    if (drawing_block == nullptr || drawing_block->section != block.section) {
      continue;
    }
    const std::vector<HillTokens> drawings = PositionDrawings(*drawing_block);
    const std::vector<std::string> positions = Positions(block);
    ASSERT_LE(drawings.size(), positions.size()) << document_.At(block.number);
    for (size_t i = 0; i < drawings.size(); ++i) {
      EXPECT_EQ(BoardTokens(positions[i]), drawings[i])
          << document_.At(drawing_block->number) << ": drawing " << i + 1
          << " is not the position " << positions[i];
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(ReplayTranscriptTest, ReportsWhatTheRulesDoNotSay) {
  struct {
    std::string lines;
    std::vector<std::vector<std::string>> wrong;  // parts of each report
  } const kCases[] = {
      {absl::StrCat(kStart, "\nplay      D4 E6\n",
                    "position  sacred_hill_l1 "
                    "5/4b2/7/3r3/7/7/5 0 manoeuvres - 0,0 0 - -\n",
                    "legal     B3 B5 C2 C6 E2 F3 F5"),
       {}},
      // A knight's move from D4 leads to E6, too, but there Blue has built.
      {absl::StrCat(kStart, "\nplay      D4 E6\n",
                    "legal     B3 B5 C2 C6 E2 E6 F3 F5"),
       {{"page.md:4: other legal actions", "says      B3 B5 C2 C6 E2 F3 F5"}}},
      {absl::StrCat(kStart, "\nplay D4\n", kStart),
       {{"page.md:4: another position", "5/7/7/3r3/7/7/5 1"}}},
      // It stops at an illegal action.
      {absl::StrCat(kStart, "\nplay D4 D4\nlegal A2"), {{"page.md:3: ", "D4"}}},
      {absl::StrCat(kStart, "\nplay"), {{"page.md:3: nothing to play"}}},
      {absl::StrCat(kStart,
                    "\nresult points 1,1 kingdoms 0,0 territory 0,0 ended_by "
                    "out"),
       {{"page.md:3: a result, but the game is not over"}}},
      {"position sacred_hill_l1 rrbbb/rrrbbbb/rrrbbbb/rrrbbbb/rrrbbbb/"
       "rrrbbbb/rrbbb - finished - 0,0 0 out:0 -\n"
       "result points 9,0 kingdoms 1,1 territory 19,26 ended_by out",
       {{"page.md:3: another result", "says      points 0,9 kingdoms 1,1"}}},
      {absl::StrCat(kStart, "\nplays D4\n\nlegal D4"),
       {{"page.md:3: unknown keyword 'plays'"},
        {"page.md:4: unknown keyword ''"},
        {"page.md:5: other legal actions"}}},
      {"play D4", {{"page.md:2: first keyword is 'play'"}}},
      {"position nothing", {{"page.md:2: position 'nothing'"}}},
  };
  for (const auto& [lines, wrong] : kCases) {
    const std::vector<std::string> reports = Replayed(lines);
    ASSERT_EQ(reports.size(), wrong.size()) << lines;
    for (size_t i = 0; i < wrong.size(); ++i) {
      for (const std::string& part : wrong[i]) {
        EXPECT_THAT(reports[i], HasSubstr(part));
      }
    }
  }
  const Document document = {"page.md", {}, {}};
  EXPECT_THAT(ReplayTranscript(document, {"transcript", 7, 0, {}}),
              ElementsAre(StartsWith("page.md:7: empty transcript")));
}

TEST(ParseDocumentTest, RefusesBlocksThatWouldNotBeReplayed) {
  const auto message = [](absl::string_view text) {
    return std::string(ParseDocument("page.md", text).status().message());
  };
  EXPECT_THAT(message("\n```transcipt\nposition x\n```\n"),
              StartsWith("page.md:2: block of unknown language 'transcipt'"));
  EXPECT_THAT(message("```text\nposition x\n```\n"),
              StartsWith("page.md:1: block starts with a position"));
  EXPECT_THAT(message("```transcript\nposition x\n"),
              StartsWith("page.md:1: block has no end"));
}

}  // namespace
}  // namespace tara
