#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/action.h"
#include "tara/core/drawing.h"
#include "tara/core/instruction_set.h"
#include "tara/core/outcome.h"
#include "tara/core/playouts.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/svg_board.h"
#include "tara/core/variant.h"
#include "tara/eval/playouts/variant_statistics.h"
#include "tara/eval/report/report.h"
#include "tara/mcts/levels/levels.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/record/game_record.h"

namespace tara::cli {
namespace {

using Json = nlohmann::ordered_json;

// --- tara variants -----------------------------------------------------------

struct VariantsOptions {
  std::string format = "text";
};

// By RuleOptionKind.
constexpr absl::string_view kTypeNames[] = {"bool", "int", "half"};

Json OptionToJson(const RuleOptionInfo& option) {
  const auto value = [&](int number) {
    return *ParseJson<Json>(FormatRuleOptionValue(option, number));
  };
  return {{"name", std::string(option.name)},
          {"type", kTypeNames[static_cast<size_t>(option.kind)]},
          {"default", value(option.DefaultValue())},
          {"min", value(option.min_value)},
          {"max", value(option.max_value)},
          {"help", std::string(option.help)}};
}

Json VariantToJson(const VariantInfo& info) {
  Json options = Json::array();
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (option.applies_to(info)) options.push_back(OptionToJson(option));
  }
  return {{"id", std::string(info.id)},
          {"name", std::string(info.name)},
          {"seats", info.seats},
          {"options", options}};
}

void PrintVariant(const VariantInfo& info, Console& console) {
  console.out << absl::StrFormat("%-24s%-32s%d seats\n", info.id, info.name,
                                 info.seats);
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(info)) continue;
    console.out << "    " << option.name << "="
                << FormatRuleOptionValue(option, option.DefaultValue()) << "  ("
                << DescribeRuleOptionValues(option) << ")\n        "
                << Wrap(option.help, 8) << "\n";
  }
}

absl::StatusOr<int> RunVariants(const VariantsOptions& options,
                                Console& console) {
  if (options.format == "json") {
    Json variants = Json::array();
    for (const VariantInfo& info : kVariants) {
      variants.push_back(VariantToJson(info));
    }
    console.out << variants.dump(2) << "\n";
    return kExitOk;
  }
  for (const VariantInfo& info : kVariants) PrintVariant(info, console);
  return kExitOk;
}

// --- tara show ---------------------------------------------------------------

struct ShowOptions {
  PositionFlags position;
  std::string format = "text";
  std::string colour = "auto";
  bool ascii = false;
};

// Returns the result in words, Red's numbers before Blue's.
std::string DescribeOutcome(const Outcome& outcome) {
  const auto pair = [](const std::array<int, 2>& numbers) {
    return absl::StrCat(numbers[kRed], " to ", numbers[kBlue]);
  };
  const int winner = outcome.winner();
  return absl::StrCat(
      winner < 0 ? "a draw" : (winner == kRed ? "Red wins" : "Blue wins"),
      ", points ", pair(outcome.points),
      CompensationText(outcome.compensation_halves), ", kingdoms ",
      pair(outcome.kingdoms), ", territory ", pair(outcome.territory),
      ", bridges ", pair(outcome.bridges), ", kings captured ",
      pair(outcome.kings_captured), "; ended by ",
      EndingName(outcome.ended_by));
}

void PrintJson(const State& state, Console& console) {
  const Json json = {
      {"variant", std::string(Info(state.variant).id)},
      {"position", PositionToText(state)},
      {"seat", state.finished() ? Json() : Json(state.seat)},
      {"phase", std::string(PhaseName(state.phase))},
      {"legal", LegalActionTexts(state)},
      {"result", state.finished()
                     ? *ParseJson<Json>(record::OutcomeToJson(Score(state)))
                     : Json()}};
  console.out << json.dump() << "\n";
}

void PrintText(const State& state, const ShowOptions& options,
               Console& console) {
  console.out << DrawBoard(state, {.unicode = !options.ascii,
                                   .colour = UseColour(options.colour, console),
                                   .highlight = LegalActions(state)})
              << "\n";
  if (state.finished()) {
    console.out << "Result:   " << Wrap(DescribeOutcome(Score(state)), 10)
                << "\n";
  } else {
    const std::vector<std::string> legal = LegalActionTexts(state);
    console.out << "Legal:    " << Wrap(absl::StrJoin(legal, " "), 10) << "\n";
  }
  console.out << "Position: " << PositionToText(state) << "\n";
}

absl::StatusOr<int> RunShow(const ShowOptions& options, Console& console) {
  TARA_ASSIGN_OR_RETURN(const auto shown, PositionOf(options.position));
  const State& state = shown.state;
  if (options.format == "json") {
    PrintJson(state, console);
  } else if (options.format == "svg") {
    console.out << SvgBoard(
        state, {.highlight = LegalActions(state), .last = shown.last});
  } else {
    PrintText(state, options, console);
  }
  return kExitOk;
}

