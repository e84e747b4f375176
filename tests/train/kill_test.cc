// Kills a training ten times in a row at random instants and lets it end.

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/record/game_record.h"
#include "tara/train/folder/run_folder.h"
#include "tara/train/store/game_store.h"
#include "tests/train/train_testing.h"

namespace tara {
namespace {

constexpr int kGenerations = 16;

// A training in a process of its own, whose output is read through a pipe.
class Child {
 public:
  explicit Child(const std::string& run_dir) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const std::string generations = absl::StrCat("generations=", kGenerations);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      execl("tests/train/train_child", "train_child", run_dir.c_str(),
            generations.c_str(), "overlap=true", nullptr);
      _exit(127);
    }
    close(ends[1]);
    output_ = ends[0];
  }
  ~Child() { close(output_); }

  void Kill() { kill(pid_, SIGKILL); }

  // Waits until a game is stored, or the end.
  void WaitForOutput() {
    pollfd output = {.fd = output_, .events = POLLIN, .revents = 0};
    poll(&output, 1, /*timeout=*/-1);
  }

  // Waits for the end; returns wait's status.
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    return status;
  }

  // Returns the games that the child said are stored, until its end.
  std::set<uint64_t> ReadGames() {
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(output_, buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, n);
    }
    std::set<uint64_t> games;
    for (const std::string& line :
         std::vector<std::string>(absl::StrSplit(text, '\n'))) {
      uint64_t index;
      if (absl::SimpleAtoi(line, &index)) games.insert(index);
    }
    return games;
  }

 private:
  pid_t pid_;
  int output_;
};

// Returns the games of the store, each of which must be whole and valid.
std::set<uint64_t> StoredGames(const std::string& run_dir) {
  // Killed before the store was made: there is nothing yet to lose.
  if (access((run_dir + "/games.db").c_str(), F_OK) != 0) return {};
  const auto store =
      OpenGameStore(run_dir + "/games.db", StoreMode::kReadWrite);
  if (!store.ok()) {
    ADD_FAILURE() << store.status().message();
    return {};
  }
  const auto indices = (*store)->Indices({});
  EXPECT_TRUE(indices.ok()) << indices.status().message();
  for (const uint64_t index : *indices) {
    const auto game = (*store)->Get(index);
    EXPECT_TRUE(game.ok()) << game.status().message();
    if (!game.ok()) continue;
    const absl::Status valid = ValidateRecord(*game);
    EXPECT_TRUE(valid.ok()) << valid.message();
  }
  return std::set<uint64_t>(indices->begin(), indices->end());
}

bool Includes(const std::set<uint64_t>& all, const std::set<uint64_t>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

TEST(KillTest, TenKillsInARowLoseNoGameAndTrainingEndsNormally) {
  const std::string run_dir = TestFolder("killed");
  // A new seed every time: instants differ from run to run anyway.
  const uint64_t seed = static_cast<uint64_t>(absl::ToUnixNanos(absl::Now()));
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  Random random(seed);
  std::set<uint64_t> known;  // what has been seen in the store or acknowledged
  for (int kill = 0; kill < 10; ++kill) {
    SCOPED_TRACE(absl::StrCat("kill ", kill));
    Child child(run_dir);
    // While it starts and loads, or while it plays, learns and saves.
    if (kill % 3 != 0) child.WaitForOutput();
    absl::SleepFor(absl::Milliseconds(random.Below(800)));
    child.Kill();
    const std::set<uint64_t> acknowledged = child.ReadGames();
    const int status = child.Wait();
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    const std::set<uint64_t> stored = StoredGames(run_dir);
    EXPECT_TRUE(Includes(stored, known)) << "a stored game was lost";
    EXPECT_TRUE(Includes(stored, acknowledged)) << "a finished game was lost";
    known = stored;
  }
  Child last(run_dir);
  last.ReadGames();
  const int status = last.Wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);

  const std::set<uint64_t> stored = StoredGames(run_dir);
  EXPECT_TRUE(Includes(stored, known));
  // Six games a generation (configs/tiny.textproto), none missing, none twice.
  EXPECT_EQ(stored.size(), 6u * kGenerations);
  EXPECT_EQ(*stored.rbegin(), 6u * kGenerations - 1);
  const auto latest = LatestCheckpoint(run_dir);
  ASSERT_TRUE(latest.ok()) << latest.status().message();
  EXPECT_EQ(*latest, absl::StrCat(run_dir, "/checkpoints/",
                                  CheckpointName(kGenerations), ".pt"));
}

}  // namespace
}  // namespace tara
