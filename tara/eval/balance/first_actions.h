#ifndef TARA_EVAL_BALANCE_FIRST_ACTIONS_H_
#define TARA_EVAL_BALANCE_FIRST_ACTIONS_H_

// Which choices are the same but for a symmetry of the game: the hills B1 and
// F7 are one first action of Sacred Hill, not two.

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/balance/compensation.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Returns, by legal action in the order of LegalSet::ForEach, the number of its
// class, counted from 0 by first member. Actions are of one class where a
// symmetry that leaves the position as it is takes one to the other.
std::vector<int> ActionClasses(const State& state);

// Values within this of 1/2 count as even in FirstActionSpread.
inline constexpr double kEvenBand = 0.05;

// A class of first actions.
struct FirstActionStatistics {
  std::vector<Action> actions;  // of the class
  int games = 0;                // that began so, chosen or made to
  Interval score;               // the first side's
  Interval margin;
  // The share of the player's policy, and the first side's score by its search,
  // if it says so.
  std::optional<double> policy;
  std::optional<double> search_score;
};

// How fair a game would be if the second player chose a side after the first
// action.
struct PieRule {
  FirstActionSpread spread;  // over all classes, in their order
  // The action that the first player would choose; games with it that had no
  // part in its choice; the first side's score in them, and the chooser's.
  // None: it was not played again.
  Action fairest;
  int games = 0;
  Interval score;
  Interval chooser_score;
};

// Returns the classes of first actions of a game, in order of their first
// members.
std::vector<std::vector<Action>> FirstActionClasses(
    const BalanceGameOptions& options);

// Returns the games by class of first action, from which the fairest is
// chosen: those that began so by choice, and the first num_first_games of those
// that were made to. Classes without games are left out.
std::vector<FirstActionGames> GamesByFirstAction(const BalanceStudy& study);

// Returns the class that turned out fairest, by its first member; none without
// games that were made to begin with each class.
std::optional<Action> FairestFirstAction(const BalanceStudy& study);

// Returns what there is to say of each class that was played, best first.
std::vector<FirstActionStatistics> FirstActionsOf(const BalanceStudy& study);

// Returns how fair a pie rule would be; none as FairestFirstAction.
std::optional<PieRule> PieRuleOf(const BalanceStudy& study);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_FIRST_ACTIONS_H_
