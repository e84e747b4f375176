#include "tara/eval/arena/contest.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "tara/base/sqlite.h"
#include "tara/base/status_macros.h"
#include "tara/core/rule_options.h"
#include "tara/eval/players/engine_player.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/team.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"

namespace tara::eval {
namespace {

constexpr SqliteSchema kSchema = {
    .kind = "results file",
    .application_id = 0x54415252,  // "TARR"
    .version = 1,
    // A pair has one opening or, in matches, one for each game of the match.
    .tables = R"sql(
      CREATE TABLE contests (
        contest INTEGER PRIMARY KEY,
        variant TEXT NOT NULL,
        conditions TEXT NOT NULL,
        player_a TEXT NOT NULL,
        player_b TEXT NOT NULL,
        UNIQUE (variant, conditions, player_a, player_b)
      );
      CREATE TABLE games (
        contest INTEGER NOT NULL REFERENCES contests,
        opening INTEGER NOT NULL,
        a_is_red INTEGER NOT NULL,
        match INTEGER NOT NULL,
        margin INTEGER NOT NULL,
        length INTEGER NOT NULL,
        forfeit INTEGER NOT NULL,
        adjudication INTEGER NOT NULL,
        moves_a INTEGER NOT NULL,
        moves_b INTEGER NOT NULL,
        time_a_us INTEGER NOT NULL,
        time_b_us INTEGER NOT NULL,
        PRIMARY KEY (contest, opening, a_is_red)
      ) WITHOUT ROWID;
    )sql",
    .probe =
        "SELECT COUNT(margin) + (SELECT COUNT(conditions) FROM contests) "
        "FROM (SELECT * FROM games LIMIT 1)"};

// Files of before have no such table.
constexpr char kFaultsTable[] = R"sql(
  CREATE TABLE IF NOT EXISTS faults (
    contest INTEGER NOT NULL,
    opening INTEGER NOT NULL,
    a_is_red INTEGER NOT NULL,
    fault TEXT NOT NULL,
    PRIMARY KEY (contest, opening, a_is_red)
  ) WITHOUT ROWID;
)sql";

constexpr int kMaxForfeit = static_cast<int>(Forfeit::kByB);
constexpr int kMaxAdjudication = static_cast<int>(Adjudication::kAgreement);

void Bind(const Contest& contest, SqliteStatement& statement) {
  statement.BindText(1, contest.variant);
  statement.BindText(2, contest.conditions);
  statement.BindText(3, contest.player_a);
  statement.BindText(4, contest.player_b);
}

}  // namespace

ResultStore::ResultStore(SqliteDatabase db) : db_(std::move(db)) {}

absl::StatusOr<std::unique_ptr<ResultStore>> ResultStore::Open(
    const std::string& path) {
  TARA_ASSIGN_OR_RETURN(
      SqliteDatabase db,
      OpenSqliteFile(path, SqliteDatabase::Mode::kReadWrite, kSchema));
  TARA_RETURN_IF_ERROR(db.Execute(kFaultsTable, "cannot set up"));
  return std::unique_ptr<ResultStore>(new ResultStore(std::move(db)));
}

absl::StatusOr<int64_t> ResultStore::Find(const Contest& contest) {
  absl::MutexLock lock(&mutex_);
  constexpr absl::string_view kDoing = "cannot look for a contest";
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement insert,
      db_.Prepare("INSERT OR IGNORE INTO contests (variant, conditions, "
                  "player_a, player_b) VALUES (?, ?, ?, ?)"));
  Bind(contest, insert);
  TARA_RETURN_IF_ERROR(insert.Step(kDoing).status());
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement select,
      db_.Prepare("SELECT contest FROM contests WHERE variant = ? AND "
                  "conditions = ? AND player_a = ? AND player_b = ?"));
  Bind(contest, select);
  TARA_ASSIGN_OR_RETURN(const bool found, select.Step(kDoing));
  if (!found) {
    return absl::DataLossError(
        absl::StrCat(db_.path(), ": a contest that was added is not there"));
  }
  return select.Int(0);
}

