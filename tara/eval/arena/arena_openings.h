#ifndef TARA_EVAL_ARENA_ARENA_OPENINGS_H_
#define TARA_EVAL_ARENA_ARENA_OPENINGS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/players/player.h"

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

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_ARENA_OPENINGS_H_