// --- tara perft --------------------------------------------------------------

// Far beyond what can be counted.
constexpr int64_t kMaxDepth = 1000;

struct PerftOptions {
  GameFlags game;
  int depth = 0;
  std::string prefix;
  bool divide = false;
};

absl::StatusOr<int> RunPerft(const PerftOptions& options, Console& console) {
  if (options.divide && options.depth == 0) {
    return UsageError("--divide requires --depth of at least 1");
  }
  TARA_ASSIGN_OR_RETURN(State state, StartOf(options.game));
  TARA_RETURN_IF_ERROR(PlayActions(options.prefix, "--prefix", state));
  const int depth = options.depth;
  if (!options.divide) {
    console.out << Perft(state, depth) << "\n";
    return kExitOk;
  }
  int64_t total = 0;
  for (const auto& [action, count] : PerftDivide(state, depth)) {
    console.out << absl::StrFormat("%-8s%d\n", ActionToText(action, state),
                                   count);
    total += count;
  }
  console.out << total << "\n";
  return kExitOk;
}

// --- tara verify -------------------------------------------------------------

struct VerifyOptions {
  std::vector<std::string> files;  // "-": standard input
};

struct Counts {
  int64_t passed = 0;
  int64_t failed = 0;
};

// Checks each line that is not blank. Returns an error if reading fails, or if
// all lines are blank.
absl::Status VerifyLines(const std::string& name, std::istream& in,
                         Console& console, Counts& counts) {
  const int64_t before = counts.passed + counts.failed;
  std::string line;
  for (int64_t number = 1; std::getline(in, line); ++number) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    const absl::Status status = record::ParseGameLine(line).status();
    if (status.ok()) {
      ++counts.passed;
      continue;
    }
    ++counts.failed;
    console.out << name << ":" << number << ": " << Printable(status.message())
                << "\n";
  }
  if (in.bad()) return absl::DataLossError("cannot be read to the end");
  // A file without games may have been truncated.
  if (counts.passed + counts.failed > before) return absl::OkStatus();
  return absl::InvalidArgumentError("it contains no game");
}

absl::Status VerifyFile(const std::string& name, Console& console,
                        Counts& counts) {
  if (name == "-") return VerifyLines("-", console.in, console, counts);
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored)) {
    return absl::InvalidArgumentError("is a folder; expected a file");
  }
  errno = 0;
  std::ifstream file(name);
  if (!file) return absl::NotFoundError(std::strerror(errno));
  return VerifyLines(name, file, console, counts);
}

absl::StatusOr<int> RunVerify(const VerifyOptions& options, Console& console) {
  Counts counts;
  for (const std::string& name : options.files) {
    const absl::Status status = VerifyFile(name, console, counts);
    if (status.ok()) continue;
    ++counts.failed;
    console.err << "tara: " << Printable(name) << ": " << status.message()
                << "\n";
  }
  console.out << counts.passed << " passed, " << counts.failed << " failed\n";
  return counts.failed == 0 ? kExitOk : kExitFailure;
}

constexpr int kMaxTableMb = 1 << 16;
constexpr int64_t kMaxNodes = int64_t{1} << 52;

struct SolveOptions {
  PositionFlags position;
  bool all_actions = false;
  int64_t node_limit = 0;  // 0: none
  int table_mb = 256;
  std::string format = "text";
};

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

SolveReport Solve(const SolveOptions& options, const State& state,
                  const StopCheck& stop, Console& console) {
  StatusLine status_line(console);
  const absl::Time begin = SteadyTime();
  const auto seconds = [begin] {
    return absl::ToDoubleSeconds(SteadyTime() - begin);
  };
  SolveReport report;
  mcts::EndgameSolver solver(
      {.table_bytes = options.table_mb << 20,
       .node_limit = options.node_limit,
       .keep_going = [&](const mcts::SolverProgress& progress) {
         const auto nodes = static_cast<double>(report.nodes + progress.nodes);
         status_line.Show(absl::StrFormat(
             "search %d: Red's margin is %d to %d; %.1f million positions, "
             "%.1f million/s",
             progress.iteration, progress.low, progress.high, nodes / 1e6,
             nodes / 1e6 / std::max(1e-9, seconds())));
         report.interrupted = stop();
         return !report.interrupted;
       }});
  const std::optional<mcts::EndgameSolver::Solution> solution =
      solver.Solve(state);
  report.nodes = solver.progress().nodes;
  report.low = solver.progress().low;
  report.high = solver.progress().high;
  if (solution.has_value()) {
    report.best_actions = solution->best_actions;
    if (options.all_actions) {
      report.actions = solver.SolveActions(state);
      report.nodes += solver.progress().nodes;
    }
    report.complete = !options.all_actions || report.actions.has_value();
  }
  report.seconds = seconds();
  return report;
}

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

