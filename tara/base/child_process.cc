#include "tara/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "tara/base/clocks.h"

extern char** environ;

namespace tara {
namespace {

absl::Status SystemError(int error, absl::string_view what) {
  return absl::ErrnoToStatus(error, what);
}

void Close(int& file) {
  if (file >= 0) close(file);
  file = -1;
}

// Waits for one of `events`. Returns whether there was one before the deadline.
bool WaitFor(int file, int16_t events, absl::Time deadline) {
  while (true) {
    const int64_t left_ms = absl::ToInt64Milliseconds(
        absl::Ceil(deadline - SteadyTime(), absl::Milliseconds(1)));
    pollfd poll_file = {.fd = file, .events = events, .revents = 0};
    const int ready =
        poll(&poll_file, 1,
             static_cast<int>(std::clamp<int64_t>(left_ms, 0, INT_MAX)));
    if (ready > 0) return true;
    if (ready == 0 && left_ms <= INT_MAX) return false;
    if (ready < 0 && errno != EINTR && errno != EAGAIN) return false;
  }
}

// The two ends of a pipe, which no other program inherits.
struct Pipe {
  int read_end = -1;
  int write_end = -1;

  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
};

// Starts the program with these files for its three streams and no others, in a
// group of its own and with the signals as they are by default. Returns an
// error number.
int Spawn(const std::vector<std::string>& command, int input, int output,
          int errors, pid_t* process) {
  std::vector<char*> words;
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  sigset_t defaults;
  sigset_t mask;
  sigemptyset(&mask);
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT}) {
    sigaddset(&defaults, signal);
  }
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGDEF |
                                            POSIX_SPAWN_SETSIGMASK);
  const int error = posix_spawnp(process, words[0], &files, &attributes,
                                 words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

std::string HowItEnded(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return absl::StrCat("signal ", signal, " (", sigdescr_np(signal), ")");
  }
  return absl::StrCat("exit status ", WEXITSTATUS(wait_status));
}

}  // namespace

WithoutSigpipe::WithoutSigpipe() {
  sigemptyset(&sigpipe_);
  sigaddset(&sigpipe_, SIGPIPE);
  sigset_t pending;
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &sigpipe_, &mask_before_);
}

WithoutSigpipe::~WithoutSigpipe() {
  const timespec no_time = {};
  // A signal that was there before is somebody else's.
  while (!was_pending_ && sigtimedwait(&sigpipe_, nullptr, &no_time) < 0 &&
         errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    const ChildProcessOptions& options) {
  if (options.command.empty() || options.command[0].empty()) {
    return absl::InvalidArgumentError("no program to start");
  }
  const std::string log = options.log.empty() ? "/dev/null" : options.log;
  int errors = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                    S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  const absl::Cleanup close_errors = [&errors] { Close(errors); };
  if (errors < 0) {
    return SystemError(errno, absl::StrCat("cannot write the log ", log));
  }
  Pipe input;
  Pipe output;
  absl::Cleanup close_all = [&] {
    for (int* end : {&input.read_end, &input.write_end, &output.read_end,
                     &output.write_end}) {
      Close(*end);
    }
  };
  if (!input.Open() || !output.Open()) {
    return SystemError(errno, "cannot make a pipe");
  }
  pid_t process = -1;
  const int error = Spawn(options.command, input.read_end, output.write_end,
                          errors, &process);
  if (error != 0) {
    return SystemError(error,
                       absl::StrCat("cannot start '", options.command[0], "'"));
  }
  for (const int ours : {input.write_end, output.read_end}) {
    fcntl(ours, F_SETFL, fcntl(ours, F_GETFL) | O_NONBLOCK);
  }
  return std::unique_ptr<ChildProcess>(
      new ChildProcess(process, std::exchange(input.write_end, -1),
                       std::exchange(output.read_end, -1)));
}

ChildProcess::~ChildProcess() { End(absl::ZeroDuration()); }

absl::Status ChildProcess::Write(absl::string_view text, absl::Time deadline) {
  const WithoutSigpipe without_sigpipe;
  while (!text.empty()) {
    if (input_ < 0) return absl::UnavailableError("the program has been ended");
    const ssize_t written = write(input_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      if (!WaitFor(input_, POLLOUT, deadline)) {
        return absl::DeadlineExceededError("the program does not read");
      }
    } else if (errno != EINTR) {
      return absl::UnavailableError(absl::StrCat(
          "the program does not read any more: ", std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ChildProcess::ReadLine(absl::Time deadline) {
  size_t searched = 0;
  while (true) {
    const size_t end = unread_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    searched = unread_.size();
    if (searched > kMaxLineBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("a line of more than ", kMaxLineBytes, " bytes"));
    }
    if (output_ < 0) {
      return absl::UnavailableError("the program has been ended");
    }
    if (!WaitFor(output_, POLLIN, deadline)) {
      return absl::DeadlineExceededError("no line");
    }
    char buffer[4096];
    const ssize_t size = read(output_, buffer, sizeof(buffer));
    if (size == 0) {
      return absl::UnavailableError("the program has closed its output");
    }
    if (size > 0) {
      unread_.append(buffer, static_cast<size_t>(size));
    } else if (errno != EAGAIN && errno != EINTR) {
      return absl::UnavailableError(
          absl::StrCat("cannot read from the program: ", std::strerror(errno)));
    }
  }
}

bool ChildProcess::WaitForExit(absl::Duration patience) const {
  // Where the kernel has no such files we have no patience.
  int file = static_cast<int>(syscall(SYS_pidfd_open, process_, 0));
  if (file < 0) return false;
  const bool exited = WaitFor(file, POLLIN, SteadyTime() + patience);
  Close(file);
  return exited;
}

const std::string& ChildProcess::End(absl::Duration patience) {
  if (!how_it_ended_.empty()) return how_it_ended_;
  Close(input_);
  const bool exited = WaitForExit(patience);
  // Until it has been waited for, its number is that of its group for sure.
  kill(-process_, SIGKILL);
  int wait_status = 0;
  while (waitpid(process_, &wait_status, 0) < 0 && errno == EINTR) {
  }
  Close(output_);
  const bool by_us =
      !exited && WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
  how_it_ended_ = by_us ? "had to be ended" : HowItEnded(wait_status);
  return how_it_ended_;
}

}  // namespace tara
