#include "tara/record/game_store.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/record/game_record.h"

namespace tara::record {
namespace {

// --- The file ----------------------------------------------------------------

constexpr SqliteSchema kSchema = {
    .kind = "game store",
    .application_id = 0x54415241,  // "TARA"
    .version = 1,
    // games_statistics holds all that Statistics reads, so that it never
    // touches the blobs. An index ends in the rowid, which is the game index.
    .tables = R"sql(
  CREATE TABLE IF NOT EXISTS games (
    game_index INTEGER PRIMARY KEY,
    variant TEXT NOT NULL,
    rule_options TEXT NOT NULL,
    generation INTEGER NOT NULL,
    model_id TEXT NOT NULL,
    length INTEGER NOT NULL,
    points_red INTEGER NOT NULL,
    points_blue INTEGER NOT NULL,
    ended_by TEXT NOT NULL,
    finished_unix_ms INTEGER NOT NULL,
    record BLOB NOT NULL
  );
  CREATE INDEX IF NOT EXISTS games_by_variant ON games (variant);
  CREATE INDEX IF NOT EXISTS games_by_generation ON games (generation);
  CREATE INDEX IF NOT EXISTS games_statistics ON games (
    variant, rule_options, ended_by, generation, length, points_red,
    points_blue);
  CREATE TABLE IF NOT EXISTS contests (
    contest INTEGER PRIMARY KEY,
    variant TEXT NOT NULL,
    conditions TEXT NOT NULL,
    player_a TEXT NOT NULL,
    player_b TEXT NOT NULL,
    UNIQUE (variant, conditions, player_a, player_b)
  );
  CREATE TABLE IF NOT EXISTS contest_games (
    contest INTEGER NOT NULL REFERENCES contests,
    place INTEGER NOT NULL,
    game_index INTEGER NOT NULL,
    PRIMARY KEY (contest, place)
  ) WITHOUT ROWID;
)sql",
    .probe = "SELECT COUNT(record) FROM (SELECT * FROM games LIMIT 1)"};

// --- Records -----------------------------------------------------------------

constexpr int kCompressionLevel = 2;
// A record of the longest game is far smaller; more means a damaged blob.
constexpr uint64_t kMaxRecordBytes = 64 << 20;

absl::Status Damaged(absl::string_view why) {
  return absl::DataLossError(absl::StrCat("damaged record: ", why));
}

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

// Returns a record as zstd-compressed Protobuf with a checksum.
std::string EncodeRecord(const proto::GameRecord& record) {
  const std::string bytes = record.SerializeAsString();
  // Kept, for a new one takes longer than a game.
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(
      ZSTD_createCCtx());
  TARA_CHECK(context != nullptr, "out of memory");
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel,
                         kCompressionLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string blob(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress2(context.get(), blob.data(), blob.size(),
                                     bytes.data(), bytes.size());
  TARA_CHECK(!ZSTD_isError(size), "the buffer holds the bound");
  blob.resize(size);
  return blob;
}

// The inverse of EncodeRecord. Returns DATA_LOSS, with the problem, for
// bytes that it did not make.
absl::StatusOr<proto::GameRecord> DecodeRecord(absl::string_view blob) {
  const uint64_t size = ZSTD_getFrameContentSize(blob.data(), blob.size());
  // True as well of the values that stand for "unknown" and "error".
  if (size > kMaxRecordBytes) return Damaged("no zstd frame of a known size");
  std::string bytes(size, '\0');
  const size_t result =
      ZSTD_decompress(bytes.data(), bytes.size(), blob.data(), blob.size());
  if (ZSTD_isError(result)) return Damaged(ZSTD_getErrorName(result));
  if (result != size) return Damaged("the zstd frame is too short");
  proto::GameRecord record;
  if (!record.ParseFromString(bytes)) return Damaged("not a GameRecord");
  return record;
}

absl::Status CheckStorable(const proto::GameRecord& game) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (game.game_index() > kMost || game.place() > kMost) {
    return absl::InvalidArgumentError(absl::StrCat(
        "game ", game.game_index(), ": the index exceeds 2^63 - 1"));
  }
  if (game.result().points_size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("game ", game.game_index(), ": no result (",
                     game.result().points_size(),
                     " points; expected the points of two sides)"));
  }
  // Invalid UTF-8 could be written, but not read.
  proto::GameRecord names;
  names.set_model_id(game.model_id());
  *names.mutable_contest() = game.contest();
  names.mutable_result()->set_fault(game.result().fault());
  if (!proto::GameRecord().ParseFromString(names.SerializeAsString())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "game ", game.game_index(),
        ": the name of a player, or its fault, is not valid UTF-8"));
  }
  return absl::OkStatus();
}

