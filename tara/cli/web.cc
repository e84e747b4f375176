#include <civetweb.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "proto/game.pb.h"
#include "tara/base/files.h"
#include "tara/base/status_macros.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/action.h"
#include "tara/core/drawing.h"
#include "tara/core/state.h"
#include "tara/core/svg_board.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/report/report.h"
#include "tara/eval/review/review.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"

namespace tara::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// --- A run to watch ----------------------------------------------------------

struct WebFile {
  std::string type;  // of its contents: "application/json"
  std::string contents;
};

// Returns the number of a query, "index=12&ply=3", or the other one where it
// has none of the name.
absl::StatusOr<int64_t> NumberOf(absl::string_view query, const char* name,
                                 int64_t otherwise) {
  char text[32] = "";
  const int length =
      mg_get_var(query.data(), query.size(), name, text, sizeof(text));
  if (length == -1) return otherwise;
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number) && number >= 0) return number;
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is '", text, "'; expected a number from 0 up"));
}

std::string ReadFrom(const fs::path& path, int64_t begin) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(begin);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns how long ago a file was written; null where it is not there, yet.
Json SecondsSinceWritten(const fs::path& path) {
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  if (error) return nullptr;
  const std::chrono::duration<double> since =
      fs::file_time_type::clock::now() - written;
  return std::max(since.count(), 0.0);
}

WebFile JsonFile(std::string json) {
  return {"application/json", std::move(json)};
}

struct Game {
  proto::GameRecord record;
  record::ReplayedGame replayed;
};

Json GameJson(const Game& game) {
  const proto::GameRecord& record = game.record;
  std::string text = record.variant();
  if (record.rule_options() != "-") {
    absl::StrAppend(&text, " ", record.rule_options());
  }
  Json actions = Json::array();
  for (const proto::Step& step : record.steps()) {
    const State& before = game.replayed.states[actions.size()];
    const std::string action =
        ActionToText(static_cast<Action>(step.action()), before);
    const bool drawn = actions.size() < record.opening_plies();
    Json red;  // chances
    if (step.has_root_value() && !drawn) {
      const double chances = (1 + step.root_value()) / 2;
      red = SideOf(before.seat) == kRed ? chances : 1 - chances;
    }
    actions.push_back(
        {{"seat", SeatName(before.variant, before.seat)},
         {"action", action},
         {"drawn", drawn},
         {"proved", record::ProvedResult(step, before).has_value()},
         {"red", red}});
    absl::StrAppend(&text, " ", action);
  }
  const std::string end =
      game.replayed.finished()
          ? absl::StrCat("Red ", record.result().points(0), ", Blue ",
                         record.result().points(1))
          : absl::StrCat(record::EndingOf(record), ", ",
                         eval::WinnerText(game.replayed.outcome.winner()));
  return {{"index", record.game_index()},
          {"variant", record.variant()},
          {"generation", record.generation()},
          {"model", record.model_id()},
          {"text", text},
          {"end", end},
          {"actions", std::move(actions)}};
}

absl::StatusOr<WebFile> PositionFile(const Game& game,
                                     absl::string_view query) {
  TARA_ASSIGN_OR_RETURN(const int64_t ply, NumberOf(query, "ply", 0));
  const int length = game.record.steps_size();
  if (ply > length) {
    return absl::InvalidArgumentError(
        absl::StrCat("ply is ", ply, "; expected 0 to ", length));
  }
  SvgOptions picture;
  if (ply > 0) {
    picture.last = static_cast<Action>(
        game.record.steps(static_cast<int>(ply) - 1).action());
  }
  if (ply < length) {
    const proto::Step& step = game.record.steps(static_cast<int>(ply));
    for (int i = 0; i < step.visits_size(); ++i) {
      picture.policy.push_back({static_cast<Action>(step.visited_action(i)),
                                static_cast<double>(step.visits(i))});
    }
  }
  return WebFile{
      "image/svg+xml",
      SvgBoard(game.replayed.states[static_cast<size_t>(ply)], picture)};
}

