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
      actions[i] = legal.Count() == 1 ? legal.Nth(0)
                                      : search_.Search(state, limits_).action;
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
