// What the trainer does besides fitting: auxiliary heads, averages, weights of
// samples, steps that are not made, and going on exactly.

#include "tara/nn/training/trainer.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/base/random.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/light/light.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/nn/weights/fold_norms.h"
#include "tests/base/temporary_folder.h"
#include "tests/nn/test_positions.h"

namespace tara::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr NetworkShape kTiny = {.channels = 8, .blocks = 2};
// Every auxiliary head learns, with a weight of its own.
constexpr PerHead<float> AllWeights() {
  PerHead<float> weights = LossWeights();
  for (const HeadInfo& info : kHeads) {
    if (!info.is_auxiliary) continue;
    weights[info.head] = 0.9f / static_cast<float>(info.head);
  }
  return weights;
}
constexpr TrainerOptions kAllHeads = {.loss_weights = AllWeights(),
                                      .threads = 1};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Board RandomBoard(Board among, Random& random) {
  Board board = 0;
  ForEachHill(among, [&](Hill hill) {
    if (random.Below(3) == 0) board |= BoardOf(hill);
  });
  return board;
}

std::vector<Sample> MakeSamples(int per_variant, uint64_t seed) {
  Random random(DeriveSeed(seed, 0, StreamPurpose::kTest));
  std::vector<Sample> samples;
  for (const State& state : RandomPositionsOfAllVariants(per_variant, seed)) {
    const LegalSet legal = LegalActions(state);
    Sample sample = {.state = state,
                     .symmetry = CanonicalSymmetry(state),
                     .policy = {{legal.Nth(legal.Count() / 2), 1.0f}},
                     .reply = {{legal.Nth(0), 1.0f}},
                     .result = {0.5f, 0.25f, 0.25f},
                     .margin = static_cast<int>(random.Below(9)) - 4,
                     .has_final = true};
    sample.own_hills = RandomBoard(kAllHills, random);
    sample.enemy_hills = RandomBoard(kAllHills & ~sample.own_hills, random);
    sample.own_kingdoms = static_cast<int>(random.Below(10));
    sample.enemy_kingdoms = static_cast<int>(random.Below(40));
    samples.push_back(sample);
  }
  return samples;
}

// Returns the bytes of addresses that the process has.
rlim_t AddressSpace() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// The tensors of a checkpoint by name.
using Tensors = std::map<std::string, std::vector<float>>;

