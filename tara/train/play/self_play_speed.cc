#include "tara/train/play/self_play_speed.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/base/clocks.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/core/random_action.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/utility.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"

namespace tara::train {
namespace {

constexpr int64_t kTurnNs = 50'000'000;
constexpr int kBatchSizes[] = {8, 16, 32, 64, 128, 256};
constexpr int kPositions = 1024;

// What the calling thread has spent on other things than self-play.
int64_t& AsideNs() {
  thread_local int64_t aside = 0;
  return aside;
}

int64_t ThreadNs() { return absl::ToUnixNanos(ThreadTime()); }
int64_t DayNs() { return absl::GetCurrentTimeNanos(); }

// The clocks of self-play stand still while something else is measured.
absl::Time SelfPlayThreadTime() {
  return absl::FromUnixNanos(ThreadNs() - AsideNs());
}
absl::Time SelfPlayDayTime() {
  return absl::FromUnixNanos(DayNs() - AsideNs());
}

// Positions of random games, in no order.
std::vector<State> ShuffledPositions(absl::Span<const State> starts) {
  Random random(1);
  std::vector<State> positions = RandomPositions(starts, kPositions, random);
  for (size_t i = positions.size() - 1; i > 0; --i) {
    std::swap(positions[i],
              positions[random.Below(static_cast<uint32_t>(i + 1))]);
  }
  return positions;
}

// Passes positions on to the network and, by turns, measures the network alone.
class TurnsEvaluator : public mcts::Evaluator {
 public:
  TurnsEvaluator(mcts::Evaluator* network, std::vector<State> positions,
                 bool on_cpu)
      : network_(network),
        positions_(std::move(positions)),
        now_(on_cpu ? ThreadNs : DayNs) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    const int64_t begin = now_();
    TARA_RETURN_IF_ERROR(network_->Evaluate(states, results));
    const int64_t end = now_();
    network_ns += end - begin;
    positions += static_cast<int64_t>(states.size());
    batches += 1;
    // Since the last turn of this thread: a fresh one has its turn at once.
    thread_local int64_t next_turn = 0;
    thread_local const TurnsEvaluator* owner = nullptr;
    if (owner == this && end < next_turn) return absl::OkStatus();
    owner = this;
    const absl::Status status = TakeTurn();
    const int64_t after = now_();
    AsideNs() += after - end;
    next_turn = after + kTurnNs;
    return status;
  }

  size_t batch_multiple() const override { return network_->batch_multiple(); }

  // Finds the batch size with the highest rate.
  absl::Status FindBestBatch() {
    double best = 0;
    for (const int size : kBatchSizes) {
      batch_ = size;
      // The first calls of a size may prepare something.
      for (int i = 0; i < 3; ++i) TARA_RETURN_IF_ERROR(Bare());
      double rate = 0;
      for (int i = 0; i < 3; ++i) {
        bare_ns = bare_positions = 0;
        do {
          TARA_RETURN_IF_ERROR(Bare());
        } while (bare_ns < kTurnNs);
        rate = std::max(rate, bare_rate());
      }
      if (rate > best) {
        best = rate;
        best_batch = size;
      }
    }
    batch_ = best_batch;
    bare_ns = bare_positions = 0;
    return absl::OkStatus();
  }

  // Evaluations a second of one thread.
  double bare_rate() const {
    return 1e9 * static_cast<double>(bare_positions) /
           static_cast<double>(std::max<int64_t>(bare_ns, 1));
  }

  int best_batch = 0;
  // Of self-play: of the evaluator, what it was asked.
  std::atomic<int64_t> network_ns = 0, positions = 0, batches = 0;
  // Of the turns.
  std::atomic<int64_t> bare_ns = 0, bare_positions = 0;
  std::atomic<int64_t> encode_ns = 0, fill_ns = 0, encoded_positions = 0;

 private:
  absl::Span<const State> NextStates() {
    const auto size = static_cast<size_t>(batch_);
    const size_t next = next_.fetch_add(1, std::memory_order_relaxed);
    return absl::MakeConstSpan(positions_)
        .subspan(next % (positions_.size() / size) * size, size);
  }

  absl::Status Bare() {
    const absl::Span<const State> states = NextStates();
    thread_local std::vector<mcts::Evaluation> results;
    results.resize(std::max(results.size(), states.size()));
    const int64_t begin = now_();
    TARA_RETURN_IF_ERROR(network_->Evaluate(
        states, absl::MakeSpan(results).first(states.size())));
    bare_ns += now_() - begin;
    bare_positions += static_cast<int64_t>(states.size());
    return absl::OkStatus();
  }

  void EncodeAndFill() {
    thread_local nn::EncodedBatch batch;
    thread_local std::vector<mcts::Evaluation> results;
    const absl::Span<const State> states = NextStates();
    results.resize(std::max(results.size(), states.size()));
    std::vector<float> outputs(nn::kNumPolicyOutputs + 3 + kNumMargins);
    std::iota(outputs.begin(), outputs.end(), 0.0f);
    for (float& output : outputs) output *= 1e-2f;
    const nn::RawOutput raw = {
        .policy = outputs.data(),
        .result = outputs.data() + nn::kNumPolicyOutputs,
        .margins = outputs.data() + nn::kNumPolicyOutputs + 3};
    const int64_t begin = now_();
    batch.EncodeCanonical(states);
    const int64_t encoded = now_();
    for (size_t i = 0; i < states.size(); ++i) {
      nn::FillEvaluation(batch, static_cast<int>(i), raw, results[i]);
    }
    encode_ns += encoded - begin;
    fill_ns += now_() - encoded;
    encoded_positions += static_cast<int64_t>(states.size());
  }

