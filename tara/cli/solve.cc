#include <cstdint>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/solver/endgame_solver.h"

namespace tara::cli {
namespace {

constexpr int kMaxTableMb = 1 << 16;
constexpr int64_t kMaxNodes = int64_t{1} << 52;

struct SolveOptions {
  PositionFlags position;
  bool all_actions = false;
  int64_t node_limit = 0;  // 0: none
  int table_mb = 256;
  std::string format = "text";
};

using Json = nlohmann::ordered_json;

// Everything that is printed.
struct SolveReport {
  // Red's margin lies from low to high; equal: solved.
  int low = -kMaxMargin;
  int high = kMaxMargin;
  std::optional<std::vector<Action>> best_actions;
  std::optional<std::vector<mcts::EndgameSolver::ActionValue>> actions;
  int64_t nodes = 0;
  double seconds = 0;
  bool interrupted = false;
  bool complete = false;
};

// Returns Red's lead, in points, in words: "Red by 5", "Blue by 0.5", "a draw".
std::string DescribeLead(double red_lead) {
  if (red_lead == 0) return "a draw";
  return absl::StrCat(red_lead > 0 ? "Red" : "Blue", " by ",
                      std::abs(red_lead));
}

std::string DescribeWinner(double red_lead) {
  if (red_lead == 0) return "a draw";
  return absl::StrCat(red_lead > 0 ? "Red" : "Blue", " wins by ",
                      std::abs(red_lead),
                      std::abs(red_lead) == 1 ? " point" : " points");
}

// Solves step by step: the value, the best actions, the values of all actions.
class SolveRun {
 public:
  SolveRun(const SolveOptions& options, const StopCheck& stop, Console& console)
      : options_(options),
        stop_(stop),
        status_line_(console),
        start_(SteadyTime()),
        solver_({.table_bytes = options.table_mb << 20,
                 .node_limit = options.node_limit,
                 .keep_going = [this](const mcts::SolverProgress& progress) {
                   return KeepGoing(progress);
                 }}) {}
  SolveRun(const SolveRun&) = delete;
  SolveRun& operator=(const SolveRun&) = delete;

  SolveReport Run(const State& state) {
    Solve(state);
    report_.seconds = Seconds();
    status_line_.Clear();
    return report_;
  }

 private:
  double Seconds() const {
    return absl::ToDoubleSeconds(SteadyTime() - start_);
  }

  void Solve(const State& state) {
    const std::optional<mcts::EndgameSolver::Solution> solution =
        solver_.Solve(state);
    report_.nodes = solver_.progress().nodes;
    report_.low = solver_.progress().low;
    report_.high = solver_.progress().high;
    if (!solution.has_value()) return;
    report_.best_actions = solution->best_actions;
    if (options_.all_actions) {
      report_.actions = solver_.SolveActions(state);
      report_.nodes += solver_.progress().nodes;
    }
    report_.complete = !options_.all_actions || report_.actions.has_value();
  }

  bool KeepGoing(const mcts::SolverProgress& progress) {
    const double seconds = Seconds();
    const double nodes = static_cast<double>(report_.nodes + progress.nodes);
    status_line_.Show(absl::StrFormat(
        "search %d: Red's margin is %d to %d; %.1f million positions, %.1f "
        "million/s",
        progress.iteration, progress.low, progress.high, nodes / 1e6,
        nodes / 1e6 / (seconds > 0 ? seconds : 1)));
    report_.interrupted = stop_ && stop_();
    return !report_.interrupted;
  }

