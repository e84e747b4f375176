#include "tara/cli/position_flags.h"

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/cli/usage.h"
#include "tara/core/position_text.h"
#include "tara/core/variant.h"

namespace tara::cli {
namespace {

// Returns the position from which the actions are played.
absl::StatusOr<State> FirstPosition(const PositionFlags& flags) {
  if (flags.position.empty()) {
    if (flags.game.variant.empty()) {
      return UsageError("--variant is required (or --position)");
    }
    return StartOf(flags.game);
  }
  if (!flags.game.options.empty()) {
    return UsageError(
        "--option and --position exclude each other: a position names its "
        "rule options itself");
  }
  absl::StatusOr<State> state = ParsePosition(flags.position);
  if (!state.ok() || flags.game.variant.empty()) return state;
  TARA_ASSIGN_OR_RETURN(const Variant variant, VariantOf(flags.game));
  if (state->variant != variant) {
    return UsageError(absl::StrCat("--position is of ", Info(state->variant).id,
                                   ", but --variant is ", Info(variant).id));
  }
  return state;
}

}  // namespace

void AddPositionFlags(Command& command, PositionFlags* flags) {
  AddGameFlags(command, &flags->game,
               "variant, by its identifier in `tara variants` (required, but "
               "with --position)",
               /*required=*/false);
  command.AddText({.names = "--actions",
                   .placeholder = "ACTIONS",
                   .help = "actions to play first, as in \"D4 E6\"",
                   .default_text = "none"},
                  &flags->actions);
  command.AddText({.names = "--position",
                   .placeholder = "TEXT",
                   .help = "position to begin with, as `tara show` writes it",
                   .default_text = "the start of the game"},
                  &flags->position);
}

absl::StatusOr<State> PositionOf(const PositionFlags& flags) {
  TARA_ASSIGN_OR_RETURN(State state, FirstPosition(flags));
  TARA_RETURN_IF_ERROR(PlayActions(flags.actions, "--actions", state));
  return state;
}

}  // namespace tara::cli
