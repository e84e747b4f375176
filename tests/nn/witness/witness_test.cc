// Networks of an earlier program load and play as they did: README.md beside
// this file says how they were made.

#include <cstddef>
#include <cstdint>
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
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/atomic_file.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/engine/engine_model.h"
#include "tara/engine/engine_options.h"
#include "tara/engine/line_session.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/verify_bundle.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"
#include "tests/base/temporary_folder.h"

namespace tara::nn {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

constexpr char kCheckpoint[] = "tests/nn/witness/checkpoint.pt";
constexpr char kBundle[] = "tests/nn/witness/bundle.tara";
constexpr char kGames[] = "tests/nn/witness/games.txt";

// Sums are made in another order on other processors; 4e-6 was seen.
constexpr float kTolerance = 1e-4f;

struct Answer {
  State state;
  mcts::Evaluation expected;
};

// Returns the golden positions of the bundle with what its network said of them
// when it was made.
std::vector<Answer> StoredAnswers() {
  const Bundle bundle = Bundle::Open(kBundle).value();
  const std::vector<GoldenPosition> positions =
      GoldenFromJson(bundle.Read(kGoldenEntry).value()).value();
  const auto size = static_cast<int64_t>(positions.size());
  NetworkOutputs outputs;
  for (const NetworkOutputInfo& info :
       NetworkOutputInfos(bundle.manifest().has_owner)) {
    std::vector<int64_t> shape = {size};
    shape.insert(shape.end(), info.axes.begin(), info.axes.end());
    outputs.*info.values =
        FromNpy(bundle.Read(GoldenTensorEntry(info.name)).value(), shape)
            .value();
  }
  std::vector<Answer> answers;
  for (size_t i = 0; i < positions.size(); ++i) {
    answers.push_back(
        {positions[i].state, ToEvaluation(positions[i], outputs, i)});
  }
  return answers;
}

// `evaluator`: an Evaluator or a Trainer.
template <typename Evaluates>
void ExpectAnswers(const std::vector<Answer>& answers, Evaluates& evaluator,
                   float tolerance) {
  std::vector<State> states;
  for (const Answer& answer : answers) states.push_back(answer.state);
  std::vector<mcts::Evaluation> results(states.size());
  ASSERT_TRUE(evaluator.Evaluate(states, absl::MakeSpan(results)).ok());
  for (size_t i = 0; i < states.size(); ++i) {
    const mcts::Evaluation& expected = answers[i].expected;
    EXPECT_THAT(results[i].priors,
                Pointwise(FloatNear(tolerance), expected.priors));
    EXPECT_THAT(results[i].margins,
                Pointwise(FloatNear(tolerance), expected.margins));
    EXPECT_NEAR(results[i].win, expected.win, tolerance);
    EXPECT_NEAR(results[i].draw, expected.draw, tolerance);
    EXPECT_NEAR(results[i].loss, expected.loss, tolerance);
    EXPECT_NEAR(results[i].margin, expected.margin, 10 * tolerance);
  }
}

TEST(WitnessTest, AnswersAsItDid) {
  const std::vector<Answer> answers = StoredAnswers();
  ASSERT_EQ(answers.size(), 40u);
  for (const char* path : {kCheckpoint, kBundle}) {
    for (const InferenceBackend backend :
         {InferenceBackend::kTorch, InferenceBackend::kOneDnn}) {
      const auto evaluator = LoadNetworkEvaluator(
          path, {.backend = backend, .precision = Precision::kFloat32});
      ASSERT_TRUE(evaluator.ok()) << evaluator.status();
      ExpectAnswers(answers, **evaluator, kTolerance);
    }
  }
}

// Returns a game by the line protocol: the actions of `genmove` to its end.
std::string PlayGame(const std::string& path, const std::string& variant) {
  const std::unique_ptr<engine::EngineModel> model =
      engine::EngineModel::OfNetwork(path,
                                     {.backend = InferenceBackend::kOneDnn,
                                      .precision = Precision::kFloat32},
                                     1 << 12)
          .value();
  engine::EngineOptions options = model->default_options();
  EXPECT_TRUE(engine::SetEngineOptions(
                  "sims=32,reuse=off,lcb=0,proof=off,solver_hills=0", options)
                  .ok());
  engine::LineSession session(model.get(), options,
                              InitialState(Variant::kSacredHillL1));
  const auto ask = [&](const std::string& line) {
    std::ostringstream out;
    session.Execute(line, [] { return false; }, out);
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
    for (const char* path : {kCheckpoint, kBundle}) {
      EXPECT_EQ(PlayGame(path, game.first), game.second)
          << path << " " << game.first;
    }
    ++count;
  }
  EXPECT_EQ(count, 2);
}

TEST(WitnessTest, TheBundleVerifies) {
  const auto checks = VerifyBundle(
      Bundle::Open(kBundle).value(),
      [](const std::string&, const NetworkInputs&, bool) {
        return absl::UnavailableError("not in this test");
      },
      /*run_torchscript=*/true);
  ASSERT_TRUE(checks.ok()) << checks.status();
  int agree = 0;
  for (const FormCheck& check : *checks) {
    EXPECT_NE(check.result, CheckResult::kDiffers) << check.name;
    agree += check.result == CheckResult::kAgrees;
  }
  // The inputs, what golden.json expects, LibTorch, oneDNN, TorchScript.
  EXPECT_GE(agree, 5);
}

TEST(WitnessTest, LearningGoesOnFromTheCheckpoint) {
  const auto loaded =
      LoadTrainer(kCheckpoint, {.ema_decay = 0.99f, .threads = 1});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  Trainer& trainer = *loaded->first;
  EXPECT_EQ(loaded->second.generation, 10);
  const std::vector<Answer> answers = StoredAnswers();
  ExpectAnswers(answers, trainer, kTolerance);
  // Saved again it plays the same.
  const TemporaryFolder folder;
  const std::string path = folder.At("again.pt");
  ASSERT_TRUE(trainer.Save(path, {}).ok());
  const auto again = LoadNetworkEvaluator(
      path,
      {.backend = InferenceBackend::kOneDnn, .precision = Precision::kFloat32});
  ASSERT_TRUE(again.ok()) << again.status();
  ExpectAnswers(answers, **again, kTolerance);
}

}  // namespace
}  // namespace tara::nn
