#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
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
  double seconds = 10;
  std::string format = "text";
};

using Json = nlohmann::ordered_json;
constexpr uint64_t kSeed = 1;

// Counts the work of a network. Thread-safe; borrows the network.
class CountingNetwork : public mcts::Evaluator {
 public:
  CountingNetwork(mcts::Evaluator* network, BenchClock clock)
      : network_(network), clock_(clock) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    const absl::Time begin = clock_();
    TARA_RETURN_IF_ERROR(network_->Evaluate(states, results));
    ns += absl::ToInt64Nanoseconds(clock_() - begin);
    positions += static_cast<int64_t>(states.size());
    ++batches;
    return absl::OkStatus();
  }

  size_t batch_multiple() const override { return network_->batch_multiple(); }

  std::atomic<int64_t> ns = 0;
  std::atomic<int64_t> positions = 0;
  std::atomic<int64_t> batches = 0;

 private:
  mcts::Evaluator* const network_;
  const BenchClock clock_;
};

// The bare network in batches of several sizes, and the work around it.
constexpr int kSizes[] = {8, 16, 32, 64, 128, 256};
constexpr int kEncoding = std::size(kSizes);
constexpr int kEncodingAndFilling = kEncoding + 1;

std::vector<Workload> BareWorkloads(mcts::Evaluator& network,
                                    const std::vector<State>& positions) {
  std::vector<Workload> workloads;
  for (const int size : kSizes) {
    workloads.push_back(EvaluatingWorkload(network, positions, size));
  }
  workloads.push_back(EncodingWorkload(positions, 64));
  workloads.push_back(EncodingAndFillingWorkload(positions, 64));
  return workloads;
}

// Sums of all generations.
struct Played {
  train::SelfPlayStats stats;
  train::SelfPlayTimes times;
  int64_t searched = 0;    // simulations of searches when they ended
  int64_t busiest_ns = 0;  // of each generation's thread busy for longest
};

// Plays whole generations until `seconds` are over or stopped. The workloads
// take turns before the first and after each.
absl::Status Play(const BenchSelfPlayOptions& options,
                  train::SelfPlayOptions self_play, const StopCheck& stop,
                  std::vector<Workload>& bare, CountingNetwork& network,
                  Played& played) {
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
  const auto take_turns = [&] {
    constexpr double kPart = 0.2;  // of the time of self-play
    return TakeTurns(self_play.threads, played.times.clock,
                     kPart * options.seconds, stop, absl::MakeSpan(bare));
  };
  TARA_RETURN_IF_ERROR(take_turns());
  const absl::Time end = SteadyTime() + absl::Seconds(options.seconds);
  do {
    mcts::CachingEvaluator cache(
        &network,
        mcts::CachingOptions{
            .positions = options.cache,
            .symmetric = true,
            .margins =
                mcts::Utility(self_play.search.utility).needs_margins()});
    played.times.longest_worker = 0;
    TARA_RETURN_IF_ERROR(
        train::PlayGames(self_play, games, cache, sink, stop, played.stats));
    played.busiest_ns += played.times.longest_worker;
    for (uint64_t& game : games) game += games.size();
    TARA_RETURN_IF_ERROR(take_turns());
  } while (!stop() && SteadyTime() < end);
  played.searched = searched;
  return absl::OkStatus();
}

// Returns where the threads' time went. Rates are sums over all threads, per
// second of the busiest thread.
Json ReportOf(const std::vector<Workload>& bare, const CountingNetwork& network,
              const Played& played, int threads) {
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
  const int64_t positions = network.positions;
  int best = 0;
  for (int i = 0; i < kEncoding; ++i) {
    if (Typical(bare[i].rates) > Typical(bare[best].rates)) best = i;
  }
  const double engine = Typical(bare[best].rates);
  const int64_t all = std::max<int64_t>(played.busiest_ns * threads, 1);
  // Share of the threads' time, at the rate of a workload.
  const auto around = [&](int workload) {
    return rate(positions) / Typical(bare[workload].rates);
  };
  const double encoding = around(kEncoding);
  const double filling = around(kEncodingAndFilling) - encoding;
  return {{"engine_evaluations_per_s", engine},
          {"engine_batch", kSizes[best]},
          {"selfplay_evaluations_per_s", rate(positions)},
          {"ratio", rate(positions) / engine},
          {"simulations_per_s", rate(stats.simulations)},
          {"search_simulations_per_s", rate(played.searched)},
          {"games_per_s", rate(stats.games)},
          {"mean_batch", ratio(positions, network.batches)},
          {"cached_share", 1 - ratio(positions, stats.evaluations)},
          {"solved_share", ratio(stats.solved, stats.simulations)},
          {"games", stats.games.load()},
          {"seconds", seconds},
          {"shares",
           {{"engine", ratio(network.ns, all) - encoding - filling},
            {"encoding", encoding},
            {"filling", filling},
            {"tree", ratio(times.gather - times.solve, all)},
            {"cache", ratio(times.evaluate - network.ns, all)},
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
  const BenchClock clock = on_cpu ? ThreadTime : SteadyTime;
  std::vector<Workload> bare = BareWorkloads(*network.evaluator, positions);
  CountingNetwork counting(network.evaluator.get(), clock);
  Played played;
  played.times.clock = clock;
  const StopCheck stop = StopOnSignals();
  TARA_RETURN_IF_ERROR(Play(options, self_play, stop, bare, counting, played));

  Json report = {
      {"net", ShapeText(checkpoint.shape)},
      {"device", options.inference.device},
      {"precision", std::string(nn::PrecisionName(network.info.precision))},
      {"backend", std::string(nn::BackendName(network.info.backend))},
      {"variant", options.game.variant},
      {"simulations", options.simulations},
      {"threads", self_play.threads}};
  report.update(ReportOf(bare, counting, played, self_play.threads));
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
      SecondsOption(&options->seconds,
                    "duration; the last generation is completed"),
      FormatOption(&options->format),
  });
  command.SetNotes(
      "The bare engine is measured before and after each generation, on the "
      "same number\n"
      "of threads, in batches of several sizes; the fastest one counts. "
      "Seconds are\n"
      "the processor time of the busiest thread (with a device: wall time), so "
      "rates\n"
      "hold on a busy machine too. The engine's rate is for turning positions "
      "into\n"
      "evaluations, including encoding and filling. Search simulations include "
      "the ones\n"
      "that the tree kept from the previous turn. Waiting is the time of "
      "threads without\n"
      "games at the end of a generation.");
  command.SetExamples({"bench selfplay", "bench selfplay --net 128x10",
                       "bench selfplay --threads 2 --precision int8 "
                       "--search proof=on,solver_hills=6 --format=json"});
}

}  // namespace tara::cli
