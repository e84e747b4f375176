#ifndef TARA_TRAIN_STORE_GAME_STORE_H_
#define TARA_TRAIN_STORE_GAME_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/base/sqlite.h"

namespace tara::train {

// The columns of a stored game that people query.
struct GameRow {
  uint64_t game_index;
  std::string variant;
  std::string rule_options;
  std::string model_id;
  std::string ended_by;  // as the rules say, or "resigned"
  uint32_t generation;
  int length;  // actions
  int points_red;
  int points_blue;
  int64_t finished_unix_ms;  // when it was added
};

// Which games: the default selects all, in ascending game index.
struct GameQuery {
  std::string variant = {};   // empty: any
  int64_t generation = -1;    // negative: any
  int64_t limit = -1;         // at most so many games; negative: no limit
  bool newest_first = false;  // descending game index; the limit takes those
};

// Ends the name that records give a network which plays what it has not
// learned.
inline constexpr absl::string_view kUntrainedMark = ",untrained";

// What the games of one variant under the same rule options come to.
struct GameStatistics {
  std::string variant;
  std::string rule_options;
  int64_t games = 0;
  int64_t red_wins = 0;
  int64_t blue_wins = 0;
  int64_t draws = 0;
  double mean_length = 0;  // actions
  double mean_points_red = 0;
  double mean_points_blue = 0;
  std::map<std::string, int64_t> ended_by = {};  // games by ending
  int64_t untrained = 0;  // games of players that end with kUntrainedMark

  // Red's wins plus half the draws, as a share of the games.
  double red_score() const {
    return (static_cast<double>(red_wins) + 0.5 * static_cast<double>(draws)) /
           static_cast<double>(games);
  }
};

// Finished games in one SQLite file (WAL): a row a game, with columns to
// query and the record as zstd-compressed Protobuf.
//
// Killing the process at any instant loses no game whose Add has returned, and
// leaves a store that opens. A power failure loses no game that was there when
// Sync returned; of those added later it may lose the ones added last. Several
// processes may read while one writes. The game index is the key: no two games
// of a store share it.
//
// Thread-safe: one connection, one mutex.
class GameStore {
 public:
  virtual ~GameStore() = default;

  // Adds a finished game. INVALID_ARGUMENT if the record has no result or its
  // index exceeds 2^63 - 1; ALREADY_EXISTS if its index is taken;
  // FAILED_PRECONDITION if the store is read-only; UNAVAILABLE if another
  // process keeps it locked. The game is not replayed (see ValidateRecord).
  virtual absl::Status Add(const proto::GameRecord& game) = 0;

  // Adds all the games or, on an error (as of Add), none: one transaction.
  virtual absl::Status AddAll(absl::Span<const proto::GameRecord> games) = 0;

  // Waits until the disk has all games of the store. Returns the errors of
  // SqliteDatabase.
  virtual absl::Status Sync() = 0;

  // Removes all games with an index below `end_index`; the file keeps its size,
  // and new games take the place. Errors as of Add.
  virtual absl::Status RemoveBefore(uint64_t end_index) = 0;

  // Returns one game. NOT_FOUND if there is none with this index, DATA_LOSS if
  // it is damaged.
  virtual absl::StatusOr<proto::GameRecord> Get(uint64_t game_index) = 0;

  // Returns the columns of the games of a query, in its order.
  virtual absl::StatusOr<std::vector<GameRow>> List(const GameQuery& query) = 0;

  // Returns how many games List would return.
  virtual absl::StatusOr<int64_t> Count(const GameQuery& query) = 0;

  // Returns the indices of the games that List would return, always
  // ascending: with newest_first and a limit, the replay window.
  virtual absl::StatusOr<std::vector<uint64_t>> Indices(
      const GameQuery& query) = 0;

  // Returns the statistics of the games of a query, by variant and rule
  // options in alphabetical order. Limit and order of the query are ignored.
  virtual absl::StatusOr<std::vector<GameStatistics>> Statistics(
      const GameQuery& query) = 0;
};

// kReadWrite creates a store where there is no file.
enum class StoreMode { kReadWrite, kReadOnly };

// Opens the store in the file `path`. NOT_FOUND for a missing file (read-only)
// or folder; FAILED_PRECONDITION for a file of another kind or a store of
// another version; DATA_LOSS for a damaged one.
absl::StatusOr<std::unique_ptr<GameStore>> OpenGameStore(
    const std::string& path, StoreMode mode);

// The file of a game store: its tables, its version, how it is opened.

// Opens the file of a game store and checks its kind, version and tables;
// creates them where kReadWrite finds none. Errors as OpenGameStore.
absl::StatusOr<SqliteDatabase> OpenStoreDatabase(const std::string& path,
                                                 SqliteDatabase::Mode mode);

// Returns a record as zstd-compressed Protobuf with a checksum.
std::string EncodeRecord(const proto::GameRecord& record);

// The inverse of EncodeRecord. Returns DATA_LOSS, saying what is wrong, for
// bytes that it did not make.
absl::StatusOr<proto::GameRecord> DecodeRecord(absl::string_view blob);

}  // namespace tara::train

#endif  // TARA_TRAIN_STORE_GAME_STORE_H_
