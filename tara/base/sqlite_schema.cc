#include "tara/base/sqlite_schema.h"

#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tara/base/status_macros.h"

namespace tara {
namespace {

absl::Status NotOfThisKind(const std::string& path, const SqliteSchema& schema,
                           absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": not a ", schema.kind, ": ", why));
}

// Checks that the file is of this kind and version. Returns false if the
// database is empty: a new file, or one whose creator was killed.
absl::StatusOr<bool> CheckFile(SqliteDatabase& db, const SqliteSchema& schema) {
  TARA_ASSIGN_OR_RETURN(const int64_t application_id,
                        db.QueryInt("PRAGMA application_id"));
  TARA_ASSIGN_OR_RETURN(const int64_t version,
                        db.QueryInt("PRAGMA user_version"));
  TARA_ASSIGN_OR_RETURN(const int64_t objects,
                        db.QueryInt("SELECT COUNT(*) FROM sqlite_schema"));
  if (application_id == 0 && version == 0 && objects == 0) return false;
  if (application_id != schema.application_id) {
    return NotOfThisKind(db.path(), schema, "a SQLite file of another program");
  }
  if (version != schema.version) {
    return absl::FailedPreconditionError(absl::StrCat(
        db.path(), ": ", schema.kind, " of version ", version,
        "; this program reads version ", schema.version,
        version > schema.version ? " (written by a newer program)" : ""));
  }
  // The header may be whole and the tables not.
  const absl::Status tables = db.QueryInt(schema.probe).status();
  if (absl::IsInternal(tables)) {
    return absl::DataLossError(
        absl::StrCat("damaged ", schema.kind, ": ", tables.message()));
  }
  if (!tables.ok()) return tables;
  return true;
}

// Creates the tables unless another process just did: all in one transaction,
// so that a kill leaves either an empty file or a whole one.
absl::Status CreateTables(SqliteDatabase& db, const SqliteSchema& schema) {
  const std::string doing = absl::StrCat("cannot create a ", schema.kind);
  TARA_RETURN_IF_ERROR(db.Execute("BEGIN IMMEDIATE", doing));
  const absl::StatusOr<bool> exists = CheckFile(db, schema);
  if (!exists.ok()) return exists.status();  // closing rolls back
  if (!*exists) {
    TARA_RETURN_IF_ERROR(db.Execute(
        absl::StrCat(schema.tables,
                     "PRAGMA application_id = ", schema.application_id,
                     "; PRAGMA user_version = ", schema.version, ";"),
        doing));
  }
  return db.Execute("COMMIT", doing);
}

// Returns the error for a path that cannot be such a file, or OK.
absl::Status CheckPath(const std::string& path, SqliteDatabase::Mode mode,
                       const SqliteSchema& schema) {
  std::error_code error;
  const std::filesystem::path file(path);
  if (std::filesystem::is_directory(file, error)) {
    return NotOfThisKind(path, schema, "a folder");
  }
  if (std::filesystem::exists(file, error)) return absl::OkStatus();
  if (mode == SqliteDatabase::Mode::kReadOnly) {
    return absl::NotFoundError(absl::StrCat(path, ": no such ", schema.kind));
  }
  const std::filesystem::path folder = file.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    return absl::NotFoundError(
        absl::StrCat(path, ": no such folder: ", folder.string()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SqliteDatabase> OpenSqliteFile(const std::string& path,
                                              SqliteDatabase::Mode mode,
                                              const SqliteSchema& schema) {
  TARA_RETURN_IF_ERROR(CheckPath(path, mode, schema));
  const bool read_only = mode == SqliteDatabase::Mode::kReadOnly;
  TARA_ASSIGN_OR_RETURN(SqliteDatabase db, SqliteDatabase::Open(path, mode));
  TARA_ASSIGN_OR_RETURN(const bool exists, CheckFile(db, schema));
  if (!exists && read_only) return NotOfThisKind(path, schema, "an empty file");
  if (!read_only) {
    // In WAL mode a commit is in the operating system's hands before it
    // returns; NORMAL leaves out only the wait for the disk on each commit
    // (some 3 ms on an SSD), which SqliteDatabase::Sync makes up for.
    TARA_RETURN_IF_ERROR(
        db.Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;",
                   "cannot set up"));
    if (!exists) TARA_RETURN_IF_ERROR(CreateTables(db, schema));
  }
  return db;
}

}  // namespace tara
