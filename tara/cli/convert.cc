// What older versions kept games in, apart from game stores: results files of
// `tara arena`, `tara crossplay` and `tara rate` (SQLite), which have no
// actions, and studies of `tara balance` (JSON lines).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/game.pb.h"
#include "tara/base/atomic_file.h"
#include "tara/base/json.h"
#include "tara/base/sqlite.h"
#include "tara/base/status_macros.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance_driver.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/players/contest.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"

namespace tara::cli {
namespace {

using Games = std::vector<proto::GameRecord>;
using Json = nlohmann::json;

// --- Results files -----------------------------------------------------------

constexpr SqliteSchema kResults = {
    .kind = "results file",
    .application_id = 0x54415252,  // "TARR"
    .version = 1,
    .tables = "",
    .probe =
        "SELECT COUNT(margin) + (SELECT COUNT(conditions) FROM contests) "
        "FROM (SELECT * FROM games LIMIT 1)"};

// Files of before faults were kept have no such table.
constexpr absl::string_view kNoFaults =
    "(SELECT 0 contest, 0 opening, 0 a_is_red, '' fault LIMIT 0)";

absl::StatusOr<proto::GameRecord> ResultOf(const SqliteStatement& row) {
  TARA_ASSIGN_OR_RETURN(const Variant variant, ParseVariant(row.Bytes(0)));
  const std::string conditions = row.Bytes(1);
  RuleOptions options;
  for (const absl::string_view part : absl::StrSplit(conditions, ' ')) {
    if (!absl::StartsWith(part, "rules=")) continue;
    TARA_ASSIGN_OR_RETURN(options, ParseRuleOptions(variant, part.substr(6)));
  }
  const proto::Contest contest =
      eval::NewContest(conditions, row.Bytes(2), row.Bytes(3));
  const bool a_is_red = row.Int(5) != 0;
  const State start = InitialState(variant, options);
  proto::GameRecord game = record::NewGameRecord(
      start, {.model_id = a_is_red ? absl::StrCat(contest.player_a(), " vs ",
                                                  contest.player_b())
                                   : absl::StrCat(contest.player_b(), " vs ",
                                                  contest.player_a())});
  *game.mutable_contest() = contest;
  game.set_place(2 * static_cast<uint64_t>(row.Int(4)) + (a_is_red ? 0 : 1));
  if (row.Int(6) >= 0) game.set_match(static_cast<uint32_t>(row.Int(6)));
  const auto margin = static_cast<int>(row.Int(7));
  record::SetMargin(start, a_is_red ? margin : -margin, game);
  game.set_unrecorded_length(static_cast<uint32_t>(row.Int(8)));
  const int64_t forfeit = row.Int(9);  // 0 none, 1 by A, 2 by B
  const int64_t adjudication = row.Int(10);
  if (row.Int(4) < 0 || forfeit < 0 || forfeit > 2 || adjudication < 0 ||
      adjudication > 2) {
    return absl::DataLossError(absl::StrCat("no game has opening ", row.Int(4),
                                            ", forfeit ", forfeit,
                                            ", adjudication ", adjudication));
  }
  proto::GameResult& result = *game.mutable_result();
  if (forfeit > 0) result.set_forfeited_by((forfeit == 1) == a_is_red ? 0 : 1);
  result.set_fault(row.Bytes(15));
  result.set_adjudication(
      std::vector<std::string>{"", "proof", "agreement"}[adjudication]);
  // Columns of A come first, and those of Red here.
  if (row.Int(11) + row.Int(12) > 0) {
    for (const int side : {0, 1}) {
      const int column = (side == 0) == a_is_red ? 0 : 1;
      game.add_moves(static_cast<uint32_t>(row.Int(11 + column)));
      game.add_time_us(static_cast<uint64_t>(row.Int(13 + column)));
    }
  }
  return game;
}

absl::StatusOr<Games> GamesOfResults(const std::string& path) {
  TARA_ASSIGN_OR_RETURN(
      SqliteDatabase db,
      OpenSqliteFile(path, SqliteDatabase::Mode::kReadOnly, kResults));
  TARA_ASSIGN_OR_RETURN(
      const int64_t has_faults,
      db.QueryInt("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'faults'"));
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement row,
      db.Prepare(absl::StrCat(
          "SELECT variant, conditions, player_a, player_b, opening, a_is_red, "
          "match, margin, length, forfeit, adjudication, moves_a, moves_b, "
          "time_a_us, time_b_us, COALESCE(fault, '') FROM games JOIN contests "
          "USING (contest) LEFT JOIN ",
          has_faults > 0 ? "faults" : kNoFaults,
          " USING (contest, opening, a_is_red) ORDER BY contest, opening, "
          "a_is_red DESC")));
  Games games;
  while (true) {
    TARA_ASSIGN_OR_RETURN(const bool more, row.Step("cannot read games"));
    if (!more) return games;
    absl::StatusOr<proto::GameRecord> game = ResultOf(row);
    if (!game.ok()) {
      return absl::DataLossError(absl::StrCat(
          path, ": damaged results file: ", game.status().message()));
    }
    games.push_back(*std::move(game));
  }
}

// --- Studies of balance ------------------------------------------------------

// Returns PlayerIdentity of a study's player, whose network had this checksum.
std::string IdentityOf(const std::string& text, const std::string& checksum) {
  const absl::StatusOr<eval::PlayerSpec> spec = eval::ParsePlayerSpec(text);
  if (!spec.ok() || spec->kind != eval::PlayerKind::kNet) return text;
  const absl::StatusOr<std::string> path = eval::FindCheckpoint(spec->path);
  const absl::StatusOr<std::string> file =
      path.ok() ? nn::NetworkFileId(*path) : path;
  const bool same = file.ok() && absl::StartsWith(*file, checksum + "-");
  return absl::StrCat("net:", same ? *file : checksum, ",",
                      eval::NetworkOptionsOf(*spec));
}

absl::StatusOr<eval::BalanceStudyKey> StudyOf(const Json& line) {
  const std::string player = line.at("player");
  eval::BalanceStudyKey key = {
      .options = {.seed = line.at("seed"),
                  .opening_plies = line.at("opening_plies"),
                  .drawn_plies = line.at("drawn_plies"),
                  .temperature = line.at("temperature")},
      .player = player,
      .identity = IdentityOf(player, line.at("network"))};
  eval::BalanceGameOptions& options = key.options;
  TARA_ASSIGN_OR_RETURN(options.variant,
                        ParseVariant(line.at("variant").get<std::string>()));
  TARA_ASSIGN_OR_RETURN(
      options.rule_options,
      ParseRuleOptions(options.variant,
                       line.at("rule_options").get<std::string>()));
  return key;
}

absl::StatusOr<proto::GameRecord> GameOf(const Json& line,
                                         const eval::BalanceStudyKey& key) {
  State state = InitialState(key.options.variant, key.options.rule_options);
  proto::GameRecord game = record::NewGameRecord(
      state, {.seed = key.options.seed, .model_id = key.identity});
  *game.mutable_contest() = eval::ContestOf(key);
  eval::BalanceGameId id = {.index = line.at("game")};
  if (line.contains("first")) {
    TARA_ASSIGN_OR_RETURN(id.first,
                          ParseAction(line.at("first").get<std::string>()));
  }
  game.set_place(id.place());
  const Json& red = line.at("red");
  const Json& nats = line.at("nats");
  const std::string actions = line.at("actions");
  for (const absl::string_view text :
       absl::StrSplit(actions, ' ', absl::SkipEmpty())) {
    const auto ply = static_cast<size_t>(game.steps_size());
    TARA_ASSIGN_OR_RETURN(const Action action, ParseAction(text));
    proto::Step& step = record::AddStep(action, game);
    // In thousandths, and null where there is none.
    if (!red.at(ply).is_null()) {
      const int sign = state.side() == kRed ? 1 : -1;
      step.set_root_value(sign * red[ply].get<float>() / 1000);
    }
    if (ply < nats.size() && !nats[ply].is_null()) {
      step.set_policy_entropy(nats[ply].get<float>() / 1000);
    }
    TARA_RETURN_IF_ERROR(PlayAction(action, state));
  }
  if (!state.finished()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the game does not end with its ", game.steps_size(), " actions"));
  }
  record::SetResult(state, game);
  return game;
}

// Reads a line; `studies` are those described before, by number.
absl::Status ReadLine(absl::string_view text,
                      std::map<int, eval::BalanceStudyKey>& studies,
                      Games& games) {
  TARA_ASSIGN_OR_RETURN(const Json line, ParseJson<Json>(text));
  try {
    // The player's report on the start is made anew by the next command.
    if (line.contains("start")) return absl::OkStatus();
    const int study = line.at("study");
    if (line.contains("variant")) {
      TARA_ASSIGN_OR_RETURN(studies[study], StudyOf(line));
      return absl::OkStatus();
    }
    if (!studies.contains(study)) {
      return absl::InvalidArgumentError(
          absl::StrCat("study ", study, " was not described before"));
    }
    TARA_ASSIGN_OR_RETURN(games.emplace_back(),
                          GameOf(line, studies.at(study)));
    return absl::OkStatus();
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(JsonProblem(error));
  }
}

absl::StatusOr<Games> GamesOfStudies(const std::string& path) {
  TARA_ASSIGN_OR_RETURN(const std::string contents, ReadWholeFile(path));
  std::vector<absl::string_view> lines = absl::StrSplit(contents, '\n');
  lines.pop_back();  // without its end: of a crash
  std::map<int, eval::BalanceStudyKey> studies;
  Games games;
  for (size_t i = 1; i < lines.size(); ++i) {
    const absl::Status status = ReadLine(lines[i], studies, games);
    if (status.ok()) continue;
    return absl::DataLossError(absl::StrCat(path, ": line ", i + 1,
                                            " is damaged: ", status.message()));
  }
  return games;
}

// --- The command -------------------------------------------------------------

struct ConvertOptions {
  std::string from;
  std::string to;
};

absl::StatusOr<int> RunConvert(const ConvertOptions& options,
                               Console& console) {
  std::error_code ignored;
  if (std::filesystem::exists(options.to, ignored)) {
    return absl::FailedPreconditionError(
        absl::StrCat(options.to, ": there is such a file; expected none"));
  }
  if (!std::filesystem::exists(options.from, ignored)) {
    return absl::NotFoundError(absl::StrCat(options.from, ": no such file"));
  }
  const std::string kind = record::OlderKindOf(options.from);
  if (kind.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        options.from, ": expected a results file of arena, crossplay or rate, ",
        "or a balance study, of an older version"));
  }
  TARA_ASSIGN_OR_RETURN(const Games games, kind == "results file"
                                               ? GamesOfResults(options.from)
                                               : GamesOfStudies(options.from));
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<record::GameStore> store,
      record::OpenGameStore(options.to, record::StoreMode::kReadWrite));
  TARA_RETURN_IF_ERROR(store->AddAll(games));
  TARA_RETURN_IF_ERROR(store->Sync());
  console.out << games.size() << " games of the " << kind << "\n";
  return kExitOk;
}

}  // namespace

void RegisterConvert(Command& root) {
  Command& command = root.AddCommand(
      "convert", "convert games of older versions into a game store");
  const auto options = std::make_shared<ConvertOptions>();
  command.AddText({.names = "OLD",
                   .help = "results file of arena, crossplay or rate, or store "
                           "of balance, as versions before game stores wrote "
                           "them",
                   .required = true},
                  &options->from);
  command.AddText({.names = "NEW",
                   .help = "game store to write; there must be none",
                   .required = true},
                  &options->to);
  command.SetNotes(
      "The commands go on with NEW as they would have with OLD. Results files "
      "have no\nactions: such games can be listed and counted, not shown. A "
      "study's network is\nlooked for at its path: where it is no longer, or "
      "another, its games are kept, but\nno further ones join them; so it is "
      "with studies of engines.");
  command.SetExamples({"convert ratings.db ratings-new.db",
                       "convert balance.jsonl balance.db"});
  command.SetRun(
      [options](Console& console) { return RunConvert(*options, console); });
}

}  // namespace tara::cli
