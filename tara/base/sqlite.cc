#include "tara/base/sqlite.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "tara/base/status_macros.h"

namespace tara {
namespace {

// Writers of other processes hold the lock for one transaction.
constexpr int kBusyTimeoutMs = 10'000;

// Whether the error is that there is no room for more: on the disk, in a quota,
// or in a file.
bool NoRoom(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

// Returns an error with SQLite's extended code and message, and the system's
// errno behind it.
absl::Status ErrorOf(int extended_code, int system_error,
                     absl::string_view text, absl::string_view path,
                     absl::string_view doing) {
  const std::string message = absl::StrCat(path, ": ", doing, ": ", text);
  if (extended_code == SQLITE_CONSTRAINT_PRIMARYKEY) {
    return absl::AlreadyExistsError(message);
  }
  const int code = extended_code & 0xff;
  // SQLite itself takes only ENOSPC for a full disk.
  if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) &&
      NoRoom(system_error)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(message, ": ", std::strerror(system_error)));
  }
  switch (code) {
    case SQLITE_NOTADB:
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": not a SQLite file"));
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return absl::FailedPreconditionError(message);
    case SQLITE_CORRUPT:
    case SQLITE_IOERR:
      return absl::DataLossError(message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(message);
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(message);
    default:
      return absl::InternalError(message);
  }
}

// Returns the error of the last call on `db`.
absl::Status LastError(sqlite3* db, absl::string_view path,
                       absl::string_view doing) {
  return ErrorOf(sqlite3_extended_errcode(db), sqlite3_system_errno(db),
                 sqlite3_errmsg(db), path, doing);
}

}  // namespace

SqliteStatement::SqliteStatement(sqlite3* db, std::string path,
                                 sqlite3_stmt* statement)
    : db_(db), path_(std::move(path)), statement_(statement) {}

SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : db_(other.db_),
      path_(std::move(other.path_)),
      statement_(std::exchange(other.statement_, nullptr)) {}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

void SqliteStatement::BindInt(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_, parameter, value);
}

void SqliteStatement::BindText(int parameter, absl::string_view value) {
  sqlite3_bind_text(statement_, parameter, value.data(),
                    static_cast<int>(value.size()), SQLITE_TRANSIENT);
}

void SqliteStatement::BindBlob(int parameter, absl::string_view value) {
  sqlite3_bind_blob(statement_, parameter, value.data(),
                    static_cast<int>(value.size()), SQLITE_TRANSIENT);
}

absl::StatusOr<bool> SqliteStatement::Step(absl::string_view doing) {
  switch (sqlite3_step(statement_)) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return LastError(db_, path_, doing);
  }
}

void SqliteStatement::Reset() {
  // Returns the error of the last Step again, which has been reported.
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

int64_t SqliteStatement::Int(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string SqliteStatement::Bytes(int column) const {
  const auto* bytes =
      static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? std::string() : std::string(bytes, size);
}

namespace {

// Returns the name by which SQLite reads a file beside which nothing can be
// written: without its log, which it would make. Else the path.
std::string NameToRead(const std::string& path) {
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  std::error_code error;
  if (access(folder.empty() ? "." : folder.c_str(), W_OK) == 0 ||
      std::filesystem::exists(path + "-wal", error)) {
    return path;
  }
  return absl::StrCat(
      "file:",
      absl::StrReplaceAll(path, {{"%", "%25"}, {"?", "%3f"}, {"#", "%23"}}),
      "?immutable=1");
}

}  // namespace

absl::StatusOr<SqliteDatabase> SqliteDatabase::Open(const std::string& path,
                                                    Mode mode) {
  const std::string name = mode == Mode::kReadOnly ? NameToRead(path) : path;
  // NOMUTEX: the owner of the connection serializes its use.
  const int flags =
      SQLITE_OPEN_NOMUTEX | (name == path ? 0 : SQLITE_OPEN_URI) |
      (mode == Mode::kReadOnly ? SQLITE_OPEN_READONLY
                               : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  sqlite3* opened = nullptr;
  const int result = sqlite3_open_v2(name.c_str(), &opened, flags, nullptr);
  SqliteDatabase db(path, opened);  // to be closed even when opening failed
  if (result != SQLITE_OK) return LastError(opened, path, "cannot open");
  sqlite3_busy_timeout(opened, kBusyTimeoutMs);
  return db;
}

SqliteDatabase::SqliteDatabase(std::string path, sqlite3* db)
    : path_(std::move(path)), db_(db) {}

SqliteDatabase::SqliteDatabase(SqliteDatabase&& other) noexcept
    : path_(std::move(other.path_)), db_(std::exchange(other.db_, nullptr)) {}

SqliteDatabase::~SqliteDatabase() { sqlite3_close(db_); }

absl::Status SqliteDatabase::Execute(const std::string& sql,
                                     absl::string_view doing) {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return LastError(db_, path_, doing);
  }
  return absl::OkStatus();
}

absl::Status SqliteDatabase::InTransaction(
    absl::string_view doing, const std::function<absl::Status()>& statements) {
  TARA_RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE", doing));
  absl::Status status = statements();
  if (status.ok()) status = Execute("COMMIT", doing);
  if (!status.ok()) {
    // Its own failure would tell nothing new, and SQLite rolls back by itself
    // when the connection closes.
    Execute("ROLLBACK", "cannot roll back").IgnoreError();
  }
  return status;
}

absl::StatusOr<SqliteStatement> SqliteDatabase::Prepare(absl::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, sql.data(), static_cast<int>(sql.size()),
                         &statement, nullptr) != SQLITE_OK) {
    return LastError(db_, path_, "cannot query");
  }
  return SqliteStatement(db_, path_, statement);
}

absl::Status SqliteDatabase::Sync() {
  sqlite3_file* log = nullptr;
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  // No log: a file system that cannot have one, where each commit syncs.
  if (log == nullptr || log->pMethods == nullptr) return absl::OkStatus();
  const int result = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  if (result == SQLITE_OK) return absl::OkStatus();
  return ErrorOf(result, errno, sqlite3_errstr(result), path_, "cannot sync");
}

absl::StatusOr<int64_t> SqliteDatabase::QueryInt(absl::string_view sql) {
  TARA_ASSIGN_OR_RETURN(SqliteStatement statement, Prepare(sql));
  TARA_ASSIGN_OR_RETURN(const bool row, statement.Step("cannot read"));
  if (!row) {
    return absl::InternalError(absl::StrCat(path_, ": no row: ", sql));
  }
  return statement.Int(0);
}

namespace {

absl::Status NotOfThisKind(const std::string& path, const SqliteSchema& schema,
                           absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": no ", schema.kind, ": ", why));
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
  const std::string doing = absl::StrCat("cannot create the ", schema.kind);
  return db.InTransaction(doing, [&]() -> absl::Status {
    TARA_ASSIGN_OR_RETURN(const bool exists, CheckFile(db, schema));
    if (exists) return absl::OkStatus();
    return db.Execute(
        absl::StrCat(schema.tables,
                     "PRAGMA application_id = ", schema.application_id,
                     "; PRAGMA user_version = ", schema.version, ";"),
        doing);
  });
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