// Returns whether a process trains a run now; null if that is unknown.
Json IsRunning(const fs::path& folder) {
  const absl::StatusOr<FileLock> lock =
      LockFile((folder / "lock").string(), O_RDONLY);
  if (absl::IsUnavailable(lock.status())) return true;
  if (absl::IsNotFound(lock.status())) return false;
  if (!lock.ok() || !lock->warning.empty()) return nullptr;
  return false;
}

// Returns what the page that watches runs (web/src/run/run.ts) asks for, a
// file of the folder `run/` and what follows its question mark; with `run=N`,
// of another run than the first:
//   about.json                   `name` of the run, `config`: its text,
//                                `quiet`: seconds since it wrote its metrics,
//                                or null, `running`: whether it is trained now,
//                                or null, `runs`: number of runs
//   metrics.jsonl?from=BYTE      what the run has written from there on
//   games.json?limit=N           as `tara games list --format=json --limit N`
//   game.json?index=N            a game: `index`, `variant`, `generation`,
//                                `model`, `text` as ParseGameText reads it,
//                                `end`, and of each action `actions`: `seat`,
//                                `action`, `drawn` (it opens the game),
//                                `proved` and `red`, Red's chances by its
//                                search, or null
//   position.svg?index=N&ply=P   a picture of a position of it, with the visits
//                                of its search
// NOT_FOUND for a missing file, INVALID_ARGUMENT for a wrong number.
// Errors of the run's store. `runs` are absolute paths.
absl::StatusOr<WebFile> RunFile(const std::vector<std::string>& runs,
                                absl::string_view name,
                                absl::string_view query) {
  if (runs.empty()) {
    return absl::NotFoundError("no run to watch; expected --run");
  }
  TARA_ASSIGN_OR_RETURN(const int64_t place, NumberOf(query, "run", 0));
  if (place >= static_cast<int64_t>(runs.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("run is ", place, "; expected 0 to ", runs.size() - 1));
  }
  const std::string& run = runs[static_cast<size_t>(place)];
  const fs::path folder = fs::path(run).lexically_normal();
  if (name == "about.json") {
    const fs::path config = folder / "config.textproto";
    return JsonFile(
        JsonText(Json({{"name", config.parent_path().filename().string()},
                       {"config", ReadFrom(config, 0)},
                       {"quiet", SecondsSinceWritten(folder / "metrics.jsonl")},
                       {"running", IsRunning(folder)},
                       {"runs", runs.size()}})));
  }
  if (name == "metrics.jsonl") {
    TARA_ASSIGN_OR_RETURN(const int64_t from, NumberOf(query, "from", 0));
    return WebFile{"application/jsonl",
                   ReadFrom(folder / "metrics.jsonl", from)};
  }
  if (name == "games.json") {
    TARA_ASSIGN_OR_RETURN(const int64_t limit, NumberOf(query, "limit", 50));
    const auto store = OpenStoreForReading(run);
    // A run that has just begun.
    if (absl::IsNotFound(store.status())) return JsonFile("[]");
    TARA_RETURN_IF_ERROR(store.status());
    TARA_ASSIGN_OR_RETURN(
        const std::vector<record::GameRow> rows,
        (*store)->List({.limit = limit, .newest_first = true}));
    return JsonFile(GameRowsJson(rows));
  }
  if (name != "game.json" && name != "position.svg") {
    return absl::NotFoundError(absl::StrCat("no file run/", name));
  }
  TARA_ASSIGN_OR_RETURN(const int64_t index, NumberOf(query, "index", 0));
  TARA_ASSIGN_OR_RETURN(const auto store, OpenStoreForReading(run));
  Game game;
  TARA_ASSIGN_OR_RETURN(game.record, store->Get(static_cast<uint64_t>(index)));
  TARA_ASSIGN_OR_RETURN(game.replayed, record::Replay(game.record));
  if (name == "game.json") return JsonFile(JsonText(GameJson(game)));
  return PositionFile(game, query);
}

// --- The page ----------------------------------------------------------------

struct WebOptions {
  int port = 8045;
  // A bundle, run or checkpoint; empty: the one that comes with the project.
  std::string model = {};
  std::vector<std::string> runs = {};  // to watch
  // A folder with a built page; empty: that of the release or of the clone.
  std::string page = {};
  // A folder to write the page to, instead of serving it.
  std::string export_folder = {};
};

