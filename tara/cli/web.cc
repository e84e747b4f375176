#include <civetweb.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/project_folder.h"
#include "tara/base/status_macros.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/web_export.h"
#include "tara/cli/web_run.h"
#include "tara/eval/players/make_player.h"
#include "tara/nn/bundle/bundle.h"

namespace tara::cli {
namespace {

namespace fs = std::filesystem;

struct WebOptions {
  int64_t port = 8045;
  // A bundle, run or checkpoint; empty: the one that comes with the project.
  std::string model = {};
  // A run to watch; empty: none.
  std::string run = {};
  // A folder with a built page; empty: that of the release or of the clone.
  std::string page = {};
  // A folder to write the page to, instead of serving it.
  std::string export_folder = {};
};

// Sent with every file. The page has a policy in itself (web/vite.config.mjs);
// workers have that of their file.
constexpr char kHeaders[] =
    "X-Content-Type-Options: nosniff\r\n"
    "Content-Security-Policy: default-src 'none'; "
    "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    "style-src 'self'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

// What the server's threads use.
struct Served {
  std::string model;  // the network that the page begins with, or empty
  bool page_has_model = false;
  std::string run;  // that can be watched, or empty
  absl::Mutex mutex;
  std::string error ABSL_GUARDED_BY(mutex);  // the first message of the server
};

int SendModel(mg_connection* connection, const Served& served) {
  if (served.model.empty()) {
    // A page for a web space has its own.
    if (served.page_has_model) return 0;
    // Not 404, which browsers log as an error: there need be none.
    mg_printf(connection, "HTTP/1.1 204 No Content\r\n%s\r\n\r\n", kHeaders);
    return 204;
  }
  const std::string name = fs::path(served.model).filename().string();
  std::string encoded(3 * name.size() + 1, '\0');
  encoded.resize(mg_url_encode(name.c_str(), encoded.data(), encoded.size()));
  mg_send_mime_file2(
      connection, served.model.c_str(), "application/zip",
      absl::StrCat("Content-Disposition: attachment; filename*=UTF-8''",
                   encoded, "\r\n")
          .c_str());
  return 200;
}

int SendRunFile(mg_connection* connection, const Served& served,
                absl::string_view name, const char* query) {
  const absl::StatusOr<WebFile> file =
      served.run.empty()
          ? absl::NotFoundError("no run is watched; expected --run")
          : RunFile(served.run, name, query == nullptr ? "" : query);
  if (!file.ok()) {
    const int status = absl::IsInvalidArgument(file.status()) ? 400
                       : absl::IsNotFound(file.status())      ? 404
                                                              : 500;
    mg_send_http_error(connection, status, "%s",
                       std::string(file.status().message()).c_str());
    return status;
  }
  mg_printf(connection,
            "HTTP/1.1 200 OK\r\n%s\r\nCache-Control: no-store\r\n"
            "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n",
            kHeaders, file->type.c_str(), file->contents.size());
  mg_write(connection, file->contents.data(), file->contents.size());
  return 200;
}

// Answers requests for `model.tara` and for what is known of a run, and leaves
// the others to the server.
int BeginRequest(mg_connection* connection) {
  const mg_request_info& request = *mg_get_request_info(connection);
  const auto& served =
      *static_cast<Served*>(mg_get_user_data(mg_get_context(connection)));
  absl::string_view path = request.local_uri;
  if (path == "/model.tara") return SendModel(connection, served);
  if (absl::ConsumePrefix(&path, "/run/")) {
    return SendRunFile(connection, served, path, request.query_string);
  }
  return 0;
}

int KeepMessage(const mg_connection* connection, const char* message) {
  auto& served =
      *static_cast<Served*>(mg_get_user_data(mg_get_context(connection)));
  const absl::MutexLock lock(&served.mutex);
  if (served.error.empty()) served.error = message;
  return 1;
}

// Serves the built page of a folder to this machine until the process is
// stopped. Returns only errors.
absl::StatusOr<int> ServePage(const fs::path& page, const WebOptions& options,
                              Console& console) {
  std::error_code ignored;
  if (!fs::exists(page / "index.html", ignored)) {
    return absl::NotFoundError(absl::StrCat("no built page in ", page.string(),
                                            "; expected its index.html there"));
  }
  Served served;
  if (!options.model.empty()) {
    TARA_RETURN_IF_ERROR(nn::Bundle::Open(options.model).status());
    served.model = options.model;
  } else if (IsExportedPage(page)) {
    served.page_has_model = fs::exists(page / "model.tara", ignored);
  } else {
    served.model = eval::FindReadyMadeModel().value_or("");
  }
  served.run = options.run;
  const std::string port = absl::StrCat("127.0.0.1:", options.port);
  const char* settings[] = {"listening_ports",
                            port.c_str(),
                            "document_root",
                            page.c_str(),
                            "enable_directory_listing",
                            "no",
                            "static_file_max_age",
                            "0",
                            "num_threads",
                            "8",
                            "extra_mime_types",
                            ".js=text/javascript,.mjs=text/javascript,"
                            ".wasm=application/wasm,.woff2=font/woff2",
                            "additional_header",
                            kHeaders,
                            nullptr};
  mg_callbacks callbacks = {};
  callbacks.begin_request = &BeginRequest;
  callbacks.log_message = &KeepMessage;
  mg_init_library(MG_FEATURES_FILES);
  const mg_context* const server = mg_start(&callbacks, &served, settings);
  mg_server_port found = {};
  if (server == nullptr || mg_get_server_ports(server, 1, &found) != 1) {
    const absl::MutexLock lock(&served.mutex);
    return absl::UnavailableError(
        absl::StrCat("cannot serve the page: ", served.error,
                     " (--port 0 finds a free one)"));
  }
  const std::string address =
      absl::StrCat("http://localhost:", found.port, "/");
  if (!options.run.empty()) {
    console.out << "Watch " << options.run << " at " << address << "run.html\n";
  }
  console.out << "Play at " << address << " (stop with Ctrl+C)\n" << std::flush;
  while (true) pause();
}

// Becomes the script of a clone that builds the page from its sources and comes
// back with --page. Returns only errors.
absl::StatusOr<int> BuildPage(const fs::path& script, const WebOptions& options,
                              Console& console) {
  std::error_code ignored;
  std::vector<std::string> words = {script.string()};
  const auto add = [&](const char* flag, const std::string& path) {
    if (path.empty()) return;
    words.insert(words.end(), {flag, fs::absolute(path, ignored).string()});
  };
  add("--export", options.export_folder);
  add("--model", options.model);
  add("--run", options.run);
  words.insert(words.end(), {"--port", absl::StrCat(options.port)});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  console.out.flush();
  execv(script.c_str(), arguments.data());
  return absl::UnavailableError(absl::StrCat("cannot start ", script.string(),
                                             ": ", std::strerror(errno)));
}

absl::StatusOr<int> RunWeb(const WebOptions& options, Console& console) {
  std::error_code ignored;
  if (!options.model.empty() && !fs::exists(options.model, ignored)) {
    return absl::NotFoundError(
        absl::StrCat("--model ", options.model,
                     ": no such file; expected a model bundle, a run or a "
                     "checkpoint"));
  }
  const bool exports = !options.export_folder.empty();
  if (!options.run.empty()) {
    if (exports) {
      return UsageError("--run with --export: what is exported has no run");
    }
    if (!fs::exists(fs::path(options.run) / "config.textproto", ignored)) {
      return absl::NotFoundError(
          absl::StrCat("--run ", options.run,
                       ": no run; expected the folder of one that `tara "
                       "train` has begun, with its config.textproto"));
    }
  }
  if (exports) {
    // Before minutes of building.
    TARA_RETURN_IF_ERROR(CheckExportFolder(options.export_folder));
    if (!options.model.empty() && fs::is_regular_file(options.model, ignored) &&
        fs::path(options.model).extension() == ".tara") {
      TARA_RETURN_IF_ERROR(nn::Bundle::Open(options.model).status());
    }
  }
  if (!options.page.empty()) {
    if (!exports) return ServePage(options.page, options, console);
    TARA_RETURN_IF_ERROR(
        ExportPage(options.page, options.export_folder, console.out));
    return kExitOk;
  }
  const std::optional<fs::path> root = ProjectFolder();
  if (root.has_value()) {
    const fs::path web = *root / "web";
    if (fs::exists(web / "serve.sh", ignored)) {
      return BuildPage(web / "serve.sh", options, console);
    }
    // The built one of a release; in a clone index.html is a source.
    if (!exports && fs::exists(web / "index.html", ignored)) {
      return ServePage(web, options, console);
    }
  }
  return absl::FailedPreconditionError(
      "the page is built from its sources: start it with `bin/tara web` in a "
      "clone of the project, or name a built page by --page");
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
               "or, in a clone, a run or a checkpoint",
       .default_text = "models/tara.tara"},
      &options->model);
  command.AddText({.names = "--run",
                   .placeholder = "RUN",
                   .help = "folder of a run to watch at run.html, while it "
                           "learns or later: its curves and newest games",
                   .default_text = "none"},
                  &options->run);
  command.AddText(
      {.names = "--page",
       .placeholder = "FOLDER",
       .help = "a built page, such as web/dist, instead of building "
               "it",
       .default_text = "built if sources are newer"},
      &options->page);
  command.AddText(
      {.names = "--export",
       .placeholder = "FOLDER",
       .help =
           "folder to write the page to, for any web space, instead of "
           "serving it; new, empty, or an earlier export, which is replaced",
       .default_text = "none"},
      &options->export_folder);
  command.SetNotes(
      "In a clone, builds what is missing (at first some minutes: Emscripten "
      "and\nNode.js are installed, the rules and the search compiled to "
      "WebAssembly). Serves\nthe page to this machine alone until it is "
      "stopped. "
      "Another bundle can be\ndropped onto the page at any time.\n\n"
      "What --export writes are plain files, network included: visitors can "
      "install the\npage and play without a network. --port has no "
      "effect then.");
  command.SetExamples({"web", "web --port 9000 --model runs/mine",
                       "web --run runs/mine", "web --export site"});
  command.SetRun(
      [options](Console& console) { return RunWeb(*options, console); });
}

}  // namespace tara::cli
