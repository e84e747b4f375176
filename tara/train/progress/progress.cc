#include "tara/train/progress/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tara/base/json.h"

namespace tara::train {
namespace {

constexpr int kBarWidth = 24;

double Share(int64_t done, int64_t wanted) {
  return wanted <= 0 ? 0.0
                     : static_cast<double>(done) / static_cast<double>(wanted);
}

std::string Bar(int64_t done, int64_t wanted) {
  const double share = Share(done, wanted);
  const int filled =
      std::clamp(static_cast<int>(share * kBarWidth), 0, kBarWidth);
  return absl::StrCat("[", std::string(filled, '#'),
                      std::string(kBarWidth - filled, '.'), "]");
}

// Returns "3 h 05 min", "12 min" or "45 s".
std::string TimeText(absl::Duration duration) {
  const auto seconds = absl::ToInt64Seconds(duration);
  if (seconds >= 3600) {
    return absl::StrFormat("%d h %02d min", seconds / 3600, seconds / 60 % 60);
  }
  if (seconds >= 60) return absl::StrFormat("%d min", (seconds + 30) / 60);
  return absl::StrFormat("%d s", seconds);
}

std::string TimeLeft(const ProgressSnapshot& snapshot) {
  if (snapshot.time_left == absl::InfiniteDuration() ||
      snapshot.time_left == absl::ZeroDuration()) {
    return "";
  }
  return absl::StrCat("about ", TimeText(snapshot.time_left), " left");
}

std::string Phase(const ProgressSnapshot& snapshot) {
  std::vector<std::string> phases;
  if (snapshot.playing) phases.push_back("self-play");
  if (snapshot.learning) phases.push_back("learning");
  if (snapshot.evaluating) phases.push_back("evaluation");
  if (!phases.empty()) return absl::StrJoin(phases, " and ");
  return snapshot.generation < snapshot.generations ? "starting" : "done";
}

// Returns a number of an event; 0 if it lacks it.
double Number(const Event& event, const char* field) {
  return event.is_null() ? 0 : event.value(field, 0.0);
}

std::string Games(const ProgressSnapshot& snapshot) {
  return absl::StrFormat("%d/%d games  %.2f games/s  %.0f evaluations/s",
                         snapshot.games, snapshot.games_wanted,
                         Number(snapshot.rates, "games_per_second"),
                         Number(snapshot.rates, "evaluations_per_second"));
}

// Returns the rates of the searches of self-play, without parts that are not in
// use. Empty before the first.
std::string Searches(const Event& rates) {
  const auto of = [&](const char* field) { return Number(rates, field); };
  if (of("simulations_per_second") == 0) return "";
  std::string text = absl::StrFormat(
      "%.0f simulations/s  %.2f per evaluation  batches %.0f %% full",
      of("simulations_per_second"), of("simulations_per_evaluation"),
      100 * of("batch_fill"));
  constexpr std::pair<const char*, const char*> kShares[] = {
      {"distinct", "distinct_share"},
      {"cache", "cached_share"},
      {"evaluating", "evaluate_share"},
      {"graph", "graph_share"},
      {"solved", "solved_share"}};
  for (const auto& [name, field] : kShares) {
    if (of(field) <= 0) continue;
    absl::StrAppendFormat(&text, "  %s %.0f %%", name, 100 * of(field));
  }
  if (of("cores") > 0) {
    absl::StrAppendFormat(&text, "  %.1f cores", of("cores"));
  }
  if (of("games_resigned") > 0 || of("games_played_on") > 0) {
    absl::StrAppendFormat(&text,
                          "  resigned %.0f (of %.0f played on %.0f wrong)",
                          of("games_resigned"), of("games_played_on"),
                          of("played_on_false_positives"));
  }
  return text;
}

// Auxiliary heads that are not learned are left out.
std::string LossText(const nn::Losses& losses) {
  std::vector<std::string> heads;
  for (const nn::HeadInfo& info : nn::kHeads) {
    const double loss = losses.heads[info.head];
    if (info.is_auxiliary && !(loss > 0)) continue;
    heads.push_back(absl::StrFormat("%s %.3f", info.name, loss));
  }
  return absl::StrFormat("loss %.3f (%s)", losses.total,
                         absl::StrJoin(heads, ", "));
}

std::string Learning(const ProgressSnapshot& snapshot) {
  std::string text =
      absl::StrFormat("%d/%d steps", snapshot.steps, snapshot.steps_wanted);
  if (snapshot.losses.has_value()) {
    absl::StrAppend(&text, "  ", LossText(*snapshot.losses));
  }
  return text;
}

std::string Window(const ProgressSnapshot& snapshot) {
  std::string text =
      absl::StrFormat("window %d games, %d positions", snapshot.window_games,
                      snapshot.window_positions);
  if (snapshot.losses.has_value()) {
    absl::StrAppendFormat(&text, "  learning rate %.2g",
                          snapshot.learning_rate);
  }
  if (snapshot.held_out.has_value()) {
    absl::StrAppendFormat(&text, "  held out: policy %.3f, value %.3f",
                          snapshot.held_out->heads[nn::Head::kPolicy],
                          snapshot.held_out->heads[nn::Head::kValue]);
  }
  if (const Event& last = snapshot.learned; !last.is_null()) {
    absl::StrAppendFormat(
        &text,
        "  %.0f samples/s (steps %.0f %%, batches %.0f %%, device %.0f %%)",
        Number(last, "samples_per_second"), 100 * Number(last, "step_share"),
        100 * Number(last, "wait_for_batch_share"),
        100 * Number(last, "read_share"));
  }
  return text;
}

std::string Evaluation(const ProgressSnapshot& snapshot) {
  const StrengthProgress& evaluated = snapshot.evaluated;
  return absl::StrFormat("%d/%d games  against %s", evaluated.games,
                         evaluated.games_wanted, evaluated.opponent);
}

std::string Generation(const ProgressSnapshot& snapshot) {
  return absl::StrFormat(
      "generation %d of %d",
      std::min(snapshot.generation + 1, snapshot.generations),
      snapshot.generations);
}

std::string Percent(double score) {
  return absl::StrFormat("%.0f", 100.0 * score);
}

}  // namespace

std::string StrengthText(const std::vector<StrengthResult>& strength) {
  const bool one_variant = std::all_of(
      strength.begin(), strength.end(), [&](const StrengthResult& result) {
        return result.variant == strength.front().variant;
      });
  return absl::StrJoin(
      strength, "  ", [&](std::string* out, const StrengthResult& result) {
        if (!one_variant) absl::StrAppend(out, result.variant, " ");
        absl::StrAppend(out, result.opponent, " ", Percent(result.score),
                        " % [", Percent(result.score_low), ", ",
                        Percent(result.score_high), "]");
      });
}

namespace {

// A part of what is shown, and which of both forms has it.
struct Part {
  bool in_block;
  bool in_line;
  std::string head;  // in the block, before the text
  std::string text;
  std::string more = {};  // a line of its own in the block; may be empty
};

std::vector<Part> PartsOf(const ProgressSnapshot& s) {
  const auto with_bar = [](absl::string_view name, int64_t done,
                           int64_t wanted) {
    return absl::StrCat(name, " ", Bar(done, wanted), " ");
  };
  const StrengthProgress& evaluated = s.evaluated;
  const bool evaluates = s.evaluating && evaluated.games_wanted > 0;
  return {
      {s.games_wanted > 0, s.playing,
       with_bar("self-play", s.games, s.games_wanted), Games(s),
       s.playing ? Searches(s.rates) : ""},
      {!s.fleet.empty(), s.playing && !s.fleet.empty(), "fleet: ", s.fleet},
      {s.steps_wanted > 0, s.learning,
       with_bar("learning ", s.steps, s.steps_wanted), Learning(s), Window(s)},
      {evaluates, evaluates,
       with_bar("evaluation", evaluated.games, evaluated.games_wanted),
       Evaluation(s)},
      {!s.gate.empty(), false, "gate: ", s.gate},
      {s.strength_generation >= 0, false,
       absl::StrCat("strength after generation ", s.strength_generation, ": "),
       StrengthText(s.strength)}};
}

}  // namespace

std::vector<std::string> ProgressBlock(const ProgressSnapshot& snapshot,
                                       int width) {
  std::vector<std::string> lines = {
      absl::StrJoin({snapshot.run_dir, Generation(snapshot), Phase(snapshot),
                     TimeLeft(snapshot)},
                    "  ")};
  for (const Part& part : PartsOf(snapshot)) {
    if (!part.in_block) continue;
    lines.push_back(absl::StrCat("  ", part.head, part.text));
    if (!part.more.empty()) lines.push_back("  " + part.more);
  }
  for (std::string& line : lines) {
    if (static_cast<int>(line.size()) > width) line.resize(width);
  }
  return lines;
}

std::string ProgressLine(const ProgressSnapshot& snapshot) {
  std::string line = Generation(snapshot) + ": " + Phase(snapshot);
  const auto append = [&line](absl::string_view text) {
    if (!text.empty()) absl::StrAppend(&line, "  ", text);
  };
  for (const Part& part : PartsOf(snapshot)) {
    if (!part.in_line) continue;
    append(part.text);
    append(part.more);
  }
  append(TimeLeft(snapshot));
  return line;
}

std::string ProgressJson(const ProgressSnapshot& snapshot) {
  Event line = {{"event", "progress"},
                {"run_dir", snapshot.run_dir},
                {"generation", snapshot.generation},
                {"generations", snapshot.generations},
                {"generations_done", snapshot.generations_done},
                {"phase", Phase(snapshot)}};
  if (snapshot.time_left != absl::InfiniteDuration()) {
    line["seconds_left"] = absl::ToDoubleSeconds(snapshot.time_left);
  }
  if (snapshot.playing) {
    line.update(
        {{"games", snapshot.games}, {"games_wanted", snapshot.games_wanted}});
    for (const char* const field :
         {"games_per_second", "evaluations_per_second",
          "simulations_per_second", "positions_per_batch", "batch_fill",
          "evaluate_share", "cores"}) {
      line[field] = Number(snapshot.rates, field);
    }
    if (!snapshot.fleet.empty()) line["fleet"] = snapshot.fleet;
  }
  if (snapshot.learning) {
    line.update({{"steps", snapshot.steps},
                 {"steps_wanted", snapshot.steps_wanted},
                 {"window_games", snapshot.window_games},
                 {"window_positions", snapshot.window_positions}});
    if (snapshot.losses.has_value()) {
      line.update({{"loss", snapshot.losses->total},
                   {"learning_rate", snapshot.learning_rate}});
    }
  }
  if (snapshot.evaluating) {
    line.update({{"evaluation_games", snapshot.evaluated.games},
                 {"evaluation_games_wanted", snapshot.evaluated.games_wanted},
                 {"opponent", snapshot.evaluated.opponent}});
  }
  return JsonText(line);
}

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

// Returns the counters at this moment, in the order of kSelfPlayCounters.
std::vector<int64_t> Counted(const SelfPlayStats& stats) {
  std::vector<int64_t> counts;
  for (const auto counter : kSelfPlayCounters) counts.push_back(stats.*counter);
  return counts;
}

// Returns what was counted since `before` as the fields of "self_play".
Event RatesOf(const std::vector<int64_t>& before, const SelfPlayStats& stats,
              absl::Duration elapsed, absl::Duration process_time) {
  const std::vector<int64_t> now = Counted(stats);
  const auto count = [&](std::atomic<int64_t> SelfPlayStats::* counter) {
    const auto i = std::find(std::begin(kSelfPlayCounters),
                             std::end(kSelfPlayCounters), counter) -
                   std::begin(kSelfPlayCounters);
    return now[i] - before[i];
  };
  const int64_t games = count(&SelfPlayStats::games);
  const int64_t plies = count(&SelfPlayStats::plies);
  const int64_t evaluations = count(&SelfPlayStats::evaluations);
  const int64_t batched = evaluations - count(&SelfPlayStats::known);
  const int64_t waited = batched + count(&SelfPlayStats::left_waiting);
  const int64_t batches = count(&SelfPlayStats::batches);
  const int64_t simulations = count(&SelfPlayStats::simulations);
  return {{"games", games},
          {"seconds", absl::ToDoubleSeconds(elapsed)},
          {"games_per_second", PerSecond(games, elapsed)},
          {"evaluations_per_second", PerSecond(evaluations, elapsed)},
          {"positions_per_batch", Share(batched, batches)},
          {"batch_fill", Share(waited, batches * stats.batch_room)},
          {"cached_share", stats.cached_share.load()},
          {"evaluate_share", stats.evaluate_share.load()},
          {"cores", elapsed > absl::ZeroDuration()
                        ? absl::FDivDuration(process_time, elapsed)
                        : 0.0},
          {"distinct_share", stats.distinct_share.load()},
          {"simulations_per_second", PerSecond(simulations, elapsed)},
          {"simulations_per_evaluation", Share(simulations, evaluations)},
          {"graph_share", Share(count(&SelfPlayStats::caught_up), simulations)},
          {"solved_share", Share(count(&SelfPlayStats::solved), simulations)},
          {"full_share", Share(count(&SelfPlayStats::full_searches), plies)},
          {"games_resigned", count(&SelfPlayStats::resigned)},
          {"games_played_on", count(&SelfPlayStats::played_on)},
          {"played_on_resignable", count(&SelfPlayStats::resignable)},
          {"played_on_false_positives",
           count(&SelfPlayStats::resignable_not_lost)}};
}

}  // namespace

