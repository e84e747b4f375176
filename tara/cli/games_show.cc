#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/game.pb.h"
#include "tara/base/status_macros.h"
#include "tara/cli/games.h"
#include "tara/cli/games_store.h"
#include "tara/cli/usage.h"
#include "tara/core/action.h"
#include "tara/core/drawing.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/record/game_lines.h"
#include "tara/record/game_record.h"
#include "tara/train/store/game_store.h"

namespace tara::cli {
namespace {

std::vector<Action> ActionsOf(const proto::GameRecord& record) {
  std::vector<Action> actions;
  for (const proto::Step& step : record.steps()) {
    actions.push_back(static_cast<Action>(step.action()));
  }
  return actions;
}

void PrintOrigin(const proto::GameRecord& record, Console& console) {
  console.out << "Game " << record.game_index() << ": " << record.variant()
              << ", options " << record.rule_options() << "\nmodel "
              << record.model_id() << ", generation " << record.generation()
              << ", seed " << record.seed() << "\n\n";
}

// What a search thought of a position, and what is proved of it, for the seat.
std::string ThoughtText(const proto::Step& step) {
  std::string text;
  if (step.visits_size() > 0 || step.simulations() > 0) {
    text = absl::StrFormat("  value %+.2f", step.root_value());
  }
  if (!step.has_proved_low()) return text;
  if (step.proved_low() == step.proved_high()) {
    absl::StrAppendFormat(&text, "  proved %+d", step.proved_low());
  } else {
    absl::StrAppendFormat(&text, "  proved %+d to %+d", step.proved_low(),
                          step.proved_high());
  }
  return text;
}

// Actions with their seats and, of searches, the value for the seat.
void PrintActions(const proto::GameRecord& record,
                  const record::ReplayedGame& game, Console& console) {
  for (int ply = 0; ply < record.steps_size(); ++ply) {
    const proto::Step& step = record.steps(ply);
    const State& state = game.states[ply];
    console.out << absl::StrFormat(
        "%4d  %-10s  %-6s%s\n", ply + 1, SeatName(state.variant, state.seat),
        ActionToText(static_cast<Action>(step.action())),
        ply < static_cast<int>(record.opening_plies()) ? "  drawn at random"
                                                       : ThoughtText(step));
  }
  if (game.resigned_by.has_value()) {
    console.out << (*game.resigned_by == kRed ? "Red" : "Blue")
                << " resigns.\n";
  }
  console.out << "\n";
}

}  // namespace

absl::StatusOr<int> RunGamesShow(const GamesShowOptions& options,
                                 Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<train::GameStore> store,
                        OpenStoreForReading(options.store));
  TARA_ASSIGN_OR_RETURN(const proto::GameRecord record,
                        store->Get(static_cast<uint64_t>(options.game_index)));
  TARA_ASSIGN_OR_RETURN(const record::ReplayedGame game,
                        record::Replay(record));
  if (options.format == "json") {
    if (game.resigned_by.has_value()) {
      return absl::FailedPreconditionError(
          absl::StrCat("game ", options.game_index,
                       " was resigned; --format=json has finished games only"));
    }
    TARA_ASSIGN_OR_RETURN(
        const std::string line,
        record::GameToLine(game.states.front(), ActionsOf(record)));
    console.out << line << "\n";
    return kExitOk;
  }
  const int64_t length = record.steps_size();
  if (options.ply > length) {
    return UsageError(absl::StrCat("--ply: the game has ", length,
                                   " actions; got ", options.ply));
  }
  const State& shown = game.states[options.ply < 0 ? length : options.ply];
  PrintOrigin(record, console);
  PrintActions(record, game, console);
  console.out << DrawBoard(shown, {.unicode = !options.ascii,
                                   .colour = UseColour(options.colour, console),
                                   .highlight = LegalActions(shown)})
              << "\nPosition: " << PositionToText(shown) << "\n";
  return kExitOk;
}

}  // namespace tara::cli
