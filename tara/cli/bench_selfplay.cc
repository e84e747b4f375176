#include <algorithm>
#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/base/clocks.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/base/text.h"
#include "tara/cli/bench.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/random_action.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/utility.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/train/play/self_play.h"

namespace tara::cli {
namespace {

struct BenchSelfPlayOptions {
  GameFlags game = {.variant = "sacred_hill_l1", .options = {}};
  BenchNetworkFlags network = {.net = "64x4", .checkpoint = {}};
  nn::InferenceOptions inference;
  int simulations = 100;
  std::string search;  // "name=value,..."
  int threads = 0;     // all cores
  int games = 0;       // per generation; 0: twice those in lockstep
  int games_per_thread = 64;
  int cache = 1 << 16;
  bool plain_cache = false;  // does not share symmetric positions
  double seconds = 10;
  std::string format = "text";
};

using Json = nlohmann::ordered_json;
using Clock = absl::Time (*)();

constexpr uint64_t kSeed = 1;
constexpr absl::Duration kTurn = absl::Milliseconds(50);

// Time that the calling thread has spent on measurements outside of self-play.
absl::Duration& Aside() {
  thread_local absl::Duration aside;
  return aside;
}

// The clocks of self-play, which stand still during these measurements.
absl::Time SelfPlayThreadTime() { return ThreadTime() - Aside(); }
absl::Time SelfPlaySteadyTime() { return SteadyTime() - Aside(); }

// Time and positions of repeated work. Thread-safe.
struct Work {
  std::atomic<int64_t> ns = 0;
  std::atomic<int64_t> positions = 0;

  void Add(absl::Duration time, size_t count) {
    ns += absl::ToInt64Nanoseconds(time);
    positions += static_cast<int64_t>(count);
  }
  double ns_per_position() const {
    return static_cast<double>(ns) /
           static_cast<double>(std::max<int64_t>(positions, 1));
  }
  // Positions per second of one thread.
  double rate() const {
    return 1e9 * static_cast<double>(positions) /
           static_cast<double>(std::max<int64_t>(ns, 1));
  }
  void Clear() { ns = positions = 0; }
};

// Evaluates positions by a network. Every twentieth of a second each thread
// also measures the network alone, in batches of the fastest size, and the work
// around it. Thread-safe; borrows the network.
class TurnsEvaluator : public mcts::Evaluator {
 public:
  TurnsEvaluator(mcts::Evaluator* network, std::vector<State> positions,
                 Clock clock)
      : network_(network), positions_(std::move(positions)), clock_(clock) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    const absl::Time begin = clock_();
    TARA_RETURN_IF_ERROR(network_->Evaluate(states, results));
    const absl::Time end = clock_();
    self_play.Add(end - begin, states.size());
    batches += 1;
    thread_local absl::Time next_turn = absl::InfinitePast();
    if (end < next_turn) return absl::OkStatus();
    const absl::Status status = TakeTurn();
    next_turn = clock_() + kTurn;
    Aside() += clock_() - end;
    return status;
  }

  size_t batch_multiple() const override { return network_->batch_multiple(); }

  // Finds the batch size with the highest rate.
  absl::Status FindBestBatch() {
    double best = 0;
    int best_batch = 0;
    for (const int size : {8, 16, 32, 64, 128, 256}) {
      batch = size;
      // The first calls of a size may prepare something.
      for (int i = 0; i < 3; ++i) TARA_RETURN_IF_ERROR(EvaluateBare());
      for (int i = 0; i < 3; ++i) {
        bare.Clear();
        TARA_RETURN_IF_ERROR(EvaluateBareForATurn());
        if (bare.rate() <= best) continue;
        best = bare.rate();
        best_batch = size;
      }
    }
    batch = best_batch;
    bare.Clear();
    return absl::OkStatus();
  }

  int batch = 0;  // of the network alone
  Work self_play;
  std::atomic<int64_t> batches = 0;  // of self-play
  Work bare;
  Work encoding;
  Work filling;

