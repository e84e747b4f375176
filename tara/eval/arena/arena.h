#ifndef TARA_EVAL_ARENA_ARENA_H_
#define TARA_EVAL_ARENA_ARENA_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/fleet.pb.h"
#include "proto/game.pb.h"
#include "tara/base/random.h"
#include "tara/base/threads.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"

namespace tara::eval {

// A starting position of games, with the actions that lead to it.
struct Opening {
  State state;
  std::vector<Action> actions;
};

// Returns the value of a position for the side to move, win minus loss, in [-1,
// 1]. `random` is its source of randomness. Returns the errors of the player
// that it uses.
using OpeningJudge =
    std::function<absl::StatusOr<double>(const State&, Random&)>;

// Returns the default number of uniformly random actions of openings: the
// smallest number from 2 that yields 200 openings that differ up to symmetry.
// Takes a few microseconds per position.
int DefaultOpeningPlies(Variant variant, const RuleOptions& rule_options);

struct OpeningOptions {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions rule_options = {};
  int plies = 2;  // uniformly random actions; 0: always the start position
  uint64_t seed = 1;
  // Openings in place of random ones, in turn, repeated after the last.
  std::vector<std::vector<Action>> given = {};
  // With a judge, openings whose value exceeds max_value for either side are
  // drawn again.
  OpeningJudge judge = {};
  double max_value = 0.2;
};

// Draws openings one after another, no two the same up to symmetry, because
// players without randomness would play the same game or its mirror image
// again. Symmetries of positions count (RepresentativeSymmetry): one that
// exchanges the sides turns one game of a pair into the other. If random
// actions yield no further opening of this length, openings get longer. Not
// thread-safe.
class Openings {
 public:
  explicit Openings(const OpeningOptions& options);

  // Returns the next opening. The sequence depends on the options alone. An
  // opening is shorter if its next action would end the game. Returns the
  // judge's error, or FAILED_PRECONDITION without a further opening, or without
  // one that the judge finds balanced.
  absl::StatusOr<Opening> Next();

 private:
  Opening Draw(Random& random) const;

