#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/base/clocks.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/cli/bench_network.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/action.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/engine/engine_model.h"
#include "tara/engine/engine_options.h"
#include "tara/engine/json_session.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/utility.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/train/play/self_play.h"

namespace tara::cli {
namespace {

struct BenchEngineOptions {
  GameFlags game = {.variant = "sacred_hill_l1", .options = {}};
  BenchNetworkFlags network = {.net = "64x4", .checkpoint = {}};
  std::string precision = "auto";
  int64_t simulations = 100;
  std::string search;  // "name=value,..."
  std::string report = "actions,pv";
  int64_t threads = 0;     // all cores
  int64_t positions = 64;  // in step on a thread; games of self-play likewise
  int64_t cache = 1 << 16;
  double seconds = 20;
  std::string format = "text";
};

using Json = nlohmann::ordered_json;

constexpr uint64_t kSeed = 1;

// Processor time of all threads of this process, and the time of day.
struct Clocks {
  double processor_s = 0;
  double day_s = 0;
};

Clocks Now() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return {.processor_s = static_cast<double>(now.tv_sec) +
                         1e-9 * static_cast<double>(now.tv_nsec),
          .day_s = absl::ToDoubleSeconds(SteadyTime() - absl::UnixEpoch())};
}

// The work and time of one of the two in all its turns.
struct Work {
  int64_t evaluations = 0;  // positions that the network computed
  int64_t batches = 0;
  int64_t simulations = 0;
  double processor_s = 0;
  double day_s = 0;

  double rate() const {  // of one thread
    return static_cast<double>(evaluations) / std::max(processor_s, 1e-9);
  }
};

// Counts what a network computes. Thread-safe; borrows the network.
class CountingEvaluator : public mcts::Evaluator {
 public:
  explicit CountingEvaluator(mcts::Evaluator* network) : network_(network) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    evaluations += static_cast<int64_t>(states.size());
    batches += 1;
    return network_->Evaluate(states, results);
  }

  std::atomic<int64_t> evaluations = 0;
  std::atomic<int64_t> batches = 0;

 private:
  mcts::Evaluator* const network_;
};

void Add(const CountingEvaluator& counted, int64_t simulations,
         const Clocks& begin, Work& work) {
  const Clocks end = Now();
  work.evaluations += counted.evaluations;
  work.batches += counted.batches;
  work.simulations += simulations;
  work.processor_s += end.processor_s - begin.processor_s;
  work.day_s += end.day_s - begin.day_s;
}

class Bench {
 public:
  Bench(const BenchEngineOptions& options, const mcts::SearchOptions& search,
        std::vector<State> starts, mcts::Evaluator* network)
      : options_(options),
        search_(search),
        starts_(std::move(starts)),
        network_(network),
        random_(DeriveSeed(kSeed, 0, StreamPurpose::kArena)) {}

  // By turns, until the time is over.
  absl::Status Run() {
    const absl::Time end = SteadyTime() + absl::Seconds(options_.seconds);
    do {
      TARA_ASSIGN_OR_RETURN(const int64_t simulations, PlayGeneration());
      TARA_RETURN_IF_ERROR(
          Analyse(std::max<int64_t>(1, simulations / options_.simulations)));
    } while (SteadyTime() < end);
    return absl::OkStatus();
  }

  const Work& self_play() const { return self_play_; }
  const Work& engine() const { return engine_; }

 private:
  // A generation of self-play; returns its simulations.
  absl::StatusOr<int64_t> PlayGeneration() {
    train::SelfPlayOptions options;
    options.starts = starts_;
    options.search = search_;
    options.search.dirichlet_fraction = 0.25f;
    options.run_seed = kSeed;
    options.threads = static_cast<int>(options_.threads);
    options.games_per_thread = static_cast<int>(options_.positions);
    std::vector<uint64_t> games(options_.threads * options_.positions);
    std::iota(games.begin(), games.end(), next_game_);
    next_game_ += games.size();
    CountingEvaluator counted(network_);
    mcts::CachingEvaluator cache(
        &counted,
        mcts::CachingOptions{
            .positions = options_.cache,
            .symmetric = true,
            .margins = mcts::Utility(options.search.utility).needs_margins()});
    train::SelfPlayStats stats;
    const Clocks begin = Now();
    TARA_RETURN_IF_ERROR(train::PlayGames(
        options, games, cache,
        [](const proto::GameRecord&) { return absl::OkStatus(); },
        [] { return false; }, stats));
    Add(counted, stats.simulations, begin, self_play_);
    return stats.simulations;
  }

