#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/game.pb.h"
#include "tara/base/status_macros.h"
#include "tara/cli/games.h"
#include "tara/cli/games_store.h"
#include "tara/cli/usage.h"
#include "tara/core/action.h"
#include "tara/record/game_lines.h"
#include "tara/record/game_record.h"
#include "tara/train/store/game_store.h"

namespace tara::cli {
namespace {

// Returns the game as a line, or nothing if it was resigned: the form is for
// finished games.
absl::StatusOr<std::optional<std::string>> LineOf(
    const proto::GameRecord& record) {
  // Replays what may be damaged before anything is made of it.
  TARA_ASSIGN_OR_RETURN(const record::ReplayedGame game,
                        record::Replay(record));
  if (game.resigned_by.has_value()) return std::nullopt;
  std::vector<Action> actions;
  for (const proto::Step& step : record.steps()) {
    actions.push_back(static_cast<Action>(step.action()));
  }
  return record::GameToLine(game.states.front(), actions);
}

// Counts the games that are left out because they were resigned.
absl::Status WriteLines(train::GameStore& store, const train::GameQuery& query,
                        std::ostream& out, int64_t& resigned) {
  TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> indices,
                        store.Indices(query));
  for (const uint64_t index : indices) {
    TARA_ASSIGN_OR_RETURN(const proto::GameRecord record, store.Get(index));
    TARA_ASSIGN_OR_RETURN(const std::optional<std::string> line,
                          LineOf(record));
    if (!line.has_value()) {
      ++resigned;
      continue;
    }
    out << *line << "\n";
    if (!out) return absl::UnavailableError("cannot write the games");
  }
  return absl::OkStatus();
}

absl::Status WriteFile(train::GameStore& store, const train::GameQuery& query,
                       const std::string& path, int64_t& resigned) {
  const std::string partial = path + ".partial";
  errno = 0;
  std::ofstream file(partial);
  absl::Status status = file ? WriteLines(store, query, file, resigned)
                             : absl::UnavailableError(std::strerror(errno));
  file.close();
  if (status.ok() && !file) {
    status = absl::UnavailableError(std::strerror(errno));
  }
  if (status.ok() && std::rename(partial.c_str(), path.c_str()) != 0) {
    status = absl::UnavailableError(std::strerror(errno));
  }
  if (status.ok()) return status;
  std::remove(partial.c_str());
  return absl::Status(status.code(),
                      absl::StrCat("--output ", path, ": ", status.message()));
}

}  // namespace

absl::StatusOr<int> RunGamesExport(const GamesExportOptions& options,
                                   Console& console) {
  TARA_ASSIGN_OR_RETURN(const train::GameQuery query, QueryOf(options.query));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<train::GameStore> store,
                        OpenStoreForReading(options.query.store));
  int64_t resigned = 0;
  TARA_RETURN_IF_ERROR(
      options.output == "-"
          ? WriteLines(*store, query, console.out, resigned)
          : WriteFile(*store, query, options.output, resigned));
  if (resigned > 0) {
    console.err << "tara: the form is for finished games; left out, because "
                   "they were resigned: "
                << resigned << "\n";
  }
  return kExitOk;
}

}  // namespace tara::cli