// --- Queries -----------------------------------------------------------------

// Returns the WHERE clause for the fields that a query gives, so that SQLite
// sees which index serves it.
std::string WhereClause(const GameQuery& query) {
  std::vector<absl::string_view> conditions;
  if (!query.variant.empty()) conditions.push_back("variant = ?1");
  if (query.generation >= 0) conditions.push_back("generation = ?2");
  if (conditions.empty()) return "";
  return absl::StrCat(" WHERE ", absl::StrJoin(conditions, " AND "));
}

void BindWhere(const GameQuery& query, SqliteStatement& statement) {
  if (!query.variant.empty()) statement.BindText(1, query.variant);
  if (query.generation >= 0) statement.BindInt(2, query.generation);
}

absl::StatusOr<SqliteStatement> PrepareSelect(SqliteDatabase& db,
                                              absl::string_view columns,
                                              const GameQuery& query) {
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement statement,
      db.Prepare(absl::StrCat("SELECT ", columns, " FROM games",
                              WhereClause(query), " ORDER BY game_index",
                              query.newest_first ? " DESC" : "", " LIMIT ?3")));
  BindWhere(query, statement);
  statement.BindInt(3, query.limit);  // negative: no limit, in SQLite too
  return statement;
}

GameRow RowOf(const SqliteStatement& statement) {
  return GameRow{
      .game_index = static_cast<uint64_t>(statement.Int(0)),
      .variant = statement.Bytes(1),
      .rule_options = statement.Bytes(2),
      .model_id = statement.Bytes(3),
      .ended_by = statement.Bytes(4),
      .generation = static_cast<uint32_t>(statement.Int(5)),
      .length = static_cast<int>(statement.Int(6)),
      .points_red = static_cast<int>(statement.Int(7)),
      .points_blue = static_cast<int>(statement.Int(8)),
      .finished_unix_ms = statement.Int(9),
  };
}

// Binds ?1 to ?4 of the statements that look for a contest.
void BindContest(absl::string_view variant, const proto::Contest& contest,
                 SqliteStatement& statement) {
  statement.BindText(1, variant);
  statement.BindText(2, contest.conditions());
  statement.BindText(3, contest.player_a());
  statement.BindText(4, contest.player_b());
}

constexpr absl::string_view kContest =
    "(SELECT contest FROM contests WHERE variant = ?1 AND conditions = ?2 AND "
    "player_a = ?3 AND player_b = ?4)";

}  // namespace

GameStore::GameStore(StoreMode mode, SqliteDatabase db)
    : path_(db.path()),
      mode_(mode),
      lock_warning_(db.lock_warning()),
      db_(std::move(db)) {}

absl::Status GameStore::CheckWritable(absl::string_view doing) const {
  if (mode_ != StoreMode::kReadOnly) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path_, ": cannot ", doing, " games: opened read-only"));
}

absl::Status GameStore::AddAll(absl::Span<const proto::GameRecord> games) {
  TARA_RETURN_IF_ERROR(CheckWritable("add"));
  std::vector<std::string> blobs;
  for (const proto::GameRecord& game : games) {
    TARA_RETURN_IF_ERROR(CheckStorable(game));
    blobs.push_back(EncodeRecord(game));
  }
  const absl::MutexLock lock(&mutex_);
  return db_.InTransaction("cannot add games", [&]() -> absl::Status {
    mutex_.AssertHeld();
    for (size_t i = 0; i < games.size(); ++i) {
      TARA_RETURN_IF_ERROR(Insert(games[i], blobs[i]));
    }
    return absl::OkStatus();
  });
}