class TrainerTest : public ::testing::Test {
 protected:
  std::string Bytes(Trainer& trainer) {
    EXPECT_TRUE(trainer.Save(path_, {}).ok());
    std::ifstream file(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  Tensors TensorsOf(Trainer& trainer) {
    EXPECT_TRUE(trainer.Save(path_, {}).ok());
    const auto checkpoint = ReadCheckpoint(path_);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
    Tensors tensors;
    for (const NamedTensor& tensor : checkpoint->tensors) {
      tensors[tensor.name] = tensor.values;
    }
    return tensors;
  }
  static void Learn(Trainer& trainer, int first_step, int steps) {
    for (int i = first_step; i < first_step + steps; ++i) {
      const auto losses = trainer.Step(MakeSamples(1, 100 + i), 3e-3);
      ASSERT_TRUE(losses.ok()) << losses.status();
      ASSERT_FALSE(losses->skipped);
    }
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.At("network.checkpoint");
};

TEST_F(TrainerTest, EveryAuxiliaryHeadLearnsATinyBatchByHeart) {
  TrainerOptions options = kAllHeads;
  for (const HeadInfo& info : kHeads) {
    if (info.is_auxiliary) options.loss_weights[info.head] = 1;
  }
  const auto trainer = NewTrainer({.channels = 16, .blocks = 2}, options, 3);
  const auto samples = MakeSamples(1, 31);
  const Losses first = *trainer->Step(samples, 1e-2);
  // A new head's chances are about even: of 3 owners, 25 numbers of kingdoms,
  // and 932 outputs.
  EXPECT_NEAR(first.heads[Head::kOwner], std::log(3.0), 0.2);
  EXPECT_NEAR(first.heads[Head::kKingdoms], std::log(25.0), 0.4);
  EXPECT_NEAR(first.heads[Head::kReply], std::log(932.0), 0.75);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(trainer->Step(samples, 1e-2).ok());
  }
  const Losses last = *trainer->Step(samples, 1e-3);
  for (const HeadInfo& info : kHeads) {
    if (!info.is_auxiliary) continue;
    EXPECT_GT(first.heads[info.head], 0) << info.name;
    EXPECT_LT(last.heads[info.head], 0.15 * first.heads[info.head])
        << info.name;
  }
}

TEST_F(TrainerTest, TheTotalIsTheWeightedSumOfAllLosses) {
  const Losses losses =
      *NewTrainer(kTiny, kAllHeads, 1)->Measure(MakeSamples(1, 3));
  double total = 0;
  for (const HeadInfo& info : kHeads) {
    EXPECT_GT(losses.heads[info.head], 0) << info.name;
    total += kAllHeads.loss_weights[info.head] * losses.heads[info.head];
  }
  EXPECT_NEAR(losses.total, total, 1e-4);
}

TEST_F(TrainerTest, AHeadWithoutALossIsNeitherComputedNorChanged) {
  const auto trainer = NewTrainer(kTiny, {.threads = 1}, 1);
  const Tensors before = TensorsOf(*trainer);
  const Losses losses = *trainer->Step(MakeSamples(1, 3), 1e-2);
  for (const HeadInfo& info : kHeads) {
    EXPECT_EQ(losses.heads[info.head] == 0, info.is_auxiliary) << info.name;
  }
  int auxiliary = 0;
  for (const auto& [name, values] : TensorsOf(*trainer)) {
    if (AuxiliaryHeadOf(name) != nullptr) {
      EXPECT_EQ(values, before.at(name)) << name;
      ++auxiliary;
    } else if (absl::EndsWith(name, "conv.weight")) {
      EXPECT_NE(values, before.at(name)) << name;
    }
  }
  EXPECT_GT(auxiliary, 0);
}

// A head that kHeads lacks would make checkpoints of before unreadable, and
// would be in every bundle.
TEST_F(TrainerTest, EveryTensorIsOfTheTowerOrOfAHead) {
  const Tensors tensors = TensorsOf(*NewTrainer(kTiny, kAllHeads, 1));
  std::set<absl::string_view> found;
  for (const auto& [name, values] : tensors) {
    if (IsOfOptimizer(name) || absl::StartsWith(name, "stem_") ||
        absl::StartsWith(name, "block")) {
      continue;
    }
    const auto head =
        std::find_if(kHeads.begin(), kHeads.end(), [&](const HeadInfo& info) {
          return absl::StartsWith(name, info.tensors);
        });
    ASSERT_NE(head, kHeads.end()) << name;
    found.insert(head->tensors);
  }
  for (const HeadInfo& info : kHeads) {
    EXPECT_TRUE(found.contains(info.tensors)) << info.name;
  }
}

TEST_F(TrainerTest, SamplesWithoutAnEndOrAReplyTeachNone) {
  auto samples = MakeSamples(1, 4);
  const auto trainer = NewTrainer(kTiny, kAllHeads, 1);
  const std::vector<Sample> half(samples.begin(), samples.begin() + 5);
  const Losses of_half = *trainer->Measure(half);
  for (size_t i = 5; i < samples.size(); ++i) {
    samples[i].has_final = false;
    samples[i].reply.clear();
  }
  const Losses of_all = *trainer->Measure(samples);
  for (const HeadInfo& info : kHeads) {
    if (!info.is_auxiliary) continue;
    EXPECT_NEAR(of_all.heads[info.head], of_half.heads[info.head], 1e-5);
  }
  for (Sample& sample : samples) {
    sample.has_final = false;
    sample.reply.clear();
  }
  const Losses of_none = *trainer->Measure(samples);
  for (const HeadInfo& info : kHeads) {
    if (!info.is_auxiliary) continue;
    EXPECT_EQ(of_none.heads[info.head], 0) << info.name;
  }
}

// Showing a position through a symmetry is showing the position that the
// symmetry makes of it, as it is: targets must go the same way.
TEST_F(TrainerTest, TargetsGoWhereTheSymmetryTakesThePosition) {
  const auto trainer = NewTrainer(kTiny, kAllHeads, 1);
  int turned = 0;
  for (const Sample& original : MakeSamples(2, 5)) {
    for (const Symmetry& symmetry :
         PositionSymmetries(original.state.variant)) {
      Sample seen = original;
      seen.symmetry = symmetry;
      Sample made = original;
      made.state = TransformState(symmetry, original.state);
      if (made.state.seat != 0) continue;
      made.symmetry = {0, 0};
      made.own_hills = made.enemy_hills = 0;
      ForEachHill(original.own_hills, [&](Hill hill) {
        made.own_hills |= BoardOf(TransformHill(symmetry.board, hill));
      });
      ForEachHill(original.enemy_hills, [&](Hill hill) {
        made.enemy_hills |= BoardOf(TransformHill(symmetry.board, hill));
      });
      for (PolicyTarget* const target : {&made.policy, &made.reply}) {
        for (auto& [action, share] : *target) {
          action = TransformAction(symmetry, action);
        }
      }
      const Losses a = *trainer->Measure({seen});
      const Losses b = *trainer->Measure({made});
      for (const HeadInfo& info : kHeads) {
        EXPECT_EQ(a.heads[info.head], b.heads[info.head]) << info.name;
      }
      EXPECT_EQ(a.total, b.total);
      if (made.own_hills == original.own_hills) continue;
      made.own_hills = original.own_hills;
      made.enemy_hills = original.enemy_hills;
      EXPECT_NE(trainer->Measure({made})->heads[Head::kOwner],
                b.heads[Head::kOwner]);
      ++turned;
    }
  }
  EXPECT_GT(turned, 20);
}

TEST_F(TrainerTest, AWeightOfTwoIsTheSampleTwice) {
  const auto trainer = NewTrainer(kTiny, kAllHeads, 1);
  std::vector<Sample> weighted = MakeSamples(1, 6);
  std::vector<Sample> repeated = weighted;
  for (size_t i = 0; i < weighted.size(); i += 3) {
    repeated.push_back(weighted[i]);
    weighted[i].weight = 2;
  }
  // A common factor changes nothing; no weight is no sample.
  for (Sample& sample : weighted) sample.weight *= 0.25f;
  weighted.push_back(MakeSamples(1, 7)[0]);
  weighted.back().weight = 0;
  const Losses a = *trainer->Measure(weighted);
  const Losses b = *trainer->Measure(repeated);
  for (const HeadInfo& info : kHeads) {
    EXPECT_NEAR(a.heads[info.head], b.heads[info.head], 1e-5) << info.name;
  }
  EXPECT_NEAR(a.policy_accuracy, b.policy_accuracy, 1e-6);
}

TEST_F(TrainerTest, ThePublishedNetworkIsTheAverageOfTheWeights) {
  TrainerOptions options = kAllHeads;
  options.ema_decay = 0.3f;
  const auto trainer = NewTrainer(kTiny, options, 1);
  Tensors average = TensorsOf(*trainer);
  int averaged = 0;
  for (int t = 1; t <= 4; ++t) {
    Learn(*trainer, t, 1);
    const Tensors now = TensorsOf(*trainer);
    // (1 + t) / (10 + t): 2/11, 3/12, 4/13 = 0.31, 5/14.
    const double decay = std::min(0.3, (1.0 + t) / (10.0 + t));
    for (const auto& [name, raw] : now) {
      if (!absl::StartsWith(name, "raw/")) continue;
      const std::string plain = name.substr(4);
      std::vector<float>& expected = average.at(plain);
      ASSERT_EQ(now.at(plain).size(), raw.size());
      for (size_t i = 0; i < raw.size(); ++i) {
        expected[i] =
            static_cast<float>(decay * expected[i] + (1 - decay) * raw[i]);
        ASSERT_NEAR(now.at(plain)[i], expected[i], 1e-5) << plain;
      }
      averaged += absl::EndsWith(plain, "running_var") ? 1 : 0;
    }
  }
  EXPECT_EQ(averaged, 4 * 7);  // norms: stem, 2 x 2 of blocks, 2 of heads
}

TEST_F(TrainerTest, WhoeverLoadsTheCheckpointPlaysTheAverage) {
  TrainerOptions options = kAllHeads;
  options.ema_decay = 0.9f;
  const auto trainer = NewTrainer(kTiny, options, 1);
  Learn(*trainer, 0, 5);
  ASSERT_TRUE(trainer->Save(path_, {}).ok());
  const auto evaluator = LoadNetworkEvaluator(path_);
  ASSERT_TRUE(evaluator.ok()) << evaluator.status();
  const auto states = RandomPositionsOfAllVariants(2, 8);
  std::vector<mcts::Evaluation> expected(states.size()), results(states.size());
  ASSERT_TRUE(trainer->Evaluate(states, absl::MakeSpan(expected)).ok());
  ASSERT_TRUE((*evaluator)->Evaluate(states, absl::MakeSpan(results)).ok());
  for (size_t i = 0; i < states.size(); ++i) {
    EXPECT_NEAR(results[i].win, expected[i].win, 1e-4);
    EXPECT_NEAR(results[i].priors[0], expected[i].priors[0], 1e-4);
  }
}

class GrowNetworkTest : public TrainerTest {
 protected:
  // A network that has learned a little.
  Checkpoint Smaller() {
    const auto trainer = NewTrainer(kTiny, kAllHeads, 1);
    Learn(*trainer, 0, 5);
    EXPECT_TRUE(trainer->Save(path_, {.step = 5}).ok());
    return ReadCheckpoint(path_).value();
  }
  static std::vector<mcts::Evaluation> Evaluations(
      const Checkpoint& checkpoint, const std::vector<State>& states) {
    std::vector<mcts::Evaluation> results(states.size());
    EXPECT_TRUE(MakeTrainer("network", checkpoint, kAllHeads)
                    .value()
                    ->Evaluate(states, absl::MakeSpan(results))
                    .ok());
    return results;
  }
};

TEST_F(GrowNetworkTest, ALargerNetworkComputesTheSame) {
  const Checkpoint smaller = Smaller();
  const auto states = RandomPositionsOfAllVariants(3, 8);
  const auto expected = Evaluations(smaller, states);
  for (const NetworkShape shape : {
           NetworkShape{.channels = 8, .blocks = 2},
           NetworkShape{.channels = 8, .blocks = 5},
           NetworkShape{.channels = 11, .blocks = 2},
           NetworkShape{.channels = 16, .blocks = 3},
           // As many as the value head's own.
           NetworkShape{.channels = 32, .blocks = 2},
           NetworkShape{.channels = 64, .blocks = 4},
       }) {
    SCOPED_TRACE(absl::StrCat(shape.channels, " x ", shape.blocks));
    const auto larger =
        GrowNetwork(smaller, NewCheckpoint(shape, /*seed=*/2).value());
    ASSERT_TRUE(larger.ok()) << larger.status();
    EXPECT_EQ(larger->shape, shape);
    EXPECT_EQ(larger->progress, TrainingProgress());
    const auto results = Evaluations(*larger, states);
    for (size_t i = 0; i < states.size(); ++i) {
      EXPECT_NEAR(results[i].win, expected[i].win, 1e-5);
      EXPECT_NEAR(results[i].margin, expected[i].margin, 1e-3);
      ASSERT_EQ(results[i].priors.size(), expected[i].priors.size());
      for (size_t k = 0; k < expected[i].priors.size(); ++k) {
        EXPECT_NEAR(results[i].priors[k], expected[i].priors[k], 1e-5);
      }
    }
  }
}

// What adds nothing must not stay so.
TEST_F(GrowNetworkTest, AllThatIsNewLearnsFromTheFirstStepsOn) {
  const Checkpoint larger =
      GrowNetwork(Smaller(),
                  NewCheckpoint({.channels = 12, .blocks = 4}, 2).value())
          .value();
  const auto trainer = MakeTrainer("network", larger, kAllHeads).value();
  Learn(*trainer, 5, 3);
  const Tensors after = TensorsOf(*trainer);
  int tensors = 0;
  for (const NamedTensor& before : larger.tensors) {
    // Heads learn of what the few positions have.
    if (!absl::StrContains(before.name, "conv") &&
        !absl::StartsWith(before.name, "block")) {
      continue;
    }
    const std::vector<float>& now = after.at(before.name);
    int zeros = 0;
    int moved = 0;
    for (size_t i = 0; i < now.size(); ++i) {
      if (before.values[i] != 0) continue;
      ++zeros;
      moved += now[i] != 0 ? 1 : 0;
    }
    // A channel that no position wakes learns nothing.
    EXPECT_GE(2 * moved, zeros) << before.name;
    tensors += zeros > 0 ? 1 : 0;
  }
  EXPECT_GT(tensors, 20);
}

TEST_F(GrowNetworkTest, NetworksThatCannotGrowAreRefused) {
  const auto error = [](const Checkpoint& smaller, const NetworkShape& shape) {
    const auto larger = GrowNetwork(smaller, NewCheckpoint(shape, 2).value());
    EXPECT_EQ(larger.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(larger.status().message());
  };
  Checkpoint smaller = Smaller();
  EXPECT_EQ(error(smaller, {.channels = 4, .blocks = 2}),
            "a network of 8 channels and 2 blocks cannot become one of 4 and "
            "2");
  EXPECT_THAT(error(smaller, {.channels = 16, .blocks = 1}),
              HasSubstr("cannot become one of 16 and 1"));
  for (NamedTensor& tensor : smaller.tensors) {
    if (tensor.name == "block1.first.conv.weight") tensor.shape[1] = 9;
  }
  EXPECT_EQ(error(smaller, {.channels = 16, .blocks = 2}),
            "tensor block1.first.conv.weight has another shape than in a "
            "network of 8 channels");
  smaller.tensors.erase(smaller.tensors.begin());
  EXPECT_EQ(error(smaller, {.channels = 16, .blocks = 2}),
            "missing tensor stem_conv.weight");
}

class KindsOfTrainersTest : public TrainerTest {
 protected:
  static std::vector<TrainerOptions> Kinds() {
    std::vector<TrainerOptions> kinds;
    for (const auto optimizer :
         {OptimizerKind::kAdamW, OptimizerKind::kMuon, OptimizerKind::kSgd}) {
      for (const float decay : {0.0f, 0.9f}) {
        for (const bool deferred : {false, true}) {
          kinds.push_back(kAllHeads);
          kinds.back().optimizer = optimizer;
          kinds.back().ema_decay = decay;
          kinds.back().deferred = deferred;
        }
      }
    }
    return kinds;
  }
};

TEST_F(KindsOfTrainersTest, SixStepsAreThreeAndThreeWithASaveBetween) {
  for (const TrainerOptions& options : Kinds()) {
    const auto whole = NewTrainer(kTiny, options, 1);
    Learn(*whole, 0, 6);
    const auto half = NewTrainer(kTiny, options, 1);
    Learn(*half, 0, 3);
    ASSERT_TRUE(half->Save(path_, {}).ok());
    auto resumed = LoadTrainer(path_, options);
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    Learn(*resumed->first, 3, 3);
    EXPECT_EQ(Bytes(*whole), Bytes(*resumed->first));
  }
}

TEST_F(KindsOfTrainersTest, AStepThatIsNotFiniteChangesNothing) {
  for (const TrainerOptions& options : Kinds()) {
    const auto trainer = NewTrainer(kTiny, options, 1);
    const auto twin = NewTrainer(kTiny, options, 1);
    Learn(*trainer, 0, 2);
    Learn(*twin, 0, 2);
    const std::string before = Bytes(*trainer);
    std::vector<Sample> samples = MakeSamples(1, 9);
    samples[3].weight = kInfinity;
    auto losses = trainer->Step(samples, 3e-3);
    ASSERT_TRUE(losses.ok()) << losses.status();
    EXPECT_TRUE(losses->skipped);
    EXPECT_FALSE(std::isfinite(losses->total));
    EXPECT_EQ(Bytes(*trainer), before);
    // A loss that is finite, with gradients that are not.
    samples = MakeSamples(1, 9);
    samples[3].policy[0].second = 1e37f;
    losses = trainer->Step(samples, 3e-3);
    ASSERT_TRUE(losses.ok()) << losses.status();
    EXPECT_TRUE(losses->skipped);
    EXPECT_TRUE(std::isfinite(losses->total));
    EXPECT_EQ(Bytes(*trainer), before);
    // And it goes on as if nothing had happened.
    Learn(*trainer, 2, 2);
    Learn(*twin, 2, 2);
    EXPECT_EQ(Bytes(*trainer), Bytes(*twin));
  }
}

// What devices do, against its simple twin.
TEST_F(KindsOfTrainersTest, DeferredStepsAreStepsUpToRounding) {
  constexpr int kSteps = 6;
  constexpr int kBad = 3;
  for (const TrainerOptions& options : Kinds()) {
    if (options.deferred) continue;
    TrainerOptions deferred = options;
    deferred.deferred = true;
    const auto plain = NewTrainer(kTiny, options, 1);
    const auto trainer = NewTrainer(kTiny, deferred, 1);
    std::vector<Losses> expected;
    for (int i = 0; i < kSteps; ++i) {
      std::vector<Sample> samples = MakeSamples(1, 100 + i);
      if (i == kBad) samples[3].weight = kInfinity;
      expected.push_back(*plain->Step(samples, 1e-3));
      const auto batch = trainer->Prepare(samples);
      ASSERT_TRUE(batch.ok()) << batch.status();
      ASSERT_TRUE(trainer->StartStep(**batch, 1e-3).ok());
      // Until it is read, the step that was not made counts in the means of
      // AdamW and in the average.
      if (i == kBad) {
        const auto losses = trainer->FinishSteps();
        ASSERT_TRUE(losses.ok()) << losses.status();
        ASSERT_EQ(losses->size(), size_t{kBad + 1});
        for (int k = 0; k <= kBad; ++k) {
          EXPECT_EQ((*losses)[k].skipped, k == kBad);
          if (k == kBad) continue;
          EXPECT_NEAR((*losses)[k].total, expected[k].total, 1e-4) << k;
          EXPECT_EQ((*losses)[k].policy_accuracy, expected[k].policy_accuracy);
          for (const HeadInfo& info : kHeads) {
            EXPECT_NEAR((*losses)[k].heads[info.head],
                        expected[k].heads[info.head], 1e-4)
                << info.name;
          }
        }
      }
    }
    EXPECT_TRUE(expected[kBad].skipped);
    EXPECT_EQ(trainer->FinishSteps()->size(), size_t{kSteps - kBad - 1});
    EXPECT_TRUE(trainer->FinishSteps()->empty());
    const Tensors tensors = TensorsOf(*trainer);
    for (const auto& [name, values] : TensorsOf(*plain)) {
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_NEAR(tensors.at(name)[i], values[i], 2e-4) << name;
      }
    }
  }
}

TEST_F(TrainerTest, WhereMemoryDoesNotSufficeTheErrorNamesABatchThatFits) {
  constexpr NetworkShape kShape = {.channels = 32, .blocks = 2};
  // What is freed does not stay in the address space.
  ASSERT_EQ(::mallopt(M_MMAP_THRESHOLD, 1 << 20), 1);
  std::vector<Sample> samples = MakeSamples(1, 3);
  while (samples.size() < 8192) samples.push_back(samples[samples.size() / 2]);
  for (const bool deferred : {false, true}) {
    TrainerOptions options = {.threads = 1};
    options.deferred = deferred;
    const auto trainer = NewTrainer(kShape, options, 1);
    const auto batch = trainer->Prepare(samples);
    ASSERT_TRUE(batch.ok()) << batch.status();
    // LibTorch's oneDNN crashes where it has no memory for the code of a new
    // shape, so it makes that code before.
    ASSERT_TRUE(trainer->Step(samples, 1e-3).ok());
    const std::string before = Bytes(*trainer);
    // A step of them all takes 8192 x 49 x 32 x 4 bytes = 51 MB for each result
    // of a layer, of which there are more than 15.
    rlimit limit;
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &limit), 0);
    const rlimit less = {.rlim_cur = AddressSpace() + (175 << 20),
                         .rlim_max = limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &less), 0);
    const absl::Status status = trainer->StartStep(**batch, 1e-3);
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("learning from 8192 samples"),
                      HasSubstr("a batch of "), HasSubstr(" samples fits")));
    EXPECT_EQ(Bytes(*trainer), before);
    EXPECT_TRUE(trainer->Step(MakeSamples(1, 3), 1e-3).ok());
  }
}

