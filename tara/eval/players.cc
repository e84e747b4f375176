#include "tara/eval/players.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/legal_set.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/mcts/caching_evaluator.h"
#include "tara/mcts/choose_action.h"
#include "tara/mcts/run_searches.h"
#include "tara/mcts/utility.h"

namespace tara {
namespace {

// Positions a searching player remembers; some 20 MB.
constexpr int64_t kCacheCapacity = int64_t{1} << 16;

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
  absl::Status ChooseActions(absl::Span<const State> states,
                             absl::Span<Random* const> randoms,
                             absl::Span<Action> actions) override {
    for (size_t i = 0; i < states.size(); ++i) {
      const LegalSet legal = LegalActions(states[i]);
      actions[i] =
          legal.Nth(static_cast<int>(randoms[i]->Below(legal.Count())));
    }
    return absl::OkStatus();
  }
};

class GreedyPlayer : public Player {
 public:
  absl::Status ChooseActions(absl::Span<const State> states,
                             absl::Span<Random* const> randoms,
                             absl::Span<Action> actions) override {
    for (size_t i = 0; i < states.size(); ++i) {
      const State& state = states[i];
      BestAction best(*randoms[i]);
      LegalActions(state).ForEach([&](Action action) {
        State next = state;
        ApplyAction(action, next);
        const int red_margin = Score(next).margin();
        best.Offer(action, state.side() == kRed ? red_margin : -red_margin);
      });
      actions[i] = best.best();
    }
    return absl::OkStatus();
  }
};

class PolicyPlayer : public Player {
 public:
  explicit PolicyPlayer(std::unique_ptr<Evaluator> evaluator)
      : evaluator_(std::move(evaluator)) {}

  absl::Status ChooseActions(absl::Span<const State> states,
                             absl::Span<Random* const> randoms,
                             absl::Span<Action> actions) override {
    std::vector<Evaluation> evaluations(states.size());
    TARA_RETURN_IF_ERROR(
        evaluator_->Evaluate(states, absl::MakeSpan(evaluations)));
    for (size_t i = 0; i < states.size(); ++i) {
      BestAction best(*randoms[i]);
      size_t next = 0;
      LegalActions(states[i]).ForEach([&](Action action) {
        best.Offer(action, evaluations[i].priors[next++]);
      });
      actions[i] = best.best();
    }
    return absl::OkStatus();
  }

 private:
  const std::unique_ptr<Evaluator> evaluator_;
};

class SearchPlayer : public Player {
 public:
  SearchPlayer(std::unique_ptr<Evaluator> evaluator,
               const SearchOptions& options)
      : evaluator_(std::move(evaluator)),
        cache_(evaluator_.get(), kCacheCapacity),
        options_(options) {}

  absl::Status ChooseActions(absl::Span<const State> states,
                             absl::Span<Random* const> randoms,
                             absl::Span<Action> actions) override {
    // A single game is a match of one.
    return ChooseActionsInMatches(
        states, std::vector<MatchScore>(states.size()), randoms, actions);
  }

  absl::Status ChooseActionsInMatches(absl::Span<const State> states,
                                      absl::Span<const MatchScore> matches,
                                      absl::Span<Random* const> randoms,
                                      absl::Span<Action> actions) override {
    for (size_t first = 0; first < states.size(); first += MaxTrees()) {
      TARA_RETURN_IF_ERROR(SearchSome(states.subspan(first, MaxTrees()),
                                      matches.subspan(first, MaxTrees()),
                                      randoms.subspan(first, MaxTrees()),
                                      actions.subspan(first, MaxTrees())));
    }
    return absl::OkStatus();
  }

 private:
  // Trees searched at a time: as many as hold some million simulations (about
  // a gigabyte), but enough for a decent batch.
  size_t MaxTrees() const {
    return static_cast<size_t>(std::max(8, 1000000 / options_.simulations));
  }

  // What results are worth in a game of a match.
  SearchOptions OptionsFor(const State& state, const MatchScore& match) const {
    SearchOptions options = options_;
    options.utility.match = match;
    options.utility.margin_deviation = MarginDeviation(state.variant);
    return options;
  }

  absl::Status SearchSome(absl::Span<const State> states,
                          absl::Span<const MatchScore> matches,
                          absl::Span<Random* const> randoms,
                          absl::Span<Action> actions) {
    std::vector<Tree> trees;
    std::vector<size_t> searched;  // index into states, by tree
    for (size_t i = 0; i < states.size(); ++i) {
      const LegalSet legal = LegalActions(states[i]);
      if (legal.Count() == 1) {
        actions[i] = legal.Nth(0);
        continue;
      }
      trees.emplace_back(OptionsFor(states[i], matches[i]), states[i],
                         (*randoms[i])());
      searched.push_back(i);
    }
    std::vector<Tree*> pointers;
    for (Tree& tree : trees) pointers.push_back(&tree);
    TARA_RETURN_IF_ERROR(RunSearches(pointers, cache_));
    for (size_t tree = 0; tree < trees.size(); ++tree) {
      const size_t i = searched[tree];
      actions[i] = ChooseAction(trees[tree].root_actions(), /*temperature=*/0,
                                *randoms[i]);
    }
    return absl::OkStatus();
  }

  const std::unique_ptr<Evaluator> evaluator_;
  CachingEvaluator cache_;
  const SearchOptions options_;
};

}  // namespace

std::unique_ptr<Player> NewRandomPlayer() {
  return std::make_unique<RandomPlayer>();
}

std::unique_ptr<Player> NewGreedyPlayer() {
  return std::make_unique<GreedyPlayer>();
}

std::unique_ptr<Player> NewSearchPlayer(std::unique_ptr<Evaluator> evaluator,
                                        const SearchOptions& options) {
  return std::make_unique<SearchPlayer>(std::move(evaluator), options);
}

std::unique_ptr<Player> NewPolicyPlayer(std::unique_ptr<Evaluator> evaluator) {
  return std::make_unique<PolicyPlayer>(std::move(evaluator));
}

}  // namespace tara
