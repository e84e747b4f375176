#include "tara/base/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "tara/base/files.h"
#include "tara/base/status_macros.h"

namespace tara {
namespace {

// Size of the write-ahead log once it has no readers; with readers it may grow
// far beyond.
constexpr int64_t kLogBytes = 16 << 20;

// Called where a lock is not got, for the time `tries` + 1; returns whether to
// try again. Writers of other processes hold a lock for one transaction.
int WaitForLock(void*, int tries) {
  constexpr int kShortTries = 10;
  constexpr int kLongTries = 1000;  // 10 s
  // SQLite takes a file system without locks for one whose file is locked.
  if (errno == ENOLCK || tries >= kShortTries + kLongTries) return 0;
  sqlite3_sleep(tries < kShortTries ? 1 : 10);
  return 1;
}

// Whether the error is a lack of space: on the disk, in a quota, or in a file.
bool NoRoom(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

// Returns an error with SQLite's extended code and message, and its errno.
absl::Status ErrorOf(int extended_code, int system_error,
                     absl::string_view text, absl::string_view path,
                     absl::string_view doing) {
  const std::string message = absl::StrCat(path, ": ", doing, ": ", text);
  if (extended_code == SQLITE_CONSTRAINT_PRIMARYKEY) {
    return absl::AlreadyExistsError(message);
  }
  const int code = extended_code & 0xff;
  if (code == SQLITE_BUSY && system_error == ENOLCK) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": ", doing, ": its file system has no locks (",
        std::strerror(ENOLCK),
        "); expected one with locks, such as a local disk, or NFS with a lock "
        "service"));
  }
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
  const int code = sqlite3_extended_errcode(db);
  // SQLite does not save errno for locks, so it is still set.
  const int error =
      (code & 0xff) == SQLITE_BUSY ? errno : sqlite3_system_errno(db);
  return ErrorOf(code, error, sqlite3_errmsg(db), path, doing);
}

// How SQLite reads a file in a folder that is not writable, where it cannot
// create the log and its index.
struct ReadName {
  std::string uri;               // empty: use the path
  bool index_in_memory = false;  // there is a log, but not its index
};

ReadName NameToRead(const std::string& path) {
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  std::error_code error;
  const bool has_log = std::filesystem::exists(path + "-wal", error);
  if (access(folder.empty() ? "." : folder.c_str(), W_OK) == 0 ||
      (has_log && std::filesystem::exists(path + "-shm", error))) {
    return {};
  }
  // After two slashes SQLite expects the name of a host. A log without an index
  // cannot be open elsewhere, so no locks are needed.
  return {
      .uri = absl::StrCat(
          absl::StartsWith(path, "/") ? "file://" : "file:",
          absl::StrReplaceAll(path, {{"%", "%25"}, {"?", "%3f"}, {"#", "%23"}}),
          has_log ? "?vfs=unix-none" : "?immutable=1"),
      .index_in_memory = has_log};
}

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
absl::Status CheckFilePath(const std::string& path, SqliteDatabase::Mode mode,
                           const SqliteSchema& schema) {
  TARA_RETURN_IF_ERROR(CheckPath(path));
  std::error_code error;
  const std::filesystem::path file(path);
  const std::filesystem::file_status found =
      std::filesystem::status(file, error);
  if (std::filesystem::is_directory(found)) {
    return NotOfThisKind(path, schema, "a folder");
  }
  if (std::filesystem::is_regular_file(found)) {
    // SQLite itself recognizes other files.
    const bool is_empty = std::filesystem::file_size(file, error) == 0;
    const absl::string_view kind = is_empty ? KindOfFile(path) : "";
    return kind.empty() ? absl::OkStatus() : NotOfThisKind(path, schema, kind);
  }
  if (std::filesystem::exists(found)) {
    return NotOfThisKind(path, schema, "a device or a pipe");
  }
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

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void SqliteDatabase::Close::operator()(sqlite3* db) const { sqlite3_close(db); }

void SqliteStatement::BindInt(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
}

void SqliteStatement::BindText(int parameter, absl::string_view value) {
  sqlite3_bind_text(statement_.get(), parameter, value.data(),
                    static_cast<int>(value.size()), SQLITE_TRANSIENT);
}

void SqliteStatement::BindBlob(int parameter, absl::string_view value) {
  sqlite3_bind_blob(statement_.get(), parameter, value.data(),
                    static_cast<int>(value.size()), SQLITE_TRANSIENT);
}

absl::StatusOr<bool> SqliteStatement::Step(absl::string_view doing) {
  errno = 0;  // LastError looks at it
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW || result == SQLITE_DONE) {
    return result == SQLITE_ROW;
  }
  return LastError(sqlite3_db_handle(statement_.get()), path_, doing);
}

