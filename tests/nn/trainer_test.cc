// What the trainer does besides fitting: auxiliary heads, averages, weights of
// samples, steps that are not made, and going on exactly.

#include "tara/nn/training/trainer.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
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
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/heads.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/light/light.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/nn/weights/fold_norms.h"
#include "tests/base/temporary_folder.h"
#include "tests/nn/nn_testing.h"
#include "tests/nn/torch_testing.h"

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
    return ReadWholeFile(path_).value();
  }
  Tensors TensorsOf(Trainer& trainer) {
    EXPECT_TRUE(trainer.Save(path_, {}).ok());
    Tensors tensors;
    const Checkpoint checkpoint = ReadCheckpoint(path_).value();
    for (const NamedTensor& tensor : checkpoint.tensors) {
      tensors[tensor.name] = tensor.values;
    }
    return tensors;
  }
  std::unique_ptr<Trainer> Loaded(const TrainerOptions& options) const {
    return LoadTrainer(path_, options).value().first;
  }
  static void Learn(Trainer& trainer, int first_step, int steps) {
    for (int i = first_step; i < first_step + steps; ++i) {
      ASSERT_FALSE(trainer.Step(MakeSamples(1, 100 + i), 3e-3).value().skipped);
    }
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.At("network.checkpoint");
};

TEST_F(TrainerTest, EveryHeadLearnsATinyBatchByHeart) {
  TrainerOptions options = kAllHeads;
  for (const HeadInfo& info : kHeads) options.loss_weights[info.head] = 1;
  const auto trainer = NewTrainer({.channels = 16, .blocks = 2}, options, 3);
  auto samples = MakeSamples(1, 31);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i].result = {0, 0, 0};
    samples[i].result[i % 3] = 1;
  }
  const Losses first = *trainer->Step(samples, 1e-2);
  // A new head's chances are about even: of 3 results and owners, 25 numbers of
  // kingdoms, and 932 outputs.
  EXPECT_NEAR(first.heads[Head::kValue], std::log(3.0), 0.3);
  EXPECT_NEAR(first.heads[Head::kOwner], std::log(3.0), 0.2);
  EXPECT_NEAR(first.heads[Head::kKingdoms], std::log(25.0), 0.4);
  EXPECT_NEAR(first.heads[Head::kReply], std::log(932.0), 0.75);
  // About the entropy of the first opinion of margins: of a Laplace
  // distribution of scale 4, 1 + ln 8; targets within 4 points lose less.
  EXPECT_LT(first.heads[Head::kMargin], 1 + std::log(8.0));
  EXPECT_GT(first.heads[Head::kMargin], 2);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(trainer->Step(samples, 1e-2).ok());
  }
  const Losses last = *trainer->Step(samples, 1e-3);
  EXPECT_GT(last.policy_accuracy, 0.95);
  for (const HeadInfo& info : kHeads) {
    EXPECT_LT(last.heads[info.head], 0.15 * first.heads[info.head])
        << info.name;
  }
}

// Of a target spread evenly over n actions, an even prior loses ln n; of the
// first position of Four Treasures, ln 45. A new network is nearly even.
TEST_F(TrainerTest, OnlyLegalActionsHaveAPrior) {
  const State state = InitialState(Variant::kFourTreasures);
  Sample sample = {.state = state, .symmetry = CanonicalSymmetry(state)};
  LegalActions(state).ForEach(
      [&](Action action) { sample.policy.emplace_back(action, 1 / 45.0f); });
  const double loss =
      NewTrainer(kTiny, kAllHeads, 3)->Measure({sample})->heads[Head::kPolicy];
  EXPECT_GE(loss, std::log(45.0) - 1e-4);
  EXPECT_LT(loss, std::log(45.0) + 0.5);
}

TEST_F(TrainerTest, TheSeedAloneDecidesTheFirstWeights) {
  const auto bytes_of = [&](uint64_t seed) {
    return Bytes(*NewTrainer(kTiny, kAllHeads, seed));
  };
  EXPECT_EQ(bytes_of(5), bytes_of(5));
  EXPECT_NE(bytes_of(5), bytes_of(6));
}

