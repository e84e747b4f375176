#ifndef TARA_CLI_PLAYER_GAMES_H_
#define TARA_CLI_PLAYER_GAMES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/core/state.h"
#include "tara/eval/players/player_spec.h"

namespace tara::cli {

// Games of a player with itself, to be recorded: for players that are no
// evaluators (tara/train/play/self_play.h), such as engines.
struct PlayerGames {
  std::string player;  // its spec, which records name
  eval::PlayerSpec spec;
  // Game i is played from the (i modulo their number)-th.
  std::vector<State> starts;
  uint64_t seed = 1;
  int threads = 1;
};

// Plays the games of these numbers, on several threads, and hands each to
// `sink` when it ends, one at a time. A game begins with actions drawn from the
// player's policy or, of a player that has none, with two at random: else a
// player that never draws would play one game. Stops when `stop` says so:
// games in progress are given up. Games that the player gives up are played
// again (balance_driver.h); the errors are those of there, and the sink's.
absl::Status PlayPlayerGames(
    const PlayerGames& games, absl::Span<const uint64_t> numbers,
    const std::function<absl::Status(const proto::GameRecord&)>& sink,
    const std::function<bool()>& stop);

}  // namespace tara::cli

#endif  // TARA_CLI_PLAYER_GAMES_H_
