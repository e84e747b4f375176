#ifndef TARA_BASE_CHILD_PROCESS_H_
#define TARA_BASE_CHILD_PROCESS_H_

#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/base/threads.h"

namespace tara {

// While it exists, writing to a pipe that nobody reads only returns an error:
// the SIGPIPE that this thread receives is discarded.
class WithoutSigpipe {
 public:
  WithoutSigpipe();
  ~WithoutSigpipe();
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t sigpipe_;
  sigset_t mask_before_;
  bool was_pending_;
};

struct ChildProcessOptions {
  // The program, looked for in PATH where it has no slash, and its arguments.
  // No shell reads them.
  std::vector<std::string> command;
  // File that its standard error is added to; empty: thrown away.
  std::string log = {};
};

// A child process that exchanges lines through pipes on its standard input and
// output, and inherits no other files. It leads a process group of its own, so
// that Ctrl-C in the terminal reaches only this process. The group ends with
// it, except processes that left it (setsid, setpgid). The child ends with this
// process, even if that is killed, but the child's own children do not.
// Deadlines are times of SteadyTime. While a function waits, it checks `stop`
// and returns CANCELLED once it is true (null: never). Not thread-safe.
class ChildProcess {
 public:
  // Returns NOT_FOUND, or the system's reason, for a program or a log that
  // cannot be, also where it is a want of ours: descriptors, processes, memory;
  // INVALID_ARGUMENT for an empty command. All name it.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const ChildProcessOptions& options);

  // Ends it at once.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Writes text. Returns UNAVAILABLE if the program does not read any more,
  // DEADLINE_EXCEEDED if it did not until then. Never raises SIGPIPE.
  absl::Status Write(absl::string_view text, absl::Time deadline,
                     const StopCheck* stop = nullptr);

  // Returns the next line without its end ("\n" or "\r\n"). Returns UNAVAILABLE
  // if the program has closed its output, DEADLINE_EXCEEDED if none arrives in
  // time, RESOURCE_EXHAUSTED for one of more than kMaxLineBytes.
  absl::StatusOr<std::string> ReadLine(absl::Time deadline,
                                       const StopCheck* stop = nullptr);
  static constexpr size_t kMaxLineBytes = size_t{1} << 20;

  // Closes its standard input, waits so long for its end, and then ends it and
  // its group by force. Returns how it ended: "exit status 3", "signal 11
  // (Segmentation fault)", "had to be ended". May be called again.
  const std::string& End(absl::Duration patience);

 private:
  class Keeper;

  ChildProcess(std::unique_ptr<Keeper> keeper, int input, int output);

  const std::unique_ptr<Keeper> keeper_;
  int input_;   // its standard input, our end; -1: closed
  int output_;  // its standard output, our end; -1: closed
  std::string unread_;
  std::string how_it_ended_;  // empty: it has not, as far as was seen
};

}  // namespace tara

#endif  // TARA_BASE_CHILD_PROCESS_H_
