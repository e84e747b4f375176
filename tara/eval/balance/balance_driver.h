#ifndef TARA_EVAL_BALANCE_BALANCE_DRIVER_H_
#define TARA_EVAL_BALANCE_BALANCE_DRIVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/eval/arena/parallel_arena.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/players/player.h"

namespace tara::eval {

// Told of each finished game, in the caller's thread, in whatever order they
// end; returns whether to go on, or an error, which ends the rest.
using BalanceGameCallback =
    std::function<absl::StatusOr<bool>(const BalanceGame& game)>;

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

  // Plays these games. When on_game returns false, or at an error (the
  // player's, or on_game's, which is returned), games in progress are given up.
  absl::Status Play(const BalanceGameOptions& options,
                    absl::Span<const BalanceGameId> games,
                    const BalanceGameCallback& on_game);

  // The games of all calls that were given up and begun anew, and why the first
  // of them was.
  int forfeits() const { return forfeits_; }
  const std::string& first_forfeit() const { return first_forfeit_; }

  // A player for questions beside games.
  Player& player() { return *players_[0]; }

 private:
  BalanceDriver(std::vector<std::unique_ptr<Player>> players,
                int concurrent_games)
      : players_(std::move(players)), concurrent_games_(concurrent_games) {}

  std::vector<std::unique_ptr<Player>> players_;  // by thread
  const int concurrent_games_;
  uint64_t next_number_ = 0;  // of a game, among all
  int forfeits_ = 0;
  std::string first_forfeit_;
};

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_BALANCE_DRIVER_H_
