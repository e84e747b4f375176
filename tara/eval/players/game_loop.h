#ifndef TARA_EVAL_PLAYERS_GAME_LOOP_H_
#define TARA_EVAL_PLAYERS_GAME_LOOP_H_

// Games of players: the loop that plays those of arenas, ratings, studies of
// balance and `tara selfplay`. Who asks for games says which they are
// (GameSource) and what becomes of them (PlayedGame).

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
  // What time is measured by.
  std::function<absl::Time()> now = SteadyTime;
};

// What a player's moves of a game took, openings not counted; by clock alone.
struct TimeUse {
  int moves = 0;
  absl::Duration time = absl::ZeroDuration();
};

// A player's clock in one game.
struct PlayerClock {
  mcts::TimeManager manager;
  TimeUse use = {};
};

// A game of players that is being played, and when it is over what it was. It
// does not depend on those played beside it, if its players' choices do not.
struct PlayedGame {
  // `number` names the game among all that its players ever play; `seed` is
  // that of its stream.
  PlayedGame(uint64_t number, const State& start, uint64_t seed);
  virtual ~PlayedGame() = default;

  // Plays an action, and records it with what the player to move found.
  // REQUIRES: it is legal.
  void Play(Action action, const SearchReport& report = {});

  // Sees what the player to move found and chose, and returns the action to be
  // played: that choice, or another legal action.
  virtual Action Choose(const SearchReport& /*report*/, Action choice) {
    return choice;
  }

  // Whether the game ends here, though the rules let it go on.
  virtual bool adjudicated() const { return false; }

  // Takes the game as over. Returns one to begin in its place; null: whichever
  // the source has next. An error ends the loop.
  virtual absl::StatusOr<std::unique_ptr<PlayedGame>> Finish() = 0;

  // The place, among the players of the loop, of the one to move.
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
  // The place of the player who lost the game on time, or, where there is a
  // fault, because it could not go on (Turn::forfeit).
  std::optional<int> forfeited_by = {};
  std::string fault = {};
};

// Hands out the games to play, one after another; null: there are no more.
using GameSource = std::function<absl::StatusOr<std::unique_ptr<PlayedGame>>()>;

struct GameLoopOptions {
  // In progress at a time, on each thread: more make larger batches.
  int games = 1;
  // With clocks, players are told the time for each move, may ponder, and lose
  // games on time; games are then played one at a time.
  std::optional<GameClocks> clocks = {};
  // Breaks the players' choices off (Turn::stop); empty: nothing does.
  StopCheck stop = {};
};

// Plays games until the source has no more and all are over, or `go_on`, which
// is asked each time all games have gone on by an action or two, returns false,
// or `stop` is true; games in progress are then dropped. Each player is asked
// for its choices in all games at once. Returns the first error of a player,
// the source or a game.
absl::Status PlayGames(const GameLoopOptions& options,
                       absl::Span<Player* const> players,
                       const GameSource& next_game,
                       const std::function<bool()>& go_on);

// Players for several threads: those of a thread, by place, are no other's.
using PlayersByThread = std::vector<std::vector<std::unique_ptr<Player>>>;

// Makes players for so many threads, one of each factory a thread; threads make
// theirs at the same time. Returns the first error. REQUIRES: threads > 0.
absl::StatusOr<PlayersByThread> MakePlayers(
    absl::Span<const PlayerFactory> factories, int threads);

// As PlayGames, on so many threads, which share the source and `go_on`: both
// are to be thread-safe. The first error, or `go_on` once false, ends all: the
// other threads' choices are broken off.
// REQUIRES: 0 < threads <= players.size().
absl::Status PlayGamesOnThreads(const GameLoopOptions& options,
                                const PlayersByThread& players, int threads,
                                const GameSource& next_game,
                                const std::function<bool()>& go_on);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_GAME_LOOP_H_
