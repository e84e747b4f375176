#ifndef TARA_BASE_SQLITE_H_
#define TARA_BASE_SQLITE_H_

// SQLite in the terms of absl, without its header: only sqlite.cc sees that.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tara {

// A prepared statement; parameters are counted from 1, columns from 0, as in
// SQLite. It must not outlive its database, which may be moved meanwhile.
class SqliteStatement {
 public:
  SqliteStatement(SqliteStatement&& other) noexcept;
  SqliteStatement& operator=(SqliteStatement&&) = delete;
  ~SqliteStatement();

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
  SqliteStatement(sqlite3* db, std::string path, sqlite3_stmt* statement);

  sqlite3* db_;
  std::string path_;
  sqlite3_stmt* statement_;  // owned
};

// A connection to one SQLite file. Not thread-safe. Errors name the file and
// are FAILED_PRECONDITION (not SQLite, or not writable), DATA_LOSS (damaged or
// unreadable), UNAVAILABLE (locked by another process beyond the busy
// timeout), ALREADY_EXISTS (primary key taken), RESOURCE_EXHAUSTED (disk
// full), else INTERNAL.
class SqliteDatabase {
 public:
  enum class Mode { kReadOnly, kReadWrite };  // kReadWrite creates

  // SQLite looks into the file only when it is first used.
  static absl::StatusOr<SqliteDatabase> Open(const std::string& path,
                                             Mode mode);

  SqliteDatabase(SqliteDatabase&& other) noexcept;
  SqliteDatabase& operator=(SqliteDatabase&&) = delete;
  ~SqliteDatabase();

  // Runs statements, separated by semicolons, that return nothing of interest.
  absl::Status Execute(const std::string& sql, absl::string_view doing);
  absl::StatusOr<SqliteStatement> Prepare(absl::string_view sql);
  // Waits until the disk has all that was committed, by whichever process:
  // syncs the write-ahead log. (What has left that for the file itself has been
  // synced on the way.)
  // REQUIRES: this connection has read or written the file.
  absl::Status Sync();
  // Returns the first column of the first row.
  absl::StatusOr<int64_t> QueryInt(absl::string_view sql);

  const std::string& path() const { return path_; }

 private:
  SqliteDatabase(std::string path, sqlite3* db);

  std::string path_;
  sqlite3* db_;  // owned
};

}  // namespace tara

#endif  // TARA_BASE_SQLITE_H_
