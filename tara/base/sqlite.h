#ifndef TARA_BASE_SQLITE_H_
#define TARA_BASE_SQLITE_H_

// SQLite in the terms of absl, without its header: only sqlite.cc sees that.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/base/files.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tara {

// A prepared statement; parameters are counted from 1, columns from 0, as in
// SQLite. It must not outlive its database, which may be moved.
class SqliteStatement {
 public:
  void BindInt(int parameter, int64_t value);
  void BindText(int parameter, absl::string_view value);
  void BindBlob(int parameter, absl::string_view value);

  // Goes to the next row; returns whether there is one. `doing`, e.g. "cannot
  // list games", becomes part of the error.
  absl::StatusOr<bool> Step(absl::string_view doing);

  // Makes the statement ready to run again, with parameters unset. A statement
  // that has rows left holds a transaction open until then.
  void Reset();

  // Columns of the current row.
  int64_t Int(int column) const;
  std::string Bytes(int column) const;  // of text or a blob

 private:
  friend class SqliteDatabase;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  SqliteStatement(std::string path, sqlite3_stmt* statement)
      : path_(std::move(path)), statement_(statement) {}

  std::string path_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// A connection to one SQLite file. Not thread-safe. Errors name the file and
// are FAILED_PRECONDITION (not SQLite, or not writable), DATA_LOSS (damaged or
// unreadable), UNAVAILABLE (locked by another process for more than 10 s),
// ALREADY_EXISTS (primary key taken), RESOURCE_EXHAUSTED (disk
// full), else INTERNAL.
class SqliteDatabase {
 public:
  // All but kReadOnly create. One process at a time may have kExclusive; others
  // may read and write at the same time.
  enum class Mode { kReadOnly, kReadWrite, kExclusive };

  // SQLite looks into the file only when it is first used.
  static absl::StatusOr<SqliteDatabase> Open(const std::string& path,
                                             Mode mode);

  SqliteDatabase(SqliteDatabase&& other) = default;
  SqliteDatabase& operator=(SqliteDatabase&&) = delete;

  // Runs statements, separated by semicolons, that return nothing of interest.
  absl::Status Execute(const std::string& sql, absl::string_view doing);
  // Runs `statements` as one transaction, which changes nothing if they fail.
  // It takes the write lock at the beginning, so that the busy timeout applies
  // there and nowhere later. `doing` as of Execute. DATA_LOSS if the
  // file is no longer there.
  absl::Status InTransaction(absl::string_view doing,
                             const std::function<absl::Status()>& statements);
  absl::StatusOr<SqliteStatement> Prepare(absl::string_view sql);
  // Waits until everything committed by any process is on the disk: syncs the
  // write-ahead log. (Parts moved from the log to the file have been synced.)
  // REQUIRES: this connection has read or written the file.
  absl::Status Sync();
  // Returns the first column of the first row.
  absl::StatusOr<int64_t> QueryInt(absl::string_view sql);

  const std::string& path() const { return path_; }
  // FileLock.warning of a kExclusive database.
  const std::string& lock_warning() const { return lock_.warning; }

  // Makes it kExclusive. FAILED_PRECONDITION if another process has that.
  absl::Status Lock(absl::string_view kind);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };

  SqliteDatabase(std::string path, sqlite3* db)
      : path_(std::move(path)), db_(db) {}

  std::string path_;
  // Given up after db_ is closed, whose locks go with any descriptor.
  FileLock lock_;
  std::unique_ptr<sqlite3, Close> db_;
};

// A kind of SQLite file of ours, and how to tell it from any other.
struct SqliteSchema {
  const char* kind;        // "results file", for errors
  int64_t application_id;  // in the file's header
  int64_t version;         // PRAGMA user_version: raised with the tables
  const char* tables;      // the SQL that creates them
  // A query for one number that fails where the tables are not those.
  const char* probe;
};

// Opens the file, and creates it, or its tables in an empty file, where the
// mode allows it. Committing means having been handed to the operating system:
// killing the process loses nothing, a power failure what was committed after
// the last SqliteDatabase::Sync at most.
// Returns NOT_FOUND for a missing file or folder; FAILED_PRECONDITION for a
// file of another kind or version; DATA_LOSS for a damaged one; else
// the errors of SqliteDatabase. All name the file.
absl::StatusOr<SqliteDatabase> OpenSqliteFile(const std::string& path,
                                              SqliteDatabase::Mode mode,
                                              const SqliteSchema& schema);

}  // namespace tara

#endif  // TARA_BASE_SQLITE_H_
