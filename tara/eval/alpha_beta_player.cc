#include "tara/eval/alpha_beta_player.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/legal_set.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"

namespace tara {
namespace {

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
      // A search that is stopped loses its last iteration alone: the target is
      // as good an end as the limit.
      const AlphaBetaLimits limits =
          turns[i].budget.has_value()
              ? AlphaBetaLimits{.time = turns[i].budget->target}
              : limits_;
      actions[i] = search_.Search(state, limits).action;
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

}  // namespace tara
