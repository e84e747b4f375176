// What goes wrong from outside: files damaged, games lost, disks full, locks
// held, losses that are not finite. Nothing that was finished may be lost, and
// the same call goes on.

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/base/sqlite.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/train/run/pipeline.h"
#include "tests/status_matchers.h"
#include "tests/train/pipeline_testing.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Contents(const std::string& path) {
  return ReadWholeFile(path).value();
}

// Trains a twin without any accident, to compare with.
std::string StraightRun(const std::string& name,
                        const std::vector<std::string>& overrides) {
  const std::string run_dir = TestFolder(name);
  Trained(Tiny(run_dir, overrides));
  return run_dir;
}

// One thread, so that LibTorch computes the same in both of two runs.
const std::vector<std::string> kSteady = {
    "self_play.threads=1", "self_play.games_per_thread=6", "generations=3"};

void FlipAByteInTheMiddle(const std::string& path) {
  std::string bytes = Contents(path);
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<std::string> Notes(const std::string& run_dir) {
  return MetricsOf(run_dir, "note");
}

TEST(PipelineRobustTest,
     ADamagedCheckpointIsSetAsideAndItsGenerationRelearned) {
  const std::string run_dir = StraightRun("damaged_run", kSteady);
  const std::string whole = Contents(CheckpointFile(run_dir, 3));
  FlipAByteInTheMiddle(CheckpointFile(run_dir, 3));
  const auto games = GamesOf(run_dir);
  const auto summary = Trained(Tiny(run_dir, kSteady));
  EXPECT_EQ(summary.generation, 3);
  // Learned from the same games, it is the same network.
  EXPECT_EQ(Contents(CheckpointFile(run_dir, 3)), whole);
  EXPECT_TRUE(std::filesystem::exists(CheckpointFile(run_dir, 3) + ".damaged"));
  EXPECT_EQ(GamesOf(run_dir).size(), games.size());
  ASSERT_EQ(Notes(run_dir).size(), 1u);
  EXPECT_THAT(Notes(run_dir)[0],
              AllOf(HasSubstr("ckpt-000003.pt is damaged: its checksum does "
                              "not match"),
                    HasSubstr("renamed"), HasSubstr("learned again")));
}

TEST(PipelineRobustTest, WhereEveryCheckpointIsDamagedTheRunBeginsAnew) {
  const std::string run_dir =
      StraightRun("all_damaged", {"generations=1", "self_play.threads=1"});
  FlipAByteInTheMiddle(CheckpointFile(run_dir, 0));
  FlipAByteInTheMiddle(CheckpointFile(run_dir, 1));
  const auto summary =
      Trained(Tiny(run_dir, {"generations=1", "self_play.threads=1"}));
  EXPECT_EQ(summary.generation, 1);
  EXPECT_EQ(GamesOf(run_dir).size(), 6u);
  EXPECT_EQ(Notes(run_dir).size(), 2u);
}

// --- Games that are lost -----------------------------------------------------

// A run whose generations 0 and 1 are played, and 0 is learned: what it learns
// next is of the games 2 to 11 (kSteady has a window of ten). Removes some.
std::string RunThatLost(const std::string& name, const std::string& games) {
  const std::string run_dir = TestFolder(name);
  EXPECT_EQ(TrainedUntil(12, Tiny(run_dir, kSteady)).generation, 1);
  auto store = SqliteDatabase::Open(run_dir + "/games.db",
                                    SqliteDatabase::Mode::kReadWrite)
                   .value();
  EXPECT_THAT(
      store.Execute("DELETE FROM games WHERE game_index IN (" + games + ")",
                    "lose games"),
      IsOk());
  return run_dir;
}

TEST(PipelineRobustTest, GamesOfTheWindowThatTheStoreHasLostArePlayedAgain) {
  const std::string straight = StraightRun("nothing_lost", kSteady);
  const std::string run_dir = RunThatLost("lost", "3, 5, 8");
  Trained(Tiny(run_dir, kSteady));
  for (const int generation : {2, 3}) {
    EXPECT_EQ(Contents(CheckpointFile(run_dir, generation)),
              Contents(CheckpointFile(straight, generation)));
  }
  EXPECT_EQ(BytesOf(GamesOf(run_dir)), BytesOf(GamesOf(straight)));
  // Game 8 is of the generation that is going on.
  ASSERT_EQ(Notes(run_dir).size(), 1u);
  EXPECT_THAT(Notes(run_dir)[0],
              HasSubstr("games.db lacks 2 games of generation 0, the first of "
                        "them game 3; ckpt-000000 plays them again"));
}

TEST(PipelineRobustTest, LostGamesThatCannotBePlayedAgainAreAnError) {
  const std::string run_dir = RunThatLost("lost_for_ever", "3, 4");
  const std::string player = CheckpointFile(run_dir, 0);
  std::filesystem::rename(player, player + ".away");
  absl::Status status = Train(Tiny(run_dir, kSteady)).status();
  EXPECT_THAT(
      status,
      StatusIs(
          absl::StatusCode::kDataLoss,
          AllOf(HasSubstr(run_dir + "/games.db lacks 2 games of generation "
                                    "0, the first of them game 3"),
                HasSubstr("ckpt-000000, which played them, is no longer "
                          "there; generation 1 cannot be learned"))));
  // Nor without the plans.
  const std::string state = run_dir + "/state.textproto";
  std::filesystem::rename(state, state + ".away");
  status = Train(Tiny(run_dir, kSteady)).status();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("lacks 2 games"), HasSubstr("game 3"),
                             HasSubstr("no plan"))));
  // With all back it goes on.
  std::filesystem::rename(player + ".away", player);
  std::filesystem::rename(state + ".away", state);
  Trained(Tiny(run_dir, kSteady));
  EXPECT_EQ(GamesOf(run_dir).size(), 18u);
}

