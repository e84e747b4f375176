#ifndef TARA_EVAL_PLAYERS_PLAYER_H_
#define TARA_EVAL_PLAYERS_PLAYER_H_

// Players, and the loop that plays their games.

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
#include "tara/base/threads.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/eval/alpha_beta/alpha_beta.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/search/search_session.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/mcts/utility.h"

namespace tara::eval {

// The findings of a player about a position in which it chooses; fields may be
// absent. Values are for the side to move, win minus loss, in [-1, 1].
struct SearchReport {
  std::optional<float> value = {};
  // By legal action, in the order of LegalSet::ForEach: the share of visits, or
  // of the policy without a search (sums to 1), and the value after the action,
  // NaN if unknown. Empty if the player has none.
  std::vector<float> policy = {};
  std::vector<float> action_values = {};
  // The final margin for the side to move, if proved for best play by both.
  std::optional<int> proved_margin = {};
};

// A player's clock at the time of a choice.
struct ClockReading {
  mcts::TimeControl control;
  absl::Duration left;  // of the game, or for this action
};

// A position in which a player chooses, with its game.
struct Turn {
  State state;
  // Of the game; the player's only source of randomness.
  Random* random = nullptr;
  // The score of the match when the game began.
  mcts::MatchScore match = {};
  // A number that is unique among all games of the player, and the actions that
  // led to `state`, for players that reuse the search of their last turn.
  uint64_t game = 0;
  absl::Span<const Action> actions = {};
  // With a clock: the time for this choice, in place of the player's limits.
  std::optional<mcts::MoveBudget> budget = {};
  // The clock of the budget, for players that manage time themselves.
  std::optional<ClockReading> clock = {};
  // Of a team of two: the player with the first of the side's seats, 0 or 1.
  int seating = 0;
  // Whether the player may continue to think after its choice.
  bool may_ponder = false;
  // Filled unless null; a forced choice leaves it unchanged.
  SearchReport* report = nullptr;
  // Filled with the reason why the player cannot continue this game (an engine
  // that crashed) and so forfeits it. If null, this is an error of the call.
  std::string* forfeit = nullptr;
  // Interrupts the choice; the same in all turns of a call. Null: never.
  const StopCheck* stop = nullptr;

  bool stopped() const { return stop != nullptr && (*stop)(); }
};

// Chooses actions in many games at once. Not thread-safe.
// tara/eval/players/make_player.h makes players from specs.
class Player {
 public:
  virtual ~Player() = default;

  // Fills actions[i] with the choice in turns[i]. Returns the error of a
  // network, or CANCELLED soon after the turns are stopped. REQUIRES: no state
  // is finished; the spans have equal sizes; no two turns are of one game.
  virtual absl::Status ChooseActions(absl::Span<const Turn> turns,
                                     absl::Span<Action> actions) = 0;

  // Called when a game is over or continues without this player.
  virtual void EndGame(uint64_t /*game*/) {}
};

// Makes a player. Thread-safe; players are not, so each thread has its own.
using PlayerFactory = std::function<absl::StatusOr<std::unique_ptr<Player>>()>;

// Plays a uniformly random legal action.
std::unique_ptr<Player> NewRandomPlayer();

// Plays an action that maximizes its side's lead in points if the game ended
// after it; random among equals.
std::unique_ptr<Player> NewGreedyPlayer();

// Plays the action with the highest prior; random among equals. No search.
std::unique_ptr<Player> NewPolicyPlayer(
    std::shared_ptr<mcts::Evaluator> evaluator);

// A session's options (search_session.h), and more. With UtilityKind::kMatch
// the match's score and the variant's margin deviation replace those in
// search.utility. The player has its own solver, for at most
// search.solver_vacant_hills and SolvableVacantHills of the variant. Threads
// search together in calls with one position. REQUIRES: one thread with
// search.gumbel.
struct SearchPlayerOptions : mcts::SessionOptions {
  // Thinking time per action, in place of search.simulations; zero: none. Less
  // if nothing can change the choice; reused simulations come on top. The
  // positions of a call share the sum of their times.
  absl::Duration time = absl::ZeroDuration();
  // Whether to search in the opponent's turn, on `threads` additional threads,
  // if Turn::may_ponder. REQUIRES: reuse; not search.gumbel.
  bool ponder = false;
  // Most simulations of a tree while pondering; some 500 bytes each.
  int ponder_simulations = 1 << 21;
  // Cached evaluations over all games; some 300 bytes each. At least 1.
  int64_t cache_positions = int64_t{1} << 16;
  // The clocks of Turn::budget and of `time`. Thread-safe.
  std::function<absl::Time()> now = SteadyTime;
  std::function<absl::Time()> time_clock = SteadyTime;
};

// Plays the best action after a search without noise, of all positions of a
// call in one batch. Turn::budget replaces simulations and time: the target, or
// up to the limit while another action may turn out better.
std::unique_ptr<Player> NewSearchPlayer(
    std::shared_ptr<mcts::Evaluator> evaluator,
    const SearchPlayerOptions& options);

// Plays the best action of an alpha-beta search with the hand-made evaluation;
// with limits of depth or nodes only, by the position alone.
std::unique_ptr<Player> NewAlphaBetaPlayer(
    const AlphaBetaLimits& limits, const AlphaBetaOptions& options = {});

// The loop that plays games: the caller supplies them (GameSource) and receives
// the finished ones (PlayedGame).

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
  // `number` is unique among all games of its players; `seed` is of `random`.
  PlayedGame(uint64_t number, const State& start, uint64_t seed);
  virtual ~PlayedGame() = default;

  // Plays a legal action, and records it with the report of who plays it.
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
// chooses in all its games at once. Returns the first error.
absl::Status PlayGames(const GameLoopOptions& options,
                       absl::Span<Player* const> players,
                       const GameSource& next_game,
                       const std::function<bool()>& go_on);

// Like PlayGames, on `threads` threads, which share the source and `go_on`;
// both must be thread-safe. First each thread makes a player of each factory,
// all threads concurrently. The first error, or false from `go_on`, ends all:
// the choices of the other threads are interrupted. REQUIRES: threads > 0.
absl::Status PlayGamesOnThreads(const GameLoopOptions& options,
                                absl::Span<const PlayerFactory> factories,
                                int threads, const GameSource& next_game,
                                const std::function<bool()>& go_on);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_PLAYER_H_