ProgressOptions ProgressOptionsFor(std::FILE* out) {
  const bool terminal = isatty(fileno(out)) == 1;
  return {.out = out,
          .form = terminal ? ProgressForm::kBlock : ProgressForm::kLines,
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
  if (IsBlock()) Show();
}

void Progress::Show() {
  if (snapshot_.generations == 0) return;
  Measure();
  if (IsBlock()) {
    Erase();
    Draw();
  } else if (!closed_) {
    Write(options_.form == ProgressForm::kJson ? ProgressJson(snapshot_)
                                               : ProgressLine(snapshot_));
  }
}

void Progress::Write(absl::string_view line) {
  std::fprintf(options_.out, "%.*s\n", static_cast<int>(line.size()),
               line.data());
  std::fflush(options_.out);
}

void Progress::Draw() {
  const std::vector<std::string> lines =
      ProgressBlock(snapshot_, WidthOf(options_.out) - 1);
  Write(absl::StrJoin(lines, "\n"));
  drawn_lines_ = static_cast<int>(lines.size());
}

void Progress::Erase() {
  // Up to the first line of the block, then clear to the end of the screen.
  if (drawn_lines_ > 0) std::fprintf(options_.out, "\x1b[%dA", drawn_lines_);
  if (IsBlock()) std::fprintf(options_.out, "\r\x1b[J");
  drawn_lines_ = 0;
}

void Progress::Measure() {
  const absl::Time now = options_.clock();
  if (snapshot_.playing) {
    const absl::Duration elapsed = now - self_play_begin_;
    snapshot_.rates = RatesOf(counted_before_, stats_, elapsed,
                              ProcessTime() - process_time_before_);
    snapshot_.games = games_kept_ + snapshot_.rates["games"].get<int64_t>();
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
  // Between two phases of a generation it does not go back.
  most_done_ = std::max(most_done_, snapshot_.generation + current);
  snapshot_.generations_done =
      training_ended_ ? snapshot_.generation : most_done_;
  snapshot_.time_left = TimeLeft(now);
}

absl::Duration Progress::TimeLeft(absl::Time now) const {
  // Until an evaluation has been timed, one of its games is assumed to take as
  // long as this number of games of a generation, learning included.
  constexpr double kGamesPerEvaluationGame = 1.5;
  const bool evaluates = snapshot_.evaluating && !is_gate_;
  const absl::Duration evaluating =
      evaluates ? now - evaluation_begin_ : absl::ZeroDuration();
  // 1. A generation is as long as the last one and the part of this one: those
  // of a warm start have another pace than the rest. Too early a guess is worse
  // than none.
  const bool has_last = last_generation_ > absl::ZeroDuration();
  const double timed =
      (has_last ? 1 : 0) + std::max(most_done_ - begun_generation_, 0.0);
  const absl::Duration pace =
      timed < 0.1 ? absl::InfiniteDuration()
                  : (last_generation_ + (now - generation_begin_) -
                     generation_evaluated_ - evaluating) /
                        timed;
  // 2. A game of an evaluation.
  const absl::Duration game =
      evaluation_games_ > 0
          ? evaluation_time_ / static_cast<double>(evaluation_games_)
      : snapshot_.games_wanted > 0
          ? kGamesPerEvaluationGame /
                static_cast<double>(snapshot_.games_wanted) * pace
          : absl::InfiniteDuration();
  const auto lasts = [](double count, absl::Duration each) {
    return count > 0 ? count * each : absl::ZeroDuration();
  };
  // 3. The current evaluation. Its games so far count by their share of it:
  // opponents come one after the other, fast ones and slow ones.
  absl::Duration left = absl::ZeroDuration();
  if (evaluates) {
    const StrengthProgress& evaluated = snapshot_.evaluated;
    const double share = Share(evaluated.games, evaluated.games_wanted);
    const int64_t games = evaluated.games_wanted > 0 ? evaluated.games_wanted
                          : training_ended_          ? evaluations_.final_games
                                                     : evaluations_.games;
    const absl::Duration expected = games > 0         ? lasts(games, game)
                                    : training_ended_ ? absl::InfiniteDuration()
                                                      : absl::ZeroDuration();
    left = expected < absl::InfiniteDuration()
               ? (1 - share) * ((1 - share) * expected + evaluating)
           : share > 0 ? (1 - share) / share * evaluating
                       : absl::InfiniteDuration();
  }
  if (training_ended_) return left;
  // 4. The generations to come with their evaluations, by the deadline, and the
  // last evaluation after that.
  left += lasts(snapshot_.generations - most_done_, pace);
  if (evaluations_.every > 0) {
    const int due = (snapshot_.generations - 1) / evaluations_.every -
                    begun_generation_ / evaluations_.every;
    left += lasts(static_cast<double>(due * evaluations_.games), game);
  }
  left = std::min(left, std::max(deadline_ - now, absl::ZeroDuration()));
  return left + lasts(static_cast<double>(evaluations_.final_games), game);
}

void Progress::BeginRun(absl::string_view run_dir, int first, int generations,
                        const EvaluationPlan& evaluations) {
  absl::MutexLock lock(&mutex_);
  snapshot_.run_dir = std::string(run_dir);
  snapshot_.generation = first;
  snapshot_.generations = generations;
  evaluations_ = evaluations;
  most_done_ = first;
  begun_generation_ = first;
  generation_begin_ = options_.clock();
}

void Progress::SetDeadline(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  deadline_ = deadline;
}

void Progress::EndTraining() {
  absl::MutexLock lock(&mutex_);
  training_ended_ = true;
}

void Progress::BeginSelfPlay(int64_t wanted, int64_t kept) {
  absl::MutexLock lock(&mutex_);
  if (!snapshot_.playing) {
    snapshot_.playing = true;
    snapshot_.games_wanted = 0;
    games_kept_ = 0;
    BeginRates();
  }
  wanted_.push_back(wanted);
  snapshot_.games_wanted += wanted;
  games_kept_ += kept;
  Show();
}

void Progress::BeginRates() {
  counted_before_ = Counted(stats_);
  self_play_begin_ = options_.clock();
  process_time_before_ = ProcessTime();
}

Event Progress::EndSelfPlay() {
  absl::MutexLock lock(&mutex_);
  Measure();
  const int64_t ended = wanted_.front();
  wanted_.pop_front();
  if (wanted_.empty()) {
    snapshot_.playing = false;
  } else {
    snapshot_.games_wanted -= ended;
    games_kept_ = snapshot_.games - ended;
    BeginRates();
  }
  return snapshot_.rates;
}

void Progress::BeginLearning(int generation, int64_t steps,
                             int64_t window_games, int64_t window_positions) {
  absl::MutexLock lock(&mutex_);
  snapshot_.generation = generation;
  snapshot_.learning = true;
  snapshot_.steps = 0;
  snapshot_.steps_wanted = steps;
  snapshot_.losses.reset();  // they belong to the previous generation
  snapshot_.window_games = window_games;
  snapshot_.window_positions = window_positions;
  Show();
}

void Progress::Learned(int64_t steps, double learning_rate,
                       const nn::Losses& losses) {
  absl::MutexLock lock(&mutex_);
  snapshot_.steps = steps;
  snapshot_.learning_rate = learning_rate;
  snapshot_.losses = losses;
}

void Progress::EndLearning(const Event& learning_speed,
                           const std::optional<nn::Losses>& held_out) {
  absl::MutexLock lock(&mutex_);
  snapshot_.learned = learning_speed;
  if (held_out.has_value()) snapshot_.held_out = held_out;
  Show();
  snapshot_.learning = false;
  snapshot_.generation += 1;
  const absl::Time now = options_.clock();
  last_generation_ = now - generation_begin_ - generation_evaluated_;
  generation_begin_ = now;
  generation_evaluated_ = absl::ZeroDuration();
  begun_generation_ = snapshot_.generation;
}

void Progress::BeginEvaluation(int generation, bool is_gate) {
  absl::MutexLock lock(&mutex_);
  is_gate_ = is_gate;
  snapshot_.generation = generation;
  snapshot_.evaluating = true;
  snapshot_.evaluated = {};
  evaluation_begin_ = options_.clock();
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
  const absl::Duration lasted = options_.clock() - evaluation_begin_;
  generation_evaluated_ += lasted;
  evaluation_time_ += lasted;
  evaluation_games_ += snapshot_.evaluated.games_wanted;
  snapshot_.strength_generation = generation;
  snapshot_.strength = std::move(strength);
  if (options_.form != ProgressForm::kLines) return;
  Write(absl::StrCat("after generation ", generation, ": ",
                     StrengthText(snapshot_.strength)));
}

void Progress::SetFleet(absl::string_view text) {
  absl::MutexLock lock(&mutex_);
  snapshot_.fleet = std::string(text);
}

void Progress::EndGate(std::string text) {
  absl::MutexLock lock(&mutex_);
  snapshot_.evaluating = false;
  snapshot_.gate = std::move(text);
  if (options_.form != ProgressForm::kLines) return;
  Write(absl::StrCat("gate: ", snapshot_.gate));
}

void Progress::Print(absl::string_view line) {
  absl::MutexLock lock(&mutex_);
  if (options_.form == ProgressForm::kJson) return;
  Erase();
  Write(line);
  if (IsBlock() && snapshot_.generations > 0) Draw();
}

void Progress::PrintEvent(absl::string_view line) {
  absl::MutexLock lock(&mutex_);
  if (options_.form == ProgressForm::kJson) Write(line);
}

}  // namespace tara::train