  const OpeningOptions options_;
  int next_ = 0;
  int plies_;
  std::unordered_set<uint64_t> seen_;  // hashes of representatives
};

// Returns a judge that evaluates positions with a player. It returns
// FAILED_PRECONDITION if the player has no values (random and greedy players),
// and CANCELLED once `stop` is true. One position at a time; not thread-safe.
OpeningJudge NewOpeningJudge(std::unique_ptr<Player> player,
                             StopCheck stop = {});

// The effect of an action.
enum class ActionType : uint8_t {
  kBuild,      // on a vacant hill, by hand or by a king's move
  kCapture,    // of a ringfort
  kBacktrack,  // a king's move to a friendly ringfort
  kSacrifice,  // the same, and the ringfort is given up
  kSwap,       // of a ringfort; or the pie rule's
  kLink,
  kPass,
};
inline constexpr int kNumActionTypes = 7;

// Returns "build", "capture", "backtrack", "sacrifice", "swap", "link", "pass".
absl::string_view ActionTypeName(ActionType type);

// Returns the type of an action. REQUIRES: it is legal.
ActionType TypeOf(const State& state, Action action);

// Returns the action of the largest weight that is not of the type; `choice` if
// all are. `policy` has a weight per legal action, or is empty: then the first
// of the others. REQUIRES: `choice` is legal.
Action WithoutType(const State& state, absl::Span<const float> policy,
                   Action choice, ActionType avoided);

// When games end early.
struct AdjudicationOptions {
  // When both players have proved the same margin, the game ends with it. Not
  // with clocks, because time may still run out.
  bool proof = true;
  // When the value at each player's last `agreed_turns` choices was at least
  // `agreed_value` in favour of the same side, that side wins by
  // kForfeitMargin. 0 turns: never.
  int agreed_turns = 0;
  double agreed_value = 0.95;
};

struct ArenaOptions {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions rule_options = {};
  // Plays matches (docs/reference/rules.md section 9). A match consists of one
  // game per seat. The player of each seat starts one of them, so the teams
  // take turns as Red. Their points add up, and players receive the score of
  // the match. If false, each game stands by itself.
  bool by_match = false;
  int games = 200;  // rounded up to whole pairs, of games or of matches
  // Ways to seat the two players of a team, A's and B's: 1, or 2 for a team of
  // two different players. Each opening has one pair per combination
  // of both teams' ways. Games are rounded up to whole openings.
  int seatings_a = 1;
  int seatings_b = 1;
  // Uniformly random actions at the start of both games of a pair; no two pairs
  // have the same ones (Openings). With 0, players without randomness
  // repeat one game. No value: DefaultOpeningPlies.
  std::optional<int> opening_plies = {};
  // With a judge, openings that favour a side are drawn again (OpeningOptions).
  OpeningJudge opening_judge = {};
  // Openings in place of random ones, from the first again after the last.
  std::vector<std::vector<Action>> given_openings = {};
  // After the opening, actions of a game that are drawn from the policy of the
  // player to move, in proportion to policy^(1 / temperature); none where the
  // player has no policy.
  int drawn_plies = 0;
  double temperature = 1;
  // A plays itself: both sides of every game, each with its own opening. The
  // result by player is then meaningless; `on_game` receives the games. A game
  // that A gives up is played again, up to kMaxAttempts times.
  bool self_play = false;
  // Restricted play: A does not choose actions of this type if it has others.
  // Its search does not take the restriction into account.
  std::optional<ActionType> a_avoids = {};
  uint64_t seed = 1;
  // Concurrent games, or matches, per thread. More make larger batches. The
  // result does not depend on it.
  int concurrent_games = 64;
  // With clocks, players receive the time for each move, may ponder, and lose
  // games on time. Games are then played one at a time, and results are not
  // reproducible.
  std::optional<GameClocks> clocks = {};
  AdjudicationOptions adjudication = {};
  // Ends the arena when this test has decided, or after `games`. In matches the
  // test is of pairs of matches. The result covers the pairs until the decision
  // and does not depend on the number of threads.
  std::optional<SprtOptions> sprt = {};
  // Games of the same arena from an earlier run. They count and are not played
  // again.
  std::vector<ArenaGame> earlier = {};
  // Receives each game when it ends, one at a time, from any thread. An error
  // ends the arena. The record does not name the players (contest and model_id
  // are empty).
  std::function<absl::Status(proto::GameRecord)> on_game = {};
  // Stops the arena within a batch of the players' searches; the progress
  // callback stops it only between actions. Thread-safe; empty: never.
  StopCheck stop = {};
};

struct ArenaProgress {
  int games_done = 0;
  int games = 0;                   // that will be played
  double score = 0.5;              // of A in the games done
  std::optional<double> llr = {};  // with a sequential test
};

// Called each time every game has advanced by an action or two. Returns false
// to stop early.
using ArenaProgressCallback = std::function<bool(const ArenaProgress&)>;

// Plays pairs of games: each random opening once with A as Red (in doubles as
// both seats of Red) and once with B. With by_match, plays pairs of matches: A
// starts one and B the other, and each game of one shares its opening with a
// game of the other. A player that forfeits a game (Turn::forfeit) loses it. If
// stopped early, the result covers the finished pairs. Without clocks the
// result is reproducible from options.seed: threads take games from one
// schedule, and if not stopped early the result does not depend on their
// number, provided that all players of a factory play alike (networks in one
// number type). `on_progress` covers the games of all threads, and any of them
// may call it, several at the same time. Returns INVALID_ARGUMENT for options
// out of range, or the first error of a player or of making one. REQUIRES:
// threads > 0.
absl::StatusOr<ArenaResult> PlayArena(
    const ArenaOptions& options, const PlayerFactory& make_a,
    const PlayerFactory& make_b, int threads,
    const ArenaProgressCallback& on_progress = {});

// Like PlayArena, but a fleet plays the games. REQUIRES: teams from
// WithPrecision, and options after SetTeams with them. Errors of
// NewRemoteContest and Fleet::Play; FAILED_PRECONDITION with clocks.
absl::StatusOr<ArenaResult> PlayArenaOnFleet(
    const ArenaOptions& options, const TeamSpec& a, const TeamSpec& b,
    fleet::Fleet& fleet, const ArenaProgressCallback& on_progress = {});

// Plays pieces of such an arena and returns their games in order, without those
// that `stop` ended. INVALID_ARGUMENT for an invalid request or invalid pieces;
// a player's errors.
class ArenaWorker {
 public:
  // `files` are the local paths of the networks.
  static absl::StatusOr<std::unique_ptr<ArenaWorker>> Create(
      const proto::ContestRequest& request,
      absl::Span<const std::string> files);

