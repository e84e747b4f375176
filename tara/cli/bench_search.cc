#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/report/report_page.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/search/search_session.h"
#include "tara/mcts/search/search_signature.h"
#include "tara/mcts/tree/tree.h"

namespace tara::cli {
namespace {

struct BenchSearchOptions {
  GameFlags game = {.variant = "all", .options = {}};
  std::string evaluator = "all";  // uniform, playouts
  double seconds = 1;             // a variant and evaluator
  int64_t simulations = 2000;     // a search
  int64_t games = 8;              // searched in step by one thread
  int64_t leaves = 1;             // of a game in a batch
  int64_t threads = 1;            // more: all at one tree
  std::string format = "text";
  bool signature = false;
};

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kSeed = 1;

// Counts what passes through to another evaluator.
class CountingEvaluator : public mcts::Evaluator {
 public:
  explicit CountingEvaluator(mcts::Evaluator* evaluator)
      : evaluator_(evaluator) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    batches_.fetch_add(1, std::memory_order_relaxed);
    positions_.fetch_add(static_cast<int64_t>(states.size()),
                         std::memory_order_relaxed);
    return evaluator_->Evaluate(states, results);
  }

  // Mean part of a full batch.
  double Fill(double full) const {
    return static_cast<double>(positions_) / static_cast<double>(batches_) /
           full;
  }

 private:
  mcts::Evaluator* const evaluator_;
  std::atomic<int64_t> batches_ = 0;
  std::atomic<int64_t> positions_ = 0;
};

struct NamedEvaluator {
  std::string name;
  std::unique_ptr<mcts::Evaluator> evaluator;
};

std::vector<NamedEvaluator> EvaluatorsOf(const std::string& name) {
  std::vector<NamedEvaluator> evaluators;
  if (name != "playouts") {
    evaluators.push_back(
        {"uniform", std::make_unique<mcts::UniformEvaluator>()});
  }
  if (name != "uniform") {
    evaluators.push_back(
        {"playouts", std::make_unique<mcts::PlayoutEvaluator>(1, kSeed)});
  }
  return evaluators;
}

// The rates of one variant and evaluator.
struct Row {
  Variant variant;
  std::string evaluator;
  std::vector<double> rates;  // simulations a second, of each round
  double bytes_per_simulation = 0;
  double batch_fill = 0;
  // Of a search with graph search: the parts of new edges that led to a known
  // position, and of simulations that needed no evaluation.
  double graph_hit_rate = 0;
  double graph_free_rate = 0;

