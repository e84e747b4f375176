#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tara/core/variant.h"
#include "tara/nn/light/light.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

TEST(BenchCoreTest, MeasuresEveryVariantOnEveryInstructionSet) {
  std::set<std::string> variants;
  std::set<std::string> instruction_sets;
  const Json report = JsonOf("bench core --seconds 0.001");
  for (const Json& row : report) {
    variants.insert(row.at("variant").get<std::string>());
    instruction_sets.insert(row.at("isa").get<std::string>());
    EXPECT_GT(row.at("scalar_plies_per_s"), 0);
    EXPECT_GT(row.at("batched_plies_per_s"), 0);
    EXPECT_GT(row.at("games_per_s"), 0);
    EXPECT_EQ(row.at("threads"), 1);
  }
  EXPECT_EQ(variants.size(), kVariants.size());
  EXPECT_TRUE(instruction_sets.contains("portable"));
  EXPECT_EQ(report.size(), variants.size() * instruction_sets.size());
}

TEST(BenchCoreTest, PrintsATableWithTheThreads) {
  EXPECT_THAT(
      OutputOf(
          "bench core --variant four_treasures --seconds 0.001 --threads 2"),
      AllOf(HasSubstr("2 threads"), HasSubstr("portable"), HasSubstr("ratio"),
            HasSubstr("\nfour_treasures ")));
}

TEST(BenchCoreTest, HeedsRuleOptions) {
  OutputOf(
      "bench core --variant high_kings_l1 --option no_progress_limit=5 "
      "--seconds 0.001");
}

TEST(BenchCoreTest, AnInterruptReportsTheVariantsSoFar) {
  // Nine variants more take long enough for the signal to come before the end.
  EXPECT_THAT(ShownUntilInterrupted("bench core --seconds 2", {"(2 of 10)"}),
              AllOf(HasSubstr("scalar"), HasSubstr("tara: interrupted")));
}

TEST(BenchSearchTest, MeasuresEveryVariantWithEveryEvaluator) {
  for (const std::string threads : {"1", "2"}) {
    std::set<std::string> rows;
    for (const Json& row :
         JsonOf("bench search --seconds 0.001 --simulations 50 --threads " +
                threads)) {
      rows.insert(row.at("variant").get<std::string>() + " " +
                  row.at("evaluator").get<std::string>());
      EXPECT_EQ(row.at("threads"), std::stoi(threads));
      EXPECT_GT(row.at("simulations_per_s"), 0);
      EXPECT_GT(row.at("bytes_per_simulation"), 96);  // a node and its state
      EXPECT_GT(row.at("batch_fill"), 0.5);
      EXPECT_LE(row.at("batch_fill"), 1);
      EXPECT_GE(row.at("graph_hit_rate"), 0);
      EXPECT_LT(row.at("graph_hit_rate"), 1);
    }
    EXPECT_EQ(rows.size(), 2 * kVariants.size());
  }
}

TEST(BenchSearchTest, PrintsATable) {
  EXPECT_THAT(OutputOf("bench search --variant poisoned_chalice --seconds "
                       "0.001 --evaluator uniform"),
              AllOf(HasSubstr("M simulations/s"), HasSubstr("graph hits"),
                    HasSubstr("\npoisoned_chalice  uniform ")));
}

TEST(BenchSearchTest, TheSignatureIsOneNumber) {
  const std::string result = OutputOf("bench search --signature");
  EXPECT_EQ(result.size(), 17u);
  EXPECT_EQ(result.find_first_not_of("0123456789abcdef"), 16u);
}

TEST(BenchLearnerTest, SaysHowFastANetworkLearnsAndWhereTheTimeGoes) {
  for (const std::string prepare : {"0", "2"}) {
    const Json report = JsonOf(
        "bench learner --net 4x1 --batch 4,16 --threads 1 --prepare-threads " +
        prepare + " --steps-per-read 3 --seconds 0.01");
    ASSERT_EQ(report.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      const Json& row = report[i];
      EXPECT_EQ(row.at("net"), "4x1");
      EXPECT_EQ(row.at("device"), "cpu");
      EXPECT_EQ(row.at("batch"), i == 0 ? 4 : 16);
      EXPECT_EQ(row.at("prepare_threads"), std::stoi(prepare));
      EXPECT_GT(row.at("samples_per_s"), 0);
      EXPECT_NEAR(
          row.at("steps_per_s").get<double>() * row.at("batch").get<double>(),
          row.at("samples_per_s").get<double>(), 1);
      EXPECT_GT(row.at("sample_us"), 0);
      EXPECT_GT(row.at("encode_us"), 0);
      double shares = 0;
      for (const char* share :
           {"step_share", "wait_for_batch_share", "read_share"}) {
        EXPECT_GE(row.at(share), 0) << share;
        shares += row.at(share).get<double>();
      }
      EXPECT_LE(shares, 1);
    }
  }
}

TEST(BenchInferenceTest, ThreadsEvaluateAtOnce) {
  const Json report = JsonOf(
      "bench inference --net 4x1 --threads 2 --batch 8 --precision float32 "
      "--seconds 0.001");
  EXPECT_EQ(report.size(), 2u);  // by LibTorch and by Tara
  for (const Json& row : report) EXPECT_GT(row.at("positions_per_s"), 0);
}

