#ifndef TARA_BASE_SQLITE_SCHEMA_H_
#define TARA_BASE_SQLITE_SCHEMA_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/base/sqlite.h"

namespace tara {

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
// file that is none of this kind or version; DATA_LOSS for a damaged one; else
// the errors of SqliteDatabase. All name the file.
absl::StatusOr<SqliteDatabase> OpenSqliteFile(const std::string& path,
                                              SqliteDatabase::Mode mode,
                                              const SqliteSchema& schema);

}  // namespace tara

#endif  // TARA_BASE_SQLITE_SCHEMA_H_