void SqliteStatement::Reset() {
  // Returns the error of the last Step again, which has been reported.
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

int64_t SqliteStatement::Int(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string SqliteStatement::Bytes(int column) const {
  const auto* bytes =
      static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string() : std::string(bytes, size);
}

absl::StatusOr<SqliteDatabase> SqliteDatabase::Open(const std::string& path,
                                                    Mode mode) {
  const bool read_only = mode == Mode::kReadOnly;
  const ReadName name = read_only ? NameToRead(path) : ReadName{};
  // NOMUTEX: the owner of the connection serializes its use. Readers open the
  // file to write, where they may: only such a connection, if it is the last
  // one, removes the log and its index, which reading has created.
  const int flags =
      SQLITE_OPEN_NOMUTEX |
      (name.uri.empty() ? SQLITE_OPEN_READWRITE
                        : SQLITE_OPEN_READONLY | SQLITE_OPEN_URI) |
      (read_only ? 0 : SQLITE_OPEN_CREATE);
  sqlite3* opened = nullptr;
  const int result =
      sqlite3_open_v2(name.uri.empty() ? path.c_str() : name.uri.c_str(),
                      &opened, flags, nullptr);
  SqliteDatabase db(path, opened);  // to be closed even when opening failed
  if (result != SQLITE_OK) return LastError(opened, path, "cannot open");
  sqlite3_busy_handler(opened, WaitForLock, nullptr);
  if (read_only) {
    TARA_RETURN_IF_ERROR(db.Execute("PRAGMA query_only = ON", "cannot open"));
  }
  if (name.index_in_memory) {
    // Nor is the log put into the file, even where that could be written to.
    sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    TARA_RETURN_IF_ERROR(
        db.Execute("PRAGMA locking_mode = EXCLUSIVE", "cannot open"));
  }
  return db;
}

absl::Status SqliteDatabase::Execute(const std::string& sql,
                                     absl::string_view doing) {
  errno = 0;  // LastError looks at it
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) !=
      SQLITE_OK) {
    return LastError(db_.get(), path_, doing);
  }
  return absl::OkStatus();
}

absl::Status SqliteDatabase::InTransaction(
    absl::string_view doing, const std::function<absl::Status()>& statements) {
  TARA_RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE", doing));
  absl::Status status = statements();
  if (status.ok()) status = Execute("COMMIT", doing);
  if (!status.ok()) {
    // An error here adds nothing: closing rolls back, too.
    Execute("ROLLBACK", "cannot roll back").IgnoreError();
    return status;
  }
  // Only by name: some file systems change the number of a file.
  const char* const file = sqlite3_db_filename(db_.get(), "main");
  const bool in_memory = file == nullptr || *file == '\0';
  if (in_memory || access(file, F_OK) == 0 || errno != ENOENT) return status;
  return absl::DataLossError(absl::StrCat(
      path_,
      ": was removed or moved while it was in use; everything written to it is "
      "lost"));
}

absl::StatusOr<SqliteStatement> SqliteDatabase::Prepare(absl::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  errno = 0;  // LastError looks at it
  if (sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()),
                         &statement, nullptr) != SQLITE_OK) {
    return LastError(db_.get(), path_, "cannot query");
  }
  return SqliteStatement(path_, statement);
}

absl::Status SqliteDatabase::Lock(absl::string_view kind) {
  if (path_ == ":memory:") return absl::OkStatus();
  // For reading: on NFS, where this lock conflicts with the locks that SQLite
  // takes, it fails and does not disturb them.
  absl::StatusOr<FileLock> lock = LockFile(path_, O_RDONLY);
  if (absl::IsUnavailable(lock.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        path_, ": in use by another process; expected ",
        kind == "opening book" ? "an " : "a ", kind, " of its own"));
  }
  TARA_RETURN_IF_ERROR(lock.status());
  lock_ = *std::move(lock);
  return absl::OkStatus();
}

absl::Status SqliteDatabase::Sync() {
  sqlite3_file* log = nullptr;
  sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
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

absl::StatusOr<SqliteDatabase> OpenSqliteFile(const std::string& path,
                                              SqliteDatabase::Mode mode,
                                              const SqliteSchema& schema) {
  TARA_RETURN_IF_ERROR(CheckFilePath(path, mode, schema));
  const bool read_only = mode == SqliteDatabase::Mode::kReadOnly;
  TARA_ASSIGN_OR_RETURN(SqliteDatabase db, SqliteDatabase::Open(path, mode));
  TARA_ASSIGN_OR_RETURN(const bool exists, CheckFile(db, schema));
  if (!exists && read_only) return NotOfThisKind(path, schema, "an empty file");
  if (mode == SqliteDatabase::Mode::kExclusive) {
    TARA_RETURN_IF_ERROR(db.Lock(schema.kind));
  }
  if (!read_only) {
    // In WAL mode a commit is in the operating system's hands before it
    // returns; NORMAL leaves out only the wait for the disk on each commit
    // (some 3 ms on an SSD), which SqliteDatabase::Sync makes up for.
    TARA_RETURN_IF_ERROR(
        db.Execute(absl::StrCat("PRAGMA journal_mode = WAL; PRAGMA synchronous "
                                "= NORMAL; PRAGMA journal_size_limit = ",
                                kLogBytes),
                   "cannot set up"));
    if (!exists) TARA_RETURN_IF_ERROR(CreateTables(db, schema));
  }
  return db;
}

}  // namespace tara