  const SolveOptions& options_;
  const StopCheck& stop_;
  StatusLine status_line_;
  absl::Time start_;
  SolveReport report_;
  mcts::EndgameSolver solver_;
};

std::vector<std::string> Texts(const std::vector<Action>& actions,
                               const State& state) {
  std::vector<std::string> texts;
  for (const Action action : actions) {
    texts.push_back(ActionToText(action, state));
  }
  return texts;
}

void PrintJson(const State& state, const SolveReport& report,
               Console& console) {
  const bool solved = report.low == report.high;
  Json json = {{"variant", std::string(Info(state.variant).id)},
               {"position", PositionToText(state)},
               {"red_margin", solved ? Json(report.low) : Json()},
               {"low", report.low},
               {"high", report.high},
               {"best_actions", report.best_actions.has_value()
                                    ? Json(Texts(*report.best_actions, state))
                                    : Json()}};
  if (report.actions.has_value()) {
    json["actions"] = Json::array();
    for (const mcts::EndgameSolver::ActionValue& value : *report.actions) {
      json["actions"].push_back({{"action", ActionToText(value.action, state)},
                                 {"red_margin", value.red_margin}});
    }
  }
  json["nodes"] = report.nodes;
  json["seconds"] = report.seconds;
  console.out << json.dump() << "\n";
}

void PrintText(const State& state, const SolveReport& report,
               Console& console) {
  const double given = state.options.compensation_halves / 2.0;
  if (report.low == report.high) {
    console.out << absl::StrFormat("Result:    %s (red_margin %d)\n",
                                   DescribeWinner(report.low - given),
                                   report.low);
  } else {
    console.out << absl::StrFormat(
        "Result:    not solved; between %s and %s (red_margin %d to %d)\n",
        DescribeLead(report.low - given), DescribeLead(report.high - given),
        report.low, report.high);
  }
  if (report.best_actions.has_value()) {
    const std::string best =
        absl::StrJoin(Texts(*report.best_actions, state), " ");
    console.out << "Best:      "
                << (best.empty() ? "none: the game has ended" : Wrap(best, 11))
                << "\n";
  }
  if (report.actions.has_value()) {
    const std::string all = absl::StrJoin(
        *report.actions, "  ",
        [&](std::string* text, const mcts::EndgameSolver::ActionValue& value) {
          absl::StrAppendFormat(text, "%s:%d",
                                ActionToText(value.action, state),
                                value.red_margin);
        });
    console.out << "Actions:   " << Wrap(all, 11) << "\n";
  }
  console.out << absl::StrFormat("Searched:  %d positions in %.3f s\n",
                                 report.nodes, report.seconds);
}

// Finds the exact result of a position under best play, and the best actions.
// When it has to give up it prints the bounds known so far and returns
// kExitFailure (the node limit) or kExitInterrupted (Ctrl-C).
absl::StatusOr<int> RunSolve(const SolveOptions& options, Console& console) {
  const StopCheck stop = StopOnSignals();
  TARA_ASSIGN_OR_RETURN(const ShownPosition shown,
                        PositionOf(options.position));
  const State& state = shown.state;
  SolveReport report;
  try {
    report = SolveRun(options, stop, console).Run(state);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat("--table-mb: not enough memory for a table of ",
                     options.table_mb, " MB"));
  }
  if (options.format == "json") {
    PrintJson(state, report, console);
  } else {
    PrintText(state, report, console);
  }
  if (report.complete) return kExitOk;
  console.err << (report.interrupted
                      ? "tara solve: interrupted\n"
                      : "tara solve: gave up at the node limit\n");
  return report.interrupted ? kExitInterrupted : kExitFailure;
}

}  // namespace

void RegisterSolve(Command& root) {
  Command& command = root.AddCommand(
      "solve", "compute the exact result of a position, and the best actions");
  SolveOptions* const options = command.SetRun(RunSolve);
  AddPositionFlags(command, &options->position);
  command.Add({
      {"--all-actions", &options->all_actions,
       "exact result of every action, too"},
      {"--node-limit N", Counted{&options->node_limit}, 1, kMaxNodes,
       "positions to visit before giving up, as in 100M (once for the result "
       "and the best actions, once for --all-actions)",
       Default("none")},
      {"--table-mb N", &options->table_mb, 1, kMaxTableMb,
       "memory of the transposition table, in MB"},
      FormatOption(&options->format),
  });
  command.SetNotes(
      "red_margin is Red's points minus Blue's with best play of both "
      "sides.\n\nJSON: {\"variant\", \"position\", \"red_margin\", \"low\", "
      "\"high\", \"best_actions\",\n\"actions\", \"nodes\", \"seconds\"}; "
      "\"actions\" only with --all-actions. Unknown\nvalues are null; low and "
      "high are proved bounds of red_margin.\n\nCtrl-C and the node limit end "
      "the search: the bounds proved so far are printed,\nand the exit status "
      "is 130 or 1. With up to 12 vacant hills most games take\nmilliseconds; "
      "High Kings and Stone of Destiny take longer.");
  command.SetExamples(
      {"solve --variant four_treasures --actions \"D4 E6 D3\" --node-limit 1M",
       "solve --position \"$(cat position.txt)\" --all-actions --format=json"});
}

}  // namespace tara::cli