TEST_F(KindsOfTrainersTest, ANetworkThatIsNotFiniteIsNotSaved) {
  struct Diverged {
    double learning_rate;
    std::string message;
  };
  std::vector<State> positions;
  for (const Sample& sample : MakeSamples(1, 20)) {
    positions.push_back(sample.state);
  }
  for (const TrainerOptions& options : Kinds()) {
    // Finite weights with which activations overflow; weights that are not.
    for (const Diverged& diverged :
         {Diverged{1e20, "are not finite"},
          Diverged{kInfinity, "expected finite numbers"}}) {
      const auto trainer = NewTrainer(kTiny, options, 1);
      Learn(*trainer, 0, 2);
      ASSERT_TRUE(trainer->Save(path_, {}, positions).ok());
      const std::string good = *ReadWholeFile(path_);
      const auto losses =
          trainer->Step(MakeSamples(1, 9), diverged.learning_rate);
      ASSERT_TRUE(losses.ok()) << losses.status();
      ASSERT_FALSE(losses->skipped);
      const absl::Status status = trainer->Save(path_, {}, positions);
      EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
      EXPECT_THAT(std::string(status.message()),
                  AllOf(HasSubstr(path_ + " is not written"),
                        HasSubstr(diverged.message)));
      EXPECT_EQ(*ReadWholeFile(path_), good);
    }
  }
}

