#include "tara/train/config/config.h"

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/variant.h"
#include "tara/mcts/options/search_options.h"
#include "tara/nn/heads.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/torch/torch_runtime.h"
#include "tara/nn/training/trainer.h"
#include "tara/train/config/config_options.h"
#include "tara/train/config/learn_config.h"
#include "tara/train/learn/learner.h"
#include "tara/train/learn/sampler.h"
#include "tests/status_matchers.h"

namespace tara::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<proto::TrainConfig> Parse(
    const std::string& text, const std::vector<std::string>& overrides = {}) {
  return ParseTrainConfig(text, "configs/quick.textproto", overrides);
}

// Parses what must be accepted.
proto::TrainConfig Good(const std::string& text,
                        const std::vector<std::string>& overrides = {}) {
  const absl::StatusOr<proto::TrainConfig> config = Parse(text, overrides);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : proto::TrainConfig();
}

// Parses what must be refused, and returns the message.
std::string Error(const std::string& text,
                  const std::vector<std::string>& overrides = {}) {
  const absl::Status status = Parse(text, overrides).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

// Returns a field of a config as text.
std::string FieldOf(proto::TrainConfig config, const std::string& path) {
  const absl::StatusOr<ProtoField> field = FindField(config, path);
  EXPECT_TRUE(field.ok()) << field.status();
  return field.ok() ? FieldToText(*field) : "";
}

TEST(ConfigTest, EveryFieldIsDeclaredWithHelpAndADefault) {
  for (const ConfigField& field : ConfigFields()) {
    EXPECT_FALSE(field.info.help().empty()) << field.path;
    EXPECT_NE(field.info.has_default_(), field.info.has_computed())
        << field.path;
  }
}

TEST(ConfigTest, EveryDefaultIsAValueOfItsField) {
  for (const ConfigField& field : ConfigFields()) {
    if (!field.info.has_default_()) continue;
    EXPECT_TRUE(CheckValue(field, field.info.default_()).ok()) << field.path;
    EXPECT_EQ(FieldOf(Good(""), field.path), field.info.default_())
        << field.path;
  }
}

// Returns the fields of a message, at any depth, that are not given.
std::vector<std::string> Missing(const google::protobuf::Message& message) {
  std::vector<std::string> missing;
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* const field = type.field(i);
    const bool given = field->is_repeated()
                           ? reflection.FieldSize(message, field) > 0
                           : reflection.HasField(message, field);
    if (!given) {
      missing.push_back(field->full_name());
    } else if (field->message_type() != nullptr) {
      for (const std::string& name :
           Missing(reflection.GetMessage(message, field))) {
        missing.push_back(name);
      }
    }
  }
  return missing;
}

TEST(ConfigTest, AnEmptyFileGivesAConfigWithEveryFieldFilledIn) {
  const proto::TrainConfig config = Good("");
  // A list that is empty by default.
  EXPECT_THAT(Missing(config), ElementsAre("tara.proto.SearchConfig.option",
                                           "tara.proto.MixtureConfig.weight"));
  EXPECT_EQ(config.run_dir(), "runs/quick-sacred_hill_l1");
  EXPECT_THAT(config.variant(), ElementsAre("sacred_hill_l1"));
  EXPECT_EQ(config.rule_options(), "-");
  EXPECT_EQ(config.seed(), 1u);
  EXPECT_FALSE(config.overlap());
  EXPECT_EQ(config.network().channels(), 32u);
  EXPECT_EQ(config.self_play().search().simulations(), 100u);
  EXPECT_FLOAT_EQ(config.learner().learning_rate(), 0.003f);
  EXPECT_GE(config.self_play().threads(), 1u);
  EXPECT_GE(config.learner().threads(), 1u);
  EXPECT_THAT(config.evaluation().opponent(), ElementsAre("random", "greedy"));
}

TEST(ConfigTest, ALightNetworkHasASizeOfItsOwn) {
  const proto::TrainConfig config = Good("network { kind: 'light' }");
  EXPECT_EQ(config.network().channels(), 64u);
  EXPECT_EQ(config.network().blocks(), 3u);
}