absl::StatusOr<int> RunSolve(const SolveOptions& options, Console& console) {
  const StopCheck stop = StopOnSignals();
  TARA_ASSIGN_OR_RETURN(const auto shown, PositionOf(options.position));
  const State& state = shown.state;
  SolveReport report;
  try {
    report = Solve(options, state, stop, console);
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

constexpr int64_t kMaxGames = 1000000000000;

struct StatsOptions {
  GameFlags game;
  int64_t games = 1000000;  // a variant
  int threads = 0;          // all cores
  uint64_t seed = 1;
  ReportFlags report;
};

absl::StatusOr<int> RunStats(const StatsOptions& options, Console& console) {
  TARA_ASSIGN_OR_RETURN(const auto starts, StartsOf(options.game));
  TARA_RETURN_IF_ERROR(CheckOutput("--html", options.report.html));
  // The last is the fastest; all play the same games.
  const InstructionSet instruction_set = SupportedInstructionSets().back();

  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  std::vector<eval::VariantStatistics> rows;
  const auto all_games =
      static_cast<double>(options.games) * static_cast<double>(starts.size());
  double done = 0;  // of earlier variants
  for (const State& start : starts) {
    if (stop()) break;
    const absl::Time begin = SteadyTime();
    const PlayoutStatistics sums = eval::PlayRandomGames(
        options.games, ResolveThreads(options.threads),
        [&](int64_t first_game, int64_t games) {
          return PlayRandomGames(start.variant, start.options, options.seed,
                                 first_game, games, instruction_set);
        },
        [&](int64_t games_done) {
          const auto games = static_cast<double>(games_done);
          const double seconds = absl::ToDoubleSeconds(SteadyTime() - begin);
          status_line.Show(
              absl::StrFormat("%s: %.0f %%, %.2f M games/s",
                              Info(start.variant).id,
                              100 * (done + games) / all_games,
                              games / 1e6 / std::max(1e-9, seconds)),
              done + games, all_games);
          return !stop();
        });
    if (sums.games == 0) break;  // stopped before the first chunk's end
    done += static_cast<double>(options.games);
    rows.push_back({start.variant, start.options, sums});
  }
  status_line.Clear();
  TARA_RETURN_IF_ERROR(WriteReport(
      options.report, eval::ReportStatistics(rows, options.seed), console));
  return EndOf(stop, console);
}

struct LevelsOptions {
  std::string format = "text";
};

Json LevelToJson(int number) {
  const mcts::Level& level = mcts::kLevels[number - 1];
  Json elo;
  for (const VariantInfo& info : kVariants) {
    const mcts::LevelElo measured = mcts::EloOfLevel(info.variant, number);
    elo[std::string(info.id)] = {
        {"elo", measured.elo},
        {"interval",
         {measured.elo - measured.interval, measured.elo + measured.interval}}};
  }
  // With the digits of the table, not those of a double.
  return {{"level", number},
          {"simulations", level.simulations},
          {"value_margin", *ParseJson<Json>(absl::StrCat(level.value_margin))},
          {"variants", elo}};
}

absl::StatusOr<int> RunLevels(const LevelsOptions& options, Console& console) {
  if (options.format == "json") {
    Json levels = Json::array();
    for (int i = 1; i <= mcts::kNumLevels; ++i)
      levels.push_back(LevelToJson(i));
    console.out << levels.dump(2) << "\n";
    return kExitOk;
  }
  std::vector<eval::ReportRow> rows;
  for (const VariantInfo& info : kVariants) {
    eval::ReportRow row = {eval::TextField("", "level", info.id)};
    for (int i = 1; i <= mcts::kNumLevels; ++i) {
      const mcts::LevelElo measured = mcts::EloOfLevel(info.variant, i);
      row.push_back(eval::CountField("", absl::StrCat(i), measured.elo));
      absl::StrAppend(&row.back().text, " +-", measured.interval);
    }
    rows.push_back(std::move(row));
  }
  console.out << "Elo with 95 % intervals, by the ready-made network; level 5 "
                 "has 1000\n"
              << eval::TableText(rows);
  return kExitOk;
}

}  // namespace

void RegisterVariants(Command& root) {
  const auto [command, options] = root.AddCommand(
      "variants", "list the variants and their rule options", RunVariants);
  command.Add({
      FormatOption(&options->format),
  });
  command.SetExamples({"variants", "variants --format=json"});
}

void RegisterShow(Command& root) {
  const auto [command, options] = root.AddCommand(
      "show", "show a position: board, seat, legal actions, result", RunShow);
  AddPositionFlags(command, &options->position);
  command.Add({
      {"--format text|json|svg", &options->format, "output format"},
      AsciiOption(&options->ascii),
      ColourOption(&options->colour),
  });
  command.SetNotes(
      "JSON: {\"variant\", \"position\", \"seat\", \"phase\", \"legal\", "
      "\"result\"}; seat is null in finished games, result in unfinished "
      "ones.\n"
      "SVG: a picture with the legal actions and the last action marked.\n\n"
      "--position accepts the text that the page of `tara web` copies: a "
      "position; a position and actions; a variant and actions; or a JSON "
      "line. Fields of a position after the third may be ?, or omitted at the "
      "end; the board then implies them.");
  command.SetExamples({"show --variant sacred_hill_l1 --actions \"D4 E6\"",
                       "show --variant high_kings_l1 --format=json",
                       "show --variant four_treasures --format=svg",
                       "show --position \"four_treasures 5/7/7/2rb3/7/7/5 0\"",
                       "show --position \"sacred_hill_l1 D4 E5 F3\""});
}

void RegisterPerft(Command& root) {
  const auto [command, options] = root.AddCommand(
      "perft",
      "count action sequences of a given length, as a test of the rules",
      RunPerft);
  AddGameFlags(command, &options->game, kVariantHelp);
  command.Add({
      {"--depth N", &options->depth, 0, kMaxDepth,
       "length of the sequences, in actions", kRequired},
      {"--prefix ACTIONS", &options->prefix,
       "actions to play first, as in \"D4 E6\"", Default("none")},
      {"--divide", &options->divide,
       "list of the counts after each first action"},
  });
  command.SetNotes("The last line of the output contains only the count.");
  command.SetExamples(
      {"perft --variant sacred_hill_l1 --depth 4",
       "perft --variant four_treasures --depth 2 --prefix \"D4 E6\" --divide"});
}

void RegisterVerify(Command& root) {
  const auto [command, options] = root.AddCommand(
      "verify", "check recorded games, as JSON lines, against the rules",
      RunVerify);
  command.Add({
      {"FILE", &options->files,
       "games, one JSON object per line (docs/reference/rules.md section 12); "
       "- is standard input",
       kRequired},
  });
  command.SetNotes(
      "For each bad game, prints FILE:LINE: and the first difference. The last "
      "line is `N passed, M failed`. The exit status is 1 if anything failed.");
  command.SetExamples({"verify tests/golden/*.jsonl",
                       "games export runs/mine | tara verify -"});
}

void RegisterSolve(Command& root) {
  const auto [command, options] = root.AddCommand(
      "solve", "compute the exact result of a position, and the best actions",
      RunSolve);
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
      "sides.\n\n"
      "JSON: {\"variant\", \"position\", \"red_margin\", \"low\", \"high\", "
      "\"best_actions\", \"actions\", \"nodes\", \"seconds\"}; \"actions\" "
      "only with --all-actions. Unknown values are null; low and high are "
      "proved bounds of red_margin.\n\n"
      "Ctrl-C and the node limit end the search: the bounds proved so far are "
      "printed, and the exit status is 130 or 1. With up to 12 vacant hills "
      "most games take milliseconds; High Kings and Stone of Destiny take "
      "longer.");
  command.SetExamples(
      {"solve --variant four_treasures --actions \"D4 E6 D3\" --node-limit 1M",
       "solve --position \"$(cat position.txt)\" --all-actions --format=json"});
}

