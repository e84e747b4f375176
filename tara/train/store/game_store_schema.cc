#include "tara/train/store/game_store_schema.h"

#include "tara/base/sqlite_schema.h"

namespace tara::train {
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

}  // namespace tara::train