absl::StatusOr<std::vector<Contest>> ResultStore::Contests() {
  absl::MutexLock lock(&mutex_);
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement select,
      db_.Prepare("SELECT variant, conditions, player_a, player_b FROM "
                  "contests WHERE contest IN (SELECT contest FROM games)"));
  std::vector<Contest> contests;
  while (true) {
    TARA_ASSIGN_OR_RETURN(const bool row, select.Step("cannot read contests"));
    if (!row) return contests;
    contests.push_back({.variant = select.Bytes(0),
                        .conditions = select.Bytes(1),
                        .player_a = select.Bytes(2),
                        .player_b = select.Bytes(3)});
  }
}

absl::StatusOr<std::vector<ArenaGame>> ResultStore::Games(int64_t contest) {
  absl::MutexLock lock(&mutex_);
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement select,
      db_.Prepare("SELECT opening, a_is_red, match, margin, length, forfeit, "
                  "adjudication, moves_a, moves_b, time_a_us, time_b_us, "
                  "COALESCE(fault, '') FROM games LEFT JOIN faults USING "
                  "(contest, opening, a_is_red) WHERE contest = ? "
                  "ORDER BY opening, a_is_red DESC"));
  select.BindInt(1, contest);
  std::vector<ArenaGame> games;
  while (true) {
    TARA_ASSIGN_OR_RETURN(const bool row, select.Step("cannot read games"));
    if (!row) return games;
    const int64_t opening = select.Int(0);
    const int64_t forfeit = select.Int(5);
    const int64_t adjudication = select.Int(6);
    if (opening < 0 || opening > INT32_MAX || forfeit < 0 ||
        forfeit > kMaxForfeit || adjudication < 0 ||
        adjudication > kMaxAdjudication) {
      return absl::DataLossError(absl::StrCat(
          db_.path(), ": damaged results file: no game has opening ", opening,
          ", forfeit ", forfeit, ", adjudication ", adjudication));
    }
    games.push_back({.pair = static_cast<int>(opening),
                     .match = static_cast<int>(select.Int(2)),
                     .a_is_red = select.Int(1) != 0,
                     .margin = static_cast<int>(select.Int(3)),
                     .length = static_cast<int>(select.Int(4)),
                     .forfeit = static_cast<Forfeit>(forfeit),
                     .adjudication = static_cast<Adjudication>(adjudication),
                     .time_a = {.moves = static_cast<int>(select.Int(7)),
                                .time = absl::Microseconds(select.Int(9))},
                     .time_b = {.moves = static_cast<int>(select.Int(8)),
                                .time = absl::Microseconds(select.Int(10))},
                     .fault = select.Bytes(11)});
  }
}

absl::Status ResultStore::AddFault(int64_t contest, const ArenaGame& game) {
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement statement,
      db_.Prepare(game.fault.empty()
                      ? "DELETE FROM faults WHERE contest = ? AND opening = ? "
                        "AND a_is_red = ?"
                      : "INSERT OR REPLACE INTO faults (contest, opening, "
                        "a_is_red, fault) VALUES (?, ?, ?, ?)"));
  statement.BindInt(1, contest);
  statement.BindInt(2, game.pair);
  statement.BindInt(3, game.a_is_red);
  if (!game.fault.empty()) statement.BindText(4, game.fault);
  return statement.Step("cannot store a fault").status();
}

absl::Status ResultStore::Add(int64_t contest, const ArenaGame& game) {
  absl::MutexLock lock(&mutex_);
  // The fault first: a game is there when it is whole.
  TARA_RETURN_IF_ERROR(AddFault(contest, game));
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement insert,
      db_.Prepare("INSERT OR REPLACE INTO games (contest, opening, a_is_red, "
                  "match, margin, length, forfeit, adjudication, moves_a, "
                  "moves_b, time_a_us, time_b_us) VALUES (?, ?, ?, ?, ?, ?, ?, "
                  "?, ?, ?, ?, ?)"));
  const int64_t values[] = {contest,
                            game.pair,
                            game.a_is_red,
                            game.match,
                            game.margin,
                            game.length,
                            static_cast<int64_t>(game.forfeit),
                            static_cast<int64_t>(game.adjudication),
                            game.time_a.moves,
                            game.time_b.moves,
                            absl::ToInt64Microseconds(game.time_a.time),
                            absl::ToInt64Microseconds(game.time_b.time)};
  int parameter = 0;
  for (const int64_t value : values) insert.BindInt(++parameter, value);
  return insert.Step("cannot store a game").status();
}

