// Networks of an earlier program in LibTorch: README.md beside this file says
// how they were made.

#include <string>

#include "gtest/gtest.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/training/trainer.h"
#include "tests/base/temporary_folder.h"
#include "tests/nn/witness/witness.h"

namespace tara::nn {
namespace {

TEST(WitnessTorchTest, AnswersAsItDid) {
  ExpectBothAnswer(ReadWitnessAnswers(), InferenceBackend::kTorch);
}

TEST(WitnessTorchTest, TheBundleVerifies) {
  // LibTorch as well.
  EXPECT_EQ(AgreeingForms(), 6);
}

TEST(WitnessTorchTest, LearningGoesOnFromTheCheckpoint) {
  const auto loaded =
      LoadTrainer(kWitnessCheckpoint, {.ema_decay = 0.99f, .threads = 1});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  Trainer& trainer = *loaded->first;
  EXPECT_EQ(loaded->second.generation, 10);
  const WitnessAnswers answers = ReadWitnessAnswers();
  ExpectAnswers(answers, trainer);
  // Saved again it plays the same.
  const TemporaryFolder folder;
  const std::string path = folder.At("again.pt");
  ASSERT_TRUE(trainer.Save(path, {}).ok());
  const auto again = LoadNetworkEvaluator(
      path,
      {.backend = InferenceBackend::kTara, .precision = Precision::kFloat32});
  ASSERT_TRUE(again.ok()) << again.status();
  ExpectAnswers(answers, **again);
}

}  // namespace
}  // namespace tara::nn
