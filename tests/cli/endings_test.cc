// Interrupts and violent ends of commands, and of the programs that they start.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using std::string_literals::operator""s;

// What is waited for here comes, or the test's own time runs out.
void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

// Returns the field of a /proc file of lines "NAME:\tVALUE".
std::string ProcField(pid_t process, const std::string& name) {
  std::ifstream file(absl::StrCat("/proc/", process, "/status"));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return line.substr(name.size() + 2);
  }
  return "";
}

bool Catches(pid_t process, int signal) {
  const std::string mask = ProcField(process, "SigCgt");
  return !mask.empty() &&
         (std::stoull(mask, nullptr, 16) >> (signal - 1) & 1) != 0;
}

// Returns the processor time of a process, in ticks of 1/100 s.
int64_t TicksOf(pid_t process) {
  std::ifstream file(absl::StrCat("/proc/", process, "/stat"));
  std::string line;
  std::getline(file, line);
  // The name, in parentheses, may have spaces; the time is the 12th and the
  // 13th field after it.
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  int64_t user = 0;
  int64_t system = 0;
  fields >> user >> system;
  return user + system;
}

// Returns the children of a process, whichever of its threads made them.
std::vector<pid_t> ChildrenOf(pid_t process) {
  std::vector<pid_t> children;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const pid_t other = std::stoi(name);
    if (ProcField(other, "PPid") == std::to_string(process)) {
      children.push_back(other);
    }
  }
  return children;
}

// A running `tara`, whose output goes to files.
class Running {
 public:
  explicit Running(const Words& arguments) : err_(TemporaryPath("stderr")) {
    process_ = fork();
    TARA_CHECK(process_ >= 0, "fork");
    if (process_ == 0) {
      const int null = open("/dev/null", O_RDWR);
      const int err = open(err_.c_str(), O_WRONLY | O_CREAT, 0600);
      dup2(null, STDIN_FILENO);
      dup2(null, STDOUT_FILENO);
      dup2(err, STDERR_FILENO);
      std::vector<char*> words = {const_cast<char*>("tara/cli/tara")};
      for (const std::string& word : arguments) {
        words.push_back(const_cast<char*>(word.c_str()));
      }
      words.push_back(nullptr);
      execv(words[0], words.data());
      _exit(127);
    }
  }
  ~Running() {
    if (process_ < 0) return;
    Signal(SIGKILL);
    Wait();
  }

  pid_t process() const { return process_; }
  void Signal(int signal) const { kill(process_, signal); }

  // Waits until it handles interrupts, and until it has computed for so long.
  void AwaitHandler() const {
    while (!Catches(process_, SIGINT) && !HasEnded()) Pause();
  }
  void AwaitWork(int64_t ticks) const {
    while (TicksOf(process_) < ticks && !HasEnded()) Pause();
  }

  // Whether it has ended by itself, which it should not.
  bool HasEnded() const { return ProcField(process_, "State")[0] == 'Z'; }

  int Wait() {
    int status = 0;
    TARA_CHECK(waitpid(process_, &status, 0) == process_, "waitpid");
    process_ = -1;
    if (WIFSIGNALED(status)) return 1000 + WTERMSIG(status);
    return WEXITSTATUS(status);
  }
  std::string Errors() const { return ReadFile(err_); }

 private:
  const std::string err_;
  pid_t process_ = -1;
};

// A player that thinks for days.
constexpr char kThinker[] = "mcts:sims=16000000";
constexpr char kHangs[] =
    "engine:tests/eval/fake_engine --fault hang,start=3000,move=3000";

TEST(EndingsTest, AnInterruptEndsWhatWouldTakeDays) {
  const std::string store = TemporaryPath("games.db");
  const std::string book = TemporaryPath("book.db");
  const std::string game = TemporaryPath("game.txt");
  WriteFile(game, "four_treasures D4 D5 C4 C5\n");
  const std::string thinker = kThinker;
  for (const std::string& command :
       {"arena --variant four_treasures " + thinker + " " + thinker,
        "arena --threads 3 --variant four_treasures " + thinker + " " + thinker,
        "arena --variant four_treasures random --time-control 100h " + thinker,
        "rate --variant four_treasures random " + thinker,
        "crossplay --variant sacred_hill_doubles_l1 random " + thinker,
        "balance --variant four_treasures --player " + thinker,
        "selfplay --variant four_treasures --player alphabeta:depth=100 -o " +
            store,
        "solve --variant high_kings_l1"s,
        "stats --variant high_kings_l1 --games 100G"s,
        "explore build " + book + " --variant four_treasures --player " +
            thinker,
        "review " + game + " --player " + thinker}) {
    SCOPED_TRACE(command);
    Running tara(command);
    tara.AwaitHandler();
    tara.AwaitWork(20);
    tara.Signal(SIGINT);
    EXPECT_EQ(tara.Wait(), 130);
    EXPECT_THAT(tara.Errors(), HasSubstr("interrupted"));
  }
}

TEST(EndingsTest, AnInterruptEndsWhatHasNothingToKeep) {
  Running tara("perft --variant high_kings_l1 --depth 12");
  tara.AwaitWork(5);
  tara.Signal(SIGINT);
  EXPECT_EQ(tara.Wait(), 1000 + SIGINT);
}

TEST(EndingsTest, AnInterruptEndsEnginesThatThink) {
  Running tara({"arena", "--variant", "four_treasures", kHangs, kHangs,
                "--threads", "2"});
  tara.AwaitHandler();
  tara.Signal(SIGTERM);
  EXPECT_EQ(tara.Wait(), 130);
}

// Waits for children of a process that have computed so long, and returns files
// of pidfd_open(2) of all.
std::vector<int> AwaitChildren(pid_t process, size_t count, int64_t ticks) {
  while (true) {
    const std::vector<pid_t> children = ChildrenOf(process);
    bool ready = children.size() >= count;
    for (const pid_t child : children) ready &= TicksOf(child) >= ticks;
    if (!ready) {
      Pause();
      continue;
    }
    std::vector<int> files;
    for (const pid_t child : children) {
      files.push_back(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    }
    return files;
  }
}

TEST(EndingsTest, EnginesEndWithTheirMatchHoweverItEnds) {
  const std::string thinks =
      "engine:tara/cli/tara engine --model playouts --search "
      "sims=16000000,start=3000,move=3000";
  for (const std::string& engine : {thinks, std::string(kHangs)}) {
    for (const int signal : {SIGKILL, SIGHUP, SIGINT}) {
      SCOPED_TRACE(absl::StrCat(engine, ", signal ", signal));
      Running tara({"arena", "--variant", "four_treasures", "random", engine,
                    "--games", "8", "--threads", "2"});
      tara.AwaitHandler();
      const std::vector<int> engines =
          AwaitChildren(tara.process(), 2, engine == thinks ? 20 : 0);
      tara.Signal(signal);
      if (signal == SIGINT) tara.Signal(signal);  // twice: at once
      const int status = tara.Wait();
      EXPECT_THAT(status, AnyOf(1000 + signal, 130));
      for (const int file : engines) {
        pollfd end = {.fd = file, .events = POLLIN, .revents = 0};
        EXPECT_EQ(poll(&end, 1, 120000), 1);
        close(file);
      }
    }
  }
}

}  // namespace
}  // namespace tara::cli
