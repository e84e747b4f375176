#ifndef TARA_EVAL_PLAYERS_GAME_LOOP_H_
#define TARA_EVAL_PLAYERS_GAME_LOOP_H_

// Games of players: the loop that plays the games of arenas, ratings, studies
// of balance and `tara selfplay`. The caller supplies the games (GameSource)
// and receives the finished ones (PlayedGame).

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/base/clocks.h"
#include "tara/base/random.h"
#include "tara/base/stop.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/eval/players/player.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/mcts/utility.h"

namespace tara::eval {

// Clocks for the players of each game. A move is an action, also where a turn
// has two of them; partners share a clock.
struct GameClocks {
  mcts::TimeControl control;
  mcts::TimeOptions options = {};
  // The clock that measures time.
  std::function<absl::Time()> now = SteadyTime;
};

// The time of a player's moves in a game, without openings.
struct TimeUse {
  int moves = 0;
  absl::Duration time = absl::ZeroDuration();
};

// A player's clock in one game.
struct PlayerClock {
  mcts::TimeManager manager;
  TimeUse use = {};
};

// A game in progress and, when it is over, its result. It does not depend on
// concurrent games if its players' choices do not.
struct PlayedGame {
  // `number` is unique among all games of its players; `seed` is that of its
  // random stream.
  PlayedGame(uint64_t number, const State& start, uint64_t seed);
  virtual ~PlayedGame() = default;

  // Plays an action, and records it with the report of the player to move.
  // REQUIRES: it is legal.
  void Play(Action action, const SearchReport& report = {});

  // Receives the player's report and choice, and returns the action to play:
  // the choice, or another legal action.
  virtual Action Choose(const SearchReport& /*report*/, Action choice) {
    return choice;
  }

  // Whether the game ends early.
  virtual bool adjudicated() const { return false; }

  // Called when the game is over. Returns a game that replaces it; null: the
  // source's next game. An error ends the loop.
  virtual absl::StatusOr<std::unique_ptr<PlayedGame>> Finish() = 0;

  // The index of the player to move among the players of the loop.
  int to_move() const { return players[state.side()]; }
  bool over() const {
    return state.finished() || forfeited_by.has_value() || adjudicated();
  }

  const uint64_t number;
  State state;
  Random random;                         // the game's own stream
  std::vector<Action> actions = {};      // so far, the opening's included
  proto::GameRecord record;              // of these; without a result
  std::array<int, 2> players = {};       // by side: places
  std::array<int, 2> seatings = {};      // by place: Turn::seating
  mcts::MatchScore match = {};           // Turn::match
  std::vector<PlayerClock> clocks = {};  // by place; empty: without clocks
  // The index of the player who lost the game on time or, if `fault` is set, by
  // that fault (Turn::forfeit).
  std::optional<int> forfeited_by = {};
  std::string fault = {};
};

// Returns the games to play, one after another; null: there are no more.
using GameSource = std::function<absl::StatusOr<std::unique_ptr<PlayedGame>>()>;

struct GameLoopOptions {
  // Concurrent games per thread. More make larger batches.
  int games = 1;
  // With clocks, players receive the time for each move, may ponder, and lose
  // games on time. Games are then played one at a time.
  std::optional<GameClocks> clocks = {};
  // Interrupts the players' choices (Turn::stop); empty: never.
  StopCheck stop = {};
};

// Plays games until the source has no more and all are over, or `go_on` returns
// false, or `stop` is true; games in progress are then dropped. `go_on` is
// called each time all games have advanced by an action or two. Each player
// chooses in all its games at once. Returns the first error of a player, the
// source or a game.
absl::Status PlayGames(const GameLoopOptions& options,
                       absl::Span<Player* const> players,
                       const GameSource& next_game,
                       const std::function<bool()>& go_on);

// Players by thread and by index; threads share none of them.
using PlayersByThread = std::vector<std::vector<std::unique_ptr<Player>>>;

// Makes players for `threads` threads, one of each factory per thread; the
// threads make theirs concurrently. Returns the first error. REQUIRES: threads
// > 0.
absl::StatusOr<PlayersByThread> MakePlayers(
    absl::Span<const PlayerFactory> factories, int threads);

// Like PlayGames, on `threads` threads, which share the source and `go_on`;
// both must be thread-safe. The first error, or false from `go_on`, ends all:
// the choices of the other threads are interrupted. REQUIRES: 0 < threads <=
// players.size().
absl::Status PlayGamesOnThreads(const GameLoopOptions& options,
                                const PlayersByThread& players, int threads,
                                const GameSource& next_game,
                                const std::function<bool()>& go_on);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_GAME_LOOP_H_