absl::StatusOr<std::string> PlayerIdentity(const PlayerSpec& spec) {
  if (spec.kind == PlayerKind::kEngine) {
    TARA_ASSIGN_OR_RETURN(const std::unique_ptr<EngineSession> session,
                          EngineSession::Start(spec.engine));
    // How it is talked to has no part in how it plays.
    return absl::StrCat(spec.text.substr(0, FindUnquoted(spec.text, ',')),
                        ",move=", absl::FormatDuration(spec.engine.move_limit),
                        " (", session->name(), ")");
  }
  if (spec.kind != PlayerKind::kNet) return spec.text;
  TARA_ASSIGN_OR_RETURN(const std::string path, FindCheckpoint(spec.path));
  TARA_ASSIGN_OR_RETURN(const std::string file, nn::NetworkFileId(path));
  return absl::StrCat("net:", file, ",", NetworkOptionsOf(spec));
}

absl::StatusOr<std::string> PlayerIdentity(const TeamSpec& team) {
  std::vector<std::string> identities;
  for (const PlayerSpec& player : team.players) {
    TARA_ASSIGN_OR_RETURN(identities.emplace_back(), PlayerIdentity(player));
  }
  return absl::StrJoin(identities, "+");
}

namespace {

// Adds the number type of each player of this network in the text of a contest,
// where it is "net:FILE,OPTION=VALUE,..." as PlayerIdentity writes it.
void AddPrecisions(absl::string_view file, absl::string_view text,
                   std::set<nn::Precision>& precisions) {
  const std::string network = absl::StrCat("net:", file);
  for (size_t begin = text.find(network); begin != absl::string_view::npos;
       begin = text.find(network, begin + 1)) {
    // Partners follow a plus sign, other conditions a space.
    const absl::string_view identity =
        text.substr(begin, text.find_first_of("+ ", begin) - begin);
    const absl::StatusOr<PlayerSpec> spec = ParsePlayerSpec(identity);
    if (spec.ok() && spec->path != file) continue;
    precisions.insert(spec.ok() ? spec->inference.precision
                                : nn::Precision::kAuto);
  }
}

}  // namespace

EarlierPrecisions EarlierPrecisionsIn(ResultStore& store) {
  return
      [&store](
          const std::string& path) -> absl::StatusOr<std::set<nn::Precision>> {
        TARA_ASSIGN_OR_RETURN(const std::string file, nn::NetworkFileId(path));
        TARA_ASSIGN_OR_RETURN(const std::vector<Contest> contests,
                              store.Contests());
        std::set<nn::Precision> precisions;
        for (const Contest& contest : contests) {
          AddPrecisions(file, contest.conditions, precisions);
          AddPrecisions(file, contest.player_a, precisions);
          AddPrecisions(file, contest.player_b, precisions);
        }
        return precisions;
      };
}

std::string ArenaConditions(const ArenaOptions& options,
                            absl::string_view openings,
                            absl::string_view time_control) {
  std::string text = absl::StrCat("seed=", options.seed,
                                  " opening_plies=", options.opening_plies);
  if (!openings.empty()) absl::StrAppend(&text, " openings=", openings);
  const AdjudicationOptions& adjudication = options.adjudication;
  if (!adjudication.proof) absl::StrAppend(&text, " to_the_end");
  if (adjudication.agreed_turns > 0) {
    absl::StrAppend(&text, " agreed=", adjudication.agreed_value, ",",
                    adjudication.agreed_turns);
  }
  if (options.by_match) absl::StrAppend(&text, " by_match");
  const std::string rules = FormatRuleOptions(options.rule_options);
  if (rules != "-") absl::StrAppend(&text, " rules=", rules);
  if (!time_control.empty()) absl::StrAppend(&text, " time=", time_control);
  return text;
}

absl::Status ResumeFromStore(ResultStore& store, const Contest& contest,
                             ArenaOptions& options) {
  TARA_ASSIGN_OR_RETURN(const int64_t id, store.Find(contest));
  TARA_ASSIGN_OR_RETURN(options.earlier, store.Games(id));
  options.on_game = [&store, id](const ArenaGame& game) {
    return store.Add(id, game);
  };
  return absl::OkStatus();
}

}  // namespace tara::eval