// --- Lines that a kill keeps from the log ------------------------------------

// Takes all but the first of these lines out of the log: those that a kill has
// come before.
void LoseLines(const std::string& run_dir,
               const std::vector<std::string>& lines) {
  const auto there = MetricsOf(run_dir);
  std::string kept;
  for (const std::string& line : there) {
    const auto found = std::find(lines.begin(), lines.end(), line);
    if (found == lines.end() || found == lines.begin()) kept += line + "\n";
  }
  std::ofstream(run_dir + "/metrics.jsonl") << kept;
}

TEST(PipelineRobustTest, LinesOfACheckpointThatAKillCutOffAreMadeUpFor) {
  const std::string run_dir = TestFolder("lost_learning");
  // Held-out lines need games enough that are held out.
  std::vector<std::string> overrides = kSteady;
  overrides.push_back("learner.held_out_share=0.5");
  proto::TrainConfig config = Tiny(run_dir, overrides);
  config.set_generations(2);
  Trained(config);
  const std::vector<std::string> learning = MetricsOf(run_dir, "learning");
  const std::vector<std::string> held_out = MetricsOf(run_dir, "held_out");
  ASSERT_EQ(learning.size(), 2u);
  ASSERT_FALSE(held_out.empty());
  LoseLines(run_dir, {learning[0], learning[1], held_out.back()});
  ASSERT_EQ(MetricsOf(run_dir, "learning").size(), 1u);
  config.set_generations(3);
  Trained(config);
  const std::vector<std::string> after = MetricsOf(run_dir, "learning");
  ASSERT_EQ(after.size(), 3u);
  EXPECT_EQ(after[1], learning[1]);
  EXPECT_EQ(std::count(after.begin(), after.end(), learning[1]), 1);
  const std::vector<std::string> held_out_after =
      MetricsOf(run_dir, "held_out");
  EXPECT_EQ(
      std::count(held_out_after.begin(), held_out_after.end(), held_out.back()),
      1);
}

// An evaluator whose results are of two opponents, and other ones each time.
TrainCallbacks Evaluating(int& evaluations) {
  TrainCallbacks callbacks;
  callbacks.evaluate = [&evaluations](const StrengthRequest& request) {
    ++evaluations;
    std::vector<StrengthResult> results;
    for (const std::string opponent : {"random", "greedy"}) {
      results.push_back({.variant = "sacred_hill_l1",
                         .opponent = opponent,
                         .games = evaluations,
                         .score = request.is_final ? 0.75 : 0.5});
    }
    return results;
  };
  return callbacks;
}

TEST(PipelineRobustTest, LinesOfAnEvaluationThatAKillCutOffAreMadeUpFor) {
  const std::string run_dir = TestFolder("lost_strength");
  int evaluations = 0;
  proto::TrainConfig config = Tiny(run_dir);
  ASSERT_GT(config.evaluation().every(), 0u);
  config.set_generations(3);
  // Ends in the third generation, after the evaluation of the second: what is
  // lost then is what was written last.
  TrainedUntil(13, config, Evaluating(evaluations));
  const std::vector<std::string> strength = MetricsOf(run_dir, "strength");
  ASSERT_EQ(strength.size(), 4u);  // of checkpoints 1 and 2
  LoseLines(run_dir, {strength[2], strength[3]});
  ASSERT_EQ(MetricsOf(run_dir, "strength").size(), 3u);
  Trained(config, Evaluating(evaluations));
  const std::vector<std::string> after = MetricsOf(run_dir, "strength");
  EXPECT_EQ(evaluations, 3);  // and the last one
  EXPECT_EQ(after.size(), 6u);
  EXPECT_EQ(std::set<std::string>(after.begin(), after.end()).size(), 6u);
  EXPECT_EQ(std::count(after.begin(), after.end(), strength[3]), 1);
}

TEST(PipelineRobustTest, AFinalEvaluationIsNotTheOneDuringTraining) {
  const std::string run_dir = TestFolder("final_strength");
  int evaluations = 0;
  proto::TrainConfig config = Tiny(run_dir);
  config.set_generations(1);
  Trained(config, Evaluating(evaluations));
  EXPECT_EQ(evaluations, 1);
  // Longer, the run evaluates the first checkpoint during training too.
  config.set_generations(2);
  Trained(config, Evaluating(evaluations));
  EXPECT_EQ(evaluations, 3);
  EXPECT_EQ(MetricsOf(run_dir, "strength").size(), 6u);
}

