#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/base/status_macros.h"
#include "tara/cli/games.h"
#include "tara/cli/games_store.h"
#include "tara/cli/usage.h"
#include "tara/train/store/game_store.h"

namespace tara::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string FormatTime(absl::string_view format, int64_t unix_ms) {
  return absl::FormatTime(format, absl::FromUnixMillis(unix_ms),
                          absl::UTCTimeZone());
}

Json RowToJson(const train::GameRow& row) {
  return {
      {"index", row.game_index},
      {"variant", row.variant},
      {"rule_options", row.rule_options},
      {"generation", row.generation},
      {"model", row.model_id},
      {"length", row.length},
      {"points", {row.points_red, row.points_blue}},
      {"ended_by", row.ended_by},
      {"finished", FormatTime("%Y-%m-%dT%H:%M:%E3SZ", row.finished_unix_ms)}};
}

void PrintTable(const std::vector<train::GameRow>& rows, Console& console) {
  const auto print = [&](absl::string_view index, absl::string_view variant,
                         absl::string_view generation, absl::string_view model,
                         absl::string_view length, absl::string_view points,
                         absl::string_view ended_by,
                         absl::string_view finished) {
    console.out << absl::StrFormat("%8s  %-22s  %10s  %-12s  %6s  %6s  %-14s  ",
                                   index, variant, generation, model, length,
                                   points, ended_by)
                << finished << "\n";
  };
  print("index", "variant", "generation", "model", "length", "points",
        "ended by", "finished (UTC)");
  for (const train::GameRow& row : rows) {
    print(absl::StrCat(row.game_index), row.variant,
          absl::StrCat(row.generation), row.model_id, absl::StrCat(row.length),
          absl::StrCat(row.points_red, "-", row.points_blue), row.ended_by,
          FormatTime("%Y-%m-%d %H:%M:%S", row.finished_unix_ms));
  }
}

}  // namespace

absl::StatusOr<int> RunGamesList(const GamesQueryOptions& options,
                                 Console& console) {
  TARA_ASSIGN_OR_RETURN(train::GameQuery query, QueryOf(options));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<train::GameStore> store,
                        OpenStoreForReading(options.store));
  TARA_ASSIGN_OR_RETURN(const std::vector<train::GameRow> rows,
                        store->List(query));
  if (options.format == "json") {
    Json list = Json::array();
    for (const train::GameRow& row : rows) list.push_back(RowToJson(row));
    console.out << list.dump(2) << "\n";
    return kExitOk;
  }
  query.limit = -1;
  TARA_ASSIGN_OR_RETURN(const int64_t all, store->Count(query));
  if (!rows.empty()) PrintTable(rows, console);
  console.out << rows.size() << " of " << all << " games\n";
  return kExitOk;
}

}  // namespace tara::cli
