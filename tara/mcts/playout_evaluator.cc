#include "tara/mcts/playout_evaluator.h"

#include <vector>

#include "tara/base/check.h"
#include "tara/core/board.h"
#include "tara/core/legal_set.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/mcts/state_hash.h"

namespace tara {

void PlayRandomly(State& state, Random& random) {
  while (!state.finished()) {
    const LegalSet legal = LegalActions(state);
    ApplyAction(legal.Nth(static_cast<int>(random.Below(legal.Count()))),
                state);
  }
}

PlayoutEvaluator::PlayoutEvaluator(int playouts, uint64_t seed)
    : playouts_(playouts), seed_(seed) {
  TARA_CHECK(playouts > 0, "a playout evaluator plays at least one game");
}

absl::Status PlayoutEvaluator::Evaluate(absl::Span<const State> states,
                                        absl::Span<Evaluation> results) {
  for (size_t i = 0; i < states.size(); ++i) {
    const State& state = states[i];
    Random random(
        DeriveSeed(seed_, HashState(state), StreamPurpose::kPlayouts));
    int wins = 0;
    int losses = 0;
    int points = 0;
    std::vector<float>& margins = results[i].margins;
    margins.assign(kNumMargins, 0);
    for (int playout = 0; playout < playouts_; ++playout) {
      State end = state;
      PlayRandomly(end, random);
      const int red_margin = Score(end).margin();
      const int margin = state.side() == kRed ? red_margin : -red_margin;
      wins += margin > 0;
      losses += margin < 0;
      points += margin;
      ++margins[margin + kMaxMargin];
    }
    const int legal = LegalActions(state).Count();
    const auto games = static_cast<float>(playouts_);
    results[i].priors.assign(legal, 1.0f / static_cast<float>(legal));
    results[i].win = static_cast<float>(wins) / games;
    results[i].loss = static_cast<float>(losses) / games;
    results[i].draw = static_cast<float>(playouts_ - wins - losses) / games;
    results[i].margin = static_cast<float>(points) / games;
    for (float& share : margins) share /= games;
  }
  return absl::OkStatus();
}

}  // namespace tara