// Sent with every answer. The page has a policy in itself
// (web/vite.config.mjs); workers have that of their file.
constexpr char kHeaders[] =
    "X-Content-Type-Options: nosniff\r\n"
    "Content-Security-Policy: default-src 'none'; "
    "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    "style-src 'self'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

// Data that the server's threads share.
struct Served {
  fs::path page;      // canonical
  std::string model;  // the network that the page begins with, or empty
  bool page_has_model = false;
  std::vector<std::string> runs;  // that can be watched; absolute
  absl::Mutex mutex;
  std::string error ABSL_GUARDED_BY(mutex);  // the first message of the server
};

// Whether the header Host of a request names this machine. A web site can make
// its own name point here (DNS rebinding), so that visitors' browsers read the
// served data.
bool NamesThisMachine(const char* host) {
  absl::string_view name = host == nullptr ? "" : host;
  const size_t colon = name.rfind(':');
  if (colon != absl::string_view::npos && name.back() != ']') {
    const absl::string_view port = name.substr(colon + 1);
    if (!std::all_of(port.begin(), port.end(), absl::ascii_isdigit)) {
      return false;
    }
    name = name.substr(0, colon);
  }
  return absl::EqualsIgnoreCase(name, "localhost") || name == "127.0.0.1" ||
         name == "[::1]";
}

// Each of these answers a request and returns the status of its answer.

int SendText(mg_connection* connection, int status, absl::string_view type,
             absl::string_view text, absl::string_view more_headers = "") {
  const std::string head = absl::StrCat(
      "HTTP/1.1 ", status, " ", mg_get_response_code_text(connection, status),
      "\r\n", kHeaders, "\r\nCache-Control: no-store\r\nContent-Type: ", type,
      "\r\nContent-Length: ", text.size(), "\r\n", more_headers,
      "Connection: close\r\n\r\n");
  mg_write(connection, head.data(), head.size());
  if (absl::string_view("HEAD") !=
      mg_get_request_info(connection)->request_method) {
    mg_write(connection, text.data(), text.size());
  }
  return status;
}

int SendError(mg_connection* connection, int status, absl::string_view message,
              absl::string_view more_headers = "") {
  return SendText(connection, status, "text/plain; charset=utf-8",
                  absl::StrCat(message, "\n"), more_headers);
}

int SendModel(mg_connection* connection, const Served& served) {
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
      RunFile(served.runs, name, query == nullptr ? "" : query);
  if (!file.ok()) {
    const int status = absl::IsInvalidArgument(file.status()) ? 400
                       : absl::IsNotFound(file.status())      ? 404
                                                              : 500;
    return SendError(connection, status, file.status().message());
  }
  return SendText(connection, 200, file->type, file->contents);
}

// Sends a file of the page's folder, and nothing that a link in it leads to
// outside: the page may be somebody else's.
int SendPageFile(mg_connection* connection, const Served& served,
                 absl::string_view path) {
  const std::string name(path.substr(1));
  std::error_code error;
  const fs::path file =
      fs::canonical(served.page / (name.empty() ? "index.html" : name), error);
  const bool is_inside =
      !error && std::mismatch(served.page.begin(), served.page.end(),
                              file.begin(), file.end())
                        .first == served.page.end();
  if (!is_inside || !fs::is_regular_file(file, error)) {
    return SendError(connection, 404, absl::StrCat("no file ", path));
  }
  // Sends the file unchanged, with the type of its name; runs no scripts.
  mg_send_mime_file2(connection, file.c_str(), nullptr, nullptr);
  return 200;
}

int Answer(mg_connection* connection, const Served& served) {
  const mg_request_info& request = *mg_get_request_info(connection);
  if (!NamesThisMachine(mg_get_header(connection, "Host"))) {
    return SendError(connection, 403,
                     "this server answers only to localhost, 127.0.0.1 and "
                     "[::1]; expected one of them as Host");
  }
  const absl::string_view method = request.request_method;
  if (method != "GET" && method != "HEAD") {
    return SendError(connection, 405, "expected GET or HEAD",
                     "Allow: GET, HEAD\r\n");
  }
  absl::string_view path = request.local_uri;
  // A page for a web space has its own.
  if (path == "/model.tara" && !served.page_has_model) {
    if (!served.model.empty()) return SendModel(connection, served);
    // Not 404, which browsers log as an error: there need be none.
    mg_printf(connection, "HTTP/1.1 204 No Content\r\n%s\r\n\r\n", kHeaders);
    return 204;
  }
  if (absl::ConsumePrefix(&path, "/run/")) {
    return SendRunFile(connection, served, path, request.query_string);
  }
  return SendPageFile(connection, served, path);
}

