#include "tara/eval/players/player.h"

#include <limits>
#include <utility>

#include "tara/base/status_macros.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"
#include "tara/mcts/levels/levels.h"

namespace tara::eval {
namespace {

// Collects the actions with the highest score and draws one of them.
class BestAction {
 public:
  explicit BestAction(Random& random) : random_(random) {}

  void Offer(Action action, double score) {
    if (score > best_score_) {
      best_score_ = score;
      num_tied_ = 0;
    } else if (score < best_score_) {
      return;
    }
    // The n-th of the tied replaces the choice with probability 1/n.
    if (random_.Below(++num_tied_) == 0) best_ = action;
  }

  Action best() const { return best_; }

 private:
  Random& random_;
  double best_score_ = -std::numeric_limits<double>::infinity();
  uint32_t num_tied_ = 0;
  Action best_ = kPass;
};

class RandomPlayer : public Player {
 public:
  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (size_t i = 0; i < turns.size(); ++i) {
      actions[i] = RandomAction(turns[i].state, *turns[i].random);
    }
    return absl::OkStatus();
  }
};

class GreedyPlayer : public Player {
 public:
  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (size_t i = 0; i < turns.size(); ++i) {
      const State& state = turns[i].state;
      BestAction best(*turns[i].random);
      LegalActions(state).ForEach([&](Action action) {
        best.Offer(action, mcts::ScoreAfter(state, action));
      });
      actions[i] = best.best();
    }
    return absl::OkStatus();
  }
};

class PolicyPlayer : public Player {
 public:
  explicit PolicyPlayer(std::shared_ptr<mcts::Evaluator> evaluator)
      : evaluator_(std::move(evaluator)) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    std::vector<State> states;
    for (const Turn& turn : turns) states.push_back(turn.state);
    std::vector<mcts::Evaluation> evaluations(states.size());
    TARA_RETURN_IF_ERROR(
        evaluator_->Evaluate(states, absl::MakeSpan(evaluations)));
    for (size_t i = 0; i < turns.size(); ++i) {
      BestAction best(*turns[i].random);
      size_t next = 0;
      LegalActions(turns[i].state).ForEach([&](Action action) {
        best.Offer(action, evaluations[i].priors[next++]);
      });
      actions[i] = best.best();
      if (turns[i].report == nullptr) continue;
      *turns[i].report = {.value = evaluations[i].value(),
                          .policy = evaluations[i].priors};
    }
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<mcts::Evaluator> evaluator_;
};

}  // namespace

std::unique_ptr<Player> NewRandomPlayer() {
  return std::make_unique<RandomPlayer>();
}

std::unique_ptr<Player> NewGreedyPlayer() {
  return std::make_unique<GreedyPlayer>();
}

std::unique_ptr<Player> NewPolicyPlayer(
    std::shared_ptr<mcts::Evaluator> evaluator) {
  return std::make_unique<PolicyPlayer>(std::move(evaluator));
}

}  // namespace tara::eval
