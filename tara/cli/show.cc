#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/action.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/svg_board.h"
#include "tara/core/variant.h"
#include "tara/record/game_lines.h"

namespace tara::cli {
namespace {

struct ShowOptions {
  PositionFlags position;
  std::string format = "text";
  std::string colour = "auto";
  bool ascii = false;
};

using Json = nlohmann::ordered_json;

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

}  // namespace

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
      "in a finished game, result in any other.\n"
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

}  // namespace tara::cli