TEST_F(TrainerTest, ACheckpointFromBeforeTheAuxiliaryHeadsIsTaken) {
  const auto trainer = NewTrainer(kTiny, {.threads = 1}, 1);
  Learn(*trainer, 0, 2);
  ASSERT_TRUE(trainer->Save(path_, {}).ok());
  auto checkpoint = ReadCheckpoint(path_);
  ASSERT_TRUE(checkpoint.ok());
  std::erase_if(checkpoint->tensors, [](const NamedTensor& tensor) {
    return std::any_of(kHeads.begin(), kHeads.end(), [&](const HeadInfo& info) {
      return info.is_auxiliary && absl::StrContains(tensor.name, info.tensors);
    });
  });
  ASSERT_TRUE(WriteCheckpoint(path_, *checkpoint).ok());
  const auto states = RandomPositionsOfAllVariants(1, 8);
  std::vector<mcts::Evaluation> expected(states.size()), results(states.size());
  ASSERT_TRUE(trainer->Evaluate(states, absl::MakeSpan(expected)).ok());
  const auto evaluator = LoadNetworkEvaluator(path_);
  ASSERT_TRUE(evaluator.ok()) << evaluator.status();
  ASSERT_TRUE((*evaluator)->Evaluate(states, absl::MakeSpan(results)).ok());
  EXPECT_NEAR(results[0].win, expected[0].win, 1e-4);

  auto resumed = LoadTrainer(path_, kAllHeads);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ASSERT_TRUE(resumed->first->Evaluate(states, absl::MakeSpan(results)).ok());
  EXPECT_EQ(results[0].win, expected[0].win);
  const Losses losses = *resumed->first->Step(MakeSamples(1, 3), 1e-3);
  EXPECT_NEAR(losses.heads[Head::kOwner], std::log(3.0), 0.2);
}