TEST(ConfigTest, WhatIsGivenStandsEvenWhereItIsZero) {
  const proto::TrainConfig config = Good(
      "seed: 0 evaluation { every: 0 opponent: 'random' } "
      "learner { warmup_steps: 0 }");
  EXPECT_EQ(config.seed(), 0u);
  EXPECT_EQ(config.evaluation().every(), 0u);
  EXPECT_EQ(config.learner().warmup_steps(), 0u);
  EXPECT_THAT(config.evaluation().opponent(), ElementsAre("random"));
}

TEST(ConfigTest, OverridesWinOverTheFile) {
  const proto::TrainConfig config =
      Good("seed: 5 variant: 'four_treasures' overlap: false",
           {"seed=18446744073709551615", "overlap=true",
            "variant=high_kings_l1,high_kings_l2", "run_dir=/tmp/a=b",
            "rule_options=no_progress_limit=30,placement_captures_kings=true",
            "self_play.search.c_puct=2.25",
            "evaluation.opponent=random,net:a.pt\\,sims=5"});
  EXPECT_EQ(config.seed(), 18446744073709551615u);
  EXPECT_TRUE(config.overlap());
  EXPECT_THAT(config.variant(), ElementsAre("high_kings_l1", "high_kings_l2"));
  EXPECT_EQ(config.run_dir(), "/tmp/a=b");
  EXPECT_EQ(config.rule_options(),
            "no_progress_limit=30,placement_captures_kings=true");
  EXPECT_EQ(config.self_play().search().c_puct(), 2.25f);
  EXPECT_THAT(config.evaluation().opponent(),
              ElementsAre("random", "net:a.pt,sims=5"));
}

TEST(ConfigTest, AllStandsForEveryVariant) {
  const proto::TrainConfig config = Good("", {"variant=all"});
  ASSERT_EQ(config.variant_size(), kNumVariants);
  for (int i = 0; i < kNumVariants; ++i) {
    EXPECT_EQ(config.variant(i), kVariants[i].id);
  }
  EXPECT_EQ(config.run_dir(), "runs/quick-all");
}

TEST(ConfigTest, AResolvedConfigIsReadBackAsItIs) {
  const proto::TrainConfig config =
      Good("variant: 'all' learner { learning_rate: 0.0123 }",
           {"evaluation.opponent=net:a.pt\\,sims=5", "seed=77"});
  const auto again =
      ParseTrainConfig(ConfigToText(config), "elsewhere/config.textproto", {})
          .value();
  EXPECT_EQ(again.SerializeAsString(), config.SerializeAsString());
}

TEST(ConfigTest, WhatEditorsAddToATextCountsForNothing) {
  const proto::TrainConfig plain = Good("seed: 3\ngenerations: 4\n", {});
  const proto::TrainConfig edited = Good(
      "\xEF\xBB\xBFseed: 3\r\ngenerations:\xC2\xA0"
      "4\r\n",
      {});
  EXPECT_EQ(edited.SerializeAsString(), plain.SerializeAsString());
  // A name keeps what it has.
  EXPECT_EQ(Good("run_dir: \"a\xC2\xA0"
                 "b\"",
                 {})
                .run_dir(),
            "a\xC2\xA0"
            "b");
}

TEST(ConfigTest, EveryNumberHasARangeThatKeepsOutMore) {
  for (const ConfigField& field : ConfigFields()) {
    const auto type = field.field->cpp_type();
    if (field.field->is_repeated() ||
        type == google::protobuf::FieldDescriptor::CPPTYPE_STRING ||
        type == google::protobuf::FieldDescriptor::CPPTYPE_BOOL) {
      continue;
    }
    const std::vector<std::string> bounds =
        absl::StrSplit(field.info.values(), " to ");
    ASSERT_EQ(bounds.size(), 2u) << field.path;
    EXPECT_LT(std::stod(bounds[0]), std::stod(bounds[1])) << field.path;
    EXPECT_GE(std::stod(bounds[0]), 0) << field.path;
    EXPECT_TRUE(CheckValue(field, bounds[0]).ok()) << field.path;
    EXPECT_TRUE(CheckValue(field, bounds[1]).ok()) << field.path;
    if (field.path == "seed") continue;  // every number is a seed
    // Below the limit of 32 bits, so that the range and not the type refuses.
    const std::string above =
        absl::StrCat(static_cast<int64_t>(std::stod(bounds[1])) + 1);
    EXPECT_THAT(Error("", {absl::StrCat(field.path, "=", above)}),
                HasSubstr(absl::StrCat(field.path, ": ", above,
                                       " is out of range; expected ",
                                       field.info.values())));
  }
}

