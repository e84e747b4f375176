#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/action.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/perft.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/svg_board.h"
#include "tara/core/variant.h"
#include "tara/record/game_lines.h"

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

// Lists the variants and their rule options.
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

// Shows a position: board, seat, legal actions, and the result when the game
// is finished.
absl::StatusOr<int> RunShow(const ShowOptions& options, Console& console) {
  TARA_ASSIGN_OR_RETURN(const ShownPosition shown,
                        PositionOf(options.position));
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

// Counts the action sequences of a length; the count stands alone on the last
// line.
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

// Checks games in JSON lines against the rules. Writes a line for each bad
// game and, last, how many passed and failed; a file that cannot be read counts
// as a failure. Returns kExitFailure if anything failed.
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

}  // namespace

void RegisterVariants(Command& root) {
  Command& command =
      root.AddCommand("variants", "list the variants and their rule options");
  VariantsOptions* const options = command.SetRun(RunVariants);
  command.Add({
      FormatOption(&options->format),
  });
  command.SetExamples({"variants", "variants --format=json"});
}

void RegisterShow(Command& root) {
  Command& command = root.AddCommand(
      "show", "show a position: board, seat, legal actions, result");
  ShowOptions* const options = command.SetRun(RunShow);
  AddPositionFlags(command, &options->position);
  command.Add({
      {"--format text|json|svg", &options->format, "output format"},
      AsciiOption(&options->ascii),
      ColourOption(&options->colour),
  });
  command.SetNotes(
      "JSON: {\"variant\", \"position\", \"seat\", \"phase\", \"legal\", "
      "\"result\"}; seat is null\n"
      "in finished games, result in unfinished ones.\n"
      "SVG: a picture with the legal actions and the last action marked.\n\n"
      "--position accepts the text that the page of `tara web` copies: a "
      "position; a\n"
      "position and actions; a variant and actions; or a JSON line. Fields of "
      "a\n"
      "position after the third may be ?, or omitted at the end; the board "
      "then implies\n"
      "them.");
  command.SetExamples({"show --variant sacred_hill_l1 --actions \"D4 E6\"",
                       "show --variant high_kings_l1 --format=json",
                       "show --variant four_treasures --format=svg",
                       "show --position \"four_treasures 5/7/7/2rb3/7/7/5 0\"",
                       "show --position \"sacred_hill_l1 D4 E5 F3\""});
}

void RegisterPerft(Command& root) {
  Command& command = root.AddCommand(
      "perft",
      "count action sequences of a given length, as a test of the rules");
  PerftOptions* const options = command.SetRun(RunPerft);
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
  Command& command = root.AddCommand(
      "verify", "check recorded games, as JSON lines, against the rules");
  VerifyOptions* const options = command.SetRun(RunVerify);
  command.Add({
      {"FILE", &options->files,
       "games, one JSON object per line (docs/reference/rules.md section 12); "
       "- is standard input",
       kRequired},
  });
  command.SetNotes(
      "For each bad game, prints FILE:LINE: and the first difference. The last "
      "line is\n`N passed, M failed`. The exit status is 1 if anything "
      "failed.");
  command.SetExamples({"verify tests/golden/*.jsonl",
                       "games export runs/mine | tara verify -"});
}

}  // namespace tara::cli