TEST_F(TrainerTest, MeasuringLearnsNothing) {
  const auto trainer = NewTrainer(kTiny, kAllHeads, 1);
  Learn(*trainer, 0, 2);
  const std::string before = Bytes(*trainer);
  EXPECT_TRUE(trainer->Measure(MakeSamples(1, 3)).ok());
  EXPECT_EQ(Bytes(*trainer), before);
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

TEST_F(TrainerTest, SamplesTeachOnlyTheTargetsThatTheyHave) {
  auto samples = MakeSamples(1, 4);
  const auto trainer = NewTrainer(kTiny, kAllHeads, 1);
  const Losses of_half =
      *trainer->Measure({samples.begin(), samples.begin() + 5});
  const auto clear = [&](size_t from) {
    for (size_t i = from; i < samples.size(); ++i) {
      samples[i].policy.clear();
      samples[i].reply.clear();
      samples[i].has_margin = samples[i].has_final = false;
    }
    return *trainer->Measure(samples);
  };
  const Losses of_all = clear(5);
  const Losses of_none = clear(0);
  for (const HeadInfo& info : kHeads) {
    if (info.head == Head::kValue) continue;
    EXPECT_NEAR(of_all.heads[info.head], of_half.heads[info.head], 1e-5);
    EXPECT_EQ(of_none.heads[info.head], 0) << info.name;
  }
  EXPECT_NE(of_all.heads[Head::kValue], of_half.heads[Head::kValue]);
  EXPECT_EQ(of_none.total, of_none.heads[Head::kValue]);
  EXPECT_EQ(of_none.policy_accuracy, 0);
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
      made.own_hills = TransformBoard(symmetry.board, original.own_hills);
      made.enemy_hills = TransformBoard(symmetry.board, original.enemy_hills);
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
  const auto states = RandomPositionsOfAllVariants(10, 22);
  for (const NetworkShape shape :
       {kTiny, NetworkShape{.channels = 24, .blocks = 3},
        NetworkShape{.channels = 32, .blocks = 1}}) {
    const auto trainer = NewTrainer(shape, options, 1);
    Learn(*trainer, 0, 5);
    ASSERT_TRUE(trainer->Save(path_, {}).ok());
    ExpectNear(EvaluationsBy(*LoadNetworkEvaluator(path_).value(), states),
               EvaluationsBy(*trainer, states), 1e-4f);
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
};

TEST_F(GrowNetworkTest, ALargerNetworkComputesTheSame) {
  const Checkpoint smaller = Smaller();
  const auto states = RandomPositionsOfAllVariants(3, 8);
  const auto evaluations = [&](const Checkpoint& network) {
    return EvaluationsBy(*MakeTrainer("network", network, kAllHeads).value(),
                         states);
  };
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
    ExpectNear(evaluations(*larger), evaluations(smaller), 1e-5f);
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
  const auto expect_error = [](const Checkpoint& smaller,
                               const NetworkShape& shape,
                               const std::string& message) {
    EXPECT_THAT(GrowNetwork(smaller, NewCheckpoint(shape, 2).value()),
                StatusIs(absl::StatusCode::kInvalidArgument, message));
  };
  Checkpoint smaller = Smaller();
  expect_error(smaller, {.channels = 4, .blocks = 2},
               "a network of 8 channels and 2 blocks cannot become one of 4 "
               "and 2");
  expect_error(smaller, {.channels = 16, .blocks = 1},
               "a network of 8 channels and 2 blocks cannot become one of 16 "
               "and 1");
  smaller.Find("block1.first.conv.weight")->shape[1] = 9;
  expect_error(smaller, {.channels = 16, .blocks = 2},
               "tensor block1.first.conv.weight has another shape than in a "
               "network of 8 channels");
  smaller.tensors.erase(smaller.tensors.begin());
  expect_error(smaller, {.channels = 16, .blocks = 2},
               "missing tensor stem_conv.weight");
}

class KindsOfTrainersTest : public TrainerTest {
 protected:
  static std::vector<TrainerOptions> Kinds() {
    std::vector<TrainerOptions> kinds;
    for (const auto optimizer : {OptimizerKind::kAdamW, OptimizerKind::kMuon}) {
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
    const TrainingProgress progress = {
        .step = 3, .generation = 2, .samples = 99};
    ASSERT_TRUE(half->Save(path_, progress).ok());
    const auto resumed = Loaded(options);
    EXPECT_EQ(ReadCheckpoint(path_)->progress, progress);
    Learn(*resumed, 3, 3);
    EXPECT_EQ(Bytes(*whole), Bytes(*resumed));
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
    Losses losses = trainer->Step(samples, 3e-3).value();
    EXPECT_TRUE(losses.skipped);
    EXPECT_FALSE(std::isfinite(losses.total));
    EXPECT_EQ(Bytes(*trainer), before);
    // A loss that is finite, with gradients that are not.
    samples = MakeSamples(1, 9);
    samples[3].policy[0].second = 1e37f;
    losses = trainer->Step(samples, 3e-3).value();
    EXPECT_TRUE(losses.skipped);
    EXPECT_TRUE(std::isfinite(losses.total));
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
      const auto batch = trainer->Prepare(samples).value();
      ASSERT_TRUE(trainer->StartStep(*batch, 1e-3).ok());
      // Until it is read, the step that was not made counts in the means of
      // AdamW and in the average.
      if (i == kBad) {
        const std::vector<Losses> losses = trainer->FinishSteps().value();
        ASSERT_EQ(losses.size(), size_t{kBad + 1});
        for (int k = 0; k <= kBad; ++k) {
          EXPECT_EQ(losses[k].skipped, k == kBad);
          if (k == kBad) continue;
          EXPECT_NEAR(losses[k].total, expected[k].total, 1e-4) << k;
          EXPECT_EQ(losses[k].policy_accuracy, expected[k].policy_accuracy);
          for (const HeadInfo& info : kHeads) {
            EXPECT_NEAR(losses[k].heads[info.head],
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
    const auto batch = trainer->Prepare(samples).value();
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
    const absl::Status status = trainer->StartStep(*batch, 1e-3);
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                                 AllOf(HasSubstr("learning from 8192 samples"),
                                       HasSubstr("a batch of "),
                                       HasSubstr(" samples fits"))));
    EXPECT_EQ(Bytes(*trainer), before);
    EXPECT_TRUE(trainer->Step(MakeSamples(1, 3), 1e-3).ok());
  }
}

TEST_F(KindsOfTrainersTest, ANetworkThatIsNotFiniteIsNotSaved) {
  std::vector<State> positions;
  for (const Sample& sample : MakeSamples(1, 20)) {
    positions.push_back(sample.state);
  }
  for (const TrainerOptions& options : Kinds()) {
    // Finite weights with which activations overflow; weights that are not.
    for (const auto& [learning_rate, message] :
         {std::pair{1e20, "are not finite"},
          std::pair{double{kInfinity}, "expected finite numbers"}}) {
      const auto trainer = NewTrainer(kTiny, options, 1);
      Learn(*trainer, 0, 2);
      ASSERT_TRUE(trainer->Save(path_, {}, positions).ok());
      const std::string good = *ReadWholeFile(path_);
      ASSERT_FALSE(
          trainer->Step(MakeSamples(1, 9), learning_rate).value().skipped);
      EXPECT_THAT(trainer->Save(path_, {}, positions),
                  StatusIs(absl::StatusCode::kAborted,
                           AllOf(HasSubstr(path_ + " is not written"),
                                 HasSubstr(message))));
      EXPECT_EQ(*ReadWholeFile(path_), good);
    }
  }
}

TEST_F(TrainerTest, ACheckpointFromBeforeTheAuxiliaryHeadsIsTaken) {
  const auto trainer = NewTrainer(kTiny, {.threads = 1}, 1);
  Learn(*trainer, 0, 2);
  ASSERT_TRUE(trainer->Save(path_, {}).ok());
  Checkpoint checkpoint = ReadCheckpoint(path_).value();
  std::erase_if(checkpoint.tensors, [](const NamedTensor& tensor) {
    return std::any_of(kHeads.begin(), kHeads.end(), [&](const HeadInfo& info) {
      return info.is_auxiliary && absl::StrContains(tensor.name, info.tensors);
    });
  });
  ASSERT_TRUE(WriteCheckpoint(path_, checkpoint).ok());
  const auto states = RandomPositionsOfAllVariants(1, 8);
  const auto expected = EvaluationsBy(*trainer, states);
  ExpectNear(EvaluationsBy(*LoadNetworkEvaluator(path_).value(), states),
             expected, 1e-4f);
  const auto resumed = Loaded(kAllHeads);
  ExpectEqual(EvaluationsBy(*resumed, states), expected);
  const Losses losses = *resumed->Step(MakeSamples(1, 3), 1e-3);
  EXPECT_NEAR(losses.heads[Head::kOwner], std::log(3.0), 0.2);
}

TEST_F(TrainerTest, AnAverageMayBeginAndEndWithinARun) {
  TrainerOptions averaging = kAllHeads;
  averaging.ema_decay = 0.9f;
  const auto trainer = NewTrainer(kTiny, kAllHeads, 1);
  Learn(*trainer, 0, 2);
  const Tensors without = TensorsOf(*trainer);
  const auto begun = Loaded(averaging);
  const Tensors with = TensorsOf(*begun);
  for (const std::string name : {"stem_conv.weight", "stem_norm.running_var"}) {
    EXPECT_EQ(with.at(name), without.at(name));
    EXPECT_EQ(with.at("raw/" + name), without.at(name));
  }
  Learn(*begun, 2, 2);
  const Tensors averaged = TensorsOf(*begun);
  const auto ended = Loaded(kAllHeads);
  const Tensors plain = TensorsOf(*ended);
  EXPECT_EQ(plain.at("stem_conv.weight"), averaged.at("raw/stem_conv.weight"));
  EXPECT_EQ(plain.count("raw/stem_conv.weight"), 0u);
}

TEST_F(TrainerTest, AnotherOptimizerStartsNewOnTheSameWeights) {
  const auto trainer = NewTrainer(kTiny, kAllHeads, 1);
  Learn(*trainer, 0, 2);
  const Tensors before = TensorsOf(*trainer);
  TrainerOptions options = kAllHeads;
  options.optimizer = OptimizerKind::kMuon;
  const auto other = Loaded(options);
  EXPECT_EQ(TensorsOf(*other).at("stem_conv.weight"),
            before.at("stem_conv.weight"));
  Learn(*other, 2, 1);
}

TEST_F(TrainerTest, GradientsAreClippedOnlyWhereThatIsWanted) {
  const auto norm = [&](float most) {
    TrainerOptions options = kAllHeads;
    options.max_gradient_norm = most;
    const auto trainer = NewTrainer(kTiny, options, 1);
    EXPECT_TRUE(trainer->Step(MakeSamples(2, 3), 1e-3).ok());
    double squares = 0;
    for (const auto& [name, values] : TensorsOf(*trainer)) {
      if (!absl::StartsWith(name, "adamw.first_moment.")) continue;
      // A tenth of the gradient.
      for (const float value : values) squares += std::pow(10.0 * value, 2);
    }
    return std::sqrt(squares);
  };
  EXPECT_NEAR(norm(1e-3f), 1e-3, 1e-5);
  EXPECT_GT(norm(0), 0.1);
}

TEST_F(TrainerTest, LearningInBfloat16IsNearlyThatInFloat32) {
  TrainerOptions short_types = kAllHeads;
  short_types.autocast = true;
  const auto trainer = NewTrainer(kTiny, short_types, 1);
  const auto twin = NewTrainer(kTiny, kAllHeads, 1);
  const auto samples = MakeSamples(2, 7);
  const Losses first = trainer->Step(samples, 1e-2).value();
  const Losses of_twin = twin->Step(samples, 1e-2).value();
  // Eight bits of mantissa lose 0.4 % an operation; losses are means of many.
  EXPECT_NEAR(first.total, of_twin.total, 0.02 * of_twin.total);
  EXPECT_NE(first.total, of_twin.total);
  Losses last;
  for (int i = 0; i < 40; ++i) {
    last = *trainer->Step(samples, 1e-2);
    ASSERT_FALSE(last.skipped);
  }
  EXPECT_LT(last.heads[Head::kPolicy], 0.5 * first.heads[Head::kPolicy]);
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
  const auto resumed = Loaded(kAllHeads);
  EXPECT_EQ(Bytes(*resumed), bytes);
  Learn(*resumed, 1, 1);
}

TEST_F(TrainerTest, ADeviceThatIsNotThereIsRefused) {
  TrainerOptions options = kAllHeads;
  EXPECT_TRUE(CheckTrainerOptions(options).ok());
  options.cuda_device = 127;
  const absl::Status status = CheckTrainerOptions(options);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("'cuda:127'")));
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
  const auto host =
      MakeLightTrainer("new", NewLightCheckpoint(kLight, 1), kLightOptions)
          .value();
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
    return MakeLightTrainer("new", NewLightCheckpoint(kLight, 1), kLightOptions,
                            NewTorchLightGradients(kLight, kLightOptions))
        .value();
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
