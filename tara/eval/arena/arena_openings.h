#ifndef TARA_EVAL_ARENA_ARENA_OPENINGS_H_
#define TARA_EVAL_ARENA_ARENA_OPENINGS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/players/player.h"

namespace tara::eval {

// A position that games begin from, and the actions that lead there.
struct Opening {
  State state;
  std::vector<Action> actions;
};

// Returns the value of a position for the side to move, win minus loss, in
// [-1, 1]; draws what it needs from `random`. Errors as the player's it asks.
using OpeningJudge =
    std::function<absl::StatusOr<double>(const State&, Random&)>;

// Returns the uniformly random actions that openings have by default: 2, or as
// many more as it takes that 200 openings differ up to symmetry. A few
// microseconds a position.
int DefaultOpeningPlies(Variant variant, const RuleOptions& rule_options);

struct OpeningOptions {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions rule_options = {};
  int plies = 2;  // uniformly random actions; 0: always the start position
  uint64_t seed = 1;
  // With a judge, openings of which it says more than this to be in favour of
  // either side are drawn again.
  OpeningJudge judge = {};
  double max_value = 0.2;
};

// Draws openings one after another, no two alike up to symmetry: players that
// never draw would play the same game again, or its mirror image. Symmetries
// are those of positions (RepresentativeSymmetry): what exchanges the sides
// turns one game of a pair into the other. Where chance finds no other opening
// of so many plies any more, they get longer. Not thread-safe.
class Openings {
 public:
  explicit Openings(const OpeningOptions& options);

  // Returns the next opening. The sequence depends on the options alone. An
  // action that would end the game is not played: the opening is shorter then.
  // Returns the judge's error, or FAILED_PRECONDITION if there is no other
  // opening, or none that the judge finds balanced.
  absl::StatusOr<Opening> Next();

 private:
  Opening Draw(Random& random) const;

  const OpeningOptions options_;
  int next_ = 0;
  int plies_;
  std::unordered_set<uint64_t> seen_;  // hashes of representatives
};

// Returns a judge that asks a player for the value of positions. It returns
// FAILED_PRECONDITION where the player has none to say (random and greedy
// players), and CANCELLED once `stop` is true. One position at a time: not
// thread-safe.
OpeningJudge NewOpeningJudge(std::unique_ptr<Player> player,
                             StopCheck stop = {});

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_ARENA_OPENINGS_H_
