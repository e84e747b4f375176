#include "tara/cli/bench.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "tara/base/clocks.h"
#include "tara/base/threads.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/instruction_set.h"
#include "tara/core/playouts.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/search/search_session.h"
#include "tara/mcts/tree/tree.h"

namespace tara::cli {

double Typical(std::vector<double> rates) {
  std::sort(rates.begin(), rates.end(), std::greater<>());
  return rates[rates.size() / 4];
}

absl::Status TakeTurns(int threads, BenchClock clock, double seconds,
                       const StopCheck& stop, absl::Span<Workload> workloads) {
  constexpr absl::Duration kTurn = absl::Milliseconds(50);
  const auto take_turn = [&](const Workload& workload,
                             int i) -> absl::StatusOr<double> {
    const absl::Time thread_begin = clock();
    const absl::Time begin = SteadyTime();
    double done = 0;
    do {
      TARA_ASSIGN_OR_RETURN(const int64_t work, workload.work(i));
      done += static_cast<double>(work);
    } while (SteadyTime() - begin < kTurn);
    return done / absl::ToDoubleSeconds(clock() - thread_begin);
  };
  const absl::Time begin = SteadyTime();
  do {
    for (Workload& workload : workloads) {
      std::vector<absl::StatusOr<double>> rates(threads);
      RunOnThreads(threads, [&](int i) { rates[i] = take_turn(workload, i); });
      double& sum = workload.rates.emplace_back(0);
      for (const absl::StatusOr<double>& rate : rates) {
        TARA_RETURN_IF_ERROR(rate.status());
        sum += *rate;
      }
    }
  } while (!stop() && SteadyTime() - begin < absl::Seconds(seconds));
  return absl::OkStatus();
}

Option SecondsOption(double* seconds, absl::string_view help) {
  return {"--seconds S", seconds, 0.001, 3600, help};
}

int ReportBench(const std::string& format, const std::string& title,
                const std::vector<eval::ReportRow>& rows, const StopCheck& stop,
                Console& console) {
  if (format == "json") {
    console.out << eval::RowsJson(rows) << "\n";
  } else {
    console.out << title << "\n" << (rows.empty() ? "" : eval::TableText(rows));
  }
  return EndOf(stop, console, kMeasured);
}

namespace {

using eval::CountField;
using eval::NumberField;
using eval::TextField;

constexpr uint64_t kSeed = 1;

struct BenchCoreOptions {
  GameFlags game = {.variant = "all", .options = {}};
  double seconds = 2;  // per variant
  int threads = 1;
  std::string format = "text";
};

struct Played {
  std::atomic<int64_t> next_game = 0;
  std::atomic<int64_t> games = 0;
  std::atomic<int64_t> plies = 0;
};

template <typename Play>
Workload PlayingWorkload(int64_t chunk, Played& played, const Play& play) {
  return {.work = [=, &played](int) -> absl::StatusOr<int64_t> {
    const PlayoutStatistics counts =
        play(played.next_game.fetch_add(chunk), chunk);
    played.games += counts.games;
    played.plies += counts.plies;
    return counts.plies;
  }};
}

// Measures scalar and batched play from a start position, by turns, and adds a
// row per instruction set. Time is the processor time of each thread, which
// other programs do not use up; with more threads than cores it is the wall
// clock, because threads that share a core would count it twice.
absl::Status MeasureCore(const BenchCoreOptions& options, const State& start,
                         int threads, const StopCheck& stop,
                         std::vector<eval::ReportRow>& rows) {
  const std::vector<InstructionSet> sets = SupportedInstructionSets();
  std::vector<Played> played(sets.size() + 1);
  std::vector<Workload> workloads = {PlayingWorkload(
      256, played[0], [&start](int64_t first_game, int64_t games) {
        return PlayRandomGamesByPublicRules(start.variant, start.options, kSeed,
                                            first_game, games);
      })};
  for (size_t i = 0; i < sets.size(); ++i) {
    workloads.push_back(PlayingWorkload(
        8192, played[i + 1],
        [&start, set = sets[i]](int64_t first_game, int64_t games) {
          return PlayRandomGames(start.variant, start.options, kSeed,
                                 first_game, games, set);
        }));
  }
  TARA_RETURN_IF_ERROR(TakeTurns(
      threads, threads <= UsableProcessors() ? ThreadTime : SteadyTime,
      options.seconds, stop, absl::MakeSpan(workloads)));
  const auto games_per_s = [&](size_t i) {
    return Typical(workloads[i].rates) * static_cast<double>(played[i].games) /
           static_cast<double>(played[i].plies);
  };
  constexpr eval::NumberFormat kMillions = {.scale = 1e-6, .digits = 1};
  const double scalar = Typical(workloads[0].rates);
  for (size_t i = 0; i < sets.size(); ++i) {
    const double batched = Typical(workloads[i + 1].rates);
    rows.push_back(
        {TextField("variant", "variant", Info(start.variant).id),
         TextField("isa", "isa", InstructionSetName(sets[i])),
         NumberField("scalar_plies_per_s", "scalar M plies/s", scalar,
                     kMillions),
         NumberField("batched_plies_per_s", "batched M plies/s", batched,
                     kMillions),
         NumberField("ratio", "ratio", batched / scalar, {.digits = 1}),
         NumberField("games_per_s", "M games/s", games_per_s(i + 1),
                     {.scale = 1e-6}),
         NumberField("scalar_games_per_s", "", games_per_s(0)),
         CountField("threads", "", threads)});
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunBenchCore(const BenchCoreOptions& options,
                                 Console& console) {
  TARA_ASSIGN_OR_RETURN(const auto starts, StartsOf(options.game));
  const int threads = ResolveThreads(options.threads);
  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  std::vector<eval::ReportRow> rows;
  for (size_t i = 0; i < starts.size() && !stop(); ++i) {
    status_line.Show(absl::StrFormat(
        "%s (%d of %d)", Info(starts[i].variant).id, i + 1, starts.size()));
    TARA_RETURN_IF_ERROR(MeasureCore(options, starts[i], threads, stop, rows));
  }
  status_line.Clear();
  return ReportBench(options.format,
                     absl::StrFormat("%d thread%s: random games to their ends",
                                     threads, threads == 1 ? "" : "s"),
                     rows, stop, console);
}

void RegisterBenchCore(Command& bench) {
  const auto [command, options] = bench.AddCommand(
      "core", "plies and games per second of random play, by instruction set",
      RunBenchCore);
  AddGameFlags(command, &options->game, kVariantOrAllHelp, /*required=*/false);
  command.Add({
      SecondsOption(&options->seconds, "time for each variant"),
      FormatOption(&options->format),
      {"--threads N", &options->threads, 1, 1024,
       "threads; rates are their sum"},
  });
  command.SetNotes(
      "Scalar play is one game at a time; batched play is many games in "
      "lockstep, with each instruction set of this processor. They take turns "
      "of a twentieth of a second; a rate is the upper quartile of the turns. "
      "Seconds are processor time of each thread (wall clock with more threads "
      "than cores), so rates hold on a busy machine too. Games per second are "
      "for batched play.");
  command.SetExamples({"bench core", "bench core --variant high_kings_l1",
                       "bench core --threads 8 --format=json"});
}

struct BenchSearchOptions {
  GameFlags game = {.variant = "all", .options = {}};
  std::string evaluator = "all";  // uniform, playouts
  double seconds = 1;             // per variant and evaluator
  int simulations = 2000;         // per search
  int games = 8;                  // in lockstep on one thread
  int leaves = 1;                 // per game in a batch
  int threads = 1;                // more: all search one tree
  std::string format = "text";
  bool signature = false;

  int64_t trees() const { return threads == 1 ? games : 1; }
};

// Measures searches of games in lockstep on one thread, or of one game on
// several, from the start. Time is processor time on one thread, which other
// programs do not use up, else the wall clock.
absl::StatusOr<eval::ReportRow> MeasureSearch(const BenchSearchOptions& options,
                                              const State& start,
                                              const std::string& name,
                                              mcts::Evaluator& evaluator,
                                              const StopCheck& stop) {
  mcts::Tree graph({.simulations = options.simulations, .graph_search = true},
                   start, kSeed);
  TARA_RETURN_IF_ERROR(mcts::RunSearches({&graph}, evaluator));
  const auto hits = static_cast<double>(graph.counts().transpositions);
  const auto free =
      static_cast<double>(graph.counts().catch_ups + graph.counts().cycles);

  const int leaves = options.leaves;
  CountingEvaluator counting(&evaluator);
  double bytes_per_simulation = 0;
  Workload searching = {.work = [&](int) -> absl::StatusOr<int64_t> {
    mcts::SearchSession session({.search = {.simulations = options.simulations},
                                 .threads = options.threads,
                                 .leaves_per_game = leaves},
                                &counting, /*solver=*/nullptr);
    session.GoTo(start, {}, [] { return kSeed; });
    std::vector<mcts::Tree> copies(options.trees() - 1, session.tree());
    std::vector<mcts::Tree*> trees = {&session.tree()};
    for (mcts::Tree& tree : copies) trees.push_back(&tree);
    TARA_RETURN_IF_ERROR(options.threads == 1
                             ? mcts::RunSearches(trees, counting, leaves)
                             : session.Search({}, stop));
    int64_t simulations = 0, bytes = 0;
    for (const mcts::Tree* tree : trees) {
      simulations += tree->root_visits();
      bytes += static_cast<int64_t>(tree->bytes());
    }
    bytes_per_simulation =
        static_cast<double>(bytes) /
        static_cast<double>(std::max<int64_t>(simulations, 1));
    return simulations;
  }};
  TARA_RETURN_IF_ERROR(
      TakeTurns(1, options.threads == 1 ? ThreadTime : SteadyTime,
                options.seconds, stop, absl::MakeSpan(&searching, 1)));
  const double fill =
      static_cast<double>(counting.positions) /
      static_cast<double>(counting.batches * options.trees() * leaves);
  return eval::ReportRow{
      TextField("variant", "variant", Info(start.variant).id),
      TextField("evaluator", "evaluator", name),
      CountField("threads", "", options.threads),
      NumberField("simulations_per_s", "M simulations/s",
                  Typical(searching.rates), {.scale = 1e-6, .digits = 3}),
      NumberField("bytes_per_simulation", "bytes/simulation",
                  bytes_per_simulation, {.digits = 0}),
      NumberField("batch_fill", "batch fill %", fill, eval::kPercent),
      NumberField("graph_hit_rate", "graph hits %",
                  hits / (hits + static_cast<double>(graph.num_nodes() - 1)),
                  eval::kPercent),
      NumberField("graph_free_rate", "graph free %", free / graph.root_visits(),
                  eval::kPercent),
      CountField("simulations", "", options.simulations),
      CountField("games", "", options.trees()),
      CountField("leaves", "", leaves)};
}

absl::StatusOr<int> RunBenchSearch(const BenchSearchOptions& options,
                                   Console& console) {
  if (options.signature) {
    console.out << absl::StrFormat("%016x\n", mcts::SearchSignature());
    return kExitOk;
  }
  TARA_ASSIGN_OR_RETURN(const auto starts, StartsOf(options.game));
  mcts::UniformEvaluator uniform;
  mcts::PlayoutEvaluator playouts(1, kSeed);
  const std::pair<std::string, mcts::Evaluator*> evaluators[] = {
      {"uniform", &uniform}, {"playouts", &playouts}};
  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  std::vector<eval::ReportRow> rows;
  for (size_t i = 0; i < starts.size(); ++i) {
    for (const auto& [name, evaluator] : evaluators) {
      if (options.evaluator != "all" && options.evaluator != name) continue;
      if (stop()) break;
      status_line.Show(absl::StrFormat("%s, %s (%d of %d)",
                                       Info(starts[i].variant).id, name, i + 1,
                                       starts.size()));
      TARA_ASSIGN_OR_RETURN(
          eval::ReportRow row,
          MeasureSearch(options, starts[i], name, *evaluator, stop));
      rows.push_back(std::move(row));
    }
  }
  status_line.Clear();
  return ReportBench(
      options.format,
      absl::StrFormat("%d thread%s, %d simulations per search from the start",
                      options.threads, options.threads == 1 ? "" : "s",
                      options.simulations),
      rows, stop, console);
}

void RegisterBenchSearch(Command& bench) {
  const auto [command, options] = bench.AddCommand(
      "search", "simulations per second of the search", RunBenchSearch);
  AddGameFlags(command, &options->game, kVariantOrAllHelp, /*required=*/false);
  command.Add({
      {"--evaluator all|uniform|playouts", &options->evaluator,
       "evaluator of leaves: uniform, or one random game"},
      SecondsOption(&options->seconds, "time for each variant and evaluator"),
      FormatOption(&options->format),
      {"--simulations N", &options->simulations, 1, 10000000,
       "simulations per search"},
      {"--games N", &options->games, 1, 100000,
       "concurrent games of one thread"},
      {"--leaves N", &options->leaves, 1, 1024,
       "leaves per game, or per thread, in a batch"},
      {"--threads N", &options->threads, 1, 1024,
       "threads; several search one tree together"},
      {"--signature", &options->signature,
       "print only the signature, a hash of fixed searches"},
  });
  command.SetNotes(
      "One thread searches several games in lockstep, and a batch holds leaves "
      "of each; its seconds are processor time. Several threads search one "
      "game, in wall time. A rate is the upper quartile of the turns. With "
      "graph search, graph hits are the share of new edges that lead to a "
      "known position, and graph free is the share of simulations that need no "
      "evaluation. The signature is the same on every run until a change of "
      "the code changes a search.");
  command.SetExamples({"bench search", "bench search --evaluator uniform",
                       "bench search --threads 2 --format=json",
                       "bench search --signature"});
}

}  // namespace

Command& RegisterBench(Command& root) {
  Command& bench =
      root.AddCommand("bench", "measure the speed of the parts of the program");
  bench.SetExamples({"bench core", "bench search", "bench core --help"});
  RegisterBenchCore(bench);
  RegisterBenchSearch(bench);
  return bench;
}

}  // namespace tara::cli
