#ifndef TARA_TRAIN_STORE_GAME_STORE_SCHEMA_H_
#define TARA_TRAIN_STORE_GAME_STORE_SCHEMA_H_

// The file of a game store: its tables, its version, how it is opened.

#include <string>

#include "absl/status/statusor.h"
#include "tara/base/sqlite.h"

namespace tara::train {

// Opens the file of a game store and checks its kind, version and tables;
// creates them where kReadWrite finds none. Errors as OpenGameStore.
absl::StatusOr<SqliteDatabase> OpenStoreDatabase(const std::string& path,
                                                 SqliteDatabase::Mode mode);

}  // namespace tara::train

#endif  // TARA_TRAIN_STORE_GAME_STORE_SCHEMA_H_