  // As many simulations of the engine, all its ways included.
  absl::Status Analyse(int64_t count) {
    std::string requests;
    for (int64_t i = 0; i < count; ++i) {
      absl::StrAppend(&requests, NextRequest().dump(), "\n");
    }
    CountingEvaluator counted(network_);
    const std::unique_ptr<engine::EngineModel> model =
        engine::EngineModel::OfEvaluator(
            std::make_unique<CountingEvaluator>(&counted), options_.cache);
    engine::EngineOptions options;
    options.search = search_;
    options.threads = static_cast<int>(options_.threads);
    options.positions = static_cast<int>(options_.positions);
    std::istringstream in(requests);
    std::ostringstream out;
    const Clocks begin = Now();
    engine::RunJsonEngine(*model, options, in, out);
    Add(counted, count * options_.simulations, begin, engine_);
    const std::string answers = out.str();
    if (std::count(answers.begin(), answers.end(), '\n') == count &&
        answers.find("\"error\"") == std::string::npos) {
      return absl::OkStatus();
    }
    return absl::InternalError(absl::StrCat(
        "unexpected answers of the engine: ", answers.substr(0, 200)));
  }

  // A position of a random game, any ply as likely as another.
  Json NextRequest() {
    const State& start = starts_[next_request_++ % starts_.size()];
    std::vector<std::string> actions;
    for (State state = start; !state.finished();) {
      const Action action = RandomAction(state, random_);
      actions.push_back(ActionToText(action, state));
      ApplyAction(action, state);
    }
    actions.resize(random_.Below(static_cast<uint32_t>(actions.size())));
    return {{"id", next_request_},
            {"variant", std::string(Info(start.variant).id)},
            {"actions", actions},
            {"report", std::vector<std::string>(absl::StrSplit(
                           options_.report, ',', absl::SkipEmpty()))}};
  }

  const BenchEngineOptions& options_;
  const mcts::SearchOptions search_;
  const std::vector<State> starts_;
  mcts::Evaluator* const network_;
  Random random_;
  uint64_t next_game_ = 0;
  int64_t next_request_ = 0;
  Work self_play_;
  Work engine_;
};

Json ReportJson(const Bench& bench, const BenchEngineOptions& options,
                const std::string& net, absl::string_view precision) {
  const auto work = [&](const Work& done) {
    return Json{{"evaluations_per_s",
                 done.rate() * static_cast<double>(options.threads)},
                {"evaluations", done.evaluations},
                {"simulations", done.simulations},
                {"mean_batch",
                 static_cast<double>(done.evaluations) /
                     static_cast<double>(std::max<int64_t>(done.batches, 1))},
                {"processor_s", done.processor_s},
                {"day_s", done.day_s}};
  };
  const Work& engine = bench.engine();
  const Work& self_play = bench.self_play();
  const auto by_day = [](const Work& done) {
    return static_cast<double>(done.evaluations) / std::max(done.day_s, 1e-9);
  };
  return {{"net", net},
          {"precision", std::string(precision)},
          {"variant", options.game.variant},
          {"simulations", options.simulations},
          {"threads", options.threads},
          {"engine", work(engine)},
          {"selfplay", work(self_play)},
          {"ratio", engine.rate() / self_play.rate()},
          {"ratio_by_day", by_day(engine) / by_day(self_play)}};
}

std::string ReportText(const Json& report) {
  std::string text = absl::StrFormat(
      "%s, %s, %s: %d simulations, %d threads\n\n%-12s%16s%14s%14s\n",
      report["variant"].get<std::string>(), report["net"].get<std::string>(),
      report["precision"].get<std::string>(), report["simulations"].get<int>(),
      report["threads"].get<int>(), "", "evaluations/s", "mean batch",
      "processor s");
  for (const char* const who : {"engine", "selfplay"}) {
    const Json& work = report[who];
    absl::StrAppendFormat(&text, "%-12s%16.0f%14.1f%14.2f\n", who,
                          work["evaluations_per_s"].get<double>(),
                          work["mean_batch"].get<double>(),
                          work["processor_s"].get<double>());
  }
  absl::StrAppendFormat(&text, "\nratio %.3f (by the time of day %.3f)\n",
                        report["ratio"].get<double>(),
                        report["ratio_by_day"].get<double>());
  return text;
}

