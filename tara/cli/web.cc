#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"

namespace tara::cli {
namespace {

struct WebOptions {
  int64_t port = 8045;
  // A bundle, run or checkpoint; empty: the one that comes with the project.
  std::string model = {};
};

// Becomes the script web/serve.sh of the folder that the environment variable
// TARA_ROOT names, as bin/tara sets it: the page is built from sources. Returns
// only errors: FAILED_PRECONDITION where there is no such script, NOT_FOUND
// where there is no such model.
absl::StatusOr<int> RunWeb(const WebOptions& options, Console& console) {
  std::error_code ignored;
  const char* const root = std::getenv("TARA_ROOT");
  const std::string script =
      root == nullptr ? "" : absl::StrCat(root, "/web/serve.sh");
  if (!std::filesystem::exists(script, ignored)) {
    return absl::FailedPreconditionError(
        "the page is built from its sources: start it with `bin/tara web` in a "
        "clone of the project");
  }
  std::vector<std::string> words = {script, absl::StrCat(options.port)};
  if (!options.model.empty()) {
    if (!std::filesystem::exists(options.model, ignored)) {
      return absl::NotFoundError(
          absl::StrCat("--model ", options.model,
                       ": no such file; expected a model bundle, a run or a "
                       "checkpoint"));
    }
    words.push_back(std::filesystem::absolute(options.model, ignored).string());
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  console.out.flush();
  execv(script.c_str(), arguments.data());
  return absl::UnavailableError(
      absl::StrCat("cannot start ", script, ": ", std::strerror(errno)));
}

}  // namespace

void RegisterWeb(Command& root) {
  Command& command =
      root.AddCommand("web", "play in the browser, without a server elsewhere");
  const auto options = std::make_shared<WebOptions>();
  command.AddInteger({.names = "--port",
                      .placeholder = "N",
                      .help = "port of http://localhost:N/; 0: a free one"},
                     0, 65535, &options->port);
  command.AddText(
      {.names = "--model",
       .placeholder = "FILE",
       .help = "network to play against: a bundle of `tara export`, "
               "a run or a checkpoint",
       .default_text = "models/tara.tara"},
      &options->model);
  command.SetNotes(
      "Builds what is missing (at first some minutes: Emscripten and Node.js "
      "are\ninstalled, the rules and the search compiled to WebAssembly), then "
      "serves the\npage to this machine alone until it is stopped. Another "
      "bundle can be dropped\nonto the page at any time.");
  command.SetExamples({"web", "web --port 9000 --model runs/quickstart"});
  command.SetRun(
      [options](Console& console) { return RunWeb(*options, console); });
}

}  // namespace tara::cli
