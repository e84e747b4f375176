#include "tara/train/game_store_schema.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tara/base/status_macros.h"

namespace tara {
namespace {

// Marks a SQLite file as a game store: "TARA" (the id is in its header).
constexpr int64_t kApplicationId = 0x54415241;
// PRAGMA user_version: raised with every change of the tables.
constexpr int64_t kStoreVersion = 1;

// games_statistics holds all that Statistics reads, so that it never touches
// the blobs. An index ends in the rowid, which is the game index.
constexpr char kSchema[] = R"sql(
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
)sql";

absl::Status NotAStore(const std::string& path, absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": not a game store: ", why));
}

// Checks that the file is a game store of this version. Returns false if the
// database is empty: a new file, or one whose creator was killed.
absl::StatusOr<bool> CheckStore(SqliteDatabase& db) {
  TARA_ASSIGN_OR_RETURN(const int64_t application_id,
                        db.QueryInt("PRAGMA application_id"));
  TARA_ASSIGN_OR_RETURN(const int64_t version,
                        db.QueryInt("PRAGMA user_version"));
  TARA_ASSIGN_OR_RETURN(const int64_t objects,
                        db.QueryInt("SELECT COUNT(*) FROM sqlite_schema"));
  if (application_id == 0 && version == 0 && objects == 0) return false;
  if (application_id != kApplicationId) {
    return NotAStore(db.path(), "a SQLite file of another program");
  }
  if (version != kStoreVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        db.path(), ": game store of version ", version,
        "; this program reads version ", kStoreVersion,
        version > kStoreVersion ? " (written by a newer program)" : ""));
  }
  // The header may be whole and the table not.
  const absl::Status table =
      db.QueryInt("SELECT COUNT(record) FROM (SELECT * FROM games LIMIT 1)")
          .status();
  if (absl::IsInternal(table)) {
    return absl::DataLossError(
        absl::StrCat("damaged game store: ", table.message()));
  }
  if (!table.ok()) return table;
  return true;
}

// Creates the tables unless another process just did: all in one transaction,
// so that a kill leaves either an empty file or a store.
absl::Status CreateStore(SqliteDatabase& db) {
  constexpr absl::string_view kDoing = "cannot create a game store";
  TARA_RETURN_IF_ERROR(db.Execute("BEGIN IMMEDIATE", kDoing));
  absl::StatusOr<bool> exists = CheckStore(db);
  absl::Status status = exists.status();
  if (status.ok() && !*exists) {
    const std::string sql =
        absl::StrCat(kSchema, "PRAGMA application_id = ", kApplicationId,
                     "; PRAGMA user_version = ", kStoreVersion, ";");
    status = db.Execute(sql, kDoing);
  }
  if (!status.ok()) return status;  // closing rolls back
  return db.Execute("COMMIT", kDoing);
}

// Returns the error for a path that cannot be a store in this mode, or OK.
absl::Status CheckPath(const std::string& path, SqliteDatabase::Mode mode) {
  std::error_code error;
  const std::filesystem::path file(path);
  if (std::filesystem::is_directory(file, error)) {
    return NotAStore(path, "a folder");
  }
  if (std::filesystem::exists(file, error)) return absl::OkStatus();
  if (mode == SqliteDatabase::Mode::kReadOnly) {
    return absl::NotFoundError(absl::StrCat(path, ": no such game store"));
  }
  const std::filesystem::path folder = file.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    return absl::NotFoundError(
        absl::StrCat(path, ": no such folder: ", folder.string()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SqliteDatabase> OpenStoreDatabase(const std::string& path,
                                                 SqliteDatabase::Mode mode) {
  TARA_RETURN_IF_ERROR(CheckPath(path, mode));
  const bool read_only = mode == SqliteDatabase::Mode::kReadOnly;
  TARA_ASSIGN_OR_RETURN(SqliteDatabase db, SqliteDatabase::Open(path, mode));
  TARA_ASSIGN_OR_RETURN(const bool exists, CheckStore(db));
  if (!exists && read_only) return NotAStore(path, "an empty file");
  if (!read_only) {
    // In WAL mode a commit is in the operating system's hands before it
    // returns, so that killing the process loses nothing; NORMAL leaves out
    // only the wait for the disk on each commit.
    TARA_RETURN_IF_ERROR(
        db.Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;",
                   "cannot set up"));
    if (!exists) TARA_RETURN_IF_ERROR(CreateStore(db));
  }
  return db;
}

}  // namespace tara