TEST_F(TrainerTest, InputsThatACheckpointLacksAreLearnedFromThen) {
  // Those before legal_actions, which is never 0.
  constexpr size_t kBefore = GlobalIndex("legal_actions");
  TrainerOptions averaging = kAllHeads;
  averaging.ema_decay = 0.9f;
  const auto trainer = NewTrainer(kTiny, averaging, 1);
  Learn(*trainer, 0, 2);
  ASSERT_TRUE(trainer->Save(path_, {}).ok());
  const auto whole = ReadCheckpoint(path_);
  ASSERT_TRUE(whole.ok()) << whole.status();
  // As if the globals from there on had not been there: the network, the
  // weights that it is the average of, and two moments of the optimizer.
  Checkpoint old = *whole, without_weight = *whole;
  int tensors = 0;
  for (size_t t = 0; t < old.tensors.size(); ++t) {
    if (!absl::EndsWith(old.tensors[t].name, "stem_globals.weight")) continue;
    ++tensors;
    old.tensors[t].shape[1] = kBefore;
    old.tensors[t].values.clear();
    for (size_t i = 0; i < whole->tensors[t].values.size(); ++i) {
      if (i % kNumGlobals < kBefore) {
        old.tensors[t].values.push_back(whole->tensors[t].values[i]);
      } else {
        without_weight.tensors[t].values[i] = 0;
      }
    }
  }
  EXPECT_EQ(tensors, 4);
  const auto states = RandomPositionsOfAllVariants(1, 8);
  std::vector<mcts::Evaluation> expected(states.size()), results(states.size());
  ASSERT_TRUE(WriteCheckpoint(path_, without_weight).ok());
  const auto twin = LoadTrainer(path_, averaging);
  ASSERT_TRUE(twin.ok()) << twin.status();
  ASSERT_TRUE(twin->first->Evaluate(states, absl::MakeSpan(expected)).ok());

  ASSERT_TRUE(WriteCheckpoint(path_, old).ok());
  const auto resumed = LoadTrainer(path_, averaging);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ASSERT_TRUE(resumed->first->Evaluate(states, absl::MakeSpan(results)).ok());
  for (size_t i = 0; i < states.size(); ++i) {
    EXPECT_EQ(results[i].priors, expected[i].priors);
    EXPECT_EQ(results[i].margins, expected[i].margins);
    EXPECT_EQ(results[i].win, expected[i].win);
  }
  Learn(*resumed->first, 2, 8);
  Learn(*twin->first, 2, 8);
  const Tensors learned = TensorsOf(*resumed->first);
  EXPECT_EQ(learned, TensorsOf(*twin->first));
  int learned_weights = 0;
  const std::vector<float>& weights = learned.at("raw/stem_globals.weight");
  for (size_t i = kBefore; i < weights.size(); i += kNumGlobals) {
    learned_weights += weights[i] != 0;
  }
  EXPECT_GT(learned_weights, 0);
}

