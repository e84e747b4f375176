#include "tara/cli/torch_program.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/cli/commands.h"
#include "tara/cli/usage.h"

namespace tara::cli {

namespace {

bool IsIn(absl::Span<const CommandName> commands, absl::string_view name) {
  return std::any_of(
      commands.begin(), commands.end(),
      [&](const CommandName& command) { return command.name == name; });
}

}  // namespace

bool NeedsTorch(int argc, const char* const* argv) {
  std::vector<absl::string_view> words;  // without options, such as --help
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-') words.push_back(argv[i]);
  }
  if (words.empty()) return false;
  if (IsIn(kTorchCommands, words[0])) return true;
  return words.size() > 1 && words[0] == "bench" &&
         IsIn(kTorchBenchCommands, words[1]);
}

int BecomeTorchProgram(char* const* argv, Console& console) {
  // OpenMP reads these when it is loaded, so they are set here. By default its
  // threads spin for milliseconds while they wait, and take the time of those
  // that work: a step of learning took up to ten times as long on a busy
  // machine. Asleep at once, they are woken too late, hundreds of times a step,
  // which then takes a third longer. So they spin for some 0.1 ms.
  setenv("OMP_WAIT_POLICY", "PASSIVE", /*overwrite=*/0);
  setenv("GOMP_SPINCOUNT", "5000", /*overwrite=*/0);
  // Memory in pages of 2 MB where the kernel gives them to those who ask: the
  // learner's tensors lie in thousands of the usual ones, more than a processor
  // remembers the places of. Read when the program starts.
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", /*overwrite=*/0);
  std::error_code ignored;
  const std::string path =
      std::filesystem::read_symlink("/proc/self/exe", ignored).string() +
      "_torch";
  execv(path.c_str(), argv);
  console.err << "tara: cannot start " << path << ", which `tara " << argv[1]
              << "` needs: " << std::strerror(errno) << "\n";
  return kExitFailure;
}

}  // namespace tara::cli