TEST(BenchSelfPlayTest, SaysHowFastSelfPlayIsBesideTheBareEngine) {
  for (const std::string threads : {"1", "2"}) {
    const Json report =
        JsonOf("bench selfplay --net 4x1 --sims 8 --threads " + threads +
               " --games 6 --games-per-thread 2 --seconds 0.001 --search "
               "proof=on,solver_hills=6 --precision float32");
    EXPECT_EQ(report.at("net"), "4x1");
    // What was chosen, not "auto".
    EXPECT_EQ(report.at("precision"), "float32");
    EXPECT_EQ(report.at("threads"), std::stoi(threads));
    EXPECT_EQ(report.at("games"), 6);
    for (const char* rate :
         {"engine_evaluations_per_s", "selfplay_evaluations_per_s",
          "simulations_per_s", "games_per_s"}) {
      EXPECT_GT(report.at(rate), 0) << rate;
    }
    EXPECT_GE(report.at("simulations_per_s"),
              report.at("selfplay_evaluations_per_s"));
    EXPECT_NEAR(report.at("ratio").get<double>(),
                report.at("selfplay_evaluations_per_s").get<double>() /
                    report.at("engine_evaluations_per_s").get<double>(),
                1e-6);
    double sum = 0;
    std::set<std::string> parts;
    for (const auto& [name, share] : report.at("shares").items()) {
      parts.insert(name);
      sum += share.get<double>();
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    EXPECT_EQ(parts, (std::set<std::string>{"engine", "encoding", "filling",
                                            "tree", "cache", "solver",
                                            "playing", "waiting", "other"}));
  }
}

TEST(BenchInferenceTest, MeasuresEveryBackendPrecisionAndBatch) {
  std::set<std::string> rows;
  for (const Json& row :
       JsonOf("bench inference --net 8x1 --batch 1,20 --seconds 0.001")) {
    rows.insert(row.at("backend").get<std::string>() + " " +
                row.at("precision").get<std::string>() + " " +
                std::to_string(row.at("batch").get<int>()));
    EXPECT_EQ(row.at("net"), "8x1");
    EXPECT_GT(row.at("positions_per_s"), 0);
    EXPECT_GT(row.at("operations_per_s"), 0);
    EXPECT_LT(row.at("value_error"), 0.1);
    EXPECT_LT(row.at("policy_error"), 0.1);
  }
  for (const char* row : {"torch float32 1", "torch float32 20",
                          "tara float32 1", "tara float32 20"}) {
    EXPECT_TRUE(rows.contains(row)) << row;
  }
}

TEST(BenchInferenceTest, MeasuresLightNetworksByInstructionSet) {
  const std::vector<absl::string_view> kernels = nn::LightKernelNames();
  const Json rows =
      JsonOf("bench inference --net light:64x1 --batch 1 --seconds 0.001");
  ASSERT_EQ(rows.size(), kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_EQ(rows[i].at("net"), "light:64x1");
    EXPECT_EQ(rows[i].at("instructions").get<std::string>(),
              std::string(kernels[i]));
    EXPECT_GT(rows[i].at("positions_per_s"), 0);
    EXPECT_LT(rows[i].at("value_error"), 0.05);
    EXPECT_LT(rows[i].at("policy_error"), 0.05);
  }
}

TEST(BenchTest, WrongArgumentsAreTold) {
  ExpectRefused(
      "bench",
      {
          {"", "missing subcommand; expected one of: "},
          {"cor", "did you mean 'core'?"},
          {"core --variant chess", "unknown variant 'chess'"},
          {"core --seconds 0",
           "--seconds: bad value '0'; expected a number from 0.001"},
          {"core --seconds nan", "bad value 'nan'"},
          {"core --threads many", "--threads: bad value"},
          {"core --format=xml", "bad value 'xml'"},
          {"learner --batch 0", "expected sizes from 1 to 1048576"},
          {"learner --device cuda:all", "expected one device"},
          {"learner --device tpu", "--device: bad value 'tpu'"},
          {"learner --prepare-threads -2", "--prepare-threads: bad value '-2'"},
          {"selfplay --net 64", "--net is '64'; expected CHANNELSxBLOCKS"},
          {"selfplay --precision int4",
           "--precision: bad value 'int4'; expected auto"},
          {"selfplay --search width=3", "--search: "},
          {"selfplay --cache -1", "--cache"},
          {"selfplay --checkpoint /no/such/file", "/no/such/file", 1},
          {"inference --net 64", "--net is '64'; expected CHANNELSxBLOCKS"},
          {"inference --net light:32x1", "expected 64 channels", 1},
          {"inference --batch 1,x",
           "--batch is '1,x'; expected sizes from 1 to 4096"},
          {"inference --net 4x1 --precision float16",
           "no such engine on device cpu"},
          {"inference --backend torch --precision int8", "int8"},
          {"inference --checkpoint /no/such/file", "/no/such/file", 1},
      });
}

}  // namespace
}  // namespace tara::cli
