#ifndef TARA_EVAL_BALANCE_BALANCE_DRIVER_H_
#define TARA_EVAL_BALANCE_BALANCE_DRIVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/fleet.pb.h"
#include "proto/game.pb.h"
#include "tara/base/stop.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/players/game_loop.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/team.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"

namespace tara::eval {

// Told of each finished game, one at a time, from any thread, in whatever order
// they end; returns whether to go on, or an error, which ends the rest. The
// record lacks who played: contest and model_id.
using BalanceGameCallback =
    std::function<absl::StatusOr<bool>(proto::GameRecord game)>;

// Returns the seed that the record of a game has.
uint64_t SeedOfGame(const BalanceGameOptions& options, const BalanceGameId& id);

// Games in progress on a thread: a batch for a network.
inline constexpr int kStudyGamesAThread = 32;

// Plays games of a player with itself on several threads, each with a player
// of its own, which it keeps from call to call. A game that the player gives up
// (Turn::forfeit) says nothing of balance: it is begun anew, and given up again
// and again, it is an error. Not thread-safe.
class BalanceDriver {
 public:
  // Returns the first error of making a player.
  // REQUIRES: threads > 0; concurrent_games, in progress a thread, > 0.
  static absl::StatusOr<std::unique_ptr<BalanceDriver>> Create(
      const PlayerFactory& make, int threads, int concurrent_games);

  // Lets this check stop calls of Play from now on. Thread-safe.
  void StopWhen(StopCheck stop) { stop_ = std::move(stop); }
  bool stopped() const { return stop_ && stop_(); }
  const StopCheck& stop() const { return stop_; }

  // Has games played by a fleet from now on, as those of this player, a spec as
  // WithPrecision returns it: `stop`, of StopWhen, ends a call of Play with
  // CANCELLED. The fleet must outlive the driver.
  void PlayOn(fleet::Fleet& fleet, const PlayerSpec& player, StopCheck stop);

  // Plays these games. When on_game returns false, the driver is stopped, or at
  // an error (the player's, on_game's, or Fleet::Play's, which is returned),
  // games in progress are given up.
  absl::Status Play(const BalanceGameOptions& options,
                    absl::Span<const BalanceGameId> games,
                    const BalanceGameCallback& on_game);

  // The games of all calls that were given up and begun anew, and why the first
  // of them was.
  int forfeits() const { return forfeits_; }
  const std::string& first_forfeit() const { return first_forfeit_; }

  // A player for questions beside games.
  Player& player() { return *players_[0][0]; }

 private:
  BalanceDriver(PlayersByThread players, int concurrent_games)
      : players_(std::move(players)), concurrent_games_(concurrent_games) {}

  absl::Status PlayByFleet(const BalanceGameOptions& options,
                           absl::Span<const BalanceGameId> games,
                           const BalanceGameCallback& on_game);

  PlayersByThread players_;
  const int concurrent_games_;
  uint64_t next_number_ = 0;  // of a game, among all
  int forfeits_ = 0;
  std::string first_forfeit_;
  fleet::Fleet* fleet_ = nullptr;  // if one plays
  TeamSpec team_;                  // as which it does
  StopCheck stop_;
};

// Plays pieces of a study that a fleet plays (BalanceDriver::PlayOn).
class StudyWorker {
 public:
  // The files are where the networks are here. INVALID_ARGUMENT for a request
  // that makes no sense.
  static absl::StatusOr<std::unique_ptr<StudyWorker>> Create(
      const proto::ContestRequest& request,
      absl::Span<const std::string> files);

  // Returns the games; not all where `stop` ended it. A player's errors.
  absl::StatusOr<std::vector<proto::GameRecord>> Play(
      absl::Span<const fleet::Piece> pieces, const StopCheck& stop);

 private:
  BalanceGameOptions options_;
  std::unique_ptr<BalanceDriver> driver_;
};

// What a study is told apart by: its games are those of no other.
struct BalanceStudyKey {
  BalanceGameOptions options;
  std::string player;         // spec, with its number type (WithPrecision)
  std::string identity = {};  // PlayerIdentity
};

// Returns what the games of a study are played as.
proto::Contest ContestOf(const BalanceStudyKey& key);

// The games that there are of a study: those in the store, and those played
// since, each of which is kept there when it ends. Not thread-safe.
class StudyGames {
 public:
  // Refers to the driver and the store, which must outlive it.
  StudyGames(const BalanceStudyKey& key, BalanceDriver& driver,
             record::GameStore& store)
      : key_(key), driver_(driver), store_(store), contest_(ContestOf(key)) {}

  // Reads the study's games from the store. Errors of the store.
  absl::Status Load();

  // Returns the game; null where it is not there.
  const GameFacts* Find(const BalanceGameId& id) const;
  // Returns those of the games that are not there.
  std::vector<BalanceGameId> Missing(
      absl::Span<const BalanceGameId> games) const;
  // Plays those of the games that are not there. `on_game`, called after each,
  // one at a time, returns whether to go on; games that end after that are
  // kept, too. Errors of the player or the store.
  absl::Status Play(absl::Span<const BalanceGameId> games,
                    const std::function<bool()>& on_game);

 private:
  absl::Status Add(const proto::GameRecord& game);

  const BalanceStudyKey key_;
  BalanceDriver& driver_;
  record::GameStore& store_;
  const proto::Contest contest_;
  std::map<BalanceGameId, GameFacts> games_;
};

// Asks a player for what it thinks of the start position.
absl::Status AskForStart(const BalanceGameOptions& options, Player& player,
                         StartReport& start, const StopCheck& stop = {});

// How many games a study takes.
struct BalancePlan {
  int games = 200;  // at most, with a precision
  // Ends the games when half of the 95 % interval of the first side's score is
  // no wider than this (looked at after each kBalanceBlock games, so that the
  // result does not depend on threads). Stopping by the width, not by the
  // score, leaves intervals right for many games.
  // Source: Chow and Robbins 1965, "On the asymptotic theory of fixed-width
  // sequential confidence intervals for the mean", Annals of Mathematical
  // Statistics 36.
  std::optional<double> precision = {};
  // Games made to begin with each class of first actions; 0: none.
  int first_games = 16;
  // Further games with the class that turned out fairest; 0: none.
  int pie_games = 64;
};

inline constexpr int kBalanceBlock = 128;

// How far a study has come; games of an earlier run count as done.
struct BalanceProgress {
  int games_done = 0;
  int games = 0;  // at most
  // The first side's score over the games so far that began as they liked.
  Interval score = {};
  std::string stage = {};  // what is played, beside the study's own games
};
// Returns whether to go on.
using BalanceProgressCallback = std::function<bool(const BalanceProgress&)>;

// Returns the games that a study takes at most.
int MostGames(const BalancePlan& plan, const BalanceGameOptions& options);

// Plays the games of a study that the store does not have yet, each kept there
// when it ends, and returns all of its games. Stopped by on_progress, it
// returns those up to the first that is missing: which games are in does not
// depend on how long they took, but for the last few. Errors of the player or
// the store are returned.
absl::StatusOr<BalanceStudy> RunBalanceStudy(
    const BalancePlan& plan, const BalanceStudyKey& key, BalanceDriver& driver,
    record::GameStore& store, const BalanceProgressCallback& on_progress);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_BALANCE_DRIVER_H_