absl::Status GameStore::Insert(const proto::GameRecord& game,
                               const std::string& blob) {
  if (!insert_.has_value()) {
    TARA_ASSIGN_OR_RETURN(
        SqliteStatement statement,
        db_.Prepare("INSERT INTO games (game_index, variant, rule_options, "
                    "generation, model_id, length, points_red, points_blue, "
                    "ended_by, finished_unix_ms, record) VALUES "
                    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    insert_.emplace(std::move(statement));
  }
  const absl::Cleanup reset = [this] {
    mutex_.AssertHeld();
    insert_->Reset();
  };
  // Without an index SQLite takes the next free one.
  if (!game.has_contest()) {
    insert_->BindInt(1, static_cast<int64_t>(game.game_index()));
  }
  insert_->BindText(2, game.variant());
  insert_->BindText(3, game.rule_options());
  insert_->BindInt(4, game.generation());
  insert_->BindText(5, game.model_id());
  insert_->BindInt(6, LengthOf(game));
  insert_->BindInt(7, game.result().points(0));
  insert_->BindInt(8, game.result().points(1));
  insert_->BindText(9, EndingOf(game));
  insert_->BindInt(10, absl::ToUnixMillis(absl::Now()));
  insert_->BindBlob(11, blob);
  const absl::Status status = insert_->Step("cannot add a game").status();
  if (absl::IsAlreadyExists(status)) {
    return absl::AlreadyExistsError(absl::StrCat(
        path_, ": game ", game.game_index(), " is in the store already"));
  }
  if (!status.ok() || !game.has_contest()) return status;
  return InsertIntoContest(game);
}

absl::Status GameStore::InsertIntoContest(const proto::GameRecord& game) {
  // The game just added has the highest index.
  for (const std::string& sql : {
           std::string("INSERT OR IGNORE INTO contests (variant, conditions, "
                       "player_a, player_b) VALUES (?1, ?2, ?3, ?4)"),
           absl::StrCat("DELETE FROM games WHERE game_index = (SELECT "
                        "game_index FROM contest_games WHERE contest = ",
                        kContest, " AND place = ?5)"),
           absl::StrCat("INSERT OR REPLACE INTO contest_games VALUES (",
                        kContest, ", ?5, (SELECT MAX(game_index) FROM games))"),
       }) {
    TARA_ASSIGN_OR_RETURN(SqliteStatement statement, db_.Prepare(sql));
    BindContest(game.variant(), game.contest(), statement);
    statement.BindInt(5, static_cast<int64_t>(game.place()));
    TARA_RETURN_IF_ERROR(statement.Step("cannot add a game").status());
  }
  return absl::OkStatus();
}

absl::Status GameStore::Sync() {
  const absl::MutexLock lock(&mutex_);
  return db_.Sync();
}

absl::Status GameStore::RemoveBefore(uint64_t end_index) {
  TARA_RETURN_IF_ERROR(CheckWritable("remove"));
  const absl::MutexLock lock(&mutex_);
  TARA_ASSIGN_OR_RETURN(SqliteStatement statement,
                        db_.Prepare("DELETE FROM games WHERE game_index < ?1"));
  statement.BindInt(1, static_cast<int64_t>(end_index));
  return statement.Step("cannot remove games").status();
}

absl::StatusOr<proto::GameRecord> GameStore::Get(uint64_t game_index) {
  std::string blob;
  {
    const absl::MutexLock lock(&mutex_);
    if (!select_.has_value()) {
      TARA_ASSIGN_OR_RETURN(
          SqliteStatement statement,
          db_.Prepare("SELECT record FROM games WHERE game_index = ?"));
      select_.emplace(std::move(statement));
    }
    // An unfinished statement would hold a read transaction open.
    const absl::Cleanup reset = [this] {
      mutex_.AssertHeld();
      select_->Reset();
    };
    select_->BindInt(1, static_cast<int64_t>(game_index));
    TARA_ASSIGN_OR_RETURN(const bool row, select_->Step("cannot read a game"));
    if (!row) {
      return absl::NotFoundError(
          absl::StrCat(path_, ": no game has the index ", game_index));
    }
    blob = select_->Bytes(0);
  }
  return Decode(game_index, blob);
}

absl::StatusOr<proto::GameRecord> GameStore::GetListed(uint64_t game_index) {
  absl::StatusOr<proto::GameRecord> record = Get(game_index);
  if (!absl::IsNotFound(record.status())) return record;
  const absl::MutexLock lock(&mutex_);
  // Counts the game in the table and in the index, one of which Indices reads.
  // The plus sign makes SQLite scan them.
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement statement,
      db_.Prepare("SELECT (SELECT COUNT(*) FROM games NOT INDEXED WHERE "
                  "+game_index = ?1) + (SELECT COUNT(*) FROM games INDEXED BY "
                  "games_by_variant WHERE +game_index = ?1)"));
  statement.BindInt(1, static_cast<int64_t>(game_index));
  TARA_RETURN_IF_ERROR(statement.Step("cannot read a game").status());
  if (statement.Int(0) == 0) return record;
  return absl::DataLossError(absl::StrCat(path_, ": damaged: game ", game_index,
                                          " is listed, but not found"));
}

absl::Status GameStore::CheckRow(const GameRow& row) {
  TARA_ASSIGN_OR_RETURN(const proto::GameRecord record,
                        GetListed(row.game_index));
  absl::Status status;
  const auto check = [&](absl::string_view column, const auto& of_row,
                         const auto& of_record) {
    if (of_row == of_record) return;
    status.Update(absl::DataLossError(
        absl::StrCat(path_, ": game ", row.game_index, ": damaged: the column ",
                     column, " is not that of its record")));
  };
  check("variant", row.variant, record.variant());
  check("rule_options", row.rule_options, record.rule_options());
  check("model_id", row.model_id, record.model_id());
  check("generation", row.generation, record.generation());
  check("length", row.length, LengthOf(record));
  const auto& points = record.result().points();
  check("points_red", points.size(), 2);
  if (points.size() == 2) {
    check("points_red", row.points_red, points[kRed]);
    check("points_blue", row.points_blue, points[kBlue]);
  }
  check("ended_by", row.ended_by, EndingOf(record));
  return status;
}

absl::StatusOr<proto::GameRecord> GameStore::Decode(
    uint64_t game_index, absl::string_view blob) const {
  absl::StatusOr<proto::GameRecord> record = DecodeRecord(blob);
  if (!record.ok()) {
    return absl::DataLossError(absl::StrCat(path_, ": game ", game_index, ": ",
                                            record.status().message()));
  }
  record->set_game_index(game_index);
  return record;
}

absl::StatusOr<std::vector<GameRow>> GameStore::List(const GameQuery& query) {
  const absl::MutexLock lock(&mutex_);
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement statement,
      PrepareSelect(db_,
                    "game_index, variant, rule_options, model_id, ended_by, "
                    "generation, length, points_red, points_blue, "
                    "finished_unix_ms",
                    query));
  std::vector<GameRow> rows;
  while (true) {
    TARA_ASSIGN_OR_RETURN(const bool row, statement.Step("cannot list"));
    if (!row) return rows;
    rows.push_back(RowOf(statement));
  }
}