 private:
  absl::Span<const State> NextStates() {
    const auto size = static_cast<size_t>(batch);
    const size_t next = next_.fetch_add(1, std::memory_order_relaxed);
    return absl::MakeConstSpan(positions_)
        .subspan(next % (positions_.size() / size) * size, size);
  }

  // Returns room for `size` results of the calling thread.
  static absl::Span<mcts::Evaluation> Results(size_t size) {
    thread_local std::vector<mcts::Evaluation> results;
    results.resize(std::max(results.size(), size));
    return absl::MakeSpan(results).first(size);
  }

  absl::Status EvaluateBare() {
    const absl::Span<const State> states = NextStates();
    const absl::Span<mcts::Evaluation> results = Results(states.size());
    const absl::Time begin = clock_();
    TARA_RETURN_IF_ERROR(network_->Evaluate(states, results));
    bare.Add(clock_() - begin, states.size());
    return absl::OkStatus();
  }

  absl::Status EvaluateBareForATurn() {
    for (const absl::Time end = clock_() + kTurn; clock_() < end;) {
      TARA_RETURN_IF_ERROR(EvaluateBare());
    }
    return absl::OkStatus();
  }

  absl::Status TakeTurn() {
    // Not measured: the processor's caches hold what self-play had there.
    TARA_RETURN_IF_ERROR(network_->Evaluate(NextStates().first(1), Results(1)));
    TARA_RETURN_IF_ERROR(EvaluateBareForATurn());
    for (int i = 0; i < 4; ++i) {
      const absl::Span<const State> states = NextStates();
      const absl::Span<mcts::Evaluation> results = Results(states.size());
      const absl::Time begin = clock_();
      absl::Time encoded;
      EncodeAndFill(states, results, [&] { encoded = clock_(); });
      encoding.Add(encoded - begin, states.size());
      filling.Add(clock_() - encoded, states.size());
    }
    return absl::OkStatus();
  }

