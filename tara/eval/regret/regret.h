#ifndef TARA_EVAL_REGRET_REGRET_H_
#define TARA_EVAL_REGRET_REGRET_H_

// How well a player does where the truth is known: endgames, solved exactly.

// Solved endgames in a file: solving takes long, and players are compared on
// the same positions, today's checkpoint and that of next month. JSON lines:
//
//   {"tara_solved_endgames": 1, "positions": 200}       how many lines follow
//   {"position": "four_treasures rb...", "margins": [3, -1, 3]}
//
// A position is in its text form (tara/core/position_text.h); margins are as
// in SolvedPosition.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/base/threads.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/players/player.h"
#include "tara/eval/report/report.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// A position and what each action leads to.
struct SolvedPosition {
  State state;
  // By legal action, in the order of LegalSet::ForEach: the points of the side
  // to move minus the other's under best play of both.
  std::vector<int> margins;
};

struct SolvedPositionOptions {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions rule_options = {};
  uint64_t seed = 1;
  int positions = 100;
  // What solving a position may cost, in positions visited. More finds earlier
  // positions, which are harder.
  int64_t node_limit = 100000;
  // Asked now and then; false ends the search for positions.
  std::function<bool()> keep_going = {};
};

// Returns positions of different games: of each the earliest, going back from
// its end, that can be solved and in which not all actions are worth the same;
// games without such a position are skipped. Games are played by a shallow
// alpha-beta search that errs at random in every fourth action. Returns fewer
// if hardly any game has one, or after a stop.
// Takes about 10 ms to 1 s per position. The positions depend only on the
// options.
std::vector<SolvedPosition> MakeSolvedPositions(
    const SolvedPositionOptions& options);

// The losses of a player. A result is worth 1 won, 1/2 drawn, 0 lost.
struct Regret {
  int positions = 0;
  Interval points = {};   // the best margin minus that of the action chosen
  Interval results = {};  // the same of the results
  Interval best =
      {};  // share of positions in which an action was best in points
  // Share of the player's policy on the best actions, and its value's distance
  // from the true one, as an expected score, in [0, 1]; none where it does not
  // say.
  std::optional<Interval> policy = {};
  std::optional<Interval> value_error = {};
};

// Lets a player choose in each position. Errors of the player are returned, and
// CANCELLED once `stop` is true.
absl::StatusOr<Regret> MeasureRegret(absl::Span<const SolvedPosition> positions,
                                     uint64_t seed, Player& player,
                                     const StopCheck& stop = {});

// The losses of a player in the endgames of a variant.
struct RegretRow {
  Variant variant = Variant::kSacredHillL1;
  std::string player;
  std::optional<TrainingPoint> point = {};  // of a run's checkpoints
  Regret regret;
  // Rules that the player's network has not learned; empty: none.
  std::string not_learned = {};
};

// Returns a report: a table with one line per row, and curves over the
// generations of runs. Its JSON is an array with an object a row: `variant`,
// `name`, `player`, of checkpoints `run` and `generation`, `positions`, and of
// each measure its mean with `_low` and `_high`; `policy` and `value_error` of
// players that have them; `not_learned`, the rules that the player's network
// has not.
Report ReportRegret(absl::Span<const RegretRow> rows);

// Writes the file, or replaces it, atomically. Errors name it.
absl::Status WriteSolvedSet(const std::string& path,
                            absl::Span<const SolvedPosition> positions);

// Returns the positions of a file, in its order. Returns NOT_FOUND if there is
// none, FAILED_PRECONDITION for a file of another kind or version, DATA_LOSS
// for one that is cut short or damaged; all name the file, and the line.
absl::StatusOr<std::vector<SolvedPosition>> ReadSolvedSet(
    const std::string& path);

// Puzzles for people: endgames in which one action alone keeps the win.

// An endgame in which the side to move wins by one action alone, and so again
// at its next one or two decisions. After that several actions win, or the game
// is over.
struct Puzzle {
  State state;
  // The actions of both sides up to there. The other side plays what is best
  // for it in points.
  std::vector<Action> line;
  int traps = 0;  // naive players that choose another first action
};

struct PuzzleOptions {
  State start;
  uint64_t seed = 1;
  int games = 2000;            // at most
  int puzzles = 100;           // at most
  int64_t node_limit = 20000;  // of solving a position
  StopCheck stop = {};
};

// Lets a player play games, in which one action of eight is random, and returns
// puzzles from their ends, in the order of the games. Where the end of a game
// has none, other ends by random actions are tried. No puzzle is there twice up
// to symmetry. Those with the most traps are chosen from up to twice as many.
// The result depends only on the options and the players. Returns the errors of
// the players, and CANCELLED after a stop.
absl::StatusOr<std::vector<Puzzle>> MakePuzzles(
    const PuzzleOptions& options, Player& player,
    absl::Span<Player* const> naive = {});

// Returns the position and the line as one text, as ParseGameText reads it.
std::string PuzzleToText(const Puzzle& puzzle);

}  // namespace tara::eval

#endif  // TARA_EVAL_REGRET_REGRET_H_
