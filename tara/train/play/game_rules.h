#ifndef TARA_TRAIN_PLAY_GAME_RULES_H_
#define TARA_TRAIN_PLAY_GAME_RULES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "tara/base/random.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"

namespace tara::train {

// A rule option whose value is drawn for each game.
struct DrawnOption {
  const RuleOptionInfo* option;
  std::vector<int> values;      // two at least, ascending
  std::vector<double> weights;  // of the values; positive
};

// The rules that a run plays the games of one variant by.
struct GameRules {
  // The fixed options, and for each drawn option its default if it can be
  // drawn, otherwise the most likely value (the lowest of equally likely ones):
  // the rules of evaluations and gates.
  State start;
  std::vector<DrawnOption> drawn = {};  // in the order of kRuleOptions
};

// Returns the rules of the config's variants, in its order. Its rule_options
// are assignments, separated by commas; later ones override earlier ones:
//   [VARIANT:]OPTION=VALUES      of all variants that have it, or of one
// and VALUES are the values to draw from, separated by /, each a value or a
// range FROM..TO of the option's values, with a weight (of each) where it is
// not 1:
//   compensation=0*8/-3..3       0 in 9 games of 21, others in 1 of 21 each
// Returns INVALID_ARGUMENT for an unknown variant, and for an option that is
// wrong or that none of the variants has.
absl::StatusOr<std::vector<GameRules>> RulesOf(
    const proto::TrainConfig& config);

// Returns the positions `start` of RulesOf. Errors as it.
absl::StatusOr<std::vector<State>> StartPositions(
    const proto::TrainConfig& config);

// Returns the start position of a game by rules drawn from `random`, which
// nothing is drawn from where no option is drawn.
State DrawStart(const State& start, const std::vector<DrawnOption>& drawn,
                Random& random);

}  // namespace tara::train

#endif  // TARA_TRAIN_PLAY_GAME_RULES_H_