  // Returns the rate that a quarter of the rounds reach.
  double Rate() const {
    std::vector<double> sorted = rates;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    return sorted[sorted.size() / 4];
  }
};

// Searches games in step on one thread, or one game on several, from the start.
// The rate is by processor time with one thread, which other programs do not
// use up, and by the clock with several.
absl::Status SearchRound(const BenchSearchOptions& options, const State& start,
                         mcts::Evaluator& evaluator, const StopCheck& stop,
                         Row& row) {
  const bool one_thread = options.threads == 1;
  const mcts::SearchOptions search = {
      .simulations = static_cast<int>(options.simulations)};
  const int leaves = static_cast<int>(options.leaves);
  mcts::SearchSession session({.search = search,
                               .threads = static_cast<int>(options.threads),
                               .leaves_per_game = leaves},
                              &evaluator, /*solver=*/nullptr);
  session.GoTo(start, {}, [] { return kSeed; });
  std::vector<mcts::Tree> copies(one_thread ? options.games - 1 : 0,
                                 session.tree());
  std::vector<mcts::Tree*> trees = {&session.tree()};
  for (mcts::Tree& tree : copies) trees.push_back(&tree);
  const absl::Time cpu_start = ThreadTime();
  const Clock::time_point clock_start = Clock::now();
  TARA_RETURN_IF_ERROR(one_thread ? mcts::RunSearches(trees, evaluator, leaves)
                                  : session.Search({}, stop));
  const double seconds =
      one_thread
          ? absl::ToDoubleSeconds(ThreadTime() - cpu_start)
          : std::chrono::duration<double>(Clock::now() - clock_start).count();
  double simulations = 0;
  double bytes = 0;
  for (const mcts::Tree* tree : trees) {
    simulations += tree->root_visits();
    bytes += static_cast<double>(tree->bytes());
  }
  row.rates.push_back(simulations / seconds);
  row.bytes_per_simulation = bytes / std::max(simulations, 1.0);
  return absl::OkStatus();
}

absl::Status SearchGraph(const BenchSearchOptions& options, const State& start,
                         mcts::Evaluator& evaluator, Row& row) {
  mcts::Tree tree({.simulations = static_cast<int>(options.simulations),
                   .graph_search = true},
                  start, kSeed);
  TARA_RETURN_IF_ERROR(mcts::RunSearches({&tree}, evaluator));
  const auto hits = static_cast<double>(tree.counts().transpositions);
  row.graph_hit_rate =
      hits / (hits + static_cast<double>(tree.num_nodes() - 1));
  row.graph_free_rate =
      static_cast<double>(tree.counts().catch_ups + tree.counts().cycles) /
      tree.root_visits();
  return absl::OkStatus();
}

absl::StatusOr<Row> Measure(const BenchSearchOptions& options,
                            const State& start, const NamedEvaluator& named,
                            const StopCheck& stop) {
  Row row = {.variant = start.variant, .evaluator = named.name, .rates = {}};
  TARA_RETURN_IF_ERROR(SearchGraph(options, start, *named.evaluator, row));
  CountingEvaluator counting(named.evaluator.get());
  const Clock::time_point begin = Clock::now();
  do {
    TARA_RETURN_IF_ERROR(SearchRound(options, start, counting, stop, row));
  } while (!stop() &&
           std::chrono::duration<double>(Clock::now() - begin).count() <
               options.seconds);
  const int64_t games = options.threads == 1 ? options.games : 1;
  row.batch_fill = counting.Fill(static_cast<double>(games * options.leaves));
  return row;
}

std::string Percent(double part) {
  return absl::StrFormat("%.1f%%", part * 100);
}

std::string Report(const std::vector<Row>& rows,
                   const BenchSearchOptions& options) {
  std::string text = absl::StrFormat(
      "%d thread%s, %d simulations a search from the start\n", options.threads,
      options.threads == 1 ? "" : "s", options.simulations);
  if (rows.empty()) return text;
  std::vector<std::vector<std::string>> table = {
      {"variant", "evaluator", "M simulations/s", "bytes/simulation",
       "batch fill", "graph hits", "graph free"}};
  for (const Row& row : rows) {
    table.push_back({std::string(Info(row.variant).id), row.evaluator,
                     absl::StrFormat("%.3f", row.Rate() / 1e6),
                     absl::StrFormat("%.0f", row.bytes_per_simulation),
                     Percent(row.batch_fill), Percent(row.graph_hit_rate),
                     Percent(row.graph_free_rate)});
  }
  return absl::StrCat(text, eval::TextTable(table, 2));
}

std::string ReportJson(const std::vector<Row>& rows,
                       const BenchSearchOptions& options) {
  Json list = Json::array();
  for (const Row& row : rows) {
    list.push_back({{"variant", std::string(Info(row.variant).id)},
                    {"evaluator", row.evaluator},
                    {"threads", options.threads},
                    {"simulations_per_s", row.Rate()},
                    {"bytes_per_simulation", row.bytes_per_simulation},
                    {"batch_fill", row.batch_fill},
                    {"graph_hit_rate", row.graph_hit_rate},
                    {"graph_free_rate", row.graph_free_rate},
                    {"simulations", options.simulations},
                    {"games", options.threads == 1 ? options.games : 1},
                    {"leaves", options.leaves}});
  }
  return list.dump(2) + "\n";
}

void AddFlags(Command& command, BenchSearchOptions& options) {
  AddGameFlags(command, &options.game, kVariantOrAllHelp, /*required=*/false);
  command.AddChoice({.names = "--evaluator",
                     .help = "evaluator of leaves: uniform, or one random "
                             "game"},
                    {"all", "uniform", "playouts"}, &options.evaluator);
  command.AddNumber({.names = "--seconds",
                     .placeholder = "S",
                     .help = "time for each variant and evaluator"},
                    0.001, 3600, &options.seconds);
  command.AddInteger({.names = "--simulations",
                      .placeholder = "N",
                      .help = "simulations of a search"},
                     1, 10000000, &options.simulations);
  command.AddInteger({.names = "--games",
                      .placeholder = "N",
                      .help = "games that one thread searches in step"},
                     1, 100000, &options.games);
  command.AddInteger({.names = "--leaves",
                      .placeholder = "N",
                      .help = "leaves of a game, or thread, in a batch"},
                     1, 1024, &options.leaves);
  command.AddInteger({.names = "--threads",
                      .placeholder = "N",
                      .help = "threads; several search one tree together"},
                     1, 1024, &options.threads);
  command.AddChoice({.names = "--format", .help = "form of the report"},
                    {"text", "json"}, &options.format);
  command.AddSwitch(
      {.names = "--signature",
       .help = "only print the signature, a hash of fixed searches"},
      &options.signature);
}

// Measures how fast positions are searched, or prints the search signature.
absl::StatusOr<int> RunBenchSearch(const BenchSearchOptions& options,
                                   Console& console) {
  if (options.signature) {
    console.out << absl::StrFormat("%016x\n", mcts::SearchSignature());
    return kExitOk;
  }
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartsOf(options.game));
  const std::vector<NamedEvaluator> evaluators =
      EvaluatorsOf(options.evaluator);
  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  std::vector<Row> rows;
  for (size_t i = 0; i < starts.size(); ++i) {
    for (const NamedEvaluator& evaluator : evaluators) {
      if (stop()) break;
      status_line.Show(absl::StrFormat("%s, %s (%d of %d)",
                                       Info(starts[i].variant).id,
                                       evaluator.name, i + 1, starts.size()));
      TARA_ASSIGN_OR_RETURN(Row row,
                            Measure(options, starts[i], evaluator, stop));
      rows.push_back(std::move(row));
    }
  }
  status_line.Clear();
  console.out << (options.format == "json" ? ReportJson(rows, options)
                                           : Report(rows, options));
  if (!stop()) return kExitOk;
  console.err << "tara: interrupted; these are the variants measured by then\n";
  return kExitInterrupted;
}

}  // namespace

void RegisterBenchSearch(Command& bench) {
  Command& command =
      bench.AddCommand("search", "simulations a second of the search");
  const auto options = std::make_shared<BenchSearchOptions>();
  AddFlags(command, *options);
  command.SetNotes(
      "One thread searches several games in step, a batch holding leaves of "
      "each; its\nseconds are those of its processor time. Several threads "
      "search one game, by the\nwall clock. A rate is one that a quarter of "
      "the rounds reach. Graph hits are the\npart of new edges that lead to a "
      "known position, graph free the part of\nsimulations that need no "
      "evaluation, both of a search with graph search.\nThe signature "
      "is the same on every run until a change of the code changes\na search.");
  command.SetExamples({"bench search", "bench search --evaluator uniform",
                       "bench search --threads 2 --format=json",
                       "bench search --signature"});
  command.SetRun([options](Console& console) {
    return RunBenchSearch(*options, console);
  });
}

}  // namespace tara::cli
