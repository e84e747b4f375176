// `tara export` and `tara model` as a user meets them. What ONNX Runtime says
// of bundles: tests/js/bundle.test.mjs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "tara/base/sqlite.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using std::string_literals::operator""s;

// Trains a network of seconds and returns the folder of its run.
std::string TrainTiny() {
  const std::string run_dir = TemporaryPath("run");
  OutputOf("train " + WriteTinyConfig(run_dir) +
           " --set generations=1 --set variant=high_kings_l1 --set "
           "rule_options=no_progress_limit=20 --set "
           "evaluation.opponent=random");
  return run_dir;
}

TEST(ModelTest, ARunBecomesABundleThatTellsPlaysAndProvesItself) {
  const std::string run_dir = TrainTiny();
  const std::string bundle = TemporaryPath("kings.tara");
  EXPECT_THAT(OutputOf("export " + run_dir + " -o " + bundle),
              AllOf(StartsWith(bundle), HasSubstr("ckpt-000001 after 2 steps"),
                    HasSubstr("1 variant,")));
  EXPECT_THAT(OutputOf("model " + bundle),
              AllOf(HasSubstr("4 channels x 1 blocks"),
                    HasSubstr("high_kings_l1 (no_progress_limit=20)"),
                    HasSubstr(".run, ckpt-000001: generation 1, 2 steps"),
                    HasSubstr("4 games"), HasSubstr("high_kings_l1  random"),
                    HasSubstr("model.onnx")));

  const auto manifest = JsonOf("model " + bundle);
  EXPECT_EQ(manifest["provenance"]["seed"], 1);
  // The paths of this machine are nobody's business.
  EXPECT_THAT(manifest.dump(), Not(HasSubstr(run_dir)));
  EXPECT_THAT(
      OutputOf("model verify " + bundle),
      AllOf(HasSubstr("20 golden positions"), Not(HasSubstr("DIFFERS"))));

  EXPECT_THAT(OutputOf("arena --variant high_kings_l1 --option "
                       "no_progress_limit=20 --games 2 net:" +
                       bundle + ",sims=2 random"),
              HasSubstr("kings.tara,sims=2,precision=float32\n"));
  EXPECT_THAT(ErrorOf(2, "arena --variant four_treasures --games 2 net:" +
                             bundle + ",sims=2 random"),
              HasSubstr(",sims=2 has not learned four_treasures"));
  EXPECT_THAT(ErrorOf(1, "export " + bundle + " -o x.tara"),
              HasSubstr("is already a bundle"));
}

TEST(ModelTest, WithoutLibTorchABundleIsHeldToTheRest) {
  const std::string bundle = TemporaryPath("kings.tara");
  OutputOf(absl::StrCat("export ", TrainTiny(), " -o ", bundle));
  const auto result_of = [&](const std::string& program) {
    const auto report = nlohmann::json::parse(OutputOf(
        RunShell(program + " model verify " + bundle + " --format=json")));
    std::map<std::string, std::string> results;
    for (const auto& form : report["forms"]) {
      results[form["form"]] = form["result"];
    }
    return results;
  };
  EXPECT_EQ(result_of("\"$TARA\"")["libtorch"], "agrees");
  // The program alone, as where Tara is installed without LibTorch.
  const std::string alone = TemporaryPath("alone");
  ASSERT_EQ(RunShell("cp \"$TARA\" " + alone).status, 0);
  EXPECT_EQ(result_of(alone)["libtorch"], "not_run");
  EXPECT_EQ(result_of(alone)["tara"], "agrees");
}

TEST(ModelTest, ACheckpointByItselfIsOfTheVariantsThatAreNamed) {
  const std::string run_dir = TrainTiny();
  const std::string file = TemporaryPath("alone.pt");
  WriteFile(file, ReadFile(run_dir + "/checkpoints/ckpt-000001.pt"));
  const std::string bundle = TemporaryPath("alone.tara");
  OutputOf("export " + file + " -o " + bundle +
           " --weights float16 --variant four_treasures");
  EXPECT_THAT(OutputOf("model " + bundle),
              AllOf(HasSubstr("plays    four_treasures\n"),
                    HasSubstr("weights of float16"),
                    HasSubstr(".alone: generation 1")));
  // A run knows better.
  EXPECT_THAT(ErrorOf(1, "export " + run_dir + " -o " + bundle +
                             " --variant stone_of_destiny"),
              HasSubstr("the network has not learned stone_of_destiny"));
}