  mcts::Evaluator* const network_;
  const std::vector<State> positions_;
  const Clock clock_;
  std::atomic<size_t> next_ = 0;
};

// Sums of all generations.
struct Played {
  train::SelfPlayStats stats;
  train::SelfPlayTimes times;
  int64_t searched = 0;    // simulations of searches when they ended
  int64_t busiest_ns = 0;  // of each generation's thread busy for longest
};

// Plays whole generations until `seconds` are over or stopped.
absl::Status Play(const BenchSelfPlayOptions& options,
                  train::SelfPlayOptions self_play, const StopCheck& stop,
                  TurnsEvaluator& turns, Played& played) {
  self_play.times = &played.times;
  const int64_t lockstep =
      int64_t{self_play.threads} * options.games_per_thread;
  std::vector<uint64_t> games(options.games > 0 ? options.games : 2 * lockstep);
  std::iota(games.begin(), games.end(), 0);
  std::atomic<int64_t> searched = 0;
  const auto sink = [&](const proto::GameRecord& game) {
    for (const proto::Step& step : game.steps()) searched += step.simulations();
    return absl::OkStatus();
  };
  const absl::Time end = SteadyTime() + absl::Seconds(options.seconds);
  do {
    mcts::CachingEvaluator cache(
        &turns,
        mcts::CachingOptions{
            .positions = options.cache,
            .symmetric = !options.plain_cache,
            .margins =
                mcts::Utility(self_play.search.utility).needs_margins()});
    played.times.longest_worker = 0;
    TARA_RETURN_IF_ERROR(
        train::PlayGames(self_play, games, cache, sink, stop, played.stats));
    played.busiest_ns += played.times.longest_worker;
    for (uint64_t& game : games) game += games.size();
  } while (!stop() && SteadyTime() < end);
  played.searched = searched;
  return absl::OkStatus();
}

// Returns where the threads' time went. Rates are sums over all threads, per
// second of the busiest thread.
Json ReportOf(const TurnsEvaluator& turns, const Played& played, int threads) {
  const double seconds =
      std::max(static_cast<double>(played.busiest_ns) * 1e-9, 1e-9);
  const auto rate = [seconds](int64_t count) {
    return static_cast<double>(count) / seconds;
  };
  const auto ratio = [](int64_t part, int64_t whole) {
    return static_cast<double>(part) /
           static_cast<double>(std::max<int64_t>(whole, 1));
  };
  const train::SelfPlayStats& stats = played.stats;
  const train::SelfPlayTimes& times = played.times;
  const int64_t positions = turns.self_play.positions;
  const double bare = turns.bare.rate() * threads;

  const int64_t all = std::max<int64_t>(played.busiest_ns * threads, 1);
  const auto around = [&](const Work& work) {
    return work.ns_per_position() * static_cast<double>(positions) /
           static_cast<double>(all);
  };
  const double encoding = around(turns.encoding);
  const double filling = around(turns.filling);
  return {{"engine_evaluations_per_s", bare},
          {"engine_batch", turns.batch},
          {"selfplay_evaluations_per_s", rate(positions)},
          {"ratio", rate(positions) / bare},
          {"simulations_per_s", rate(stats.simulations)},
          {"search_simulations_per_s", rate(played.searched)},
          {"games_per_s", rate(stats.games)},
          {"mean_batch", ratio(positions, turns.batches)},
          {"cached_share", 1 - ratio(positions, stats.evaluations)},
          {"solved_share", ratio(stats.solved, stats.simulations)},
          {"games", stats.games.load()},
          {"seconds", seconds},
          {"shares",
           {{"engine", ratio(turns.self_play.ns, all) - encoding - filling},
            {"encoding", encoding},
            {"filling", filling},
            {"tree", ratio(times.gather - times.solve, all)},
            {"cache", ratio(times.evaluate - turns.self_play.ns, all)},
            {"solver", ratio(times.solve, all)},
            {"playing", ratio(times.play, all)},
            {"waiting", ratio(all - times.workers, all)},
            {"other",
             ratio(times.workers - times.gather - times.evaluate - times.play,
                   all)}}}};
}

absl::StatusOr<mcts::SearchOptions> SearchOf(
    const BenchSelfPlayOptions& options) {
  mcts::SearchOptions search;
  search.simulations = options.simulations;
  search.dirichlet_fraction = 0.25f;
  if (options.search.empty()) return search;
  const absl::StatusOr<std::vector<OptionText>> list =
      ParseOptionList(options.search);
  absl::Status status = list.status();
  for (size_t i = 0; status.ok() && i < list->size(); ++i) {
    const OptionText& option = (*list)[i];
    status = mcts::SetSearchOption(option.name, option.value, search);
  }
  if (status.ok()) return search;
  return UsageError(absl::StrCat("--search: ", status.message()));
}

std::string ToText(const Json& report) {
  std::string text;
  for (const auto& [name, value] : report.items()) {
    if (value.is_object()) continue;
    absl::StrAppendFormat(
        &text, "%-28s %s\n", name,
        value.is_number_float()
            ? absl::StrFormat("%.*f", value.get<double>() < 100 ? 3 : 0,
                              value.get<double>())
            : (value.is_string() ? value.get<std::string>() : value.dump()));
  }
  absl::StrAppend(&text, "\nwhere the threads' time goes\n");
  for (const auto& [name, value] : report.at("shares").items()) {
    absl::StrAppendFormat(&text, "  %-26s %5.1f%%\n", name,
                          100 * value.get<double>());
  }
  return text;
}

// Measures self-play next to the bare network, over whole games.
absl::StatusOr<int> RunBenchSelfPlay(const BenchSelfPlayOptions& options,
                                     Console& console) {
  const nn::InferenceOptions& inference = options.inference;
  train::SelfPlayOptions self_play;
  TARA_ASSIGN_OR_RETURN(self_play.starts, StartsOf(options.game));
  TARA_ASSIGN_OR_RETURN(self_play.search, SearchOf(options));
  self_play.run_seed = kSeed;
  self_play.threads = ResolveThreads(options.threads);
  self_play.games_per_thread = options.games_per_thread;
  TARA_ASSIGN_OR_RETURN(const nn::Checkpoint checkpoint,
                        ReadBenchNetwork(options.network));
  TARA_ASSIGN_OR_RETURN(const nn::LoadedNetwork network,
                        nn::MakeNetwork("the network", checkpoint, inference));

  // On the CPU the threads that ask do the evaluator's work, so processor time
  // counts; a device works at the same time as they do.
  const bool on_cpu = inference.device == "cpu";
  Random random(kSeed);
  std::vector<State> positions =
      RandomPositions(self_play.starts, 1024, random);
  std::shuffle(positions.begin(), positions.end(), random);
  TurnsEvaluator turns(network.evaluator.get(), std::move(positions),
                       on_cpu ? ThreadTime : SteadyTime);
  TARA_RETURN_IF_ERROR(turns.FindBestBatch());
  Played played;
  played.times.clock = on_cpu ? SelfPlayThreadTime : SelfPlaySteadyTime;
  const StopCheck stop = StopOnSignals();
  TARA_RETURN_IF_ERROR(Play(options, self_play, stop, turns, played));

  Json report = {
      {"net", ShapeText(checkpoint.shape)},
      {"device", options.inference.device},
      {"precision", std::string(nn::PrecisionName(network.info.precision))},
      {"backend", std::string(nn::BackendName(network.info.backend))},
      {"variant", options.game.variant},
      {"simulations", options.simulations},
      {"threads", self_play.threads}};
  report.update(ReportOf(turns, played, self_play.threads));
  console.out << (options.format == "json" ? report.dump(2) + "\n"
                                           : ToText(report));
  return EndBench(stop, console);
}

}  // namespace