TEST(ConfigTest, FieldsOfTheSearchAreItsOptions) {
  const proto::TrainConfig config = Good(
      "self_play { search { simulations: 77 c_puct: 1.2345678 "
      "first_play_urgency_reduction: 0.3 dirichlet_fraction: 0.125 "
      "dirichlet_concentration: 5000 option: 'virtual_loss=0.5' } }");
  const auto search = ToSearchOptions(config.self_play().search()).value();
  EXPECT_EQ(search.simulations, 77);
  // To the last bit.
  EXPECT_EQ(search.c_puct, 1.2345678f);
  EXPECT_EQ(search.first_play_urgency_reduction, 0.3f);
  EXPECT_EQ(search.dirichlet_fraction, 0.125f);
  EXPECT_EQ(search.dirichlet_concentration, 5000);
  EXPECT_EQ(search.virtual_loss, 0.5f);
  // By default they differ from the search's own in the noise alone.
  const auto plain = ToSearchOptions(Good("").self_play().search()).value();
  EXPECT_EQ(mcts::FormatSearchOptions(plain), "noise=0.25");
}

// The defaults of the structs are those of programs that have no config.
TEST(ConfigTest, DefaultsOfLearningAreThoseOfTheParts) {
  const proto::TrainConfig config = Good("");
  const nn::TrainerOptions trainer = ToTrainerOptions(config);
  const nn::TrainerOptions new_trainer;
  EXPECT_EQ(trainer.optimizer, new_trainer.optimizer);
  EXPECT_EQ(trainer.weight_decay, new_trainer.weight_decay);
  for (const nn::HeadInfo& info : nn::kHeads) {
    EXPECT_EQ(trainer.loss_weights[info.head],
              new_trainer.loss_weights[info.head])
        << info.name;
  }
  EXPECT_EQ(trainer.ema_decay, new_trainer.ema_decay);
  EXPECT_EQ(trainer.max_gradient_norm, new_trainer.max_gradient_norm);
  EXPECT_EQ(trainer.cuda_device, new_trainer.cuda_device);
  EXPECT_EQ(trainer.autocast, new_trainer.autocast);
  const LearnOptions learn = ToLearnOptions(config, 10);
  const LearnOptions new_learn;
  EXPECT_EQ(learn.batch_size, new_learn.batch_size);
  EXPECT_EQ(learn.steps, new_learn.steps);
  EXPECT_FLOAT_EQ(learn.schedule.peak, new_learn.schedule.peak);
  EXPECT_EQ(learn.schedule.warmup_steps, new_learn.schedule.warmup_steps);
  EXPECT_FLOAT_EQ(learn.schedule.final_fraction,
                  new_learn.schedule.final_fraction);
  const WindowOptions window = ToSamplerOptions(config.learner()).window;
  EXPECT_EQ(window.max_games, WindowOptions().max_games);
  EXPECT_EQ(window.growth, WindowOptions().growth);
  EXPECT_FLOAT_EQ(window.growth_rate, WindowOptions().growth_rate);
  EXPECT_EQ(window.min_games, WindowOptions().min_games);
  const ResignationOptions resignation = ToSelfPlayOptions(config)->resignation;
  EXPECT_EQ(resignation.threshold, std::nullopt);
  EXPECT_EQ(resignation.turns, ResignationOptions().turns);
  EXPECT_EQ(resignation.played_on_share, ResignationOptions().played_on_share);
}

TEST(ConfigTest, EveryLossButThoseOfPolicyAndValueHasAWeight) {
  for (const nn::HeadInfo& info : nn::kHeads) {
    if (info.weight_field.empty()) {
      EXPECT_TRUE(info.head == nn::Head::kPolicy ||
                  info.head == nn::Head::kValue)
          << info.name;
      continue;
    }
    const nn::TrainerOptions trainer = ToTrainerOptions(
        Good("", {absl::StrCat("learner.", info.weight_field, "=0.375")}));
    for (const nn::HeadInfo& other : nn::kHeads) {
      EXPECT_EQ(trainer.loss_weights[other.head],
                other.head == info.head ? 0.375f : other.loss_weight)
          << info.name << " " << other.name;
    }
  }
}

