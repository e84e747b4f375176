#ifndef TARA_EVAL_BALANCE_FAIR_STUDY_H_
#define TARA_EVAL_BALANCE_FAIR_STUDY_H_

// What makes a variant fair: a compensation, the pie rule, or both, found and
// confirmed by games that are played under these rules.
//
// Every game has an index of its own, from which its random stream derives, so
// that no game of one purpose has anything in common with those of another:
//   kPilotIndex              games that choose the temperature of openings
//   kSearchIndex             games that search for a compensation
//   kFreshIndex              fresh games with the pie rule
//   kFreshCompensationIndex  fresh games with the compensation found; not the
//                            same as with the pie rule alone, which are where
//                            the search with the pie rule begins

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/eval/balance/balance_driver.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/balance/fair_search.h"
#include "tara/eval/players/player.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/record/game_store.h"

namespace tara::eval {

struct FairPlan {
  // Fresh games of each result, and at most as many that search for a
  // compensation.
  int games = 400;
  CompensationRange range = {};  // with no room but 0: no search
  bool pie = false;              // whether to try the pie rule
  bool pie_with_compensation = false;
};

// What one remedy does to a variant.
struct FairResult {
  BalanceGameOptions from;     // the rules without it
  BalanceGameOptions options;  // the rules of the fresh games
  // Whether a compensation was searched for, and what the search found.
  bool searched = false;
  CompensationRange range = {};
  CompensationEstimate estimate = {};
  std::map<int, CompensationGames> tried = {};  // FairSearch.games
  int search_games = 0;  // beside those without compensation
  // Games that had no part in the search, in the order of their indices.
  std::vector<GameFacts> games = {};
  int wanted_games = 0;  // broken off: more than there are
};

// Returns the games that RunFairStudy plays at most.
int MostFairGames(const FairPlan& plan);

// Plays what the plan says for the rules of `key`, of which the study has the
// games without a remedy. Stopped by on_progress, it returns the results that
// have fresh games. Games are kept and taken from the store as those of
// RunBalanceStudy; errors are the same.
// REQUIRES: study.games is not empty; the rules have neither remedy.
absl::StatusOr<std::vector<FairResult>> RunFairStudy(
    const FairPlan& plan, const BalanceStudyKey& key, const BalanceStudy& study,
    BalanceDriver& driver, record::GameStore& store,
    const BalanceProgressCallback& on_progress);

// How openings are drawn.
struct OpeningChoice {
  int drawn_plies = 8;
  double temperature = 1;
  // The share of so many games that are expected to repeat another, by pairs of
  // equal ones among the pilot's: q (games - 1) / 2, q their share of all
  // pairs.
  double repeated = 0;
};

// Openings differ enough when no more repeat.
inline constexpr double kMostRepeated = 0.05;
inline constexpr int kPilotGames = 128;

// Returns the lowest of some temperatures from 0.1 to 4 with which 95 % of
// `games` games differ, up to symmetry, by bisection with kPilotGames each.
// Where none does, as many drawn plies again are tried, and then twice as many:
// a strong player's policy may leave little to draw from. The last of these
// where nothing suffices; none where on_progress stopped it.
absl::StatusOr<std::optional<OpeningChoice>> ChooseOpenings(
    int games, const BalanceStudyKey& key, BalanceDriver& driver,
    record::GameStore& store, const BalanceProgressCallback& on_progress);

// Returns the games that ChooseOpenings plays at most.
int MostPilotGames();

// Games whose drawn actions OpeningCost looks at, at most.
inline constexpr int kCostGames = 64;

// Returns what the actions drawn from the player's policy cost the first and
// the second side of a game: the expected score that they give away compared
// with what the player would have chosen. The player searches the positions
// after the one and after the other anew, so that a choice that looked best by
// chance is not taken for better (but for what an evaluator says of the same
// position in both: of a few simulations that is much). None where the player
// gives no values, or draws no actions, or on_progress or `stop` stopped it.
absl::StatusOr<std::optional<std::array<Interval, 2>>> OpeningCost(
    const BalanceStudy& study, Player& player,
    const BalanceProgressCallback& on_progress, const StopCheck& stop = {});

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_FAIR_STUDY_H_