TEST_F(TrainerTest, AnAverageMayBeginAndEndWithinARun) {
  TrainerOptions averaging = kAllHeads;
  averaging.ema_decay = 0.9f;
  const auto trainer = NewTrainer(kTiny, kAllHeads, 1);
  Learn(*trainer, 0, 2);
  const Tensors without = TensorsOf(*trainer);
  auto begun = LoadTrainer(path_, averaging);
  ASSERT_TRUE(begun.ok()) << begun.status();
  const Tensors with = TensorsOf(*begun->first);
  for (const std::string name : {"stem_conv.weight", "stem_norm.running_var"}) {
    EXPECT_EQ(with.at(name), without.at(name));
    EXPECT_EQ(with.at("raw/" + name), without.at(name));
  }
  Learn(*begun->first, 2, 2);
  const Tensors averaged = TensorsOf(*begun->first);
  auto ended = LoadTrainer(path_, kAllHeads);
  ASSERT_TRUE(ended.ok()) << ended.status();
  const Tensors plain = TensorsOf(*ended->first);
  EXPECT_EQ(plain.at("stem_conv.weight"), averaged.at("raw/stem_conv.weight"));
  EXPECT_EQ(plain.count("raw/stem_conv.weight"), 0u);
}

TEST_F(TrainerTest, AnotherOptimizerStartsNewOnTheSameWeights) {
  const auto trainer = NewTrainer(kTiny, kAllHeads, 1);
  Learn(*trainer, 0, 2);
  const Tensors before = TensorsOf(*trainer);
  TrainerOptions options = kAllHeads;
  options.optimizer = OptimizerKind::kSgd;
  auto other = LoadTrainer(path_, options);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(TensorsOf(*other->first).at("stem_conv.weight"),
            before.at("stem_conv.weight"));
  Learn(*other->first, 2, 1);
}

