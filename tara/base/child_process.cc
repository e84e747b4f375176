#include "tara/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"

extern char** environ;

namespace tara {
namespace {

void Close(int& file) {
  if (file >= 0) close(file);
  file = -1;
}

// How long `stop` may be overlooked.
constexpr absl::Duration kStopPeriod = absl::Milliseconds(50);

// Waits for one of `events`. Returns DEADLINE_EXCEEDED, or CANCELLED.
absl::Status WaitFor(int file, int16_t events, absl::Time deadline,
                     const StopCheck* stop) {
  while (true) {
    if (stop != nullptr && (*stop)())
      return absl::CancelledError("interrupted");
    const absl::Duration left = deadline - SteadyTime();
    const int64_t wait_ms = absl::ToInt64Milliseconds(
        absl::Ceil(stop == nullptr ? left : std::min(left, kStopPeriod),
                   absl::Milliseconds(1)));
    pollfd poll_file = {.fd = file, .events = events, .revents = 0};
    const int ready =
        poll(&poll_file, 1,
             static_cast<int>(std::clamp<int64_t>(wait_ms, 0, INT_MAX)));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR && errno != EAGAIN) {
      return absl::ErrnoToStatus(errno, "cannot wait for the program");
    }
    if (ready == 0 && SteadyTime() >= deadline) {
      return absl::DeadlineExceededError("no answer");
    }
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

// Returns the files that a program may be, as execvp(3) looks for them.
std::vector<std::string> CandidatePaths(const std::string& program) {
  if (absl::StrContains(program, '/')) return {program};
  const char* const path = std::getenv("PATH");
  std::vector<std::string> paths;
  for (const absl::string_view folder :
       absl::StrSplit(path == nullptr ? "/bin:/usr/bin" : path, ':')) {
    paths.push_back(folder.empty() ? program
                                   : absl::StrCat(folder, "/", program));
  }
  return paths;
}

// Data of the new process, made before it because it must not allocate memory.
struct Program {
  std::vector<std::string> paths;
  std::vector<char*> words;
  int files[3];  // for its three streams
  pid_t parent;
};

// Becomes the program, with only the three files, in a process group of its
// own, with default signal handling; the kernel ends it as soon as the thread
// that made it ends. Returns an error number, which the caller can write to
// `report`. In the parent's memory (vfork), so it makes only system calls.
int Become(Program& program, int& report) {
  if (setpgid(0, 0) != 0) return errno;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  if (getppid() != program.parent) return ECHILD;  // it has ended already
  constexpr int kReport = STDERR_FILENO + 1;
  // Out of the way of the streams.
  if (report <= STDERR_FILENO) report = fcntl(report, F_DUPFD_CLOEXEC, kReport);
  if (report < 0) return errno;
  for (int& file : program.files) {
    if (file <= STDERR_FILENO) file = fcntl(file, F_DUPFD, kReport);
    if (file < 0) return errno;
  }
  for (int stream = 0; stream <= STDERR_FILENO; ++stream) {
    if (dup2(program.files[stream], stream) < 0) return errno;
  }
  if (report != kReport) {
    if (dup3(report, kReport, O_CLOEXEC) < 0) return errno;
    report = kReport;
  }
  closefrom(kReport + 1);
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) {
    // Except the ones that have no other.
    sigaction(signal, &by_default, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  int error = ENOENT;
  for (const std::string& path : program.paths) {
    execve(path.c_str(), program.words.data(), environ);
    if (errno == EACCES) error = EACCES;
    if (errno != EACCES && errno != ENOENT && errno != ENOTDIR) return errno;
  }
  return error;
}

// Starts the program. Returns an error number.
int Spawn(Program& program, pid_t* process) {
  // Closed without a word when the program begins.
  Pipe outcome;
  if (!outcome.Open()) return errno;
  int report = outcome.write_end;
  // No handler of ours is to run in the new process, in our memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const pid_t child = vfork();
  if (child == 0) {
    const int error = Become(program, report);
    // If that fails, too, the program has ended at once.
    [[maybe_unused]] const ssize_t ignored =
        write(report, &error, sizeof(error));
    _exit(EXIT_FAILURE);
  }
  int error = child < 0 ? errno : 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  Close(outcome.write_end);
  while (child > 0 && read(outcome.read_end, &error, sizeof(error)) < 0 &&
         errno == EINTR) {
  }
  Close(outcome.read_end);
  *process = child;
  if (child > 0 && error != 0) waitpid(child, nullptr, 0);
  return error;
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

// The thread that starts a process and lives as long as it does: the kernel
// ends the process with that thread (PR_SET_PDEATHSIG), not with all of us.
class ChildProcess::Keeper {
 public:
  // Starts the program, whose files the caller closes. Returns system errors.
  static absl::StatusOr<std::unique_ptr<Keeper>> Start(Program program) {
    const std::string failure =
        absl::StrCat("cannot start '", program.words[0], "'");
    auto keeper = std::make_unique<Keeper>();
    std::optional<int> error;
    try {
      keeper->thread_ = std::thread([&, keeper = keeper.get()] {
        pid_t process = -1;
        const int spawned = Spawn(program, &process);
        {
          // From here on `error` and `program` may no longer exist.
          const absl::MutexLock lock(&keeper->mutex_);
          keeper->process_ = process;
          error = spawned;
        }
        if (spawned == 0) keeper->AwaitEnd(process);
      });
    } catch (const std::system_error& no_thread) {
      return absl::ErrnoToStatus(no_thread.code().value(), failure);
    }
    {
      const absl::MutexLock lock(&keeper->mutex_);
      const auto is_known = [&error] { return error.has_value(); };
      keeper->mutex_.Await(absl::Condition(&is_known));
    }
    if (*error == 0) return keeper;
    keeper->thread_.join();
    return absl::ErrnoToStatus(*error, failure);
  }

  // Waits so long for the end of the process, then ends it and its group by
  // force. Returns its status as of waitpid(2), and whether it was forced.
  std::pair<int, bool> End(absl::Duration patience) {
    pid_t process;
    bool ended;
    {
      const absl::MutexLock lock(&mutex_);
      ended = mutex_.AwaitWithTimeout(absl::Condition(&has_ended_), patience);
      process = process_;
    }
    // Until it has been waited for, its number is that of its group for sure.
    kill(-process, SIGKILL);
    thread_.join();
    int wait_status = 0;
    while (waitpid(process, &wait_status, 0) < 0 && errno == EINTR) {
    }
    return {wait_status, !ended};
  }

 private:
  void AwaitEnd(pid_t process) {
    siginfo_t info;
    // It is left to be waited for.
    while (waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOWAIT) <
               0 &&
           errno == EINTR) {
    }
    const absl::MutexLock lock(&mutex_);
    has_ended_ = true;
  }

  absl::Mutex mutex_;
  pid_t process_ ABSL_GUARDED_BY(mutex_) = -1;
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

ChildProcess::ChildProcess(std::unique_ptr<Keeper> keeper, int input,
                           int output)
    : keeper_(std::move(keeper)), input_(input), output_(output) {}

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
    return absl::ErrnoToStatus(errno,
                               absl::StrCat("cannot write the log ", log));
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
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  Program program = {.paths = CandidatePaths(options.command[0]),
                     .words = {},
                     .files = {input.read_end, output.write_end, errors},
                     .parent = getpid()};
  for (const std::string& word : options.command) {
    program.words.push_back(const_cast<char*>(word.c_str()));
  }
  program.words.push_back(nullptr);
  TARA_ASSIGN_OR_RETURN(std::unique_ptr<Keeper> keeper,
                        Keeper::Start(std::move(program)));
  for (const int ours : {input.write_end, output.read_end}) {
    fcntl(ours, F_SETFL, fcntl(ours, F_GETFL) | O_NONBLOCK);
  }
  return std::unique_ptr<ChildProcess>(
      new ChildProcess(std::move(keeper), std::exchange(input.write_end, -1),
                       std::exchange(output.read_end, -1)));
}

ChildProcess::~ChildProcess() { End(absl::ZeroDuration()); }

absl::Status ChildProcess::Write(absl::string_view text, absl::Time deadline,
                                 const StopCheck* stop) {
  const WithoutSigpipe without_sigpipe;
  while (!text.empty()) {
    if (input_ < 0) return absl::UnavailableError("the program has been ended");
    const ssize_t written = write(input_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      TARA_RETURN_IF_ERROR(WaitFor(input_, POLLOUT, deadline, stop));
    } else if (errno != EINTR) {
      return absl::UnavailableError(absl::StrCat(
          "the program no longer reads its input: ", std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ChildProcess::ReadLine(absl::Time deadline,
                                                   const StopCheck* stop) {
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
    TARA_RETURN_IF_ERROR(WaitFor(output_, POLLIN, deadline, stop));
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

const std::string& ChildProcess::End(absl::Duration patience) {
  if (!how_it_ended_.empty()) return how_it_ended_;
  Close(input_);
  const auto [wait_status, is_forced] = keeper_->End(patience);
  Close(output_);
  const int signal = WTERMSIG(wait_status);
  if (is_forced && WIFSIGNALED(wait_status) && signal == SIGKILL) {
    how_it_ended_ = "was killed";
  } else if (WIFSIGNALED(wait_status)) {
    how_it_ended_ =
        absl::StrCat("signal ", signal, " (", sigdescr_np(signal), ")");
  } else {
    how_it_ended_ = absl::StrCat("exit status ", WEXITSTATUS(wait_status));
  }
  return how_it_ended_;
}

}  // namespace tara