// Answers every request, so that CivetWeb's own ways to answer (scripts, forms,
// WebDAV, lists of folders) are not used.
int BeginRequest(mg_connection* connection) {
  const auto& served =
      *static_cast<Served*>(mg_get_user_data(mg_get_context(connection)));
  try {
    return Answer(connection, served);
  } catch (const std::exception& error) {
    // C code has called this. No memory for a large file, say.
    return SendError(connection, 500, error.what());
  }
}

int KeepMessage(const mg_connection* connection, const char* message) {
  auto& served =
      *static_cast<Served*>(mg_get_user_data(mg_get_context(connection)));
  const absl::MutexLock lock(&served.mutex);
  if (served.error.empty()) served.error = message;
  return 1;
}

// Whether a folder has a page for any web space, as `web/build.sh site` makes
// it.
bool IsExportedPage(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "service-worker.js", ignored);
}

absl::Status ExportError(const fs::path& path, absl::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat("--export ", path.string(), ": ", what));
}

// Returns an error unless a page may be written to `folder`: it is new, empty,
// or has an earlier page.
absl::Status CheckExportFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const bool is_folder = !error && fs::is_directory(folder, error);
  const bool is_empty = is_folder && fs::is_empty(folder, error);
  if (error) return ExportError(folder, error.message());
  if (is_empty || IsExportedPage(folder)) return absl::OkStatus();
  return ExportError(folder,
                     "has other files; expected a new or empty folder, or an "
                     "earlier export; nothing was changed");
}