absl::StatusOr<int64_t> GameStore::Count(const GameQuery& query) {
  const absl::MutexLock lock(&mutex_);
  TARA_ASSIGN_OR_RETURN(SqliteStatement statement,
                        db_.Prepare(absl::StrCat("SELECT COUNT(*) FROM games",
                                                 WhereClause(query))));
  BindWhere(query, statement);
  TARA_RETURN_IF_ERROR(statement.Step("cannot count").status());
  const int64_t count = statement.Int(0);
  return query.limit < 0 ? count : std::min(count, query.limit);
}

absl::StatusOr<std::vector<uint64_t>> GameStore::Indices(
    const GameQuery& query) {
  const absl::MutexLock lock(&mutex_);
  TARA_ASSIGN_OR_RETURN(SqliteStatement statement,
                        PrepareSelect(db_, "game_index", query));
  std::vector<uint64_t> indices;
  while (true) {
    TARA_ASSIGN_OR_RETURN(const bool row, statement.Step("cannot list"));
    if (!row) break;
    indices.push_back(static_cast<uint64_t>(statement.Int(0)));
  }
  if (query.newest_first) std::reverse(indices.begin(), indices.end());
  return indices;
}

absl::StatusOr<std::vector<proto::GameRecord>> GameStore::GamesOf(
    absl::string_view variant, const proto::Contest& contest) {
  const absl::MutexLock lock(&mutex_);
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement statement,
      db_.Prepare(absl::StrCat("SELECT game_index, record FROM contest_games "
                               "JOIN games USING (game_index) WHERE contest = ",
                               kContest, " ORDER BY place")));
  BindContest(variant, contest, statement);
  std::vector<proto::GameRecord> games;
  while (true) {
    TARA_ASSIGN_OR_RETURN(const bool row, statement.Step("cannot read games"));
    if (!row) return games;
    TARA_ASSIGN_OR_RETURN(
        games.emplace_back(),
        Decode(static_cast<uint64_t>(statement.Int(0)), statement.Bytes(1)));
  }
}

absl::StatusOr<std::vector<proto::Contest>> GameStore::Contests() {
  const absl::MutexLock lock(&mutex_);
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement statement,
      db_.Prepare("SELECT conditions, player_a, player_b FROM contests WHERE "
                  "contest IN (SELECT contest FROM contest_games)"));
  std::vector<proto::Contest> contests;
  while (true) {
    TARA_ASSIGN_OR_RETURN(const bool row,
                          statement.Step("cannot read contests"));
    if (!row) return contests;
    proto::Contest& contest = contests.emplace_back();
    contest.set_conditions(statement.Bytes(0));
    contest.set_player_a(statement.Bytes(1));
    contest.set_player_b(statement.Bytes(2));
  }
}

