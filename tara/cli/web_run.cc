#include "tara/cli/web_run.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/game.pb.h"
#include "tara/base/status_macros.h"
#include "tara/cli/flags.h"
#include "tara/cli/games.h"
#include "tara/core/action.h"
#include "tara/core/drawing.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/svg_board.h"
#include "tara/core/variant.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/review/review_report.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"

namespace tara::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Returns the number of a query, "index=12&ply=3", or the other one where it
// has none of the name.
absl::StatusOr<int64_t> NumberOf(absl::string_view query,
                                 absl::string_view name, int64_t otherwise) {
  for (const absl::string_view part :
       absl::StrSplit(query, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    int64_t number = 0;
    if (pair.first != name) continue;
    if (absl::SimpleAtoi(pair.second, &number) && number >= 0) return number;
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is '", pair.second, "'; expected a number from 0 up"));
  }
  return otherwise;
}

// Returns the contents of a file from a byte on; "" where it is not there, yet.
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

WebFile JsonFile(const Json& json) {
  return {"application/json", eval::JsonText(json)};
}

// A game of the run, with its positions.
struct Game {
  proto::GameRecord record;
  record::ReplayedGame replayed;
};

absl::StatusOr<Game> GameOf(const std::string& run, absl::string_view query) {
  TARA_ASSIGN_OR_RETURN(const int64_t index, NumberOf(query, "index", 0));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<record::GameStore> store,
                        OpenStoreForReading(run));
  Game game;
  TARA_ASSIGN_OR_RETURN(game.record, store->Get(static_cast<uint64_t>(index)));
  TARA_ASSIGN_OR_RETURN(game.replayed, record::Replay(game.record));
  return game;
}

Json ActionJson(const proto::Step& step, const State& before, bool drawn) {
  Json json = {
      {"seat", SeatName(before.variant, before.seat)},
      {"action", ActionToText(static_cast<Action>(step.action()), before)},
      {"drawn", drawn},
      {"proved", record::ProvedResult(step, before).has_value()},
      {"red", nullptr}};
  if (step.has_root_value() && !drawn) {
    const double chances = (1 + step.root_value()) / 2;
    json["red"] = SideOf(before.seat) == kRed ? chances : 1 - chances;
  }
  return json;
}

std::string EndOf(const Game& game) {
  const proto::GameResult& result = game.record.result();
  if (game.replayed.finished()) {
    return absl::StrCat("Red ", result.points(0), ", Blue ", result.points(1));
  }
  return absl::StrCat(record::EndingOf(game.record), ", ",
                      eval::WinnerText(game.replayed.outcome.winner()));
}

Json GameJson(const Game& game) {
  const proto::GameRecord& record = game.record;
  std::string text = record.variant();
  if (record.rule_options() != "-") {
    absl::StrAppend(&text, " ", record.rule_options());
  }
  Json actions = Json::array();
  for (int ply = 0; ply < record.steps_size(); ++ply) {
    const State& before = game.replayed.states[static_cast<size_t>(ply)];
    actions.push_back(
        ActionJson(record.steps(ply), before,
                   ply < static_cast<int>(record.opening_plies())));
    absl::StrAppend(&text, " ", actions.back()["action"].get<std::string>());
  }
  return {{"index", record.game_index()},
          {"variant", record.variant()},
          {"generation", record.generation()},
          {"model", record.model_id()},
          {"text", text},
          {"end", EndOf(game)},
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
  const auto step_at = [&](int64_t at) -> const proto::Step& {
    return game.record.steps(static_cast<int>(at));
  };
  if (ply > 0) {
    picture.last = static_cast<Action>(step_at(ply - 1).action());
  }
  if (ply < length) {
    const proto::Step& step = step_at(ply);
    for (int i = 0; i < step.visits_size(); ++i) {
      picture.policy.push_back({static_cast<Action>(step.visited_action(i)),
                                static_cast<double>(step.visits(i))});
    }
  }
  return WebFile{
      "image/svg+xml",
      SvgBoard(game.replayed.states[static_cast<size_t>(ply)], picture)};
}

}  // namespace

absl::StatusOr<WebFile> RunFile(const std::string& run, absl::string_view name,
                                absl::string_view query) {
  const fs::path folder = fs::path(run).lexically_normal();
  if (name == "about.json") {
    const fs::path place = folder / "config.textproto";
    return JsonFile({{"name", place.parent_path().filename().string()},
                     {"config", ReadFrom(place, 0)},
                     {"quiet", SecondsSinceWritten(folder / "metrics.jsonl")}});
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
    if (absl::IsNotFound(store.status())) {
      return WebFile{"application/json", "[]"};
    }
    TARA_RETURN_IF_ERROR(store.status());
    TARA_ASSIGN_OR_RETURN(
        const std::vector<record::GameRow> rows,
        (*store)->List({.limit = limit, .newest_first = true}));
    return WebFile{"application/json", GameRowsJson(rows)};
  }
  if (name != "game.json" && name != "position.svg") {
    return absl::NotFoundError(absl::StrCat("no file run/", name));
  }
  TARA_ASSIGN_OR_RETURN(const Game game, GameOf(run, query));
  if (name == "game.json") return JsonFile(GameJson(game));
  return PositionFile(game, query);
}

}  // namespace tara::cli
