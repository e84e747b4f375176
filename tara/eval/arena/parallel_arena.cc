#include "tara/eval/arena/parallel_arena.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/status_macros.h"
#include "tara/base/threads.h"

namespace tara::eval {
namespace {

// By opening, A as Red first: the order of SummarizeGames.
bool Before(const ArenaGame& x, const ArenaGame& y) {
  return std::pair(x.pair, !x.a_is_red) < std::pair(y.pair, !y.a_is_red);
}

// The pairs to be played, of whole openings.
int PairsOf(const ArenaOptions& options) {
  const int together = GamesPerPair(options) * PairsPerOpening(options);
  return (options.games + together - 1) / together * PairsPerOpening(options);
}

}  // namespace

ArenaSchedule::ArenaSchedule(const ArenaOptions& options)
    : options_(options),
      per_series_(GamesPerPair(options) / 2),
      pairs_per_opening_(PairsPerOpening(options)),
      pairs_(PairsOf(options)),
      openings_({.variant = options.variant,
                 .rule_options = options.rule_options,
                 .plies = options.opening_plies,
                 .seed = options.seed,
                 .judge = options.opening_judge,
                 .max_value = options.opening_max_value}) {
  if (options.sprt.has_value()) sprt_.emplace(*options.sprt);
  absl::MutexLock lock(&mutex_);
  // Of a match that was broken off the games count no more: it is played again
  // from its start, for each depends on those before.
  std::map<int, std::vector<const ArenaGame*>> by_series;
  for (const ArenaGame& game : options.earlier) {
    if (game.pair / per_series_ >= pairs_) continue;
    const int series =
        game.match < 0 ? 2 * game.pair + !game.a_is_red : game.match;
    by_series[series].push_back(&game);
  }
  for (const auto& [series, games] : by_series) {
    if (static_cast<int>(games.size()) != per_series_) continue;
    earlier_games_[series] = per_series_;
    for (const ArenaGame* game : games) Count(*game);
  }
}

absl::StatusOr<std::optional<ArenaSeries>> ArenaSchedule::Next() {
  absl::MutexLock lock(&mutex_);
  while (true) {
    if (sprt_.has_value() && sprt_->decision() != SprtDecision::kUndecided) {
      return std::nullopt;
    }
    if (second_.has_value()) {
      std::optional<ArenaSeries> second = std::exchange(second_, std::nullopt);
      if (!earlier_games_.contains(second->series)) return second;
      continue;
    }
    if (next_pair_ == pairs_) return std::nullopt;
    if (next_pair_ % pairs_per_opening_ == 0) {
      latest_openings_.clear();
      for (int number = 0; number < per_series_; ++number) {
        TARA_ASSIGN_OR_RETURN(latest_openings_.emplace_back(),
                              openings_.Next());
      }
    }
    const ArenaSeries first = {.series = 2 * next_pair_++,
                               .openings = latest_openings_};
    second_ = {.series = first.series + 1, .openings = first.openings};
    if (!earlier_games_.contains(first.series)) return first;
  }
}

void ArenaSchedule::Count(const ArenaGame& game) {
  games_[game.pair / per_series_].push_back(game);
  ++games_done_;
  points_ += game.margin > 0 ? 1 : (game.margin < 0 ? 0 : 0.5);
  if (!sprt_.has_value()) return;
  while (sprt_->decision() == SprtDecision::kUndecided) {
    const auto next = games_.find(tested_pairs_);
    if (next == games_.end() ||
        static_cast<int>(next->second.size()) < 2 * per_series_) {
      return;
    }
    sprt_->Add(HalfPointsOfPair(next->second));
    ++tested_pairs_;
  }
}

absl::Status ArenaSchedule::Add(const ArenaGame& game) {
  absl::MutexLock lock(&mutex_);
  Count(game);
  // Under the lock: games are stored one at a time.
  return options_.on_game ? options_.on_game(game) : absl::OkStatus();
}

bool ArenaSchedule::decided() const {
  absl::MutexLock lock(&mutex_);
  return sprt_.has_value() && sprt_->decision() != SprtDecision::kUndecided;
}

ArenaProgress ArenaSchedule::progress() const {
  absl::MutexLock lock(&mutex_);
  ArenaProgress progress = {.games_done = games_done_,
                            .games = 2 * per_series_ * pairs_};
  if (games_done_ > 0) progress.score = points_ / games_done_;
  if (sprt_.has_value()) {
    progress.llr = sprt_->llr();
  }
  return progress;
}

ArenaResult ArenaSchedule::Result() const {
  absl::MutexLock lock(&mutex_);
  const bool is_decided =
      sprt_.has_value() && sprt_->decision() != SprtDecision::kUndecided;
  std::map<int, std::vector<ArenaGame>> by_opening;
  for (auto [pair, games] : games_) {
    if (is_decided && pair >= tested_pairs_) continue;
    std::sort(games.begin(), games.end(), Before);
    std::vector<ArenaGame>& all = by_opening[pair / pairs_per_opening_];
    all.insert(all.end(), games.begin(), games.end());
  }
  std::vector<ArenaGame> whole;
  for (const auto& [opening, games] : by_opening) {
    if (static_cast<int>(games.size()) < 2 * per_series_ * pairs_per_opening_) {
      continue;
    }
    whole.insert(whole.end(), games.begin(), games.end());
  }
  ArenaResult result = SummarizeGames(whole, pairs_per_opening_);
  result.sprt = sprt_;
  return result;
}

namespace {

// How the threads of an arena end together.
class SharedEnd {
 public:
  bool stopped() const { return stopped_; }
  void Stop() { stopped_ = true; }
  // Notes how a thread has ended; an error stops the others.
  void Finish(const absl::Status& status) {
    absl::MutexLock lock(&mutex_);
    error_.Update(status);
    if (!status.ok()) stopped_ = true;
  }
  absl::Status error() const {
    absl::MutexLock lock(&mutex_);
    return error_;
  }

 private:
  std::atomic<bool> stopped_ = false;
  mutable absl::Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

// What one thread does.
absl::Status PlaySome(const ArenaOptions& options, const PlayerFactory& make_a,
                      const PlayerFactory& make_b, ArenaSchedule& schedule,
                      const std::function<bool()>& go_on) {
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<Player> a, make_a());
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<Player> b, make_b());
  return PlayFromSchedule(options, *a, *b, schedule, go_on);
}

}  // namespace

absl::StatusOr<ArenaResult> PlayArenaInParallel(
    const ArenaOptions& options, const PlayerFactory& make_a,
    const PlayerFactory& make_b, int threads,
    const ArenaProgressCallback& on_progress) {
  TARA_RETURN_IF_ERROR(CheckArenaOptions(options));
  const int per_pair = GamesPerPair(options);
  const int pairs = std::max(PairsPerOpening(options),
                             (options.games + per_pair - 1) / per_pair);
  threads = std::clamp(threads, 1, pairs);
  ArenaOptions of_a_thread = options;
  // No thread takes all that there is.
  of_a_thread.concurrent_games =
      std::clamp(per_pair * pairs / threads, 1, options.concurrent_games);
  ArenaSchedule schedule(options);
  SharedEnd end;
  const auto go_on = [&] {
    if (end.stopped()) return false;
    if (on_progress && !on_progress(schedule.progress())) end.Stop();
    return !end.stopped();
  };
  RunOnThreads(threads, [&](int) {
    end.Finish(PlaySome(of_a_thread, make_a, make_b, schedule, go_on));
  });
  TARA_RETURN_IF_ERROR(end.error());
  return schedule.Result();
}

}  // namespace tara::eval