// --- Losses that are not finite ----------------------------------------------

// A run whose games are all there, stopped before the generation 1 is learned.
std::string StoppedBeforeLearning(const std::string& name) {
  const std::string run_dir = TestFolder(name);
  EXPECT_EQ(TrainedUntil(12, Tiny(run_dir)).generation, 1);
  EXPECT_EQ(GamesOf(run_dir).size(), 12u);
  return run_dir;
}

// Writes weights into a checkpoint whose outputs overflow.
void Poison(const std::string& path) {
  auto checkpoint = nn::ReadCheckpoint(path).value();
  for (nn::NamedTensor& tensor : checkpoint.tensors) {
    std::fill(tensor.values.begin(), tensor.values.end(), 3e38f);
  }
  ASSERT_TRUE(nn::WriteCheckpoint(path, checkpoint).ok());
}

TEST(PipelineRobustTest, LossesThatAreNotFiniteAreAnErrorThatSaysWhatToDo) {
  const std::string run_dir = StoppedBeforeLearning("astray");
  const std::string path = CheckpointFile(run_dir, 1);
  const std::string good = Contents(path);
  Poison(path);
  EXPECT_THAT(
      Train(Tiny(run_dir)),
      StatusIs(absl::StatusCode::kAborted,
               AllOf(HasSubstr("all 6 steps were not finite"),
                     HasSubstr("the run resumes from " + path),
                     HasSubstr("a lower learner.learning_rate (now 0.003)"))));
  EXPECT_EQ(GamesOf(run_dir).size(), 12u);
  std::ofstream(path, std::ios::binary) << good;
  EXPECT_EQ(Trained(Tiny(run_dir)).generation, 2);
  EXPECT_EQ(GamesOf(run_dir).size(), 12u);
}

TEST(PipelineRobustTest, ANetworkWhoseOutputsAreNotFiniteDoesNotPlay) {
  const std::string run_dir = StraightRun("overflow", {"generations=1"});
  Poison(CheckpointFile(run_dir, 1));
  EXPECT_THAT(
      Train(Tiny(run_dir)),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr("Checkpoint " + CheckpointFile(run_dir, 1)),
                     HasSubstr("not finite"))));
  EXPECT_EQ(GamesOf(run_dir).size(), 6u);
}

// --- Disks and locks ---------------------------------------------------------

// Trains in a process of its own in which no file may grow beyond `bytes`: to
// the program the same as a disk that is full. Returns its error.
std::string TrainWithLittleRoom(const std::string& run_dir, rlim_t bytes) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const std::string limit = absl::StrCat(bytes);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);  // an error instead of a signal
    const rlimit room = {.rlim_cur = bytes, .rlim_max = bytes};
    setrlimit(RLIMIT_FSIZE, &room);
    // ThreadSanitizer begins with a large file, if there is a folder for it.
    setenv("TMPDIR", "/dev/null", 1);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl("tests/train/train_child", "train_child", run_dir.c_str(),
          kSteady[0].c_str(), kSteady[1].c_str(), kSteady[2].c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string error;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    error.append(buffer, n);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
  return error;
}

TEST(PipelineRobustTest, AFullDiskIsAnErrorAndLaterTheRunGoesOnAsIfNothingWas) {
  const std::string straight = StraightRun("roomy", kSteady);
  const std::string run_dir = TestFolder("full");
  // Wherever it happens: in a checkpoint (some 80 KB), the store, the log.
  std::set<std::string> where;
  for (const rlim_t kilobytes : {4, 40, 60, 90, 150}) {
    const std::string error = TrainWithLittleRoom(run_dir, kilobytes * 1024);
    EXPECT_THAT(error, HasSubstr("RESOURCE_EXHAUSTED: ")) << kilobytes;
    EXPECT_THAT(error, HasSubstr(run_dir + "/"));
  }
  Trained(Tiny(run_dir, kSteady));
  EXPECT_EQ(Contents(CheckpointFile(run_dir, 3)),
            Contents(CheckpointFile(straight, 3)));
  EXPECT_EQ(BytesOf(GamesOf(run_dir)), BytesOf(GamesOf(straight)));
}

TEST(PipelineRobustTest, AStoreThatAnotherProcessHoldsIsAnErrorThatNamesIt) {
  const std::string run_dir =
      StraightRun("busy", {"generations=1", "self_play.threads=1"});
  const std::string store = run_dir + "/games.db";
  auto other =
      SqliteDatabase::Open(store, SqliteDatabase::Mode::kReadWrite).value();
  ASSERT_TRUE(other.Execute("BEGIN IMMEDIATE", "hold the lock").ok());
  const proto::TrainConfig longer =
      Tiny(run_dir, {"generations=2", "self_play.threads=1"});
  EXPECT_THAT(Train(longer),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr(store), HasSubstr("locked"))));
  ASSERT_TRUE(other.Execute("ROLLBACK", "let it go").ok());
  Trained(longer);
  EXPECT_EQ(GamesOf(run_dir).size(), 12u);
}

}  // namespace
}  // namespace tara::train
