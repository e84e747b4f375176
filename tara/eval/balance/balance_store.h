#ifndef TARA_EVAL_BALANCE_BALANCE_STORE_H_
#define TARA_EVAL_BALANCE_BALANCE_STORE_H_

// Games of `tara balance` on disk, so that a study can be broken off, gone on
// with and made longer. JSON lines: what anybody can read and a crash cannot
// damage but for its last line.
//
//   {"tara_balance": 1}                                   the first line
//   {"study": 0, "variant": "four_treasures", ...}        what is played
//   {"game": 17, "study": 0, "actions": "D4 ...", "red": [...], ...}
//   {"start": 0, "actions": "B1 C1 ...", ...}             a study's
//   StartReport
//
// "red" are Red's values in thousandths, "nats" the entropies in thousandths of
// a nat; null where there is none. "first" is the action that a game was made
// to begin with.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/nn/inference_options.h"

namespace tara::eval {

// What a study is told apart by: its games are those of no other.
struct BalanceStudyKey {
  BalanceGameOptions options;
  std::string player;  // spec, with its number type (WithPrecision)
  // The contents of the player's network (a checksum), empty without one: a
  // file may be replaced, and a run's newest checkpoint be another one.
  std::string network = {};
};

// Games of some studies, in memory and, where there is a file, in it. One
// process at a time. Not thread-safe.
class BalanceStore {
 public:
  // In memory alone.
  BalanceStore();
  // Opens or creates a file. A last line without its end, which a crash may
  // leave, is cut off. Returns FAILED_PRECONDITION for a file of another kind,
  // or one in use; DATA_LOSS for a damaged one, naming the line; or the
  // system's error.
  static absl::StatusOr<BalanceStore> Open(const std::string& path);

  BalanceStore(BalanceStore&&) noexcept;
  BalanceStore& operator=(BalanceStore&&) noexcept;
  ~BalanceStore();

  // Returns the number types of the games of a network
  // (BalanceStudyKey::network), Precision::kAuto among them for those that do
  // not tell.
  std::set<nn::Precision> PrecisionsOf(const std::string& network) const;

  // Returns the number of a study, which is new or was there.
  absl::StatusOr<int> StudyFor(const BalanceStudyKey& key);

  // Adds what is not there yet. Errors of the file name it.
  absl::Status AddGame(int study, const BalanceGame& game);
  absl::Status SetStart(int study, const StartReport& start);

  const std::map<BalanceGameId, BalanceGame>& games(int study) const;
  const std::optional<StartReport>& start(int study) const;

 private:
  struct Study;
  class File;

  absl::Status ReadLine(const std::string& line);
  absl::Status Write(const std::string& line);

  std::vector<Study> studies_;
  std::unique_ptr<File> file_;
};

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_BALANCE_STORE_H_