  absl::StatusOr<std::vector<proto::GameRecord>> Play(
      absl::Span<const fleet::Piece> pieces, const StopCheck& stop);

 private:
  ArenaOptions options_;
  std::unique_ptr<Player> a_, b_;
};

// Attempts at a game of self-play that the player gives up.
inline constexpr int kMaxAttempts = 3;

// Returns the seed in the record of a game: of the opening-th opening, with A
// as Red or not.
uint64_t SeedOfArenaGame(uint64_t seed, int opening, bool a_is_red);

// Default limit of games with a sequential test, which otherwise has no limit.
inline constexpr int kMaxGamesOfATest = 20000;

// Sets what depends on the teams: the seatings, and the limit of concurrent
// games that the teams can play.
void SetTeams(const TeamSpec& a, const TeamSpec& b, ArenaOptions& options);

// Returns options.opening_plies, or the default of the variant.
int OpeningPlies(const ArenaOptions& options);

// Returns the number of games of a pair: two, or the games of two matches.
int GamesPerPair(const ArenaOptions& options);

// Returns the number of pairs with the same opening.
int PairsPerOpening(const ArenaOptions& options);

// Returns INVALID_ARGUMENT naming what is out of range.
absl::Status CheckArenaOptions(const ArenaOptions& options);

// Returns everything that the games of an arena depend on, except the variant,
// the players and the number of games. `openings` describes the choice of
// openings and `time_control` the clocks, each as the user gave it.
std::string ArenaConditions(const ArenaOptions& options,
                            absl::string_view openings = "",
                            absl::string_view time_control = "");

// Resumes an arena after the games of its contest in the store, and stores its
// further games there. The store must outlive the arena.
absl::Status ResumeFromStore(record::GameStore& store,
                             const proto::Contest& contest,
                             ArenaOptions& options);

// A gate: matches that decide whether a candidate replaces the best network. It
// does not if it is weaker in any of them.
struct GateOptions {
  std::vector<State> starts;  // a match from each
  int games = 0;              // of a match, at most
  double max_drop_elo = 0;    // above 0
  uint64_t run_seed = 0;
  uint64_t candidate = 0;  // its index in the run
};

// Returns the matches, with the candidate as player A. Each ends early by a
// sequential test of H0, "the candidate is weaker by max_drop_elo", against H1,
// "it is as strong". The tests share an error of 5 % (Bonferroni): an equal
// candidate is rejected with a probability of at most 5 % over all matches.
// Their seeds differ from the seeds of the run's evaluations, which derive from
// (run_seed, generation): indices here count down from the largest.
std::vector<ArenaOptions> GateMatches(const GateOptions& options);

// Returns whether the match shows that the candidate is weaker: its test has
// accepted H0. A match that ends undecided does not.
bool IsWeaker(const ArenaResult& result);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_ARENA_H_
