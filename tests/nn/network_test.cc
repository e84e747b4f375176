// The trainer and the evaluator of checkpoints, together: what one learns and
// saves, the other must say.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/heads.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/training/trainer.h"
#include "tests/base/temporary_folder.h"
#include "tests/nn/test_positions.h"

namespace tara::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr NetworkShape kTiny = {.channels = 8, .blocks = 2};
constexpr TrainerOptions kOneThread = {.threads = 1};

class NetworkTest : public ::testing::Test {
 protected:
  // Samples whose targets are functions of the position: learnable.
  static std::vector<Sample> MakeSamples(int per_variant, uint64_t seed) {
    Random random(DeriveSeed(seed, 0, StreamPurpose::kTest));
    std::vector<Sample> samples;
    for (const State& state : RandomPositionsOfAllVariants(per_variant, seed)) {
      const LegalSet legal = LegalActions(state);
      Sample sample = {.state = state,
                       .symmetry = CanonicalSymmetry(state),
                       .policy = {{legal.Nth(legal.Count() / 2), 1.0f}},
                       .result = {},
                       .margin = static_cast<int>(random.Below(9)) - 4};
      sample.result[random.Below(3)] = 1;
      if (samples.size() % 7 == 6) sample.policy.clear();
      samples.push_back(sample);
    }
    return samples;
  }

  // A trainer after a few steps: its norms have means of their own.
  static std::unique_ptr<Trainer> Trained(const NetworkShape& shape,
                                          int steps) {
    auto trainer = NewTrainer(shape, kOneThread, 1);
    const auto samples = MakeSamples(6, 11);
    for (int i = 0; i < steps; ++i)
      EXPECT_TRUE(trainer->Step(samples, 3e-3).ok());
    return trainer;
  }

  std::unique_ptr<mcts::Evaluator> SavedAndLoaded(Trainer& trainer) {
    EXPECT_TRUE(trainer.Save(path_, {}).ok());
    auto evaluator =
        LoadNetworkEvaluator(path_, {.precision = Precision::kFloat32});
    EXPECT_TRUE(evaluator.ok()) << evaluator.status();
    return *std::move(evaluator);
  }

  static std::vector<mcts::Evaluation> Evaluate(
      mcts::Evaluator& evaluator, const std::vector<State>& states) {
    std::vector<mcts::Evaluation> results(states.size());
    EXPECT_TRUE(evaluator.Evaluate(states, absl::MakeSpan(results)).ok());
    return results;
  }

