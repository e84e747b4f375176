#ifndef TARA_EVAL_ARENA_ARENA_H_
#define TARA_EVAL_ARENA_ARENA_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/fleet.pb.h"
#include "proto/game.pb.h"
#include "tara/base/stop.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena_openings.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/game_loop.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/team.h"
#include "tara/eval/statistics/sprt.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"

namespace tara::eval {

// When games end before their end.
struct AdjudicationOptions {
  // When both players have proved one and the same margin, which both then hold
  // to the end: with that margin. Not with clocks, which may still run out.
  bool proof = true;
  // When each of the players has thought the same side as good as won, by a
  // value of at least `agreed_value` in favour of it, at its last
  // `agreed_turns` choices: with a win of kForfeitMargin. 0 turns: never.
  int agreed_turns = 0;
  double agreed_value = 0.95;
};

struct ArenaOptions {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions rule_options = {};
  // Plays matches (docs/reference/rules.md section 9): as many games in
  // succession as there are seats, of which each seat's player starts one, so
  // that the teams are Red in turn; their points add up, and players are told
  // how the match stands. Otherwise every game stands by itself.
  bool by_match = false;
  int games = 200;  // rounded up to whole pairs, of games or of matches
  // Ways to seat the two players of a team, A's and B's: 1, or 2 for a team
  // that is one (team.h). Each opening has as many pairs as there are
  // ways for both together, and games are rounded up to whole openings.
  int seatings_a = 1;
  int seatings_b = 1;
  // Uniformly random actions that begin two games of each pair, no two pairs
  // alike (arena_openings.h); 0: none, so that players that never draw play one
  // game over and over; no value: DefaultOpeningPlies.
  std::optional<int> opening_plies = {};
  // With a judge, openings that favour a side are drawn again (OpeningOptions).
  OpeningJudge opening_judge = {};
  uint64_t seed = 1;
  // Games, or matches, in progress at a time on a thread: more make larger
  // batches. The result does not depend on it.
  int concurrent_games = 64;
  // With clocks, players are told the time for each move, may ponder, and lose
  // games on time. Games are then played one at a time, and results are
  // reproducible no more.
  std::optional<GameClocks> clocks = {};
  AdjudicationOptions adjudication = {};
  // Ends the arena when this test has decided, after `games` at the latest; in
  // matches the test is of pairs of matches. The result is of the pairs until
  // then, the same whatever the threads.
  std::optional<SprtOptions> sprt = {};
  // Games of the same arena that have been played: they count, and are not
  // played again.
  std::vector<ArenaGame> earlier = {};
  // Told of each game when it ends, one at a time, from any thread; an error
  // ends the arena. The record lacks who played: contest and model_id.
  std::function<absl::Status(proto::GameRecord)> on_game = {};
  // Stops the arena within a batch of the players' searches, not only between
  // actions as its progress callback does. Thread-safe; empty: never.
  StopCheck stop = {};
};

struct ArenaProgress {
  int games_done = 0;
  int games = 0;                   // that will be played
  double score = 0.5;              // of A in the games done
  std::optional<double> llr = {};  // with a sequential test
};

// Told of progress each time all games have gone on by an action or two;
// returns false to stop early.
using ArenaProgressCallback = std::function<bool(const ArenaProgress&)>;

// Plays pairs of games: each random opening once with A as Red (in doubles as
// both seats of Red) and once with B. With by_match, pairs of matches: A starts
// one and B the other, and each game of the one has an opening in common with
// that of the other. A player that gives a game up (Turn::forfeit) loses it.
// Stopped early, the result is of the pairs finished by then. Without clocks
// reproducible from options.seed. Returns INVALID_ARGUMENT for options out of
// range, or a player's error.
absl::StatusOr<ArenaResult> PlayArena(
    const ArenaOptions& options, Player& a, Player& b,
    const ArenaProgressCallback& on_progress = {});

// As PlayArena, with threads that take games from one schedule. The result
// does not depend on how many there are (unless it is stopped early), if all
// players that a factory makes play alike: networks in one number type.
// `on_progress` is told of all threads' games, from any of them and from
// several at once. Returns the first error of PlayArena or of making a player.
// REQUIRES: threads > 0.
absl::StatusOr<ArenaResult> PlayArenaInParallel(
    const ArenaOptions& options, const PlayerFactory& make_a,
    const PlayerFactory& make_b, int threads,
    const ArenaProgressCallback& on_progress = {});

// As PlayArena, with the games played by a fleet. REQUIRES: teams as
// WithPrecision returns them, and options with SetTeams of them. Errors of
// NewRemoteContest and Fleet::Play; FAILED_PRECONDITION with clocks.
absl::StatusOr<ArenaResult> PlayArenaOnFleet(
    const ArenaOptions& options, const TeamSpec& a, const TeamSpec& b,
    fleet::Fleet& fleet, const ArenaProgressCallback& on_progress = {});

// Plays pieces of such an arena, and returns their games in order; none of
// those that `stop` ended. INVALID_ARGUMENT for a request or pieces that make
// no sense; a player's errors.
class ArenaWorker {
 public:
  // The files are where the networks are here.
  static absl::StatusOr<std::unique_ptr<ArenaWorker>> Create(
      const proto::ContestRequest& request,
      absl::Span<const std::string> files);

  absl::StatusOr<std::vector<proto::GameRecord>> Play(
      absl::Span<const fleet::Piece> pieces, const StopCheck& stop);

 private:
  ArenaOptions options_;
  std::unique_ptr<Player> a_, b_;
};

// Games of an arena with a sequential test at most, unless it says otherwise:
// it wants as many as it takes, and yet an end.
inline constexpr int kMostGamesOfATest = 20000;

// Sets what depends on who plays: the seatings, and that no more games are in
// progress than the teams can take.
void SetTeams(const TeamSpec& a, const TeamSpec& b, ArenaOptions& options);

// Returns options.opening_plies, or the default of the variant.
int OpeningPlies(const ArenaOptions& options);

// Returns how many games a pair has: two, or those of two matches.
int GamesPerPair(const ArenaOptions& options);

// Returns how many pairs begin with the same openings.
int PairsPerOpening(const ArenaOptions& options);

// Returns INVALID_ARGUMENT naming what is out of range.
absl::Status CheckArenaOptions(const ArenaOptions& options);

// Returns all that the games of an arena depend on beside variant, players and
// how many there are. `openings` names how openings are chosen, `time_control`
// the clocks, each as the user says it.
std::string ArenaConditions(const ArenaOptions& options,
                            absl::string_view openings = "",
                            absl::string_view time_control = "");

// Lets an arena go on where the games of its contest in the store end, and
// keeps its further games there. The store must outlive the arena.
absl::Status ResumeFromStore(record::GameStore& store,
                             const proto::Contest& contest,
                             ArenaOptions& options);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_ARENA_H_
