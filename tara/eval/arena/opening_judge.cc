#include "tara/eval/arena/opening_judge.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/legal_set.h"
#include "tara/core/rules.h"

namespace tara::eval {

OpeningJudge NewOpeningJudge(std::unique_ptr<Player> player) {
  return [player = std::shared_ptr<Player>(std::move(player))](
             const State& state, Random& random) -> absl::StatusOr<double> {
    // Forced choices are made without a thought: what they lead to is asked.
    State position = state;
    while (!position.finished() && LegalActions(position).Count() == 1) {
      ApplyAction(LegalActions(position).Nth(0), position);
    }
    if (position.finished()) {
      return absl::FailedPreconditionError(
          "openings: the game is over but for forced actions; expected fewer "
          "plies");
    }
    Opinion opinion;
    const Turn turn = {
        .state = position, .random = &random, .opinion = &opinion};
    Action action;
    TARA_RETURN_IF_ERROR(player->ChooseActions(absl::MakeConstSpan(&turn, 1),
                                               absl::MakeSpan(&action, 1)));
    player->EndGame(turn.game);
    if (!opinion.value.has_value()) {
      return absl::FailedPreconditionError(
          "openings: the player that is to judge them has no opinion of their "
          "value; expected one that searches, such as mcts");
    }
    const bool same_side = position.side() == state.side();
    return same_side ? *opinion.value : -*opinion.value;
  };
}

}  // namespace tara::eval