// Measures the JSON protocol on many positions beside self-play.
absl::StatusOr<int> RunBenchEngine(const BenchEngineOptions& options,
                                   Console& console) {
  BenchEngineOptions resolved = options;
  resolved.threads = ThreadsOr(options.threads);
  engine::EngineOptions given;
  given.search = mcts::SearchOptions();
  given.search.simulations = static_cast<int>(options.simulations);
  const absl::Status status = engine::SetEngineOptions(options.search, given);
  if (!status.ok()) {
    return UsageError(absl::StrCat("--search: ", status.message()));
  }
  resolved.simulations = given.search.simulations;
  nn::InferenceOptions inference;
  TARA_RETURN_IF_ERROR(AsUsageError(
      nn::SetInferenceOption("precision", options.precision, inference)));
  TARA_ASSIGN_OR_RETURN(std::vector<State> starts, StartsOf(options.game));
  TARA_ASSIGN_OR_RETURN(const BenchNetwork net,
                        BenchNetwork::Make(options.network));
  TARA_ASSIGN_OR_RETURN(const nn::LoadedNetwork network,
                        nn::LoadNetwork(net.path(), inference));
  Bench bench(resolved, given.search, std::move(starts),
              network.evaluator.get());
  TARA_RETURN_IF_ERROR(bench.Run());
  const Json report = ReportJson(bench, resolved, net.name(),
                                 nn::PrecisionName(network.info.precision));
  console.out << (options.format == "json" ? report.dump(2) + "\n"
                                           : ReportText(report));
  return kExitOk;
}

}  // namespace

void RegisterBenchEngine(Command& bench) {
  Command& command =
      bench.AddCommand(kBenchEngineCommand.name, kBenchEngineCommand.summary);
  const auto options = std::make_shared<BenchEngineOptions>();
  AddGameFlags(command, &options->game, kVariantOrAllHelp, /*required=*/false);
  AddBenchNetworkFlags(command, &options->network);
  command.AddText({.names = "--precision",
                   .placeholder = "P",
                   .help = "auto, float32, bfloat16, int16 or int8"},
                  &options->precision);
  command.AddInteger({.names = "--sims",
                      .placeholder = "N",
                      .help = "simulations a position, and an action"},
                     1, 1000000, &options->simulations);
  command.AddText({.names = "--search",
                   .placeholder = "NAME=VALUE,...",
                   .help = "other options of both searches"},
                  &options->search);
  command.AddText(
      {.names = "--report",
       .placeholder = "NAME,...",
       .help = "parts of the engine's reports (docs/reference/protocol.md)"},
      &options->report);
  AddThreadsFlag(command, &options->threads);
  command.AddInteger({.names = "--positions",
                      .placeholder = "N",
                      .help = "positions, and games, in step on a thread"},
                     1, 65536, &options->positions);
  command.AddInteger({.names = "--cache",
                      .placeholder = "N",
                      .help = "positions that the evaluation cache keeps"},
                     0, 1 << 28, &options->cache);
  command.AddNumber({.names = "--seconds",
                     .placeholder = "S",
                     .help = "duration; both take turns, and end the last "
                             "one"},
                    0.001, 3600, &options->seconds);
  command.AddChoice({.names = "--format", .help = "form of the report"},
                    {"text", "json"}, &options->format);
  command.SetNotes(
      "Generations of self-play and the JSON protocol of `tara engine` take "
      "turns, with\nas many simulations each. The engine's share is all that "
      "it "
      "does: reading and\nwriting JSON, too; its positions are of random "
      "games, "
      "each of another one.\nEvaluations are those that the network computed, "
      "cached ones not counted, by the\nprocessor time of all threads, so that "
      "the ratio holds on a busy machine too.");
  command.SetExamples({"bench engine", "bench engine --net 32x4 --threads 2"});
  command.SetRun([options](Console& console) {
    return RunBenchEngine(*options, console);
  });
}

}  // namespace tara::cli
