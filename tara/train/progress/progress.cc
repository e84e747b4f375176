#include "tara/train/progress/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace tara::train {
namespace {

constexpr int kDefaultWidth = 100;

// Returns the columns of the terminal.
int WidthOf(std::FILE* out) {
  winsize size = {};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return kDefaultWidth;
  }
  return size.ws_col;
}

double PerSecond(int64_t count, absl::Duration duration) {
  const double seconds = absl::ToDoubleSeconds(duration);
  return seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
}

double Share(int64_t done, int64_t wanted) {
  return wanted <= 0 ? 0.0
                     : static_cast<double>(done) / static_cast<double>(wanted);
}

// Returns what was counted from `before` to `now` as rates.
SelfPlayRates RatesOf(const SelfPlayCounts& before, const SelfPlayCounts& now,
                      const SelfPlayStats& stats, absl::Duration elapsed) {
  const int64_t games = now.games - before.games;
  const int64_t evaluations = now.evaluations - before.evaluations;
  const int64_t batched = evaluations - (now.known - before.known);
  const int64_t waited = batched + now.left_waiting - before.left_waiting;
  const int64_t batches = now.batches - before.batches;
  const int64_t simulations = now.simulations - before.simulations;
  return {.games = games,
          .seconds = absl::ToDoubleSeconds(elapsed),
          .games_per_second = PerSecond(games, elapsed),
          .evaluations_per_second = PerSecond(evaluations, elapsed),
          .positions_per_batch = Share(batched, batches),
          .batch_fill = Share(waited, batches * stats.batch_room),
          .cached_share = stats.cached_share,
          .distinct_share = stats.distinct_share,
          .simulations_per_second = PerSecond(simulations, elapsed),
          .simulations_per_evaluation = Share(simulations, evaluations),
          .graph_share = Share(now.caught_up - before.caught_up, simulations),
          .solved_share = Share(now.solved - before.solved, simulations),
          .full_share = Share(now.full_searches - before.full_searches,
                              now.plies - before.plies),
          .proof_share = Share(now.played_by_proof - before.played_by_proof,
                               now.plies - before.plies),
          .resigned = now.resigned - before.resigned,
          .played_on = now.played_on - before.played_on,
          .resignable = now.resignable - before.resignable,
          .resignable_not_lost =
              now.resignable_not_lost - before.resignable_not_lost};
}

}  // namespace

ProgressOptions ProgressOptionsFor(std::FILE* out) {
  const bool terminal = isatty(fileno(out)) == 1;
  return {.out = out,
          .redraw = terminal,
          .interval = terminal ? absl::Milliseconds(250) : absl::Seconds(10)};
}

Progress::Progress(const ProgressOptions& options)
    : options_(options), thread_([this] { Run(); }) {}

Progress::~Progress() {
  {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
  }
  thread_.join();
}

void Progress::Run() {
  absl::MutexLock lock(&mutex_);
  while (
      !mutex_.AwaitWithTimeout(absl::Condition(&closed_), options_.interval)) {
    Show();
  }
  if (options_.redraw) Show();
}

void Progress::Show() {
  if (snapshot_.generations == 0) return;
  Measure();
  if (options_.redraw) {
    Erase();
    Draw();
  } else if (!closed_) {
    std::fprintf(options_.out, "%s\n", ProgressLine(snapshot_).c_str());
    std::fflush(options_.out);
  }
}

void Progress::Draw() {
  const std::vector<std::string> lines =
      ProgressBlock(snapshot_, WidthOf(options_.out) - 1);
  for (const std::string& line : lines) {
    std::fprintf(options_.out, "%s\n", line.c_str());
  }
  std::fflush(options_.out);
  drawn_lines_ = static_cast<int>(lines.size());
}

void Progress::Erase() {
  // Up to the first line of the block, then clear to the end of the screen.
  if (drawn_lines_ > 0) std::fprintf(options_.out, "\x1b[%dA", drawn_lines_);
  if (options_.redraw) std::fprintf(options_.out, "\r\x1b[J");
  drawn_lines_ = 0;
}

