#include "tara/mcts/time/time_manager.h"

#include <algorithm>

#include "tara/base/check.h"

namespace tara::mcts {

TimeManager::TimeManager(const TimeControl& control, const TimeOptions& options)
    : control_(control),
      options_(options),
      left_(control.is_per_move() ? absl::InfiniteDuration()
                                  : control.per_game) {
  TARA_CHECK(left_ > absl::ZeroDuration(), "a player has time");
  TARA_CHECK(options.least_moves >= 1 && options.most_shares >= 1,
             "a move gets its share");
  TARA_CHECK(options.overhead >= absl::ZeroDuration() &&
                 options.reserve >= absl::ZeroDuration() &&
                 options.free_moves >= 0 && options.opening_part >= 0,
             "times and moves are not negative");
  options_.reserve = std::min(options.reserve, control.per_game / 10);
}

MoveBudget TimeManager::BudgetFor(int ply, float own_moves_left) const {
  if (control_.is_per_move()) {
    const absl::Duration time =
        std::max(control_.per_move - options_.overhead, control_.per_move / 2);
    return {.target = time, .limit = time};
  }
  const absl::Duration usable = left_ - options_.reserve - options_.overhead;
  if (usable <= absl::ZeroDuration()) {
    // The reserve is what is left: a part of it, so that it never ends.
    const absl::Duration time =
        std::max(absl::ZeroDuration(), (left_ - options_.overhead) / 4);
    return {.target = time, .limit = time};
  }
  const double moves =
      std::max(options_.least_moves, own_moves_left - options_.free_moves);
  const absl::Duration pool =
      left_ - options_.reserve + control_.increment * (moves - 1);
  const absl::Duration share =
      std::max(absl::ZeroDuration(), pool / moves - options_.overhead);
  const absl::Duration limit =
      std::min(share * options_.most_shares, usable / 2);
  const double part = ply < options_.opening_plies ? options_.opening_part : 1;
  return {.target = std::min(share * part, limit), .limit = limit};
}

void TimeManager::Spend(absl::Duration time) {
  if (control_.is_per_move()) {
    overstepped_ |= time > control_.per_move;
    return;
  }
  left_ -= time;
  overstepped_ |= left_ < absl::ZeroDuration();
  left_ += control_.increment;
}

}  // namespace tara::mcts