// Copies a page to `folder`, in place of an earlier one. Other files there
// stay, except in assets/.
absl::Status ExportPage(const fs::path& page, const fs::path& folder,
                        std::ostream& out) try {
  if (!IsExportedPage(page)) {
    return absl::FailedPreconditionError(
        absl::StrCat(page.string(),
                     " is not an exported page; expected one written by "
                     "`bin/tara web --export`"));
  }
  TARA_RETURN_IF_ERROR(CheckExportFolder(folder));
  const fs::path inside =
      fs::canonical(folder).lexically_relative(fs::canonical(page));
  if (*inside.begin() != "..") {
    return ExportError(folder,
                       "is in the page itself; expected another folder");
  }
  fs::remove_all(folder / "assets");  // their names differ between versions
  fs::copy(page, folder,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  out << "Wrote the page to " << folder.string()
      << "\nTry it: python3 -m http.server -d " << folder.string()
      << " 8000, and open http://localhost:8000/\n"
         "Any web server can serve it as it is, from any folder.\n";
  return absl::OkStatus();
} catch (const fs::filesystem_error& failure) {
  return ExportError(failure.path1(), failure.code().message());
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
  // Absolute paths: the folder where the command was started may go away while
  // it serves.
  Served served;
  served.page = fs::canonical(page, ignored);
  for (const std::string& run : options.runs) {
    served.runs.push_back(fs::absolute(run, ignored).string());
  }
  if (!options.model.empty()) {
    TARA_RETURN_IF_ERROR(nn::Bundle::Open(options.model).status());
    served.model = fs::absolute(options.model, ignored).string();
  } else if (IsExportedPage(page)) {
    served.page_has_model = fs::exists(page / "model.tara", ignored);
  } else {
    served.model = eval::FindReadyMadeModel().value_or("");
  }
  const std::string port = absl::StrCat("127.0.0.1:", options.port);
  const char* settings[] = {
      "listening_ports", port.c_str(),
      // Settings of files, which BeginRequest finds and CivetWeb sends.
      "static_file_max_age", "0", "extra_mime_types",
      ".js=text/javascript,.mjs=text/javascript,"
      ".wasm=application/wasm,.woff2=font/woff2",
      "additional_header", kHeaders,
      // Other web sites may read nothing.
      "access_control_allow_origin", "", "access_control_allow_methods", "",
      "access_control_allow_headers", "",
      // A connection takes a thread until it is answered. Browsers open some
      // that they may never use, so there are more threads than those, and none
      // waits for long.
      "num_threads", "256", "request_timeout_ms", "10000", nullptr};
  mg_callbacks callbacks = {};
  callbacks.begin_request = &BeginRequest;
  callbacks.log_message = &KeepMessage;
  mg_init_library(MG_FEATURES_FILES);
  const mg_context* const server = mg_start(&callbacks, &served, settings);
  mg_server_port found = {};
  if (server == nullptr || mg_get_server_ports(server, 1, &found) != 1) {
    const absl::MutexLock lock(&served.mutex);
    return absl::UnavailableError(
        absl::StrContains(served.error, std::strerror(EADDRINUSE))
            ? absl::StrCat("port ", options.port, " is taken; try --port 0")
            : absl::StrCat("cannot serve the page: ", served.error));
  }
  const std::string address =
      absl::StrCat("http://localhost:", found.port, "/");
  if (!options.runs.empty()) {
    console.out << "Watch " << absl::StrJoin(options.runs, ", ") << " at "
                << address << "run.html\n";
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
  for (const std::string& run : options.runs) add("--run", run);
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
  for (const std::string& run : options.runs) {
    if (exports) {
      return UsageError(
          "--run cannot be combined with --export: an exported page has no "
          "run");
    }
    if (!fs::exists(fs::path(run) / "config.textproto", ignored)) {
      return absl::NotFoundError(
          absl::StrCat("--run ", run,
                       ": not a run; expected a folder that `tara train` "
                       "created, with its config.textproto"));
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
      if (exports) {  // before minutes of building
        TARA_RETURN_IF_ERROR(CheckExportFolder(options.export_folder));
      }
      if (exports && fs::is_regular_file(options.model, ignored) &&
          fs::path(options.model).extension() == ".tara") {
        TARA_RETURN_IF_ERROR(nn::Bundle::Open(options.model).status());
      }
      return BuildPage(web / "serve.sh", options, console);
    }
    // The built one of a release; in a clone index.html is a source.
    if (!exports && fs::exists(web / "index.html", ignored)) {
      return ServePage(web, options, console);
    }
  }
  return absl::FailedPreconditionError(
      "the page is built from its sources: run `bin/tara web` in a clone of "
      "the project, or give a built page with --page");
}

}  // namespace

void RegisterWeb(Command& root) {
  const auto [command, options] =
      root.AddCommand("web",
                      "serve the page to play in your browser, on this "
                      "computer only",
                      RunWeb);
  command.Add({
      {"--port N", &options->port, 0, 65535,
       "port of http://localhost:N/; 0: a free one"},
      {"--model FILE", &options->model,
       "network to play against: a bundle of `tara export` or, in a clone, a "
       "run or a checkpoint",
       Default("models/tara.tara")},
      {"--run RUN", &options->runs,
       "folder of a run to watch at run.html, during training or later: curves "
       "and newest games; repeat the option to compare several",
       Default("none")},
      {"--page FOLDER", &options->page,
       "folder of a built page, such as web/dist, instead of building one",
       Default("built if sources are newer")},
      {"--export FOLDER", &options->export_folder,
       "folder to write the page to, for any web server, instead of serving "
       "it; new, empty, or with an earlier export, which is replaced",
       Default("none")},
  });
  command.SetNotes(
      "In a clone, builds the page if needed. The first build takes some "
      "minutes: it installs Emscripten and Node.js and compiles the rules and "
      "the search to WebAssembly. Serves the page to this machine only, until "
      "it is stopped. You can drop another bundle onto the page at any "
      "time.\n\n"
      "--export writes plain files, network included: visitors can install the "
      "page and play offline. --port then has no effect.");
  command.SetExamples({"web", "web --port 9000 --model runs/mine",
                       "web --run runs/mine --run runs/other",
                       "web --export site"});
}

}  // namespace tara::cli
