#ifndef TESTS_ENGINE_ENGINE_PROCESS_H_
#define TESTS_ENGINE_ENGINE_PROCESS_H_

// `tara engine` at the other end of two pipes, as a client has it.

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tara::engine {

class EngineProcess {
 public:
  // Starts `tara engine` with these arguments and so many bytes of memory.
  explicit EngineProcess(const std::vector<std::string>& arguments,
                         rlim_t memory = RLIM_INFINITY);
  ~EngineProcess();  // kills it if it still runs
  EngineProcess(const EngineProcess&) = delete;
  EngineProcess& operator=(const EngineProcess&) = delete;

  // Writes a line, or bytes as they are. Nothing is read meanwhile.
  void SendLine(absl::string_view line);
  void Send(absl::string_view bytes);
  void CloseInput();
  // Nobody reads any more.
  void CloseOutput();

  // Blocks until there is a line and returns it without its end; nothing at the
  // end of the output.
  std::optional<std::string> ReadLine();

  // The lines of an answer of the line protocol, without the blank one that
  // ends it.
  std::vector<std::string> ReadAnswer();
  // Sends a line and returns its answer in one text.
  std::string Ask(absl::string_view line);

  // Closes the input and waits for the end. Returns the exit status, or 128 + N
  // when signal N ended it. What was not read is lost.
  int Wait();
  // The same without closing or reading anything.
  int WaitForEnd();

 private:
  bool ReadMore();

  int to_engine_ = -1;
  int from_engine_ = -1;
  pid_t process_ = -1;
  std::string read_;
};

}  // namespace tara::engine

#endif  // TESTS_ENGINE_ENGINE_PROCESS_H_
