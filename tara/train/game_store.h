#ifndef TARA_TRAIN_GAME_STORE_H_
#define TARA_TRAIN_GAME_STORE_H_
// CONTRACT (to be completed by the data engineer). No sqlite3.h in this header.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"

namespace tara {

// The columns of a stored game that people query.
struct GameRow {
  uint64_t game_index;
  std::string variant, rule_options, model_id, ended_by;
  uint32_t generation;
  int length;
  int points_red, points_blue;
  int64_t finished_unix_ms;
};

// Which games: empty fields select all.
struct GameQuery {
  std::string variant;
  int generation = -1;
  int64_t limit = -1;
  bool newest_first = false;
};

// Games in SQLite (WAL): a row a game with queryable columns and the record
// as zstd-compressed Protobuf. A finished Add survives a kill at any instant.
// Thread-safe (one connection, one mutex).
class GameStore {
 public:
  virtual ~GameStore() = default;
  virtual absl::Status Add(const proto::GameRecord& game) = 0;         // one transaction
  virtual absl::Status AddAll(absl::Span<const proto::GameRecord> games) = 0;  // one transaction
  virtual absl::StatusOr<proto::GameRecord> Get(uint64_t game_index) = 0;
  virtual absl::StatusOr<std::vector<GameRow>> List(const GameQuery& query) = 0;
  virtual absl::StatusOr<int64_t> Count(const GameQuery& query) = 0;
  virtual absl::StatusOr<std::vector<uint64_t>> Indices(const GameQuery& query) = 0;  // ascending
};

enum class StoreMode { kReadWrite, kReadOnly };  // kReadWrite creates
absl::StatusOr<std::unique_ptr<GameStore>> OpenGameStore(const std::string& path, StoreMode mode);

}  // namespace tara
#endif
