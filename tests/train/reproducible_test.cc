// The same seed and config make the same games and the same weights, bit for
// bit, on the CPU: on any number of threads, however many games each plays in
// step; also when trainings are killed in the midst of each of their phases,
// and when the power is taken from one.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/nn/inference_options.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"
#include "tara/train/folder/run_folder.h"
#include "tests/status_matchers.h"
#include "tests/train/pipeline_testing.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

// A training in a process of its own (train_child.cc), whose events are read
// through a pipe.
class Child {
 public:
  Child(const std::string& run_dir, std::vector<std::string> options) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    options.insert(options.begin(), {"train_child", run_dir});
    std::vector<char*> arguments;
    for (std::string& option : options) arguments.push_back(option.data());
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      execv("tests/train/train_child", arguments.data());
      _exit(127);
    }
    close(ends[1]);
    events_ = fdopen(ends[0], "r");
  }
  ~Child() { fclose(events_); }

  // Returns the next event, or nothing once the process has ended.
  std::optional<std::string> Next() {
    char line[256];
    if (fgets(line, sizeof(line), events_) == nullptr) return std::nullopt;
    return std::string(absl::StripSuffix(line, "\n"));
  }

  void Kill() { kill(pid_, SIGKILL); }

  // Waits for the end; returns wait's status.
  int Wait() {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return status;
  }

 private:
  pid_t pid_;
  FILE* events_;
};