absl::Status GameStore::CheckForContests() {
  const absl::MutexLock lock(&mutex_);
  TARA_ASSIGN_OR_RETURN(SqliteStatement statement,
                        db_.Prepare("SELECT (SELECT COUNT(*) FROM games) > "
                                    "(SELECT COUNT(*) FROM contest_games)"));
  TARA_RETURN_IF_ERROR(statement.Step("cannot count games").status());
  if (statement.Int(0) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      path_,
      ": a store of self-play, whose numbers of games the next ones of "
      "a match would take; expected another file"));
}

absl::StatusOr<std::vector<GameStatistics>> GameStore::Statistics(
    const GameQuery& query) {
  const absl::MutexLock lock(&mutex_);
  // Places from 2^27 on: parts of studies of version 0.2 and before.
  const std::string purpose = absl::StrCat(
      "CASE WHEN conditions LIKE '", kStudyConditions,
      "%' THEN SUBSTR(conditions, ", kStudyConditions.size() + 1,
      ", INSTR(conditions, ' ') - ", kStudyConditions.size() + 1,
      ") WHEN place >> 27 > 0 THEN 'of an earlier version' ELSE '' END");
  std::map<std::array<std::string, 3>, GameStatistics> groups;
  const auto group_of = [&groups](const SqliteStatement& row) -> auto& {
    return groups[{row.Bytes(0), row.Bytes(1), row.Bytes(2)}];
  };
  // The limit makes SQLite index the joined rows, which it does not do for the
  // table of contests itself, because that has no rowid.
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement statement,
      db_.Prepare(absl::StrCat(
          "SELECT variant, rule_options, COALESCE(of_contest, '') AS purpose, "
          "ended_by, COUNT(*), points_red - points_blue AS margin, "
          "SUM(length), SUM(points_red), SUM(points_blue), SUM(model_id LIKE "
          "'%",
          kUntrainedMark, "') FROM games LEFT JOIN (SELECT game_index, ",
          purpose,
          " AS of_contest FROM contest_games JOIN contests USING (contest) "
          "LIMIT -1) USING (game_index)",
          WhereClause(query),
          " GROUP BY variant, rule_options, purpose, ended_by, margin")));
  BindWhere(query, statement);
  while (true) {
    TARA_ASSIGN_OR_RETURN(const bool row, statement.Step("cannot read"));
    if (!row) break;
    GameStatistics& of = group_of(statement);
    const int64_t games = statement.Int(4);
    const int result = ResultOfMargin(static_cast<int>(statement.Int(5)),
                                      CompensationHalves(statement.Bytes(1)));
    of.ended_by[statement.Bytes(3)] += games;
    of.games += games;
    of.red_wins += result > 0 ? games : 0;
    of.blue_wins += result < 0 ? games : 0;
    of.draws += result == 0 ? games : 0;
    // Sums first; divided below.
    of.mean_length += static_cast<double>(statement.Int(6));
    of.mean_points_red += static_cast<double>(statement.Int(7));
    of.mean_points_blue += static_cast<double>(statement.Int(8));
    of.untrained += statement.Int(9);
  }
  TARA_ASSIGN_OR_RETURN(
      SqliteStatement records,
      db_.Prepare(absl::StrCat(
          "SELECT variant, rule_options, ", purpose,
          " AS purpose, record FROM games JOIN contest_games USING "
          "(game_index) JOIN (SELECT contest, conditions FROM contests) USING "
          "(contest)",
          WhereClause(query))));
  BindWhere(query, records);
  while (true) {
    TARA_ASSIGN_OR_RETURN(const bool row, records.Step("cannot read"));
    if (!row) break;
    // The actions of a damaged game are unknown.
    const absl::StatusOr<proto::GameRecord> game =
        DecodeRecord(records.Bytes(3));
    group_of(records).same_games.push_back(game.ok() ? SameGameKey(*game) : 0);
  }
  std::vector<GameStatistics> all;
  for (auto& [key, of] : groups) {
    const double games = static_cast<double>(of.games);
    of.mean_length /= games;
    of.mean_points_red /= games;
    of.mean_points_blue /= games;
    std::tie(of.variant, of.rule_options, of.purpose) =
        std::tie(key[0], key[1], key[2]);
    all.push_back(std::move(of));
  }
  return all;
}

absl::StatusOr<std::unique_ptr<GameStore>> OpenGameStore(
    const std::string& path, StoreMode mode) {
  TARA_ASSIGN_OR_RETURN(SqliteDatabase db, OpenSqliteFile(path, mode, kSchema));
  if (mode != StoreMode::kReadOnly) {
    // Older stores have no tables of contests.
    TARA_RETURN_IF_ERROR(db.Execute(kSchema.tables, "cannot set up"));
  }
  return std::make_unique<GameStore>(mode, std::move(db));
}

}  // namespace tara::record