  static void ExpectNear(const mcts::Evaluation& a, const mcts::Evaluation& b,
                         float tolerance) {
    ASSERT_EQ(a.priors.size(), b.priors.size());
    for (size_t i = 0; i < a.priors.size(); ++i) {
      EXPECT_NEAR(a.priors[i], b.priors[i], tolerance);
    }
    EXPECT_NEAR(a.win, b.win, tolerance);
    EXPECT_NEAR(a.draw, b.draw, tolerance);
    EXPECT_NEAR(a.loss, b.loss, tolerance);
    EXPECT_NEAR(a.margin, b.margin, 10 * tolerance);
    ASSERT_EQ(a.margins.size(), b.margins.size());
    for (size_t i = 0; i < a.margins.size(); ++i) {
      EXPECT_NEAR(a.margins[i], b.margins[i], tolerance);
    }
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.At("network.checkpoint");
};

TEST_F(NetworkTest, AnswersAreProbabilitiesForEveryVariant) {
  const auto trainer = Trained(kTiny, 2);
  const auto evaluator = SavedAndLoaded(*trainer);
  const auto states = RandomPositionsOfAllVariants(30, 21);
  const auto results = Evaluate(*evaluator, states);
  for (size_t i = 0; i < states.size(); ++i) {
    const mcts::Evaluation& result = results[i];
    ASSERT_EQ(static_cast<int>(result.priors.size()),
              LegalActions(states[i]).Count());
    float sum = 0;
    for (const float prior : result.priors) {
      EXPECT_GE(prior, 0);
      sum += prior;
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_NEAR(result.win + result.draw + result.loss, 1, 1e-5);
    ASSERT_EQ(result.margins.size(), kNumMargins);
    float mean = 0;
    sum = 0;
    for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
      const float chance = result.margins[margin + kMaxMargin];
      EXPECT_GE(chance, 0);
      sum += chance;
      mean += static_cast<float>(margin) * chance;
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_NEAR(result.margin, mean, 1e-4);
  }
}

TEST_F(NetworkTest, InferenceAgreesWithTheNetworkUnderTraining) {
  for (const NetworkShape shape :
       {kTiny, NetworkShape{.channels = 24, .blocks = 3},
        NetworkShape{.channels = 32, .blocks = 1}}) {
    const auto trainer = Trained(shape, 5);
    const auto evaluator = SavedAndLoaded(*trainer);
    const auto states = RandomPositionsOfAllVariants(10, 22);
    std::vector<mcts::Evaluation> expected(states.size());
    ASSERT_TRUE(trainer->Evaluate(states, absl::MakeSpan(expected)).ok());
    const auto results = Evaluate(*evaluator, states);
    for (size_t i = 0; i < states.size(); ++i) {
      ExpectNear(results[i], expected[i], 1e-4f);
    }
  }
}

TEST_F(NetworkTest, AnAnswerDoesNotDependOnTheRestOfTheBatch) {
  const auto trainer = Trained(kTiny, 3);
  const auto evaluator = SavedAndLoaded(*trainer);
  // More than are computed at once, so that batches of several sizes occur.
  const auto states = RandomPositionsOfAllVariants(15, 23);
  const auto together = Evaluate(*evaluator, states);
  for (size_t i = 0; i < states.size(); i += 7) {
    ExpectNear(Evaluate(*evaluator, {states[i]})[0], together[i], 1e-5f);
  }
  const std::vector<State> few(states.begin() + 40, states.begin() + 45);
  const auto alone = Evaluate(*evaluator, few);
  for (size_t i = 0; i < few.size(); ++i) {
    ExpectNear(alone[i], together[40 + i], 1e-5f);
  }
  EXPECT_TRUE(Evaluate(*evaluator, {}).empty());
}

TEST_F(NetworkTest, ColoursAndSeatsExchangedGetTheSameAnswer) {
  const auto trainer = Trained(kTiny, 3);
  const auto evaluator = SavedAndLoaded(*trainer);
  for (const State& state : RandomPositionsOfAllVariants(5, 24)) {
    const State canonical = TransformState(CanonicalSymmetry(state), state);
    const auto results = Evaluate(*evaluator, {state, canonical});
    EXPECT_NEAR(results[0].win, results[1].win, 1e-5);
    EXPECT_NEAR(results[0].margin, results[1].margin, 1e-4);
    // Priors belong to actions: the image of each has the same.
    std::vector<float> prior_of(kNumActions, -1);
    int i = 0;
    LegalActions(canonical).ForEach([&](Action action) {
      prior_of[Index(action)] = results[1].priors[i++];
    });
    i = 0;
    LegalActions(state).ForEach([&](Action action) {
      EXPECT_NEAR(
          results[0].priors[i++],
          prior_of[Index(TransformAction(CanonicalSymmetry(state), action))],
          1e-5);
    });
  }
}

TEST_F(NetworkTest, SeveralThreadsMayAskAtOnce) {
  const auto trainer = Trained(kTiny, 2);
  const auto evaluator = SavedAndLoaded(*trainer);
  const auto states = RandomPositionsOfAllVariants(4, 25);
  const auto expected = Evaluate(*evaluator, states);
  std::vector<std::vector<mcts::Evaluation>> results(4);
  {
    std::vector<std::thread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) result = Evaluate(*evaluator, states);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (const auto& result : results) {
    for (size_t i = 0; i < states.size(); ++i) {
      ExpectNear(result[i], expected[i], 1e-5f);
    }
  }
}

TEST_F(NetworkTest, ATinyBatchIsLearnedByHeart) {
  const auto trainer = NewTrainer({.channels = 16, .blocks = 2}, kOneThread, 3);
  const auto samples = MakeSamples(3, 31);
  const auto first = trainer->Step(samples, 1e-2);
  ASSERT_TRUE(first.ok()) << first.status();
  // Of a new network: about ln 3 for three results.
  EXPECT_NEAR(first->heads[Head::kValue], std::log(3.0), 0.3);
  // About the entropy of the first opinion of margins: of a Laplace
  // distribution of scale 4, 1 + ln 8; targets within 4 points lose less.
  EXPECT_LT(first->heads[Head::kMargin], 1 + std::log(8.0));
  EXPECT_GT(first->heads[Head::kMargin], 2);
  Losses last;
  for (int i = 0; i < 150; ++i) last = *trainer->Step(samples, 1e-2);
  EXPECT_LT(last.heads[Head::kPolicy], 0.1);
  EXPECT_LT(last.heads[Head::kValue], 0.1);
  EXPECT_LT(last.heads[Head::kMargin], 0.05);
  EXPECT_GT(last.policy_accuracy, 0.95);
}

TEST_F(NetworkTest, SamplesWithoutAPolicyTeachNone) {
  auto samples = MakeSamples(2, 32);
  for (Sample& sample : samples) sample.policy.clear();
  const auto trainer = NewTrainer(kTiny, kOneThread, 3);
  const auto losses = trainer->Step(samples, 1e-3);
  ASSERT_TRUE(losses.ok());
  EXPECT_EQ(losses->heads[Head::kPolicy], 0);
  EXPECT_EQ(losses->policy_accuracy, 0);
  EXPECT_GT(losses->heads[Head::kValue], 0);
  EXPECT_NEAR(
      losses->total,
      losses->heads[Head::kValue] +
          kOneThread.loss_weights[Head::kMargin] * losses->heads[Head::kMargin],
      1e-5);
}

TEST_F(NetworkTest, SamplesWithoutAMarginTeachNone) {
  auto samples = MakeSamples(2, 32);
  const auto trainer = NewTrainer(kTiny, kOneThread, 3);
  const std::vector<Sample> half(samples.begin(),
                                 samples.begin() + samples.size() / 2);
  const auto of_half = trainer->Measure(half);
  for (size_t i = half.size(); i < samples.size(); ++i) {
    samples[i].has_margin = false;
  }
  const auto of_all = trainer->Measure(samples);
  ASSERT_TRUE(of_half.ok() && of_all.ok());
  EXPECT_NEAR(of_all->heads[Head::kMargin], of_half->heads[Head::kMargin],
              1e-5);
  EXPECT_NE(of_all->heads[Head::kValue], of_half->heads[Head::kValue]);
  for (Sample& sample : samples) sample.has_margin = false;
  EXPECT_EQ(trainer->Measure(samples)->heads[Head::kMargin], 0);
}

TEST_F(NetworkTest, TheUniformPolicyLosesTheLogarithmOfTheActions) {
  // Of a target spread evenly over n actions, an even prior loses ln n; of the
  // first position of Four Treasures, ln 45. A new network is nearly even.
  const State state = InitialState(Variant::kFourTreasures);
  Sample sample = {
      .state = state, .symmetry = CanonicalSymmetry(state), .policy = {}};
  LegalActions(state).ForEach(
      [&](Action action) { sample.policy.emplace_back(action, 1 / 45.0f); });
  const auto trainer = NewTrainer(kTiny, kOneThread, 3);
  const auto losses = trainer->Measure({sample});
  ASSERT_TRUE(losses.ok());
  EXPECT_GE(losses->heads[Head::kPolicy], std::log(45.0) - 1e-4);
  EXPECT_LT(losses->heads[Head::kPolicy], std::log(45.0) + 0.5);
}

TEST_F(NetworkTest, MeasuringLearnsNothing) {
  const auto samples = MakeSamples(2, 33);
  const auto trainer = Trained(kTiny, 2);
  const auto first = trainer->Measure(samples);
  const auto second = trainer->Measure(samples);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->total, second->total);
}

TEST_F(NetworkTest, TheSeedAloneDecidesTheFirstWeights) {
  const auto samples = MakeSamples(2, 34);
  const auto total = [&](uint64_t seed) {
    return NewTrainer(kTiny, kOneThread, seed)->Measure(samples)->total;
  };
  EXPECT_EQ(total(5), total(5));
  EXPECT_NE(total(5), total(6));
}

TEST_F(NetworkTest, ResumedTrainingGoesOnExactly) {
  constexpr int kSteps = 4;
  const TrainingProgress progress = {.step = 4, .generation = 2, .samples = 99};
  const auto step = [](Trainer& trainer, int i) {
    const auto losses = trainer.Step(MakeSamples(2, 40 + i), 3e-3);
    EXPECT_TRUE(losses.ok());
    return losses->total;
  };
  const auto whole = NewTrainer(kTiny, kOneThread, 1);
  const auto half = NewTrainer(kTiny, kOneThread, 1);
  for (int i = 0; i < kSteps; ++i) {
    EXPECT_EQ(step(*whole, i), step(*half, i));
  }
  ASSERT_TRUE(half->Save(path_, progress).ok());
  auto resumed = LoadTrainer(path_, kOneThread);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(resumed->second, progress);
  for (int i = kSteps; i < 2 * kSteps; ++i) {
    EXPECT_EQ(step(*resumed->first, i), step(*whole, i)) << i;
  }
  // The whole file, optimizer and norms included.
  const std::string other = folder_.At("other.checkpoint");
  ASSERT_TRUE(resumed->first->Save(path_, progress).ok());
  ASSERT_TRUE(whole->Save(other, progress).ok());
  const auto bytes = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(bytes(path_), bytes(other));
}

TEST_F(NetworkTest, ADamagedCheckpointIsRefusedByAllWhoLoadIt) {
  ASSERT_TRUE(NewTrainer(kTiny, kOneThread, 1)->Save(path_, {}).ok());
  std::filesystem::resize_file(path_, 1000);
  EXPECT_EQ(LoadTrainer(path_, kOneThread).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(LoadNetworkEvaluator(path_).status().code(),
            absl::StatusCode::kDataLoss);
  std::filesystem::remove(path_);
  EXPECT_EQ(LoadTrainer(path_, kOneThread).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(LoadNetworkEvaluator(path_).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(NetworkTest, OutputsThatAreNotFiniteAreAnErrorThatNamesTheFile) {
  ASSERT_TRUE(NewTrainer(kTiny, kOneThread, 1)->Save(path_, {}).ok());
  auto checkpoint = ReadCheckpoint(path_);
  ASSERT_TRUE(checkpoint.ok());
  for (NamedTensor& tensor : checkpoint->tensors) {
    std::fill(tensor.values.begin(), tensor.values.end(), 3e38f);
  }
  ASSERT_TRUE(WriteCheckpoint(path_, *checkpoint).ok());
  for (const InferenceBackend backend :
       {InferenceBackend::kTara, InferenceBackend::kTorch}) {
    const auto evaluator = LoadNetworkEvaluator(
        path_, {.backend = backend, .precision = Precision::kFloat32});
    ASSERT_TRUE(evaluator.ok()) << evaluator.status();
    const State state = InitialState(Variant::kFourTreasures);
    mcts::Evaluation result;
    const absl::Status status =
        (*evaluator)->Evaluate({&state, 1}, {&result, 1});
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("Checkpoint " + path_),
                      HasSubstr("four_treasures "), HasSubstr("not finite")));
  }
}

TEST_F(NetworkTest, ACheckpointWithoutATensorIsRefusedByName) {
  ASSERT_TRUE(NewTrainer(kTiny, kOneThread, 1)->Save(path_, {}).ok());
  auto checkpoint = ReadCheckpoint(path_);
  ASSERT_TRUE(checkpoint.ok());
  const std::string missing = checkpoint->tensors[0].name;
  checkpoint->tensors.erase(checkpoint->tensors.begin());
  ASSERT_TRUE(WriteCheckpoint(path_, *checkpoint).ok());
  for (const absl::Status& status : {LoadTrainer(path_, kOneThread).status(),
                                     LoadNetworkEvaluator(path_).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), HasSubstr(missing));
  }
}

}  // namespace
}  // namespace tara::nn
