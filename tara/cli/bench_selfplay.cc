#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/base/text.h"
#include "tara/cli/bench_network.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/state.h"
#include "tara/mcts/options/search_options.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/train/play/self_play_speed.h"

namespace tara::cli {
namespace {

struct BenchSelfPlayOptions {
  GameFlags game = {.variant = "sacred_hill_l1", .options = {}};
  BenchNetworkFlags network = {.net = "64x4", .checkpoint = {}};
  InferenceFlags inference;
  int64_t simulations = 100;
  std::string search;   // "name=value,..."
  int64_t threads = 0;  // all cores
  int64_t games = 0;    // a generation; 0: twice those in step
  int64_t games_per_thread = 64;
  int64_t cache = 1 << 16;
  bool plain_cache = false;  // does not share symmetric positions
  double seconds = 10;
  std::string format = "text";
};

using Json = nlohmann::ordered_json;

constexpr uint64_t kSeed = 1;

absl::StatusOr<mcts::SearchOptions> SearchOf(
    const BenchSelfPlayOptions& options) {
  mcts::SearchOptions search;
  search.simulations = static_cast<int>(options.simulations);
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

Json SharesJson(const train::SelfPlaySpeed::Shares& shares) {
  return {{"engine", shares.engine},   {"encoding", shares.encoding},
          {"filling", shares.filling}, {"tree", shares.tree},
          {"cache", shares.cache},     {"solver", shares.solver},
          {"playing", shares.playing}, {"waiting", shares.waiting},
          {"other", shares.other}};
}

Json ReportJson(const train::SelfPlaySpeed& speed,
                const BenchSelfPlayOptions& options, absl::string_view net) {
  return {{"net", std::string(net)},
          {"device", options.inference.device},
          {"precision", options.inference.precision},
          {"backend", options.inference.backend},
          {"variant", options.game.variant},
          {"simulations", options.simulations},
          {"threads", options.threads},
          {"engine_evaluations_per_s", speed.engine_evaluations_per_s},
          {"engine_batch", speed.engine_batch},
          {"selfplay_evaluations_per_s", speed.evaluations_per_s},
          {"ratio", speed.ratio},
          {"simulations_per_s", speed.simulations_per_s},
          {"search_simulations_per_s", speed.search_simulations_per_s},
          {"games_per_s", speed.games_per_s},
          {"mean_batch", speed.mean_batch},
          {"cached_share", speed.cached_share},
          {"solved_share", speed.solved_share},
          {"games", speed.games},
          {"seconds", speed.seconds},
          {"shares", SharesJson(speed.shares)}};
}

std::string Report(const Json& report) {
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

// Measures self-play beside the bare evaluator, over whole games.
absl::StatusOr<int> RunBenchSelfPlay(const BenchSelfPlayOptions& options,
                                     Console& console) {
  TARA_ASSIGN_OR_RETURN(const nn::InferenceOptions inference,
                        InferenceOf(options.inference));
  train::SelfPlaySpeedOptions measured;
  train::SelfPlayOptions& self_play = measured.self_play;
  TARA_ASSIGN_OR_RETURN(self_play.starts, StartsOf(options.game));
  TARA_ASSIGN_OR_RETURN(self_play.search, SearchOf(options));
  self_play.run_seed = kSeed;
  self_play.threads = ThreadsOr(options.threads);
  self_play.games_per_thread = static_cast<int>(options.games_per_thread);
  measured.games = static_cast<int>(options.games);
  if (measured.games == 0) {
    measured.games = 2 * self_play.threads * self_play.games_per_thread;
  }
  measured.seconds = options.seconds;
  measured.cache_positions = options.cache;
  measured.symmetric_cache = !options.plain_cache;
  measured.on_cpu = inference.device == "cpu";

  TARA_ASSIGN_OR_RETURN(const BenchNetwork net,
                        BenchNetwork::Make(options.network));
  TARA_ASSIGN_OR_RETURN(const nn::LoadedNetwork network,
                        nn::LoadNetwork(net.path(), inference));
  const StopCheck stop = StopOnSignals();
  TARA_ASSIGN_OR_RETURN(
      const train::SelfPlaySpeed speed,
      train::MeasureSelfPlaySpeed(measured, *network.evaluator, stop));
  BenchSelfPlayOptions resolved = options;
  resolved.threads = self_play.threads;
  resolved.inference.precision =
      std::string(nn::PrecisionName(network.info.precision));
  resolved.inference.backend =
      std::string(nn::BackendName(network.info.backend));
  const Json report = ReportJson(speed, resolved, net.name());
  console.out << (options.format == "json" ? report.dump(2) + "\n"
                                           : Report(report));
  if (!stop()) return kExitOk;
  console.err << "tara: interrupted; this is what was measured by then\n";
  return kExitInterrupted;
}

void AddNetworkFlags(Command& command, BenchSelfPlayOptions& options) {
  AddBenchNetworkFlags(command, &options.network);
  AddInferenceFlags(command, &options.inference);
}

void AddFlags(Command& command, BenchSelfPlayOptions& options) {
  AddGameFlags(command, &options.game, kVariantOrAllHelp, /*required=*/false);
  AddNetworkFlags(command, options);
  command.AddInteger(
      {.names = "--sims", .placeholder = "N", .help = "simulations an action"},
      1, 1000000, &options.simulations);
  command.AddText({.names = "--search",
                   .placeholder = "NAME=VALUE,...",
                   .help = "other options of the search (see arena --help)"},
                  &options.search);
  AddThreadsFlag(command, &options.threads);
  command.AddInteger({.names = "--games",
                      .placeholder = "N",
                      .help = "games of a generation; 0: twice those in "
                              "step"},
                     0, 1000000, &options.games);
  command.AddInteger({.names = "--games-per-thread",
                      .placeholder = "N",
                      .help = "games in step: a leaf of each makes a batch"},
                     1, 65536, &options.games_per_thread);
  command.AddInteger({.names = "--cache",
                      .placeholder = "N",
                      .help = "positions that the evaluation cache keeps; 0: "
                              "no cache"},
                     0, 1 << 28, &options.cache);
  command.AddSwitch({.names = "--plain-cache",
                     .help = "a cache that does not share symmetric "
                             "positions"},
                    &options.plain_cache);
  command.AddNumber({.names = "--seconds",
                     .placeholder = "S",
                     .help = "duration; the last generation is played to its "
                             "end"},
                    0.001, 3600, &options.seconds);
  command.AddChoice({.names = "--format", .help = "form of the report"},
                    {"text", "json"}, &options.format);
}

}  // namespace

void RegisterBenchSelfPlay(Command& bench) {
  Command& command = bench.AddCommand(kBenchSelfPlayCommand.name,
                                      kBenchSelfPlayCommand.summary);
  const auto options = std::make_shared<BenchSelfPlayOptions>();
  AddFlags(command, *options);
  command.SetNotes(
      "The bare engine, in batches of its best size, and self-play take turns "
      "of a\ntwentieth of a second on the same threads. Seconds are those of "
      "the processor\ntime of the thread that was busy for longest (with a "
      "device: those of the\nclock), so that rates hold on a busy machine too. "
      "The engine's rate is that of\npositions into evaluations: it has "
      "encoding and filling in it. Search simulations\ncount what the tree "
      "kept from the turn before as well. Waiting is the time of\nthreads "
      "without "
      "games at the end of a generation.");
  command.SetExamples({"bench selfplay", "bench selfplay --net 128x10",
                       "bench selfplay --threads 2 --precision int8 "
                       "--search proof=on,solver_hills=6 --format=json"});
  command.SetRun([options](Console& console) {
    return RunBenchSelfPlay(*options, console);
  });
}

}  // namespace tara::cli
