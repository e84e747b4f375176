// Replays every example of docs/reference/rules.md, and shows that a wrong one
// would be found.

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tests/docs/document.h"
#include "tests/docs/drawing_tokens.h"
#include "tests/docs/transcript.h"

namespace tara {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

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

TEST(ReplayTranscriptTest, AcceptsWhatTheRulesSay) {
  EXPECT_THAT(
      Replayed(absl::StrCat(kStart, "\nplay      D4 E6\n",
                            "position  sacred_hill_l1 "
                            "5/4b2/7/3r3/7/7/5 0 manoeuvres - 0,0 0 - -\n",
                            "legal     B3 B5 C2 C6 E2 F3 F5")),
      IsEmpty());
}

// A knight's move from D4 leads to E6, too, but there Blue has built.
TEST(ReplayTranscriptTest, ReportsOtherLegalActions) {
  EXPECT_THAT(Replayed(absl::StrCat(kStart, "\nplay      D4 E6\n",
                                    "legal     B3 B5 C2 C6 E2 E6 F3 F5")),
              ElementsAre(AllOf(StartsWith("page.md:4: other legal actions"),
                                HasSubstr("says      B3 B5 C2 C6 E2 F3 F5"))));
}

TEST(ReplayTranscriptTest, ReportsAnotherPosition) {
  EXPECT_THAT(Replayed(absl::StrCat(kStart, "\nplay D4\n", kStart)),
              ElementsAre(AllOf(StartsWith("page.md:4: another position"),
                                HasSubstr("5/7/7/3r3/7/7/5 1"))));
}

TEST(ReplayTranscriptTest, ReportsAnIllegalActionAndStopsThere) {
  EXPECT_THAT(Replayed(absl::StrCat(kStart, "\nplay D4 D4\nlegal A2")),
              ElementsAre(AllOf(StartsWith("page.md:3: "), HasSubstr("D4"))));
}

TEST(ReplayTranscriptTest, ReportsAResultBeforeTheEnd) {
  EXPECT_THAT(
      Replayed(absl::StrCat(kStart,
                            "\nresult points 1,1 kingdoms 0,0 "
                            "territory 0,0 ended_by out")),
      ElementsAre(StartsWith("page.md:3: a result, but the game is not over")));
}

TEST(ReplayTranscriptTest, ReportsAnotherResult) {
  EXPECT_THAT(
      Replayed("position sacred_hill_l1 rrbbb/rrrbbbb/rrrbbbb/rrrbbbb/rrrbbbb/"
               "rrrbbbb/rrbbb - finished - 0,0 0 out:0 -\n"
               "result points 9,0 kingdoms 1,1 territory 19,26 ended_by out"),
      ElementsAre(AllOf(StartsWith("page.md:3: another result"),
                        HasSubstr("says      points 0,9 kingdoms 1,1"))));
}

TEST(ReplayTranscriptTest, ReportsUnknownKeywords) {
  EXPECT_THAT(Replayed(absl::StrCat(kStart, "\nplays D4\n\nlegal D4")),
              ElementsAre(StartsWith("page.md:3: unknown keyword 'plays'"),
                          StartsWith("page.md:4: unknown keyword ''"),
                          StartsWith("page.md:5: other legal actions")));
}

TEST(ReplayTranscriptTest, ReportsBlocksThatDoNotStartWithAPosition) {
  EXPECT_THAT(Replayed("play D4"),
              ElementsAre(StartsWith("page.md:2: first keyword is 'play'")));
  EXPECT_THAT(Replayed("position nothing"),
              ElementsAre(StartsWith("page.md:2: position 'nothing'")));
  const Document document = {"page.md", {}, {}};
  EXPECT_THAT(ReplayTranscript(document, {"transcript", 7, 0, {}}),
              ElementsAre(StartsWith("page.md:7: empty transcript")));
}

TEST(ReplayTranscriptTest, ReportsAPlayWithoutAnAction) {
  EXPECT_THAT(Replayed(absl::StrCat(kStart, "\nplay")),
              ElementsAre(StartsWith("page.md:3: nothing to play")));
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
