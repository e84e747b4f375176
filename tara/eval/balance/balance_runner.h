#ifndef TARA_EVAL_BALANCE_BALANCE_RUNNER_H_
#define TARA_EVAL_BALANCE_BALANCE_RUNNER_H_

#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "tara/eval/balance/balance_driver.h"
#include "tara/eval/balance/balance_store.h"
#include "tara/eval/balance/balance_study.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// How many games a study takes.
struct BalancePlan {
  int games = 200;  // at most, with a precision
  // Ends the games when half of the 95 % interval of the first side's score is
  // no wider than this (looked at after each kBalanceBlock games, so that the
  // result does not depend on threads). Stopping by the width, not by the
  // score, leaves intervals right for many games.
  // Source: Chow and Robbins 1965, "On the asymptotic theory of fixed-width
  // sequential confidence intervals for the mean", Annals of Mathematical
  // Statistics 36.
  std::optional<double> precision = {};
  // Games made to begin with each class of first actions; 0: none.
  int first_games = 16;
  // Further games with the class that turned out fairest; 0: none.
  int pie_games = 64;
};

inline constexpr int kBalanceBlock = 128;

// How far a study has come; games of an earlier run count as done.
struct BalanceProgress {
  int games_done = 0;
  int games = 0;  // at most
  // The first side's score over the games so far that began as they liked.
  Interval score = {};
};
// Returns whether to go on.
using BalanceProgressCallback = std::function<bool(const BalanceProgress&)>;

// Returns the games that a study takes at most.
int MostGames(const BalancePlan& plan, const BalanceGameOptions& options);

// Plays the games of a study that the store does not have yet, and returns all
// of its games. Stopped by on_progress, it returns those up to the first that
// is missing: which games are in does not depend on how long they took, but
// for the last few. Errors of the player or the store are returned.
absl::StatusOr<BalanceStudy> RunBalanceStudy(
    const BalancePlan& plan, const BalanceStudyKey& key, BalanceDriver& driver,
    BalanceStore& store, const BalanceProgressCallback& on_progress);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_BALANCE_RUNNER_H_
