#include "tara/mcts/evaluators/simple_evaluators.h"

#include <vector>

#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/playouts.h"
#include "tara/core/rules.h"
#include "tara/mcts/state_hash.h"

namespace tara::mcts {

absl::Status UniformEvaluator::Evaluate(absl::Span<const State> states,
                                        absl::Span<Evaluation> results) {
  for (size_t i = 0; i < states.size(); ++i) {
    const int legal = LegalActions(states[i]).Count();
    results[i].priors.assign(legal, 1.0f / static_cast<float>(legal));
    results[i].win = results[i].loss = 0.5f;
    results[i].draw = results[i].margin = 0;
    results[i].margins.clear();
  }
  return absl::OkStatus();
}

absl::Status HashEvaluator::Evaluate(absl::Span<const State> states,
                                     absl::Span<Evaluation> results) {
  for (size_t i = 0; i < states.size(); ++i) {
    Random random(HashState(states[i]));
    Evaluation& result = results[i];
    result.priors.resize(LegalActions(states[i]).Count());
    float sum = 0;
    for (float& prior : result.priors) {
      const auto draw = static_cast<float>(random.Uniform());
      sum += prior = draw * draw * draw + 0.001f;
    }
    for (float& prior : result.priors) prior /= sum;
    result.win = static_cast<float>(random.Uniform());
    result.loss = 1 - result.win;
    result.draw = 0;
    result.margin = 10 * result.value();
    result.margins.clear();
  }
  return absl::OkStatus();
}

namespace {

// Fills all but the priors from Red's margins of the playouts of a position.
void EvaluateMargins(const State& state, absl::Span<const int8_t> red_margins,
                     Evaluation& evaluation) {
  const int sign = state.side() == kRed ? 1 : -1;
  int wins = 0;
  int losses = 0;
  int points = 0;
  std::vector<float>& margins = evaluation.margins;
  margins.assign(kNumMargins, 0);
  for (const int8_t red_margin : red_margins) {
    const int margin = sign * red_margin;
    const int result = ResultForMover(state, margin);
    wins += result > 0;
    losses += result < 0;
    points += margin;
    ++margins[margin + kMaxMargin];
  }
  const auto games = static_cast<float>(red_margins.size());
  const int draws = static_cast<int>(red_margins.size()) - wins - losses;
  evaluation.win = static_cast<float>(wins) / games;
  evaluation.loss = static_cast<float>(losses) / games;
  evaluation.draw = static_cast<float>(draws) / games;
  evaluation.margin = static_cast<float>(points) / games;
  for (float& share : margins) share /= games;
}

}  // namespace

PlayoutEvaluator::PlayoutEvaluator(int playouts, uint64_t seed)
    : playouts_(playouts), seed_(seed) {
  TARA_CHECK(playouts > 0, "playouts must be >= 1");
}

absl::Status PlayoutEvaluator::Evaluate(absl::Span<const State> states,
                                        absl::Span<Evaluation> results) {
  std::vector<uint64_t> seeds(states.size());
  for (size_t i = 0; i < states.size(); ++i) {
    seeds[i] =
        DeriveSeed(seed_, HashState(states[i]), StreamPurpose::kPlayouts);
  }
  std::vector<int8_t> margins(states.size() * playouts_);
  PlayRandomGamesFrom(states, seeds, playouts_, absl::MakeSpan(margins));
  for (size_t i = 0; i < states.size(); ++i) {
    const int legal = LegalActions(states[i]).Count();
    results[i].priors.assign(legal, 1.0f / static_cast<float>(legal));
    EvaluateMargins(
        states[i],
        absl::MakeConstSpan(margins).subspan(i * playouts_, playouts_),
        results[i]);
  }
  return absl::OkStatus();
}

}  // namespace tara::mcts