void TrainToTheEnd(const std::string& run_dir,
                   const std::vector<std::string>& options) {
  Child child(run_dir, options);
  while (child.Next().has_value()) {
  }
  const int status = child.Wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// Trains until `event`, and kills the process while it is held there. Returns
// the games that it has reported as stored.
std::set<uint64_t> TrainAndKill(const std::string& run_dir,
                                std::vector<std::string> options,
                                const std::string& event) {
  options.push_back("hold=" + event);
  Child child(run_dir, options);
  std::set<uint64_t> games;
  const auto take = [&games](absl::string_view line) {
    uint64_t index;
    if (absl::ConsumePrefix(&line, "game ") && absl::SimpleAtoi(line, &index)) {
      games.insert(index);
    }
  };
  std::optional<std::string> line;
  do {
    line = child.Next();
    if (line.has_value()) take(*line);
  } while (line.has_value() && *line != event);
  EXPECT_TRUE(line.has_value()) << "the training ended without: " << event;
  child.Kill();
  while ((line = child.Next()).has_value()) take(*line);
  const int status = child.Wait();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  return games;
}

// All that makes a run, but for times.
struct RunContents {
  std::map<uint64_t, std::string> games;
  std::map<std::string, std::string> checkpoints;  // with `latest`
  std::string state;
  // Of metrics.jsonl, without those that have times or tell of accidents.
  std::vector<std::string> lines;
};

RunContents ContentsOf(const std::string& run_dir) {
  RunContents contents;
  for (const proto::GameRecord& game : GamesOf(run_dir)) {
    EXPECT_THAT(record::ValidateRecord(game), IsOk());
    contents.games[game.game_index()] = game.SerializeAsString();
  }
  for (const auto& file :
       std::filesystem::directory_iterator(run_dir + "/checkpoints")) {
    contents.checkpoints[file.path().filename().string()] =
        ReadWholeFile(file.path().string()).value();
  }
  auto state = RunStateFile::Open(run_dir + "/state.textproto").value();
  state.state().clear_seconds();
  state.state().clear_cpu_seconds();
  state.state().clear_last_generation_seconds();
  state.state().clear_last_generation_cpu_seconds();
  // And what these times are of.
  state.state().clear_generations();
  state.state().clear_unfinished_seconds();
  state.state().clear_unfinished_cpu_seconds();
  contents.state = state.state().DebugString();
  for (const std::string& line : MetricsOf(run_dir)) {
    if (absl::StrContains(line, "\"event\":\"self_play\"")) continue;
    if (absl::StrContains(line, "\"event\":\"learning_speed\"")) continue;
    if (absl::StrContains(line, "\"event\":\"note\"")) continue;
    contents.lines.push_back(line);
  }
  return contents;
}

void ExpectTheSame(const RunContents& run, const RunContents& undisturbed) {
  ASSERT_EQ(run.games.size(), undisturbed.games.size());
  for (const auto& [index, game] : undisturbed.games) {
    EXPECT_TRUE(run.games.at(index) == game) << "game " << index;
  }
  ASSERT_EQ(run.checkpoints.size(), undisturbed.checkpoints.size());
  for (const auto& [name, bytes] : undisturbed.checkpoints) {
    EXPECT_TRUE(run.checkpoints.at(name) == bytes) << name;
  }
  EXPECT_EQ(run.state, undisturbed.state);
}

// Returns the games of the store of a run that was killed, as the run will find
// them.
std::set<uint64_t> StoredGames(const std::string& run_dir) {
  const auto store = record::OpenGameStore(run_dir + "/games.db",
                                           record::StoreMode::kReadWrite)
                         .value();
  const auto games = store->Indices({}).value();
  return std::set<uint64_t>(games.begin(), games.end());
}

bool Includes(const std::set<uint64_t>& all, const std::set<uint64_t>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

// The engine is the one whose answers do not depend on batches.
const std::vector<std::string> kOptions = {
    "variant=four_treasures,high_kings_l1",
    "rule_options=compensation=-2..2,high_kings_l1:pie_rule=false/true",
    "inference.backend=tara",
    "inference.precision=float32",
    "self_play.search.option=gumbel=on,graph=on",
    "gate.games=2",
    "gate.simulations=4"};

std::vector<std::string> With(std::vector<std::string> options,
                              const std::vector<std::string>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

// How self-play is spread makes no difference.
std::vector<std::string> Spread(int start) {
  return {absl::StrCat("self_play.threads=", 1 + start % 3),
          absl::StrCat("self_play.games_per_thread=", 1 + start % 4)};
}

// Trains with a kill at each of the events, and then to the end.
void TrainWithKills(const std::string& run_dir,
                    const std::vector<std::string>& options,
                    const std::vector<std::string>& events) {
  int start = 0;
  for (const std::string& event : events) {
    SCOPED_TRACE(event);
    const std::set<uint64_t> games =
        TrainAndKill(run_dir, With(options, Spread(++start)), event);
    EXPECT_TRUE(Includes(StoredGames(run_dir), games))
        << "a finished game was lost";
  }
  TrainToTheEnd(run_dir, With(options, Spread(++start)));
}

// Trains with and without kills, and expects the same. Returns the contents.
RunContents ExpectKillsChangeNothing(const std::vector<std::string>& options,
                                     const std::vector<std::string>& events) {
  const std::string undisturbed = TestFolder("undisturbed");
  TrainToTheEnd(undisturbed, options);
  const std::string run_dir = TestFolder("killed");
  TrainWithKills(run_dir, options, events);
  const RunContents run = ContentsOf(run_dir);
  const RunContents expected = ContentsOf(undisturbed);
  ExpectTheSame(run, expected);
  EXPECT_EQ(run.lines, expected.lines);
  return run;
}

// Six games and six steps a generation, two generations
// (configs/tiny.textproto).
TEST(KillTest, InEveryPhaseAKillChangesNothing) {
  const RunContents run = ExpectKillsChangeNothing(
      kOptions,
      {"saving ckpt-000000.pt", "game 2", "step 3", "saving ckpt-000001.pt",
       "gate 1", "saving latest", "evaluation 1", "game 8", "step 11",
       "saving ckpt-000002.pt", "gate 2", "evaluation 2"});
  EXPECT_EQ(run.games.size(), 12u);
  EXPECT_EQ(run.checkpoints.size(), 4u);
}

TEST(KillTest, NorDoesItWithTwoThreadsOfTheLearner) {
  // Large enough for LibTorch to share the work of a step.
  ExpectKillsChangeNothing(
      With(kOptions, {"learner.threads=2", "network.channels=32",
                      "learner.batch_size=64", "gate.games=0"}),
      {"game 2", "step 3", "saving ckpt-000001.pt", "evaluation 1", "game 8",
       "step 11", "saving ckpt-000002.pt"});
}

TEST(KillTest, NorDoesItWhileTheNextGenerationIsPlayedAhead) {
  // The games 6 to 11 are played while the steps 1 to 6 are learned, the games
  // 12 to 17 with the steps 7 to 12: when one of them is held, the others go
  // on, so that no event can be awaited of both.
  ExpectKillsChangeNothing(
      With(kOptions, {"overlap=true", "generations=3", "gate.games=0",
                      "self_play.search.option=gumbel=on,graph=on,proof=on,"
                      "solver_hills=6"}),
      {"game 2", "step 3", "saving ckpt-000001.pt", "evaluation 1", "game 14",
       "saving ckpt-000003.pt"});
}

TEST(KillTest, APowerCutLosesNothingThatACheckpointWasLearnedFrom) {
  const std::vector<std::string> options = With(kOptions, {"generations=4"});
  const std::string undisturbed = TestFolder("undisturbed");
  TrainToTheEnd(undisturbed, options);

  const std::string run_dir = TestFolder("cut");
  const std::string synced = TestFolder("synced");
  const std::set<uint64_t> games =
      TrainAndKill(run_dir, With(options, {"synced=" + synced}), "game 20");
  std::filesystem::remove_all(run_dir);
  std::filesystem::rename(synced, run_dir);
  ASSERT_TRUE(std::filesystem::exists(run_dir + "/checkpoints/ckpt-000003.pt"));
  const std::set<uint64_t> left = StoredGames(run_dir);
  for (uint64_t index = 0; index < 18; ++index) {
    EXPECT_TRUE(left.contains(index)) << "ckpt-000003 is of game " << index;
  }
  // Or it was no power cut.
  EXPECT_FALSE(Includes(left, games));

  TrainToTheEnd(run_dir, options);
  ExpectTheSame(ContentsOf(run_dir), ContentsOf(undisturbed));
}

// --- Without kills -----------------------------------------------------------

// All that makes a run, but for how its self-play is spread.
std::vector<std::string> Overrides(int threads, int games_per_thread) {
  return {"variant=four_treasures,high_kings_l1,stone_of_destiny",
          "rule_options=compensation=-2..2,pie_rule=false/true",
          "self_play.games_per_generation=9",
          "self_play.search.option=gumbel=on,graph=on,proof=on",
          "inference.backend=tara",
          "inference.precision=float32",
          "self_play.warm_start.generations=1",
          "self_play.warm_start.simulations=20",
          absl::StrCat("self_play.threads=", threads),
          absl::StrCat("self_play.games_per_thread=", games_per_thread)};
}

RunContents TrainOn(int threads, int games_per_thread) {
  const std::string run_dir =
      TestFolder(absl::StrCat("threads", threads, "x", games_per_thread));
  Trained(Tiny(run_dir, Overrides(threads, games_per_thread)));
  return ContentsOf(run_dir);
}

TEST(ReproducibleTest, OnAnyNumberOfThreadsARunIsTheSame) {
  const RunContents one = TrainOn(1, 9);
  EXPECT_EQ(one.games.size(), 18u);
  std::set<std::string> rules;
  for (const auto& [index, game] : one.games) {
    proto::GameRecord record;
    ASSERT_TRUE(record.ParseFromString(game));
    rules.insert(record.rule_options());
  }
  EXPECT_GT(rules.size(), 4u);  // of 10 that are drawn from
  ExpectTheSame(TrainOn(2, 3), one);
  ExpectTheSame(TrainOn(3, 1), one);
}

TEST(ReproducibleTest, AnotherSeedMakesAnotherRun) {
  const std::string run_dir = TestFolder("another_seed");
  std::vector<std::string> overrides = Overrides(1, 9);
  overrides.push_back("seed=2");
  Trained(Tiny(run_dir, overrides));
  const RunContents other = ContentsOf(run_dir);
  const RunContents one = TrainOn(1, 9);
  for (const auto& [index, game] : one.games) {
    EXPECT_FALSE(other.games.at(index) == game) << "game " << index;
  }
  EXPECT_FALSE(other.checkpoints.at("ckpt-000000.pt") ==
               one.checkpoints.at("ckpt-000000.pt"));
}

}  // namespace
}  // namespace tara::train
