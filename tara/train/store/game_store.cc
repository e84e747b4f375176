#include "tara/train/store/game_store.h"

#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tara/base/check.h"
#include "tara/base/sqlite.h"
#include "tara/base/status_macros.h"

namespace tara::train {
namespace {

// What the column of endings has for games that a side resigned.
constexpr absl::string_view kResigned = "resigned";

constexpr absl::string_view kInsert =
    "INSERT INTO games (game_index, variant, rule_options, generation, "
    "model_id, length, points_red, points_blue, ended_by, finished_unix_ms, "
    "record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

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

absl::Status CheckStorable(const proto::GameRecord& game) {
  if (game.game_index() > std::numeric_limits<int64_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "game ", game.game_index(), ": the index exceeds 2^63 - 1"));
  }
  if (game.result().points_size() != 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "game ", game.game_index(), ": no result (",
        game.result().points_size(), " points; expected those of two sides)"));
  }
  return absl::OkStatus();
}

class SqliteGameStore : public GameStore {
 public:
  SqliteGameStore(StoreMode mode, SqliteDatabase db)
      : path_(db.path()), mode_(mode), db_(std::move(db)) {}

  absl::Status Add(const proto::GameRecord& game) override {
    return AddAll(absl::MakeConstSpan(&game, 1));
  }

  absl::Status AddAll(absl::Span<const proto::GameRecord> games) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    if (mode_ == StoreMode::kReadOnly) {
      return absl::FailedPreconditionError(
          absl::StrCat(path_, ": cannot add games: opened read-only"));
    }
    std::vector<std::string> blobs;
    for (const proto::GameRecord& game : games) {
      TARA_RETURN_IF_ERROR(CheckStorable(game));
      blobs.push_back(EncodeRecord(game));
    }
    const absl::MutexLock lock(&mutex_);
    // IMMEDIATE takes the write lock at once, where the busy timeout applies.
    TARA_RETURN_IF_ERROR(db_.Execute("BEGIN IMMEDIATE", "cannot add games"));
    absl::Status status = InsertAll(games, blobs);
    if (status.ok()) {
      status = db_.Execute("COMMIT", "cannot add games");
    }
    if (!status.ok()) {
      // Its own failure would tell nothing new, and SQLite rolls back by
      // itself when the connection closes.
      db_.Execute("ROLLBACK", "cannot roll back").IgnoreError();
    }
    return status;
  }

  absl::Status Sync() override ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    return db_.Sync();
  }

  absl::Status RemoveBefore(uint64_t end_index) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    if (mode_ == StoreMode::kReadOnly) {
      return absl::FailedPreconditionError(
          absl::StrCat(path_, ": cannot remove games: opened read-only"));
    }
    const absl::MutexLock lock(&mutex_);
    TARA_ASSIGN_OR_RETURN(
        SqliteStatement statement,
        db_.Prepare("DELETE FROM games WHERE game_index < ?1"));
    statement.BindInt(1, static_cast<int64_t>(end_index));
    return statement.Step("cannot remove games").status();
  }

  absl::StatusOr<proto::GameRecord> Get(uint64_t game_index) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    TARA_ASSIGN_OR_RETURN(const std::string blob, GetBlob(game_index));
    absl::StatusOr<proto::GameRecord> record = DecodeRecord(blob);
    if (!record.ok()) {
      return absl::DataLossError(absl::StrCat(path_, ": game ", game_index,
                                              ": ", record.status().message()));
    }
    return record;
  }

  absl::StatusOr<std::vector<GameRow>> List(const GameQuery& query) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
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

  absl::StatusOr<int64_t> Count(const GameQuery& query) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    TARA_ASSIGN_OR_RETURN(SqliteStatement statement,
                          db_.Prepare(absl::StrCat("SELECT COUNT(*) FROM games",
                                                   WhereClause(query))));
    BindWhere(query, statement);
    TARA_RETURN_IF_ERROR(statement.Step("cannot count").status());
    const int64_t count = statement.Int(0);
    return query.limit < 0 ? count : std::min(count, query.limit);
  }

  absl::StatusOr<std::vector<uint64_t>> Indices(const GameQuery& query) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
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

  absl::StatusOr<std::vector<GameStatistics>> Statistics(
      const GameQuery& query) override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::StatusOr<std::string> GetBlob(uint64_t game_index)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status InsertAll(absl::Span<const proto::GameRecord> games,
                         const std::vector<std::string>& blobs)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  const StoreMode mode_;
  absl::Mutex mutex_;
  SqliteDatabase db_ ABSL_GUARDED_BY(mutex_);
  // Declared after db_, so that they are finalized before it closes.
  std::optional<SqliteStatement> insert_ ABSL_GUARDED_BY(mutex_);
  std::optional<SqliteStatement> select_ ABSL_GUARDED_BY(mutex_);
};