TEST(ModelTest, TheReadyMadeModelPlaysByDefault) {
  const std::string run_dir = TrainTiny();
  const std::string root = TemporaryPath("root");
  const std::string command = absl::StrCat(
      "mkdir -p ", root, "/models && export TARA_ROOT=", root, " && ");
  const std::string play =
      "\"$TARA\" play --variant high_kings_l1 --seat blue </dev/null "
      "--option no_progress_limit=";
  EXPECT_THAT(OutputOf(RunShell(command + play + "20")),
              Not(HasSubstr("The opponent is")));
  const TaraResult none =
      RunShell(command + "\"$TARA\" arena --variant high_kings_l1 best random");
  EXPECT_NE(none.status, 0);
  EXPECT_THAT(none.err,
              HasSubstr("no ready-made model " + root + "/models/tara.tara"));

  OutputOf("export " + run_dir + " -o " + root + "/models/tara.tara");
  EXPECT_THAT(OutputOf(RunShell(command + play + "20")),
              StartsWith("The opponent is the network of " + root +
                         "/models/tara.tara, computed in float32.\n"));
  // Of rules that it has not learned it is nobody's opponent by default.
  EXPECT_THAT(RunShell(command + play + "21").out,
              Not(HasSubstr("The opponent is")));
  EXPECT_THAT(
      RunShell(command + "\"$TARA\" play --variant four_treasures </dev/null")
          .out,
      Not(HasSubstr("The opponent is")));
  EXPECT_EQ(RunShell(command + "\"$TARA\" arena --variant high_kings_l1 "
                               "--option no_progress_limit=20 "
                               "--games 2 best:sims=2 random")
                .status,
            0);
  EXPECT_THAT(OutputOf(RunShell(
                  command + "\"$TARA\" balance --variant high_kings_l1 --games "
                            "2 --option no_progress_limit=20 --first-games 0 "
                            "--player best --sims 2 --format=json")),
              HasSubstr("best:sims=2,precision=float32"));
  const TaraResult engine =
      RunShell(command + "echo name | \"$TARA\" engine --model best");
  EXPECT_EQ(engine.status, 0) << engine.err;
  EXPECT_THAT(engine.err, HasSubstr("computes in float32 by tara"));
  // The engine, too, takes it by itself where it has learned the first game.
  const auto engine_by_itself = [&](const std::string& arguments) {
    const TaraResult result = RunShell(absl::StrCat(
        command, "echo name | \"$TARA\" engine --variant high_kings_l1 ",
        arguments));
    EXPECT_EQ(result.status, 0) << result.err;
    return result.err;
  };
  EXPECT_THAT(engine_by_itself("--option no_progress_limit=20"),
              HasSubstr("computes in float32 by tara"));
  EXPECT_EQ(engine_by_itself("--option no_progress_limit=20 --model playouts"),
            "");
  EXPECT_EQ(engine_by_itself("--option no_progress_limit=21"), "");
  EXPECT_THAT(engine_by_itself("--option no_progress_limit=21 --untrained"),
              HasSubstr("computes in float32 by tara"));
  EXPECT_THAT(RunShell(command + "\"$TARA\" model best").out,
              StartsWith(root + "/models/tara.tara: "));
  // It is not looked for where the program is started.
  const TaraResult nowhere =
      RunShell(absl::StrCat("TARA=$(realpath \"$TARA\") && cd ", root,
                            " && env -u TARA_ROOT \"$TARA\" model best"));
  EXPECT_THAT(ErrorOf(1, nowhere), HasSubstr("TARA_ROOT does not name"));
  EXPECT_THAT(RunShell(command + "\"$TARA\" export best -o x.tara").err,
              HasSubstr("tara.tara is already a bundle"));

  WriteFile(root + "/models/tara.tara", "damaged");
  const TaraResult damaged = RunShell(command + play + "20");
  EXPECT_EQ(damaged.status, 0);
  EXPECT_THAT(damaged.err, HasSubstr("is not a complete zip archive"));
}

TEST(ModelTest, TheReadyMadeModelPlaysItselfIntoAGameStore) {
  const std::string root = TemporaryPath("root");
  const std::string command = absl::StrCat(
      "mkdir -p ", root, "/models && export TARA_ROOT=", root, " && ");
  const std::string db = TemporaryPath("best.db");
  const auto self_play = [&](const std::string& model) {
    return RunShell(absl::StrCat(
        command, "\"$TARA\" selfplay --variant high_kings_l1 --games 1 ",
        "--option no_progress_limit=20 --sims 2 --model ", model, " -o ", db));
  };
  EXPECT_THAT(self_play("best").err, HasSubstr("no ready-made model"));
  OutputOf(
      absl::StrCat("export ", TrainTiny(), " -o ", root, "/models/tara.tara"));
  EXPECT_THAT(self_play("best").out, HasSubstr("1 games played"));
  EXPECT_EQ(self_play("best:precision=float32,device=cpu").status, 0);
  for (const char* const bad : {"best:", "best:best", "best:sims=3",
                                "best:precision=float32,graph=on"}) {
    EXPECT_THAT(ErrorOf(2, self_play(bad)),
                HasSubstr(absl::StrCat("'", bad, "'")));
  }
}

TEST(ModelTest, WhatCannotBeReadIsNamed) {
  const std::string garbage = TemporaryPath("garbage.tara");
  WriteFile(garbage, "PK\x03\x04 and no more");
  const struct {
    std::string arguments;
    std::string message;
  } cases[] = {
      {"model /nowhere.tara", "/nowhere.tara"},
      {"model " + garbage, "is not a complete zip archive"},
      {"model verify " + garbage, "is not a complete zip archive"},
      {"arena --variant four_treasures random net:" + garbage,
       "is not a complete zip archive"},
      {"export /nowhere -o x.tara", "/nowhere: no such file"},
      {"export -o x.tara " + garbage, "is already a bundle"},
  };
  for (const auto& wrong : cases) {
    const std::string result = ErrorOf(1, wrong.arguments);
    EXPECT_THAT(result, AllOf(StartsWith("tara: "), HasSubstr(wrong.message)));
    EXPECT_EQ(Lines(result).size(), 1u);
  }
}

}  // namespace
}  // namespace tara::cli