TEST_F(TrainerTest, GradientsAreClippedOnlyWhereThatIsWanted) {
  TrainerOptions short_steps = kAllHeads;
  short_steps.optimizer = OptimizerKind::kSgd;
  short_steps.weight_decay = 0;
  short_steps.momentum = 0;
  short_steps.max_gradient_norm = 1e-3f;
  TrainerOptions free_steps = short_steps;
  free_steps.max_gradient_norm = 0;
  const auto moved = [&](const TrainerOptions& options) {
    const auto trainer = NewTrainer(kTiny, options, 1);
    const Tensors before = TensorsOf(*trainer);
    EXPECT_TRUE(trainer->Step(MakeSamples(2, 3), 1.0).ok());
    double squares = 0;
    for (const auto& [name, values] : TensorsOf(*trainer)) {
      if (absl::StrContains(name, "running_")) continue;
      if (absl::StrContains(name, "sgd.")) continue;
      for (size_t i = 0; i < values.size(); ++i) {
        squares += std::pow(values[i] - before.at(name)[i], 2);
      }
    }
    return std::sqrt(squares);
  };
  EXPECT_NEAR(moved(short_steps), 1e-3, 1e-5);
  EXPECT_GT(moved(free_steps), 0.1);
}

TEST_F(TrainerTest, LearningInBfloat16IsNearlyThatInFloat32) {
  TrainerOptions short_types = kAllHeads;
  short_types.autocast = true;
  const auto trainer = NewTrainer(kTiny, short_types, 1);
  const auto twin = NewTrainer(kTiny, kAllHeads, 1);
  const auto samples = MakeSamples(2, 7);
  const auto first = trainer->Step(samples, 1e-2);
  const auto of_twin = twin->Step(samples, 1e-2);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(of_twin.ok());
  // Eight bits of mantissa lose 0.4 % an operation; losses are means of many.
  EXPECT_NEAR(first->total, of_twin->total, 0.02 * of_twin->total);
  EXPECT_NE(first->total, of_twin->total);
  Losses last;
  for (int i = 0; i < 40; ++i) {
    last = *trainer->Step(samples, 1e-2);
    ASSERT_FALSE(last.skipped);
  }
  EXPECT_LT(last.heads[Head::kPolicy], 0.5 * first->heads[Head::kPolicy]);
  for (const auto& [name, values] : TensorsOf(*trainer)) {
    for (const float value : values) ASSERT_TRUE(std::isfinite(value)) << name;
  }
}

