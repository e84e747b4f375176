#ifndef TARA_RECORD_GAME_STORE_H_
#define TARA_RECORD_GAME_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/base/sqlite.h"

namespace tara::record {

// The columns of a stored game that people query.
struct GameRow {
  uint64_t game_index;
  std::string variant;
  std::string rule_options;
  std::string model_id;
  // As EndingOf (game_record.h).
  std::string ended_by;
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
  int64_t limit = -1;         // maximum number of games; negative: no limit
  bool newest_first = false;  // descending game index; the limit takes those
};

// Suffix, in records, of the name of a network that plays rules which it has
// not learned.
inline constexpr absl::string_view kUntrainedMark = ",untrained";

// Begins the conditions (Contest) of games of a study of balance, followed by
// the name of their part of it and a space.
inline constexpr absl::string_view kStudyConditions = "balance/";

// What the games of one variant under the same rule options, played for the
// same purpose, come to. Who wins is with compensation, points are without it.
struct GameStatistics {
  std::string variant;
  std::string rule_options;
  // The part of a study of balance that the games belong to, as in "ladder"
  // (kStudyConditions); empty for other games.
  std::string purpose;
  int64_t games = 0;
  int64_t red_wins = 0;
  int64_t blue_wins = 0;
  int64_t draws = 0;
  double mean_length = 0;  // actions
  double mean_points_red = 0;
  double mean_points_blue = 0;
  std::map<std::string, int64_t> ended_by = {};  // games by ending
  int64_t untrained = 0;  // games of players that end with kUntrainedMark
  // SameGameKey of the games of contests, whose players may have no randomness.
  // (Self-play is random.)
  std::vector<uint64_t> same_games = {};
};

using StoreMode = SqliteDatabase::Mode;

// Finished games in one SQLite file (WAL): one row per game, with columns to
// query and the record as zstd-compressed Protobuf. Games of a run or of `tara
// selfplay` have their own indices; games of a contest (GameRecord.contest)
// take the next free index, and are found by contest and place.
//
// Killing the process at any instant loses no game whose Add has returned, and
// leaves a store that opens. A power failure loses no game that was there when
// Sync returned; of those added later it may lose the ones added last. Several
// processes may read while others write. The game index is the key: no two
// games of a store share it.
//
// Thread-safe: one connection, one mutex.
class GameStore {
 public:
  // Use OpenGameStore.
  GameStore(StoreMode mode, SqliteDatabase db);

  // Adds a finished game. A game of a contest takes the place of the same one.
  // INVALID_ARGUMENT if the record has no result, or its index or place exceeds
  // 2^63 - 1; ALREADY_EXISTS if the index of a game of no contest is taken;
  // FAILED_PRECONDITION if the store is read-only; UNAVAILABLE if another
  // process keeps it locked. The game is not replayed (see ValidateRecord).
  absl::Status Add(const proto::GameRecord& game) {
    return AddAll(absl::MakeConstSpan(&game, 1));
  }

  // Adds all the games or, on an error (as of Add), none: one transaction.
  absl::Status AddAll(absl::Span<const proto::GameRecord> games);

  // Waits until the disk has all games of the store. Returns the errors of
  // SqliteDatabase.
  absl::Status Sync();

  // Removes all games with an index below `end_index`; the file keeps its size,
  // and new games take the place. Errors as of Add.
  absl::Status RemoveBefore(uint64_t end_index);

  // Returns one game. NOT_FOUND for an index without a game, DATA_LOSS if
  // it is damaged.
  absl::StatusOr<proto::GameRecord> Get(uint64_t game_index);

  // Returns a game that Indices has listed. As Get, but NOT_FOUND only if it
  // was removed since, and DATA_LOSS if it is still listed.
  absl::StatusOr<proto::GameRecord> GetListed(uint64_t game_index);

  // Compares the columns of a game with its record. DATA_LOSS if they differ,
  // else errors as of GetListed.
  absl::Status CheckRow(const GameRow& row);

  // Returns the columns of the games of a query, in its order.
  absl::StatusOr<std::vector<GameRow>> List(const GameQuery& query);

  // Returns how many games List would return.
  absl::StatusOr<int64_t> Count(const GameQuery& query);

  // Returns the indices of the games that List would return, always
  // ascending: with newest_first and a limit, the replay window.
  absl::StatusOr<std::vector<uint64_t>> Indices(const GameQuery& query);

  // Returns the games of a contest in a variant, by place. DATA_LOSS if one is
  // damaged.
  absl::StatusOr<std::vector<proto::GameRecord>> GamesOf(
      absl::string_view variant, const proto::Contest& contest);

  // Returns FAILED_PRECONDITION if the store has games outside of contests:
  // games of contests would take the indices that self-play needs.
  absl::Status CheckForContests();

  // Returns the contests that there are games of, by variant.
  absl::StatusOr<std::vector<proto::Contest>> Contests();

  // Returns the statistics of the games of a query, by variant and rule
  // options in alphabetical order, then by purpose. Limit and order of the
  // query are ignored. Reads all games of contests.
  absl::StatusOr<std::vector<GameStatistics>> Statistics(
      const GameQuery& query);

  // Of kExclusive: FileLock.warning (tara/base/files.h).
  const std::string& lock_warning() const { return lock_warning_; }

 private:
  absl::Status CheckWritable(absl::string_view doing) const;
  absl::Status Insert(const proto::GameRecord& game, const std::string& blob)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status InsertIntoContest(const proto::GameRecord& game)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<proto::GameRecord> Decode(uint64_t game_index,
                                           absl::string_view blob) const;

  const std::string path_;
  const StoreMode mode_;
  const std::string lock_warning_;
  absl::Mutex mutex_;
  SqliteDatabase db_ ABSL_GUARDED_BY(mutex_);
  // Declared after db_, so that they are finalized before it closes.
  std::optional<SqliteStatement> insert_ ABSL_GUARDED_BY(mutex_);
  std::optional<SqliteStatement> select_ ABSL_GUARDED_BY(mutex_);
};

// Opens the store in the file `path`, or one in memory for ":memory:".
// NOT_FOUND for a missing file (read-only) or folder; FAILED_PRECONDITION for a
// file of another kind, a store of another version, or one that another process
// has with kExclusive, as this one wants it; DATA_LOSS for a damaged one.
absl::StatusOr<std::unique_ptr<GameStore>> OpenGameStore(
    const std::string& path, StoreMode mode);

}  // namespace tara::record

#endif  // TARA_RECORD_GAME_STORE_H_