TEST(ConfigTest, AnyOptionOfTheSearchCanBeGivenByName) {
  const proto::TrainConfig config =
      Good("self_play { search { option: 'gumbel=on' option: 'graph=on' } }");
  const auto search = ToSearchOptions(config.self_play().search()).value();
  EXPECT_TRUE(search.gumbel);
  EXPECT_TRUE(search.graph_search);
  EXPECT_FALSE(search.proof);
  EXPECT_EQ(search.simulations, 100);
  const proto::TrainConfig overridden =
      Good("", {"self_play.search.option=utility=mix,proof=on"});
  EXPECT_THAT(overridden.self_play().search().option(),
              ElementsAre("utility=mix", "proof=on"));
}

TEST(ConfigTest, AnOptionOfTheSearchThatHasAFieldOfItsOwnIsRefused) {
  for (const auto& [option, field] :
       std::vector<std::pair<std::string, std::string>>{
           {"sims=5", "simulations"},
           {"c_puct=2", "c_puct"},
           {"fpu=reduction:0.3", "first_play_urgency_reduction"},
           {"noise=0.5", "dirichlet_fraction"},
           {"noise_concentration=5", "dirichlet_concentration"}}) {
    EXPECT_THAT(Error("", {"self_play.search.option=" + option}),
                HasSubstr(absl::StrCat("'", option,
                                       "': this has a field of its own; set ",
                                       field, " instead")));
  }
}

TEST(ConfigTest, WhatIsGivenIsTaken) {
  const proto::TrainConfig config = Good(
      "games_from: 'other/games.db' "
      "self_play { resignation { threshold: 0.9 } "
      "            search { temperature_plies: 9 } } "
      "inference { device: 'cuda:1' precision: 'int8' backend: 'torch' } "
      "learner { device: 'cuda:2' autocast: 'bfloat16' }");
  EXPECT_FALSE(PlaysGames(config));
  const SelfPlayOptions self_play = ToSelfPlayOptions(config).value();
  EXPECT_FLOAT_EQ(*self_play.resignation.threshold, -0.9f);
  EXPECT_EQ(self_play.temperature, 1);
  EXPECT_EQ(self_play.temperature_plies, 9);
  const auto inference = ToInferenceOptions(config.inference()).value();
  EXPECT_EQ(inference.device, "cuda:1");
  EXPECT_EQ(inference.precision, nn::Precision::kInt8);
  EXPECT_EQ(inference.backend, nn::InferenceBackend::kTorch);
  const nn::TrainerOptions trainer = ToTrainerOptions(config);
  EXPECT_EQ(trainer.cuda_device, 2);
  EXPECT_TRUE(trainer.autocast);
  EXPECT_FALSE(ToTrainerOptions(Good("learner { autocast: 'auto' }")).autocast);
}

TEST(ConfigTest, ConfigsOfEarlierRunsMayNameWhatIsGone) {
  const proto::TrainConfig config = Good(
      "self_play { autopilot: true threads: 3 games_per_thread: 13 "
      "shared_batches: true end_when_proved: false "
      "resignation { min_games: 5 max_false_positive_rate: 0.1 } "
      "search { end_temperature: 0.5 temperature_halflife: 3 } } "
      "mixture { mode: 'adaptive' min_share: 0.25 } "
      "learner { max_skipped_steps: 3 variant_balance: 0.5 policy_surprise: 1 "
      "optimizer: 'adamw' momentum: 0.9 schedule: 'cosine' milestones: 0.5 "
      "milestones: 0.75 }");
  EXPECT_EQ(config.self_play().threads(), 3u);
  EXPECT_EQ(config.self_play().games_per_thread(), 13u);
}