absl::Status SqliteGameStore::InsertAll(
    absl::Span<const proto::GameRecord> games,
    const std::vector<std::string>& blobs) {
  if (!insert_.has_value()) {
    TARA_ASSIGN_OR_RETURN(SqliteStatement statement, db_.Prepare(kInsert));
    insert_.emplace(std::move(statement));
  }
  const absl::Cleanup reset = [this] {
    mutex_.AssertHeld();
    insert_->Reset();
  };
  for (size_t i = 0; i < games.size(); ++i) {
    const proto::GameRecord& game = games[i];
    insert_->Reset();
    insert_->BindInt(1, static_cast<int64_t>(game.game_index()));
    insert_->BindText(2, game.variant());
    insert_->BindText(3, game.rule_options());
    insert_->BindInt(4, game.generation());
    insert_->BindText(5, game.model_id());
    insert_->BindInt(6, game.steps_size());
    insert_->BindInt(7, game.result().points(0));
    insert_->BindInt(8, game.result().points(1));
    insert_->BindText(9, game.result().has_resigned_by()
                             ? kResigned
                             : absl::string_view(game.result().ended_by()));
    insert_->BindInt(10, absl::ToUnixMillis(absl::Now()));
    insert_->BindBlob(11, blobs[i]);
    const absl::Status status = insert_->Step("cannot add a game").status();
    if (absl::IsAlreadyExists(status)) {
      return absl::AlreadyExistsError(absl::StrCat(
          path_, ": game ", game.game_index(), " is in the store already"));
    }
    TARA_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> SqliteGameStore::GetBlob(uint64_t game_index) {
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
        absl::StrCat(path_, ": there is no game ", game_index));
  }
  return select_->Bytes(0);
}

absl::StatusOr<std::vector<GameStatistics>> SqliteGameStore::Statistics(
    const GameQuery& query) {
  const absl::MutexLock lock(&mutex_);
  TARA_ASSIGN_OR_RETURN(SqliteStatement statement,
                        db_.Prepare(absl::StrCat(
                            "SELECT variant, rule_options, ended_by, COUNT(*), "
                            "SUM(points_red > points_blue), "
                            "SUM(points_red < points_blue), SUM(length), "
                            "SUM(points_red), SUM(points_blue), "
                            "SUM(model_id LIKE '%",
                            kUntrainedMark, "') FROM games", WhereClause(query),
                            " GROUP BY variant, rule_options, ended_by "
                            "ORDER BY variant, rule_options, ended_by")));
  BindWhere(query, statement);
  std::vector<GameStatistics> all;
  while (true) {
    TARA_ASSIGN_OR_RETURN(const bool row, statement.Step("cannot read"));
    if (!row) break;
    const std::string variant = statement.Bytes(0);
    const std::string rule_options = statement.Bytes(1);
    if (all.empty() || all.back().variant != variant ||
        all.back().rule_options != rule_options) {
      all.push_back({.variant = variant, .rule_options = rule_options});
    }
    GameStatistics& of = all.back();
    of.ended_by[statement.Bytes(2)] = statement.Int(3);
    of.games += statement.Int(3);
    of.red_wins += statement.Int(4);
    of.blue_wins += statement.Int(5);
    // Sums first; divided below.
    of.mean_length += static_cast<double>(statement.Int(6));
    of.mean_points_red += static_cast<double>(statement.Int(7));
    of.mean_points_blue += static_cast<double>(statement.Int(8));
    of.untrained += statement.Int(9);
  }
  for (GameStatistics& of : all) {
    const double games = static_cast<double>(of.games);
    of.draws = of.games - of.red_wins - of.blue_wins;
    of.mean_length /= games;
    of.mean_points_red /= games;
    of.mean_points_blue /= games;
  }
  return all;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GameStore>> OpenGameStore(
    const std::string& path, StoreMode mode) {
  TARA_ASSIGN_OR_RETURN(
      SqliteDatabase db,
      OpenStoreDatabase(path, mode == StoreMode::kReadOnly
                                  ? SqliteDatabase::Mode::kReadOnly
                                  : SqliteDatabase::Mode::kReadWrite));
  return std::make_unique<SqliteGameStore>(mode, std::move(db));
}

namespace {

constexpr SqliteSchema kSchema = {
    .kind = "game store",
    .application_id = 0x54415241,  // "TARA"
    .version = 1,
    // games_statistics holds all that Statistics reads, so that it never
    // touches the blobs. An index ends in the rowid, which is the game index.
    .tables = R"sql(
  CREATE TABLE games (
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
  CREATE INDEX games_by_variant ON games (variant);
  CREATE INDEX games_by_generation ON games (generation);
  CREATE INDEX games_statistics ON games (
    variant, rule_options, ended_by, generation, length, points_red,
    points_blue);
)sql",
    .probe = "SELECT COUNT(record) FROM (SELECT * FROM games LIMIT 1)"};

}  // namespace

absl::StatusOr<SqliteDatabase> OpenStoreDatabase(const std::string& path,
                                                 SqliteDatabase::Mode mode) {
  return OpenSqliteFile(path, mode, kSchema);
}

namespace {

constexpr int kCompressionLevel = 3;
// A record of the longest game is far smaller; more means a damaged blob.
constexpr uint64_t kMaxRecordBytes = 64 << 20;

absl::Status Damaged(absl::string_view why) {
  return absl::DataLossError(absl::StrCat("damaged record: ", why));
}

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

std::string EncodeRecord(const proto::GameRecord& record) {
  const std::string bytes = record.SerializeAsString();
  const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
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

}  // namespace tara::train