void RegisterBenchSelfPlay(Command& bench) {
  Command& command = bench.AddCommand(kBenchSelfPlayCommand.name,
                                      kBenchSelfPlayCommand.summary);
  BenchSelfPlayOptions* const options = command.SetRun(RunBenchSelfPlay);
  AddGameFlags(command, &options->game, kVariantOrAllHelp, /*required=*/false);
  AddBenchNetworkFlags(command, &options->network);
  AddInferenceFlags(command, &options->inference);
  command.Add({
      {"--sims N", &options->simulations, 1, 1000000, "simulations per action"},
      {"--search NAME=VALUE,...", &options->search,
       "other options of the search (see arena --help)"},
      ThreadsOption(&options->threads),
      {"--games N", &options->games, 0, 1000000,
       "games per generation; 0: twice the concurrent games"},
      {"--games-per-thread N", &options->games_per_thread, 1, 65536,
       "concurrent games per thread, one leaf of each per batch"},
      {"--cache N", &options->cache, 0, 1 << 28,
       "capacity of the evaluation cache, in positions; 0: no cache"},
      {"--plain-cache", &options->plain_cache,
       "cache that does not share symmetric positions"},
      SecondsOption(&options->seconds,
                    "duration; the last generation is completed"),
      FormatOption(&options->format),
  });
  command.SetNotes(
      "The bare engine, in batches of its best size, and self-play take turns "
      "of a\n"
      "twentieth of a second on the same threads. Seconds are the processor "
      "time of the\n"
      "busiest thread (with a device: wall time), so rates hold on a busy "
      "machine too.\n"
      "The engine's rate is for turning positions into evaluations: it "
      "includes\n"
      "encoding and filling. Search simulations include the ones that the tree "
      "kept\n"
      "from the turn before. Waiting is the time of threads without games at "
      "the end of\n"
      "a generation.");
  command.SetExamples({"bench selfplay", "bench selfplay --net 128x10",
                       "bench selfplay --threads 2 --precision int8 "
                       "--search proof=on,solver_hills=6 --format=json"});
}

}  // namespace tara::cli
