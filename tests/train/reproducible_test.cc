// The same seed and config make the same games and the same weights, bit for
// bit, on the CPU: on any number of threads, however many games each plays in
// step. (With kills in between: kill_test.cc.)

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tara/base/atomic_file.h"
#include "tests/train/pipeline_testing.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

// All that makes a run, but for how its self-play is spread. The engine is the
// one whose answers do not depend on batches.
std::vector<std::string> Overrides(int threads, int games_per_thread) {
  return {"variant=four_treasures,high_kings_l1,stone_of_destiny",
          "rule_options=compensation=-2..2,pie_rule=false/true",
          "self_play.games_per_generation=9",
          "self_play.search.option=gumbel=on,graph=on,proof=on",
          "inference.backend=onednn",
          "inference.precision=float32",
          "self_play.warm_start.generations=1",
          "self_play.warm_start.simulations=20",
          absl::StrCat("self_play.threads=", threads),
          absl::StrCat("self_play.games_per_thread=", games_per_thread)};
}

struct RunContents {
  std::vector<std::string> games;        // by index
  std::vector<std::string> checkpoints;  // 0, 1 and 2
};

RunContents ContentsOf(const std::string& run_dir) {
  RunContents contents;
  for (const proto::GameRecord& game : GamesOf(run_dir)) {
    contents.games.push_back(game.SerializeAsString());
  }
  for (int i = 0; i <= 2; ++i) {
    const auto bytes = ReadWholeFile(
        absl::StrCat(run_dir, "/checkpoints/ckpt-00000", i, ".pt"));
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    contents.checkpoints.push_back(bytes.ok() ? *bytes : "");
  }
  return contents;
}

RunContents TrainOn(int threads, int games_per_thread) {
  const std::string run_dir =
      TestFolder(absl::StrCat("threads", threads, "x", games_per_thread));
  const auto summary =
      Train(Tiny(run_dir, Overrides(threads, games_per_thread)));
  EXPECT_TRUE(summary.ok()) << summary.status();
  return ContentsOf(run_dir);
}

void ExpectTheSame(const RunContents& a, const RunContents& b) {
  ASSERT_EQ(a.games.size(), 18u);
  ASSERT_EQ(b.games.size(), 18u);
  for (size_t i = 0; i < a.games.size(); ++i) {
    EXPECT_TRUE(a.games[i] == b.games[i]) << "game " << i;
  }
  for (size_t i = 0; i < a.checkpoints.size(); ++i) {
    EXPECT_TRUE(a.checkpoints[i] == b.checkpoints[i]) << "checkpoint " << i;
  }
}

TEST(ReproducibleTest, OnAnyNumberOfThreadsARunIsTheSame) {
  const RunContents one = TrainOn(1, 9);
  std::set<std::string> rules;
  for (const std::string& game : one.games) {
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
  ASSERT_TRUE(Train(Tiny(run_dir, overrides)).ok());
  const RunContents other = ContentsOf(run_dir);
  const RunContents one = TrainOn(1, 9);
  for (size_t i = 0; i < one.games.size(); ++i) {
    EXPECT_FALSE(other.games[i] == one.games[i]) << "game " << i;
  }
  EXPECT_FALSE(other.checkpoints[0] == one.checkpoints[0]);
}

}  // namespace
}  // namespace tara::train
