#include "tests/cli/tara_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tara/base/check.h"

namespace tara::cli {
namespace {

// Tests run in the root of their runfiles.
constexpr char kBinary[] = "tara/cli/tara";

int ExitStatus(int wait_status) {
  if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
  return WEXITSTATUS(wait_status);
}

// Replaces the calling process.
[[noreturn]] void Become(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

void Redirect(int stream, const std::string& path, int flags) {
  const int file = open(path.c_str(), flags, 0600);
  if (file < 0 || dup2(file, stream) < 0) _exit(126);
  close(file);
}

TaraResult RunProcess(const std::vector<std::string>& words,
                      absl::string_view input) {
  const std::string in = TemporaryPath("stdin");
  const std::string out = TemporaryPath("stdout");
  const std::string err = TemporaryPath("stderr");
  WriteFile(in, input);
  const pid_t process = fork();
  TARA_CHECK(process >= 0, "fork");
  if (process == 0) {
    Redirect(STDIN_FILENO, in, O_RDONLY);
    Redirect(STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC);
    Redirect(STDERR_FILENO, err, O_WRONLY | O_CREAT | O_TRUNC);
    Become(words);
  }
  int wait_status = 0;
  TARA_CHECK(waitpid(process, &wait_status, 0) == process, "waitpid");
  return {.status = ExitStatus(wait_status),
          .out = ReadFile(out),
          .err = ReadFile(err)};
}

}  // namespace

Words::Words(const std::string& line)
    : vector(absl::StrSplit(line, ' ', absl::SkipEmpty())) {}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TaraResult RunTara(const Words& arguments, absl::string_view input) {
  return RunProcess(kBinary + arguments, input);
}

std::string OutputOf(const Words& arguments, absl::string_view input) {
  return OutputOf(RunTara(arguments, input));
}

std::string OutputOf(const TaraResult& result) {
  EXPECT_EQ(result.status, 0) << result.err;
  return result.out;
}

nlohmann::json JsonOf(const Words& arguments, absl::string_view input) {
  const TaraResult result = RunTara(arguments + "--format=json", input);
  EXPECT_THAT(result.err, NoErrors());
  return nlohmann::json::parse(OutputOf(result));
}

std::string ErrorOf(int status, const Words& arguments,
                    absl::string_view input) {
  return ErrorOf(status, RunTara(arguments, input));
}

std::string ErrorOf(int status, const TaraResult& result) {
  EXPECT_EQ(result.status, status) << result.err;
  EXPECT_EQ(result.out, "");
  return result.err;
}

void ExpectRefused(const Words& command, const std::vector<Refusal>& refusals) {
  for (const auto& [arguments, message, status] : refusals) {
    const std::string error = ErrorOf(status, command + arguments);
    EXPECT_THAT(error, ::testing::HasSubstr(message)) << arguments;
    if (status != 2) continue;
    EXPECT_THAT(error, ::testing::ContainsRegex(
                           "\\(see tara " + command.front() + ".* --help\\)"))
        << arguments;
  }
}

TaraResult RunShell(const std::string& command) {
  return RunProcess(
      {"/bin/sh", "-c", absl::StrCat("TARA=", kBinary, "; ", command)}, "");
}

TerminalTara::TerminalTara(const Words& arguments, const std::string& folder) {
  terminal_ = posix_openpt(O_RDWR | O_NOCTTY);
  TARA_CHECK(terminal_ >= 0, "posix_openpt");
  TARA_CHECK(grantpt(terminal_) == 0 && unlockpt(terminal_) == 0, "unlockpt");
  const std::string other_end = ptsname(terminal_);
  process_ = fork();
  TARA_CHECK(process_ >= 0, "fork");
  if (process_ == 0) {
    close(terminal_);
    setsid();
    Redirect(STDIN_FILENO, other_end, O_RDWR);
    dup2(STDIN_FILENO, STDOUT_FILENO);
    dup2(STDIN_FILENO, STDERR_FILENO);
    setenv("TERM", "xterm", 1);
    Words words = kBinary + arguments;
    words[0] = std::filesystem::absolute(words[0]).string();
    std::filesystem::current_path(folder);
    Become(words);
  }
}

TerminalTara::~TerminalTara() {
  if (process_ > 0) {
    Signal(SIGKILL);
    Wait();
  }
  close(terminal_);
}

void TerminalTara::Type(absl::string_view text) {
  const ssize_t written = write(terminal_, text.data(), text.size());
  TARA_CHECK(written == static_cast<ssize_t>(text.size()), "write");
}

bool TerminalTara::Read() {
  char buffer[4096];
  // Fails with EIO once nobody has the other end open. Linux may say so before
  // it has passed on what was written last; a second call gets that.
  ssize_t size = read(terminal_, buffer, sizeof(buffer));
  if (size < 0 && errno == EIO) {
    size = read(terminal_, buffer, sizeof(buffer));
  }
  if (size <= 0) return false;
  shown_.append(buffer, size);
  return true;
}

bool TerminalTara::Expect(absl::string_view text) {
  while (true) {
    const size_t at = shown_.find(std::string(text), expected_from_);
    if (at != std::string::npos) {
      expected_from_ = at + text.size();
      return true;
    }
    if (!Read()) return false;
  }
}

void TerminalTara::Signal(int signal) { kill(process_, signal); }

int TerminalTara::Wait() {
  while (Read()) {
  }
  int wait_status = 0;
  TARA_CHECK(waitpid(process_, &wait_status, 0) == process_, "waitpid");
  process_ = -1;
  return ExitStatus(wait_status);
}

std::string ShownUntilInterrupted(const Words& arguments,
                                  const std::vector<std::string>& texts) {
  TerminalTara tara(arguments);
  for (const std::string& text : texts) EXPECT_TRUE(tara.Expect(text)) << text;
  tara.Signal(SIGINT);
  EXPECT_EQ(tara.Wait(), 130);
  return tara.shown();
}

std::string WriteTinyConfig(const std::string& run_dir) {
  const std::string path = TemporaryPath("tiny.textproto");
  WriteFile(path,
            absl::StrCat(
                R"pb(
                  generations: 2
                  network { channels: 4 blocks: 1 }
                  self_play {
                    games_per_generation: 4
                    threads: 1
                    search { simulations: 2 }
                  }
                  learner { batch_size: 8 steps_per_generation: 2 threads: 1 }
                  evaluation { every: 1 games: 2 final_games: 2 simulations: 2 }
                )pb",
                "run_dir: \"", run_dir, "\"\n"));
  return path;
}

std::string TemporaryPath(absl::string_view name) {
  const testing::TestInfo* const test =
      testing::UnitTest::GetInstance()->current_test_info();
  // Names of parametrized tests have slashes.
  const std::string test_name = absl::StrReplaceAll(
      absl::StrCat(test->test_suite_name(), ".", test->name()), {{"/", "_"}});
  std::string path =
      absl::StrCat(testing::TempDir(), "/", test_name, ".", name);
  std::filesystem::remove_all(path);
  return path;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::string& path, absl::string_view content) {
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  TARA_CHECK(file.good(), "cannot write a temporary file");
}

std::vector<std::string> Lines(absl::string_view text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

std::vector<std::string> CommandsListedIn(absl::string_view help) {
  std::vector<std::string> names;
  bool in_list = false;
  for (const std::string& line : Lines(help)) {
    if (line.empty()) in_list = false;
    if (in_list && line[2] != ' ') {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    if (line == "Commands:") in_list = true;
  }
  return names;
}

}  // namespace tara::cli
