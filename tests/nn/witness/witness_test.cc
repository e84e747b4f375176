// Networks of an earlier program load and play as they did: README.md beside
// this file says how they were made. Without LibTorch.

#include "tests/nn/witness/witness.h"

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/engine/engine.h"
#include "tara/engine/sessions.h"
#include "tara/nn/inference_options.h"

namespace tara::nn {
namespace {

constexpr char kGames[] = "tests/nn/witness/games.txt";

TEST(WitnessTest, AnswersAsItDid) {
  const WitnessAnswers answers = ReadWitnessAnswers();
  ASSERT_EQ(answers.states.size(), 40u);
  ExpectBothAnswer(answers, InferenceBackend::kTara);
}

// Returns a game by the line protocol: the actions of `genmove` to its end.
std::string PlayGame(const std::string& path, const std::string& variant) {
  const std::unique_ptr<engine::EngineModel> model =
      engine::EngineModel::OfNetwork(path,
                                     {.backend = InferenceBackend::kTara,
                                      .precision = Precision::kFloat32},
                                     1 << 12)
          .value();
  engine::EngineOptions options = model->default_options();
  EXPECT_TRUE(engine::SetEngineOptions(
                  "sims=32,reuse=off,lcb=0,proof=off,solver_hills=0", options)
                  .ok());
  const engine::LineSession session = engine::NewLineSession(
      model.get(), options, InitialState(Variant::kSacredHillL1));
  const auto ask = [&](const std::string& line) {
    std::ostringstream out;
    session(line, {}, out);
    return std::string(absl::StripAsciiWhitespace(out.str()));
  };
  EXPECT_EQ(ask(absl::StrCat("variant ", variant)), "=");
  std::vector<std::string> actions;
  std::string answer;
  while (absl::StartsWith(answer = ask("genmove"), "= ")) {
    actions.push_back(answer.substr(2));
  }
  return absl::StrJoin(actions, " ");
}

TEST(WitnessTest, PlaysTheGamesThatItPlayed) {
  const std::string games = ReadWholeFile(kGames).value();
  int count = 0;
  for (const absl::string_view line :
       absl::StrSplit(games, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> game =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    for (const char* path : {kWitnessCheckpoint, kWitnessBundle}) {
      EXPECT_EQ(PlayGame(path, game.first), game.second)
          << path << " " << game.first;
    }
    ++count;
  }
  EXPECT_EQ(count, 2);
}

TEST(WitnessTest, TheBundleVerifiesWithoutLibTorch) {
  // The inputs, what golden.json expects, Tara's kernels, both ONNX models.
  EXPECT_EQ(AgreeingForms(), 5);
}

}  // namespace
}  // namespace tara::nn
