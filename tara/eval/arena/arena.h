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
#include "tara/eval/players/make_player.h"
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

// Returns the default number of uniformly random actions of openings: the
// smallest number from 2 that yields 200 openings that differ up to symmetry.
// Takes a few microseconds per position.
int DefaultOpeningPlies(Variant variant, const RuleOptions& rule_options);

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

struct ArenaOptions {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions rule_options = {};
  // Plays matches (docs/reference/rules.md section 9) of one game per seat, in
  // which the teams take turns as Red. Points add up, and players receive the
  // score of the match. If false, each game stands by itself.
  bool by_match = false;
  int games = 200;  // rounded up to whole pairs, of games or of matches
  // Ways to seat the two players of a team, A's and B's: 1, or 2 if they
  // differ. Each opening has one pair per combination of both teams' ways.
  int seatings_a = 1;
  int seatings_b = 1;
  // Uniformly random actions at the start of both games of a pair (Openings).
  // None: DefaultOpeningPlies. With 0, players without randomness repeat a
  // game.
  std::optional<int> opening_plies = {};
  // Openings in place of random ones, from the first again after the last.
  std::vector<std::vector<Action>> given_openings = {};
  // After the opening, actions that are drawn from the policy, if any, of the
  // player to move, in proportion to policy^(1 / temperature).
  int drawn_plies = 0;
  double temperature = 1;
  // A plays both sides of every game, each with its own opening; `on_game`
  // receives the games. One that A gives up is played three times at most.
  bool self_play = false;
  // A, but not its search, avoids actions of this type if it has others.
  std::optional<ActionType> a_avoids = {};
  uint64_t seed = 1;
  int concurrent_games = 64;  // or matches, per thread: batches are larger
  // With clocks, players receive the time for each move, may ponder, and lose
  // games on time. Games are played one at a time, and not reproducible.
  std::optional<GameClocks> clocks = {};
  // A game ends when both players have proved the same margin; not with clocks.
  bool adjudicate = true;
  // Ends the arena when this test, of pairs of games or of matches, has
  // decided, or after `games`. The result covers the pairs until the decision.
  std::optional<SprtOptions> sprt = {};
  // Games of an earlier run, which count and are not played again.
  std::vector<ArenaGame> earlier = {};
  // Receives each game when it ends, without contest and model_id, one at a
  // time, from any thread. An error ends the arena.
  std::function<absl::Status(proto::GameRecord)> on_game = {};
  // Stops the arena within a batch of the players' searches. Thread-safe.
  StopCheck stop = {};
};

// Returns options.opening_plies, or the default of the variant.
int OpeningPlies(const ArenaOptions& options);

// Draws openings one after another, no two the same up to symmetry
// (RepresentativeSymmetry), because players without randomness would play the
// same game or its mirror image again. If random actions yield no further
// opening of this length, openings get longer. Not thread-safe.
class Openings {
 public:
  explicit Openings(const ArenaOptions& options);

  // Returns the next opening, by the options alone; it is shorter if its next
  // action would end the game. FAILED_PRECONDITION without a further opening.
  absl::StatusOr<Opening> Next();

 private:
  Opening Draw(Random& random) const;

  const State start_;
  const uint64_t seed_;
  const std::vector<std::vector<Action>> given_;
  const int least_plies_;
  int plies_ = least_plies_;
  int next_ = 0;
  std::unordered_set<uint64_t> seen_;  // hashes of representatives
};

struct ArenaProgress {
  int games_done = 0;
  int games = 0;                   // that will be played
  double score = 0.5;              // of A in the games done
  std::optional<double> llr = {};  // with a sequential test
};

// Called whenever all games have advanced by an action or two; false: stop.
using ArenaProgressCallback = std::function<bool(const ArenaProgress&)>;

// Plays pairs of games: each opening once with A as Red and once with B. With
// by_match, plays pairs of matches: A starts one and B the other, and each game
// of one shares its opening with a game of the other. A player that forfeits a
// game (Turn::forfeit) loses it. If stopped early, the result covers the
// finished pairs. Without clocks it is reproducible from options.seed, on any
// number of threads, provided that all players of a factory play alike
// (networks in one number type). `on_progress` covers the games of all threads,
// which may call it at the same time. Returns INVALID_ARGUMENT for options out
// of range, or the first error of a player or of making one.
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

// Plays an arena of contestants: by the fleet, or on threads if it is null.
absl::StatusOr<ArenaResult> PlayArena(
    const ArenaOptions& options, const Contestant& a, const Contestant& b,
    int threads, fleet::Fleet* fleet,
    const ArenaProgressCallback& on_progress = {});

// Plays pieces of such an arena and returns their games in order, without those
// that `stop` ended. INVALID_ARGUMENT for an invalid request or pieces.
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

// Returns the seed in the record of a game of the opening-th opening.
uint64_t SeedOfArenaGame(uint64_t seed, int opening, bool a_is_red);

// Default limit of games with a sequential test, which otherwise has no limit.
inline constexpr int kMaxGamesOfATest = 20000;

// Sets the seatings and the number of concurrent games for these teams.
void SetTeams(const TeamSpec& a, const TeamSpec& b, ArenaOptions& options);

// Returns the number of games of a pair: two, or the games of two matches.
int GamesPerPair(const ArenaOptions& options);

// Returns the number of pairs with the same opening.
int PairsPerOpening(const ArenaOptions& options);

// Returns INVALID_ARGUMENT naming what is out of range.
absl::Status CheckArenaOptions(const ArenaOptions& options);

// Returns everything that the games of an arena depend on, except the variant,
// players and number of games. `openings` and `time_control` are the user's.
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
// "it is as strong". The tests share an error of 5 % (Bonferroni): that of
// rejecting an equal candidate. Their seeds are not those of the run's
// evaluations, for indices here count down from the largest.
std::vector<ArenaOptions> GateMatches(const GateOptions& options);

// Returns whether the test of the match has accepted H0.
bool IsWeaker(const ArenaResult& result);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_ARENA_H_