TEST_F(TrainerTest, CheckpointsOfBothTypesAreOfOneForm) {
  TrainerOptions short_types = kAllHeads;
  short_types.autocast = true;
  const auto trainer = NewTrainer(kTiny, short_types, 1);
  EXPECT_EQ(Bytes(*trainer), Bytes(*NewTrainer(kTiny, kAllHeads, 1)));
  Learn(*trainer, 0, 1);
  const std::string bytes = Bytes(*trainer);
  auto resumed = LoadTrainer(path_, kAllHeads);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(Bytes(*resumed->first), bytes);
  Learn(*resumed->first, 1, 1);
}

TEST_F(TrainerTest, ADeviceThatIsNotThereIsRefused) {
  TrainerOptions options = kAllHeads;
  EXPECT_TRUE(CheckTrainerOptions(options).ok());
  options.cuda_device = 127;
  const absl::Status status = CheckTrainerOptions(options);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "'cuda:127'")) << status;
  Bytes(*NewTrainer(kTiny, kAllHeads, 1));
  EXPECT_EQ(LoadTrainer(path_, options).status(), status);
}

// --- Light networks on a device ----------------------------------------------

constexpr NetworkShape kLight = {
    .channels = kLightChannels, .blocks = 2, .kind = NetworkKind::kLight};
constexpr TrainerOptions kLightOptions = {
    .loss_weights = LossWeights({{Head::kOwner, 0.5f}}),
    .ema_decay = 0.9f,
    .max_gradient_norm = 0,
    .threads = 1};

// Where the first moments begin, one step adds a tenth of the gradient.
TEST_F(TrainerTest, LibTorchComputesTheGradientsOfLightNetworks) {
  const auto host = NewLightTrainer(kLight, kLightOptions, 1);
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(host->Step(MakeSamples(1, 100 + i), 2e-3).ok());
  }
  TensorsOf(*host);
  const Checkpoint checkpoint = ReadCheckpoint(path_).value();
  const auto device =
      MakeLightTrainer(path_, checkpoint, kLightOptions,
                       NewTorchLightGradients(kLight, kLightOptions))
          .value();
  std::vector<Sample> samples = MakeSamples(6, 7);
  samples[1].policy.clear();
  samples[2].has_margin = false;
  samples[3].has_final = false;
  samples[4].weight = 0.25f;
  // An action that no hill is part of, among others.
  samples[5].state = ParsePosition(
                         "sacred_hill_l1 5/7/7/3r3/7/7/5 1 manoeuvres - 0,0 0 "
                         "- pie_rule=true")
                         .value();
  samples[5].policy = {{kPass, 1.0f}};
  const Losses expected = *host->Step(samples, 1e-3);
  const Losses losses = *device->Step(samples, 1e-3);
  EXPECT_NEAR(losses.total, expected.total, 1e-5);
  EXPECT_NEAR(losses.policy_accuracy, expected.policy_accuracy, 1e-6);
  for (const HeadInfo& info : kHeads) {
    EXPECT_NEAR(losses.heads[info.head], expected.heads[info.head], 1e-5)
        << info.name;
  }
  const Tensors by_host = TensorsOf(*host);
  const Tensors by_device = TensorsOf(*device);
  ASSERT_EQ(by_host.size(), by_device.size());
  int compared = 0;
  for (const NamedTensor& before : checkpoint.tensors) {
    if (!absl::StartsWith(before.name, "adamw.first_moment.")) continue;
    const std::vector<float>& a = by_host.at(before.name);
    const std::vector<float>& b = by_device.at(before.name);
    float most = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      most = std::max(most, std::abs(a[i] - 0.9f * before.values[i]));
    }
    EXPECT_GT(most, 0) << before.name;
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_NEAR(a[i], b[i], 1e-4 * most + 1e-9) << before.name << " " << i;
    }
    ++compared;
  }
  EXPECT_GT(compared, 30);
}

TEST_F(TrainerTest, LightNetworksLearnInPartsOnADevice) {
  const auto make = [] {
    return NewLightTrainer(kLight, kLightOptions, 1,
                           NewTorchLightGradients(kLight, kLightOptions));
  };
  const auto whole = make();
  const auto parts = make();
  for (int i = 0; i < 4; ++i) {
    const std::vector<Sample> samples = MakeSamples(1, 100 + i);
    ASSERT_TRUE(whole->Step(samples, 1e-3).ok());
    const auto prepared = parts->Prepare(samples).value();
    ASSERT_TRUE(parts->StartStep(*prepared, 1e-3).ok());
  }
  EXPECT_EQ(parts->FinishSteps()->size(), 4u);
  EXPECT_EQ(TensorsOf(*whole), TensorsOf(*parts));
  // A step that is not finite changes nothing.
  const Tensors before = TensorsOf(*parts);
  std::vector<Sample> samples = MakeSamples(1, 3);
  samples[0].weight = kInfinity;
  EXPECT_TRUE(parts->Step(samples, 1e-3)->skipped);
  EXPECT_EQ(TensorsOf(*parts), before);
}

}  // namespace
}  // namespace tara::nn