TEST(ConfigTest, GamesThatAreHeldOutLeaveSomethingToLearnFrom) {
  // Of single games half are held out: one of ten seeds has such a one first.
  int refused = 0;
  for (int seed = 0; seed < 10; ++seed) {
    const absl::Status status =
        Parse(
            "self_play { games_per_generation: 1 } "
            "learner { held_out_share: 0.5 batch_size: 32 }",
            {absl::StrCat("seed=", seed)})
            .status();
    if (status.ok()) continue;
    ++refused;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("learner.held_out_share: 0.5; expected less: it "
                          "leaves nothing to learn from among the 1 games"));
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 10);
}

TEST(ConfigTest, AFileIsLoadedAndAMissingOneNamed) {
  const std::string path =
      (std::filesystem::path(::testing::TempDir()) / "my_run.textproto")
          .string();
  std::ofstream(path) << "# A comment.\nseed: 42\n";
  const auto config = LoadTrainConfig(path, {"generations=3"}).value();
  EXPECT_EQ(config.seed(), 42u);
  EXPECT_EQ(config.generations(), 3u);
  EXPECT_EQ(config.run_dir(), "runs/my_run-sacred_hill_l1");
  std::filesystem::remove(path);
  EXPECT_THAT(LoadTrainConfig(path, {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(path)));
}

TEST(ConfigTest, ARunGoesOnWithAnotherLengthButNotWithAnotherGame) {
  const proto::TrainConfig before = Good("");
  EXPECT_TRUE(CheckResumable(before, before).ok());
  EXPECT_TRUE(CheckResumable(before, Good("", {"generations=99", "overlap=true",
                                               "learner.learning_rate=0.1",
                                               "self_play.search.simulations=5",
                                               "self_play.threads=1"}))
                  .ok());
  const absl::Status status =
      CheckResumable(before, Good("", {"network.channels=64"}));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "network.channels: the run was started with 32 and cannot resume "
            "with 64; restore the value or choose another run_dir");
  for (const char* change :
       {"network.blocks=5", "seed=2", "rule_options=proximity_bound=4",
        "rule_options=compensation=-1..1", "variant=sacred_hill_l2",
        "variant=sacred_hill_l1,sacred_hill_l2"}) {
    EXPECT_FALSE(CheckResumable(before, Good("", {change})).ok()) << change;
  }
}

TEST(ConfigTest,
     EveryConfigThatComesWithTheProjectFitsEveryVariantAndIsReadBack) {
  int configs = 0;
  for (const auto& entry : std::filesystem::directory_iterator("configs")) {
    if (entry.path().extension() != ".textproto") continue;
    ++configs;
    for (const VariantInfo& info : kVariants) {
      // Rule options are for the variants that have them.
      const absl::Status status =
          LoadTrainConfig(entry.path().string(),
                          {absl::StrCat("variant=", info.id), "rule_options=-"})
              .status();
      EXPECT_TRUE(status.ok()) << entry.path() << ": " << status;
    }
    const std::string path = entry.path().string();
    const auto config = LoadTrainConfig(path, {}).value();
    // As a run's folder has it.
    EXPECT_EQ(
        ParseTrainConfig(ConfigToText(config), path, {})->SerializeAsString(),
        config.SerializeAsString());
  }
  EXPECT_GE(configs, 2);  // quickstart and tiny
}

TEST(ConfigTest, AWrongTextIsRefusedWithItsPlaceAndTheFieldsThereAre) {
  const std::vector<std::pair<std::string, std::string>> kWrong = {
      {"# A heading\n\nSelf-play for boards.\n", "configs/quick.textproto:3:"},
      {"Self: 1", "a training config has no field 'Self'; it has: "},
      {"seed: 3\nself_play {\n  search { simulatons: 3 }\n}\n",
       "configs/quick.textproto:3:"},
      {"self_play { search { simulatons: 3 } }",
       "this group has no field 'simulatons'; it has: simulations, c_puct, "},
      {"seed: 3\ngenerations: 'ten'", "configs/quick.textproto:2:14: "},
      {"network {\n  channels: 3", "configs/quick.textproto:2:"},
      {"seed: -1", "configs/quick.textproto:1:"},
      {"seed: 1\nseed: 2", "configs/quick.textproto:2:"},
      {"self_play { search { simulations: 0 } }",
       "configs/quick.textproto: self_play.search.simulations: 0 is out of "
       "range; expected 1 to 16777214"},
      {"learner { learning_rate: nan }",
       "learner.learning_rate: nan is out of range"}};
  for (const auto& [text, error] : kWrong) {
    EXPECT_THAT(Error(text), HasSubstr(error));
  }
}