void Progress::Measure() {
  const absl::Time now = absl::Now();
  if (snapshot_.playing) {
    const absl::Duration elapsed = now - self_play_begin_;
    snapshot_.rates =
        RatesOf(counted_before_, Counted(stats_), stats_, elapsed);
    snapshot_.games = games_kept_ + snapshot_.rates.games;
  }
  if (snapshot_.evaluating && training_ended_) {
    const double share =
        Share(snapshot_.evaluated.games, snapshot_.evaluated.games_wanted);
    snapshot_.time_left = share == 0
                              ? absl::InfiniteDuration()
                              : (now - evaluation_begin_) / share * (1 - share);
    return;
  }
  // Self-play takes most of a generation's time; the estimate need not be
  // better than that.
  constexpr double kSelfPlayShare = 0.7;
  double current = 0;  // share of the generation that is done
  if (snapshot_.learning) {
    current =
        kSelfPlayShare +
        (1 - kSelfPlayShare) * Share(snapshot_.steps, snapshot_.steps_wanted);
  } else if (snapshot_.playing) {
    current = kSelfPlayShare * Share(snapshot_.games - games_kept_,
                                     snapshot_.games_wanted - games_kept_);
  }
  const double done = snapshot_.generation - first_generation_ + current;
  const double wanted = snapshot_.generations - first_generation_;
  // Too early a guess is worse than none.
  const absl::Duration guess =
      done < 0.1 ? absl::InfiniteDuration()
                 : (now - run_begin_) / done * std::max(wanted - done, 0.0);
  snapshot_.time_left =
      std::min(guess, std::max(deadline_ - now, absl::ZeroDuration()));
}

void Progress::BeginRun(absl::string_view run_dir, int first, int generations) {
  absl::MutexLock lock(&mutex_);
  snapshot_.run_dir = std::string(run_dir);
  snapshot_.generation = first;
  snapshot_.generations = generations;
  first_generation_ = first;
  run_begin_ = absl::Now();
}

void Progress::SetDeadline(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  deadline_ = deadline;
}

void Progress::EndTraining() {
  absl::MutexLock lock(&mutex_);
  training_ended_ = true;
}

void Progress::BeginSelfPlay(int generation, int64_t wanted, int64_t kept) {
  absl::MutexLock lock(&mutex_);
  snapshot_.playing = true;
  snapshot_.playing_generation = generation;
  snapshot_.games_wanted = wanted;
  snapshot_.games = kept;
  games_kept_ = kept;
  counted_before_ = Counted(stats_);
  self_play_begin_ = absl::Now();
  Show();
}

SelfPlayRates Progress::EndSelfPlay() {
  absl::MutexLock lock(&mutex_);
  Measure();
  snapshot_.playing = false;
  return snapshot_.rates;
}

void Progress::BeginLearning(int generation, int64_t steps,
                             int64_t window_games, int64_t window_positions) {
  absl::MutexLock lock(&mutex_);
  snapshot_.generation = generation;
  snapshot_.learning = true;
  snapshot_.steps = 0;
  snapshot_.steps_wanted = steps;
  snapshot_.has_losses = false;  // those of the generation before
  snapshot_.window_games = window_games;
  snapshot_.window_positions = window_positions;
  Show();
}

void Progress::Learned(int64_t steps, double learning_rate,
                       const LossSummary& losses) {
  absl::MutexLock lock(&mutex_);
  snapshot_.steps = steps;
  snapshot_.learning_rate = learning_rate;
  snapshot_.losses = losses;
  snapshot_.has_losses = true;
}

void Progress::HeldOut(const LossSummary& losses) {
  absl::MutexLock lock(&mutex_);
  snapshot_.held_out = losses;
  snapshot_.has_held_out = true;
}

void Progress::EndLearning() {
  absl::MutexLock lock(&mutex_);
  Show();
  snapshot_.learning = false;
  snapshot_.generation += 1;
}

void Progress::BeginEvaluation(int generation) {
  absl::MutexLock lock(&mutex_);
  snapshot_.generation = generation;
  snapshot_.evaluating = true;
  snapshot_.evaluated = {};
  evaluation_begin_ = absl::Now();
  Show();
}

void Progress::Evaluated(const StrengthProgress& evaluated) {
  absl::MutexLock lock(&mutex_);
  snapshot_.evaluated = evaluated;
}

void Progress::EndEvaluation(int generation,
                             std::vector<StrengthResult> strength) {
  absl::MutexLock lock(&mutex_);
  snapshot_.evaluating = false;
  snapshot_.strength_generation = generation;
  snapshot_.strength = std::move(strength);
  if (options_.redraw) return;
  std::fprintf(options_.out, "after generation %d: %s\n", generation,
               StrengthText(snapshot_.strength).c_str());
  std::fflush(options_.out);
}

void Progress::EndGate(std::string text) {
  absl::MutexLock lock(&mutex_);
  snapshot_.evaluating = false;
  snapshot_.gate = std::move(text);
  if (options_.redraw) return;
  std::fprintf(options_.out, "gate: %s\n", snapshot_.gate.c_str());
  std::fflush(options_.out);
}

void Progress::Print(absl::string_view line) {
  absl::MutexLock lock(&mutex_);
  Erase();
  std::fprintf(options_.out, "%.*s\n", static_cast<int>(line.size()),
               line.data());
  std::fflush(options_.out);
  if (options_.redraw && snapshot_.generations > 0) Draw();
}

}  // namespace tara::train
