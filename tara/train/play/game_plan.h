#ifndef TARA_TRAIN_PLAY_GAME_PLAN_H_
#define TARA_TRAIN_PLAY_GAME_PLAN_H_

// The games of a run: their rules, openings, variants and numbers.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/config.pb.h"
#include "proto/run_state.pb.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/record/game_store.h"

namespace tara::train {

// --- Rules -------------------------------------------------------------------

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

// --- Openings ----------------------------------------------------------------

// Some games begin with random actions, so that positions that the players
// would not reach are learned from too.
struct OpeningOptions {
  float share = 0;    // of the games that have such an opening
  int max_plies = 8;  // uniform from 1 to this
};

struct Opening {
  std::vector<Action> actions;
  State state;  // after them; not finished
};

// Draws the opening of a game: uniformly random legal actions, each without
// regard to whose turn it is. Ends before an action that would end the game.
// Draws nothing from `random` where share is 0.
// REQUIRES: `start` is not finished; max_plies >= 1.
Opening DrawOpening(const OpeningOptions& options, const State& start,
                    Random& random);

// --- Games of a generation ---------------------------------------------------

// The number and the indices of a generation's games by variant, in the
// config's order of variants. Pure functions.

// Returns the share of the games of each variant; they sum to 1. A config may
// weigh variants that a run of some of its variants lacks.
// Returns INVALID_ARGUMENT, beginning with the field, for weights that name no
// variant, or one twice, or that are not positive.
absl::StatusOr<std::vector<double>> MixtureShares(
    const proto::TrainConfig& config);

// Returns `games` divided by the shares, in whole games: each variant gets its
// share rounded down, and the largest fractions get the remainder. Equal
// fractions are ordered from `begin` mod n, where `begin` is the index of the
// first game, so that generations alternate.
std::vector<int64_t> DivideGames(int64_t games, absl::Span<const double> shares,
                                 uint64_t begin);

// Returns the variant of each game of a generation that has games[v] of
// variant v and begins at index `begin`. Variants alternate as evenly as their
// numbers allow, so that a part of a generation is a fair sample of it; with
// equal numbers game i is of variant i mod n. Each game goes to the variant
// that is furthest behind its share by then.
std::vector<int> VariantOrder(absl::Span<const int64_t> games, uint64_t begin);

// The games of a generation: the indices from `begin` to before `end`.
struct GamePlan {
  int generation = 0;
  int model = 0;  // number of the checkpoint that plays
  uint64_t begin = 0;
  uint64_t end = 0;
  // The index in RulesOf of each game, in order.
  std::vector<int> starts;
  std::vector<uint64_t> missing;  // still to be played, ascending

  int64_t size() const { return static_cast<int64_t>(end - begin); }
  int64_t kept() const { return size() - static_cast<int64_t>(missing.size()); }
  int start_of(uint64_t game_index) const { return starts[game_index - begin]; }
};

// Plans a generation whose games follow `before`, the plan of the previous
// generation (null: not recorded; the store then determines it), by the shares
// of the config. Existing games of the generation in the store, of a run
// without records, count.
absl::StatusOr<proto::GenerationPlan> PlanGeneration(
    const proto::TrainConfig& config, record::GameStore& store, int generation,
    int model, const proto::GenerationPlan* before);

// Returns a recorded plan with the games that the store lacks. The games to
// play depend only on record and store, so that a stopped run resumes with the
// same games. Returns FAILED_PRECONDITION if the plan is for other variants
// than the config, and the store's errors.
absl::StatusOr<GamePlan> ExpandPlan(const proto::TrainConfig& config,
                                    record::GameStore& store,
                                    const proto::GenerationPlan& recorded);

// Returns the recorded plans with missing games in the store whose index is in
// [begin, end), ascending, each with these games as the missing ones. Returns
// DATA_LOSS if the store lacks a game of no recorded plan, and the errors of
// ExpandPlan.
absl::StatusOr<std::vector<GamePlan>> LostGames(
    const proto::TrainConfig& config, record::GameStore& store,
    const proto::RunState& state, uint64_t begin, uint64_t end);

}  // namespace tara::train

#endif  // TARA_TRAIN_PLAY_GAME_PLAN_H_
