#include "tara/eval/players/alpha_beta_player.h"

#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"

namespace tara::eval {
namespace {

// Returns a score as win minus loss. Evaluations are thousandths of a logit
// (hand_evaluation.h): 2 / (1 + exp(-logit)) - 1 = tanh(logit / 2).
float ValueOf(int score) {
  if (std::abs(score) >= kWonGame) return score > 0 ? 1.0f : -1.0f;
  return std::tanh(static_cast<float>(score) / 2000);
}

class AlphaBetaPlayer : public Player {
 public:
  AlphaBetaPlayer(const AlphaBetaLimits& limits,
                  const AlphaBetaOptions& options)
      : limits_(limits), search_(options) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (size_t i = 0; i < turns.size(); ++i) {
      const State& state = turns[i].state;
      const LegalSet legal = LegalActions(state);
      if (legal.Count() == 1) {
        actions[i] = legal.Nth(0);
        continue;
      }
      // A stopped search only loses its last iteration, so the search can end
      // at the target instead of the limit.
      AlphaBetaLimits limits =
          turns[i].budget.has_value()
              ? AlphaBetaLimits{.time = turns[i].budget->target}
              : limits_;
      limits.stop = turns[i].stop;
      const AlphaBetaResult result = search_.Search(state, limits);
      if (turns[i].stopped()) return absl::CancelledError("interrupted");
      actions[i] = result.action;
      if (turns[i].report != nullptr) {
        *turns[i].report = {.value = ValueOf(result.score)};
      }
    }
    return absl::OkStatus();
  }

 private:
  const AlphaBetaLimits limits_;
  AlphaBeta search_;
};

}  // namespace

std::unique_ptr<Player> NewAlphaBetaPlayer(const AlphaBetaLimits& limits,
                                           const AlphaBetaOptions& options) {
  return std::make_unique<AlphaBetaPlayer>(limits, options);
}

}  // namespace tara::eval