void RegisterStats(Command& root) {
  const auto [command, options] = root.AddCommand(
      "stats", "summarize random play: lengths, results, endings", RunStats);
  AddGameFlags(command, &options->game, kVariantOrAllHelp);
  command.Add({
      {"--games N", Counted{&options->games}, 1, kMaxGames,
       "games per variant; k, M and G stand for thousands, millions and "
       "billions"},
      ThreadsOption(&options->threads),
      SeedOption(&options->seed,
                 "random seed; reproducible on any number of threads"),
  });
  AddReportFlags(command, &options->report);
  command.SetNotes(
      "Every action is chosen uniformly among the legal ones. The first side "
      "is Red. Score counts a draw as half a win; intervals are 95 % "
      "confidence intervals. Ctrl-C ends the command with a report of the "
      "finished games.");
  command.SetExamples(
      {"stats --variant all --games 100M --html stats.html",
       "stats --variant high_kings_l1 --games 5M --option no_progress_limit=60",
       "stats --variant four_treasures --games 10k --format=json"});
}

void RegisterLevels(Command& root) {
  const auto [command, options] = root.AddCommand(
      "levels", "list the levels of strength with their Elo by variant",
      RunLevels);
  command.Add({
      FormatOption(&options->format),
  });
  command.SetExamples(
      {"levels", "play --variant high_kings_l1 --opponent level:3"});
}

}  // namespace tara::cli