  absl::Status TakeTurn() {
    // What self-play had in the caches is lost to it, and the other way round.
    TARA_RETURN_IF_ERROR(
        network_->Evaluate(NextStates().first(1), WarmUpResult()));
    for (const int64_t begin = now_(); now_() < begin + kTurnNs;) {
      TARA_RETURN_IF_ERROR(Bare());
    }
    for (int i = 0; i < 4; ++i) EncodeAndFill();
    return absl::OkStatus();
  }

  static absl::Span<mcts::Evaluation> WarmUpResult() {
    thread_local mcts::Evaluation result;
    return absl::MakeSpan(&result, 1);
  }

  mcts::Evaluator* const network_;
  const std::vector<State> positions_;
  int64_t (*const now_)();
  int batch_ = 0;
  std::atomic<size_t> next_ = 0;
};

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

double Share(int64_t part, int64_t whole) {
  return static_cast<double>(part) /
         static_cast<double>(std::max<int64_t>(whole, 1));
}

// What the counters and clocks come to. `busiest` is the sum over generations
// of the time of the thread that was busy for longest.
SelfPlaySpeed Report(const SelfPlaySpeedOptions& options,
                     const TurnsEvaluator& turns, const SelfPlayStats& stats,
                     const SelfPlayTimes& times, int64_t busiest,
                     int64_t searched) {
  const int threads = std::max(options.self_play.threads, 1);
  const double seconds = std::max(Seconds(busiest), 1e-9);
  SelfPlaySpeed speed;
  speed.engine_evaluations_per_s = turns.bare_rate() * threads;
  speed.engine_batch = turns.best_batch;
  const auto rate = [seconds](int64_t count) {
    return static_cast<double>(count) / seconds;
  };
  speed.evaluations_per_s = rate(turns.positions);
  speed.simulations_per_s = rate(stats.simulations);
  speed.search_simulations_per_s = rate(searched);
  speed.games_per_s = rate(stats.games);
  speed.ratio = speed.evaluations_per_s / speed.engine_evaluations_per_s;
  speed.mean_batch = Share(turns.positions, turns.batches);
  speed.cached_share = 1 - Share(turns.positions, stats.evaluations);
  speed.solved_share = Share(stats.solved, stats.simulations);
  speed.games = stats.games;
  speed.seconds = seconds;

  const int64_t all = busiest * threads;
  const auto around = [&](int64_t ns) {
    return Share(ns, turns.encoded_positions) *
           static_cast<double>(turns.positions) /
           static_cast<double>(std::max<int64_t>(all, 1));
  };
  SelfPlaySpeed::Shares& shares = speed.shares;
  shares.encoding = around(turns.encode_ns);
  shares.filling = around(turns.fill_ns);
  shares.engine =
      Share(turns.network_ns, all) - shares.encoding - shares.filling;
  shares.cache = Share(times.evaluate - turns.network_ns, all);
  shares.solver = Share(times.solve, all);
  shares.tree = Share(times.gather - times.solve, all);
  shares.playing = Share(times.play, all);
  shares.waiting = Share(all - times.workers, all);
  shares.other =
      Share(times.workers - times.gather - times.evaluate - times.play, all);
  return speed;
}

}  // namespace

absl::StatusOr<SelfPlaySpeed> MeasureSelfPlaySpeed(
    const SelfPlaySpeedOptions& options, mcts::Evaluator& evaluator,
    const StopCheck& stop) {
  TurnsEvaluator turns(&evaluator, ShuffledPositions(options.self_play.starts),
                       options.on_cpu);
  TARA_RETURN_IF_ERROR(turns.FindBestBatch());
  SelfPlayStats stats;
  SelfPlayTimes times;
  times.clock = options.on_cpu ? SelfPlayThreadTime : SelfPlayDayTime;
  SelfPlayOptions self_play = options.self_play;
  self_play.times = &times;
  std::atomic<int64_t> searched = 0;
  const auto sink = [&](const proto::GameRecord& game) {
    for (const proto::Step& step : game.steps()) searched += step.simulations();
    return absl::OkStatus();
  };
  int64_t busiest = 0;
  uint64_t next_game = 0;
  const absl::Time begin = SteadyTime();
  do {
    mcts::CachingEvaluator cache(
        &turns,
        mcts::CachingOptions{
            .positions = options.cache_positions,
            .symmetric = options.symmetric_cache,
            .margins =
                mcts::Utility(self_play.search.utility).needs_margins()});
    std::vector<uint64_t> games(static_cast<size_t>(options.games));
    std::iota(games.begin(), games.end(), next_game);
    next_game += games.size();
    times.longest_worker = 0;
    TARA_RETURN_IF_ERROR(PlayGames(self_play, games, cache, sink, stop, stats));
    busiest += times.longest_worker;
  } while (!stop() &&
           absl::ToDoubleSeconds(SteadyTime() - begin) < options.seconds);
  return Report(options, turns, stats, times, busiest, searched);
}

}  // namespace tara::train
