#include "tests/engine/engine_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tara/base/check.h"

namespace tara::engine {
namespace {

// Tests run in the root of their runfiles.
constexpr char kBinary[] = "tara/cli/tara";

}  // namespace

EngineProcess::EngineProcess(const std::vector<std::string>& arguments,
                             rlim_t memory) {
  std::signal(SIGPIPE, SIG_IGN);  // an engine that has ended is found out
  int in[2];
  int out[2];
  TARA_CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "pipe");
  process_ = fork();
  TARA_CHECK(process_ >= 0, "fork");
  if (process_ == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    std::vector<std::string> words = {kBinary, "engine"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const rlimit limit = {.rlim_cur = memory, .rlim_max = memory};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(126);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_engine_ = in[1];
  from_engine_ = out[0];
}

EngineProcess::~EngineProcess() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    Wait();
  }
  CloseOutput();
}

void EngineProcess::SendLine(absl::string_view line) {
  Send(absl::StrCat(line, "\n"));
}

void EngineProcess::Send(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(to_engine_, bytes.data(), bytes.size());
    if (written <= 0) return;  // it has ended: its answers will miss
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void EngineProcess::CloseInput() {
  if (to_engine_ >= 0) close(to_engine_);
  to_engine_ = -1;
}

void EngineProcess::CloseOutput() {
  if (from_engine_ >= 0) close(from_engine_);
  from_engine_ = -1;
}

bool EngineProcess::ReadMore() {
  char buffer[1 << 16];
  const ssize_t size = read(from_engine_, buffer, sizeof(buffer));
  if (size <= 0) return false;
  read_.append(buffer, static_cast<size_t>(size));
  return true;
}

std::optional<std::string> EngineProcess::ReadLine() {
  size_t end;
  while ((end = read_.find('\n')) == std::string::npos) {
    if (!ReadMore()) return std::nullopt;
  }
  std::string line = read_.substr(0, end);
  read_.erase(0, end + 1);
  return line;
}

std::vector<std::string> EngineProcess::ReadAnswer() {
  std::vector<std::string> lines;
  while (true) {
    const std::optional<std::string> line = ReadLine();
    if (!line.has_value() || line->empty()) return lines;
    lines.push_back(*line);
  }
}

std::string EngineProcess::Ask(absl::string_view line) {
  SendLine(line);
  return absl::StrJoin(ReadAnswer(), "\n");
}

int EngineProcess::Wait() {
  CloseInput();
  while (ReadMore()) {
  }
  return WaitForEnd();
}

int EngineProcess::WaitForEnd() {
  int status = 0;
  TARA_CHECK(waitpid(process_, &status, 0) == process_, "waitpid");
  process_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tara::engine