TEST(ConfigTest, WrongOverridesAreRefusedWithWhatIsExpected) {
  const std::vector<std::pair<std::string, std::string>> kWrong = {
      // The path.
      {"seed", "bad override 'seed'; expected path.to.field=value"},
      {"sed=3",
       "bad override 'sed=3': the config has no field 'sed'; it has: run_dir, "
       "variant, "},
      {"self_play.serach.simulations=3",
       "self_play has no field 'serach'; it has: games_per_generation, "
       "threads, games_per_thread, search"},
      {"self_play.search=3",
       "self_play.search is a group of fields; set one of: simulations, "},
      {"seed.bits=3", "seed is a uint64 and has no field 'bits'"},
      {"=3", "the config has no field ''"},
      // The type.
      {"seed=many",
       "'many' is not a whole number from 0 to 18446744073709551615"},
      {"generations=-1", "'-1' is not a whole number from 0 to 4294967295"},
      {"generations=4294967296", "'4294967296' is not a whole number from 0"},
      {"generations=0x10", "'0x10' is not a whole number"},
      {"learner.learning_rate=fast", "'fast' is not a number"},
      {"learner.learning_rate=0x1p-9", "'0x1p-9' is not a number"},
      {"overlap=2", "'2' is not true or false"},
      // The range.
      {"self_play.search.dirichlet_fraction=1.5",
       "self_play.search.dirichlet_fraction: 1.5 is out of range; expected 0 "
       "to 1"},
      {"learner.weight_decay=-0.5", "weight_decay: -0.5 is out of range"},
      {"learner.ema_decay=1", "learner.ema_decay: 1 is out of range"},
      {"self_play.threads=0", "self_play.threads: 0 is out of range"},
      {"learner.threads=0", "learner.threads: 0 is out of range"},
      // Names.
      {"network.kind=heavy", "network.kind: heavy; expected tower or light"},
      {"learner.optimizer=adam", "adam; expected adamw or muon"},
      {"learner.schedule=steps", "no field 'schedule'"},
      {"learner.autocast=float16", "float16; expected off, bfloat16 or auto"},
      {"learner.device=gpu",
       "configs/quick.textproto: learner.device: 'gpu'; expected cpu, cuda or "
       "cuda:N (N from 0)"},
      {"learner.device=cuda:all", "learner.device: 'cuda:all'; expected"},
      {"inference.device=gpu",
       "inference.device is 'gpu'; expected cpu, cuda, cuda:N or cuda:all"},
      {"inference.backend=abacus",
       "inference.backend is 'abacus'; expected one of auto"},
      {"inference.precision=int4",
       "configs/quick.textproto: inference.precision is 'int4'; expected one "
       "of auto, float32, bfloat16, float16, int8"},
      {"run_dir=", "run_dir: empty; expected a folder"},
      {"init_from=", "init_from: empty; expected"},
      {"games_from=", "games_from: empty; expected a store of games, or -"},
      {"variant=chess", "variant: "},
      {"variant=chess", "sacred_hill_l1"},
      {"variant=four_treasures,all", "all"},
      {"variant=four_treasures,four_treasures",
       "variant: four_treasures is listed twice"},
      {"rule_options=no_progress_limit=30", "rule_options: "},
      {"rule_options=proximity_bound=9", "1 to 5"},
      {"rule_options=proximity_bound", "rule_options: "},
      // Options of the search.
      {"self_play.search.option=gumble=on",
       "self_play.search.option: 'gumble=on': unknown search option 'gumble'; "
       "expected one of "},
      {"self_play.search.option=gumbel=yes",
       "self_play.search.option: 'gumbel=yes': gumbel is 'yes'; expected on or "
       "off"},
      {"self_play.search.option=gumbel", "'gumbel': expected name=value"},
      {"self_play.search.option=graph=on,graph=off", "graph is given twice"},
      {"self_play.search.option=solver_hills=6", "requires proof=on"},
      {"self_play.search.option=gumbel=on,forced_playouts=2",
       "self_play.search.option: forced_playouts together with gumbel=on; "
       "expected only one of the two"},
      {"self_play.search.option=gumbel=on,gumbel_actions=17 "
       "self_play.search.simulations=16",
       "self_play.search.option: gumbel_actions=17; expected at most "
       "self_play.search.simulations, 16"},
      {"self_play.search.option=gumbel_actions=8",
       "self_play.search.option: gumbel_actions; expected gumbel=on as well"},
      // Values that do not go together.
      {"self_play.playout_cap.full_share=0.25 "
       "self_play.playout_cap.fast_simulations=9 "
       "self_play.search.simulations=9",
       "self_play.playout_cap.fast_simulations: 9; expected less than a full "
       "search has"},
      {"learner.value_search_share=0.5 self_play.search.option=utility=mix",
       "learner.value_search_share: 0.5, but searches return utilities "
       "(self_play.search.option utility=mix)"},
      {"self_play.games_per_thread=1 self_play.evaluation_groups=2",
       "self_play.evaluation_groups: 2; expected at most "
       "self_play.games_per_thread, 1"},
      {"variant=all self_play.games_per_generation=9",
       "self_play.games_per_generation: 9; expected a game at least for each "
       "of the 10 variants"},
      // 3 games of at most 1000 positions.
      {"learner.batch_size=3001 learner.window_games=3",
       "learner.batch_size: 3001; expected less than a window can ever hold: 3 "
       "games"},
      // The run has fewer games than its window.
      {"generations=1 self_play.games_per_generation=2 learner.batch_size=2001",
       "learner.batch_size: 2001; expected less than a window can ever hold: 2 "
       "games"},
      {"self_play.games_per_generation=50 learner.window_games=100 "
       "retention.keep_games=149",
       "retention.keep_games: 149; expected 0 (all), or at least 150"},
      {"games_from=games.db retention.keep_games=100000",
       "retention.keep_games: 100000; expected 0 with games_from"}};
  for (const auto& [overrides, error] : kWrong) {
    EXPECT_THAT(Error("", absl::StrSplit(overrides, ' ')), HasSubstr(error));
  }
}

TEST(ConfigTest, ValuesThatGoTogetherAreTaken) {
  for (const std::string overrides :
       {"self_play.search.simulations=9",  // no fast searches
        "learner.value_search_share=0.5 self_play.search.option=utility=win",
        "self_play.search.option=utility=mix",
        // Considered actions adapt to the simulations.
        "self_play.search.option=gumbel=on self_play.search.simulations=8"}) {
    Good("", absl::StrSplit(overrides, ' '));
  }
}

// --- Device check ------------------------------------------------------------

proto::TrainConfig Load(const std::string& file,
                        const std::vector<std::string>& overrides = {}) {
  auto config = LoadTrainConfig("configs/" + file, overrides);
  EXPECT_TRUE(config.ok()) << config.status();
  return *std::move(config);
}

void ExpectLacking(const proto::TrainConfig& config, const std::string& field) {
  EXPECT_THAT(
      CheckDevices(config),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr(field + ": device"), HasSubstr("CUDA"))));
}

TEST(DeviceCheckTest, WhatIsLackingIsNamedWithItsField) {
  EXPECT_TRUE(CheckDevices(Load("tiny.textproto")).ok());
  // No machine has so many.
  for (const std::string field : {"learner.device", "inference.device"}) {
    ExpectLacking(Load("tiny.textproto", {field + "=cuda:127"}), field);
  }
  // LibTorch's networks have no integers.
  EXPECT_THAT(
      CheckDevices(Load("tiny.textproto", {"inference.backend=torch",
                                           "inference.precision=int8"})),
      StatusIs(absl::StatusCode::kUnimplemented,
               AllOf(HasSubstr("inference.precision: int8 with "
                               "inference.backend: torch"),
                     HasSubstr("expected auto"))));
}

TEST(DeviceCheckTest, TheConfigForGpusSaysSoWhereThereIsNone) {
  const proto::TrainConfig config = Load("gpu.textproto");
  if (nn::FindTorchDevices("cuda").ok()) {
    EXPECT_TRUE(CheckDevices(config).ok());
  } else {
    ExpectLacking(config, "inference.device");
  }
}

}  // namespace
}  // namespace tara::train
