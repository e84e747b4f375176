#include "tara/eval/players/search_player.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/levels/levels.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/search/search_session.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/mcts/tree/tree.h"

namespace tara::eval {
namespace {

// Positions searched at a time then: few, for each may take much memory.
constexpr size_t kTimedTrees = 16;

// The search of one position among several, to its limits.
class TimedSearch : public mcts::OneSearch {
 public:
  TimedSearch(mcts::Tree* tree, const mcts::SearchTime& time)
      : mcts::OneSearch(tree), deadline_(time, *tree) {}

  bool searched() override {
    return mcts::OneSearch::searched() ||
           deadline_.IsOver(tree(), deadline_.Now());
  }

 private:
  mcts::SearchDeadline deadline_;
};

class SearchPlayer : public Player {
 public:
  SearchPlayer(std::shared_ptr<mcts::Evaluator> evaluator,
               const SearchPlayerOptions& options)
      : evaluator_(std::move(evaluator)),
        cache_(evaluator_.get(), options.cache_positions),
        options_(options) {
    TARA_CHECK(!options.ponder || (options.reuse && !options.search.gumbel),
               "pondering grows the tree that is kept, without a plan");
  }

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    start_ = options_.now();
    TARA_RETURN_IF_ERROR(StopPondering());
    const size_t most = MaxTrees(turns);
    for (size_t first = 0; first < turns.size(); first += most) {
      TARA_RETURN_IF_ERROR(
          SearchSome(turns.subspan(first, most), actions.subspan(first, most)));
    }
    if (options_.ponder && turns.size() == 1 && turns[0].may_ponder) {
      Session session = SessionOf(turns[0]);
      session->Ponder(actions[0], options_.ponder_simulations);
      sessions_.insert_or_assign(turns[0].game, std::move(session));
      pondered_game_ = turns[0].game;
    }
    return absl::OkStatus();
  }

  void EndGame(uint64_t game) override { sessions_.erase(game); }

 private:
  using Session = std::unique_ptr<mcts::SearchSession>;

  // Concurrent trees: up to some million simulations in all (about half a
  // gigabyte), but enough for a decent batch.
  size_t MaxTrees(absl::Span<const Turn> turns) const {
    const bool any_timed =
        std::any_of(turns.begin(), turns.end(),
                    [&](const Turn& turn) { return TimeFor(turn).limited(); });
    return any_timed ? kTimedTrees
                     : static_cast<size_t>(
                           std::max(8, 1000000 / options_.search.simulations));
  }

  mcts::SearchTime TimeFor(const Turn& turn) const {
    // Players below full strength are limited by simulations, not by time.
    const bool weak = options_.value_margin > 0;
    return {
        .budget = weak ? std::nullopt : turn.budget,
        .start = start_,
        .time = options_.time,
        .clock = turn.budget.has_value() ? options_.now : options_.time_clock};
  }

  absl::Status SearchSome(absl::Span<const Turn> turns,
                          absl::Span<Action> actions) {
    std::vector<Session> sessions;
    std::vector<size_t> searched;         // index into turns, by session
    std::vector<mcts::SearchTime> times;  // by session
    for (size_t i = 0; i < turns.size(); ++i) {
      const LegalSet legal = LegalActions(turns[i].state);
      if (legal.Count() == 1) {
        actions[i] = legal.Nth(0);
        continue;
      }
      sessions.push_back(SessionOf(turns[i]));
      searched.push_back(i);
      times.push_back(TimeFor(turns[i]));
    }
    const StopCheck stop = [&] { return turns[0].stopped(); };
    if (sessions.size() == 1) {
      TARA_RETURN_IF_ERROR(sessions[0]->Search(times[0], stop));
    } else {
      TARA_RETURN_IF_ERROR(SearchTogether(sessions, times, stop));
    }
    if (stop()) return absl::CancelledError("interrupted");
    for (size_t s = 0; s < sessions.size(); ++s) {
      const Turn& turn = turns[searched[s]];
      actions[searched[s]] = sessions[s]->Choose(*turn.random);
      if (turn.report != nullptr) {
        *turn.report = ReportOf(sessions[s]->tree());
      }
      const bool goes_on =
          !turn.actions.empty() || (options_.ponder && turn.may_ponder);
      if (!options_.reuse || !goes_on) continue;
      sessions_.insert_or_assign(turn.game, std::move(sessions[s]));
    }
    return absl::OkStatus();
  }

  // Takes the session of the turn's game, or makes one; at the turn's position.
  Session SessionOf(const Turn& turn) {
    Session session;
    const auto found = sessions_.find(turn.game);
    if (found != sessions_.end()) {
      session = std::move(found->second);
      sessions_.erase(found);
    } else {
      mcts::SessionOptions options = {
          .search = options_.search,
          .reuse = options_.reuse,
          .threads = options_.threads,
          .leaves_per_game = options_.leaves_per_game,
          .confidence_z = options_.confidence_z,
          .temperature = options_.temperature,
          .value_margin = options_.value_margin};
      options.search.utility.match = turn.match;
      // A Gumbel root plans for a number of simulations: a clock leaves none.
      options.search.gumbel &= !TimeFor(turn).limited();
      session =
          std::make_unique<mcts::SearchSession>(options, &cache_, &solver_);
    }
    session->GoTo(turn.state, turn.actions,
                  [&turn] { return (*turn.random)(); });
    return session;
  }

  absl::Status StopPondering() {
    if (!pondered_game_.has_value()) return absl::OkStatus();
    const auto found = sessions_.find(*pondered_game_);
    pondered_game_.reset();
    return found == sessions_.end() ? absl::OkStatus()
                                    : found->second->StopPondering();
  }

  // Searches positions side by side: each to its number of simulations, or
  // those with a time for the sum of the times.
  absl::Status SearchTogether(absl::Span<const Session> sessions,
                              absl::Span<const mcts::SearchTime> times,
                              const StopCheck& stop) {
    if (sessions.empty()) return absl::OkStatus();
    mcts::SearchTime all = {.time = absl::Nanoseconds(1),  // 0: no limit
                            .clock = options_.time_clock};
    for (const mcts::SearchTime& time : times) {
      all.time += time.budget.has_value() ? time.budget->target : time.time;
    }
    for (size_t i = 0; i < sessions.size(); ++i) {
      sessions[i]->SetSimulations(times[i]);
    }
    size_t next = 0;
    mcts::SearchCounters counters;
    return PlayManyGames(
        {.games = static_cast<int>(sessions.size()),
         .leaves_per_game = options_.leaves_per_game},
        [&]() -> std::unique_ptr<mcts::SearchedGame> {
          if (next == sessions.size()) return nullptr;
          const size_t index = next++;
          return std::make_unique<TimedSearch>(
              &sessions[index]->tree(),
              times[index].limited() ? all : mcts::SearchTime());
        },
        cache_, stop, counters);
  }

  // The policy is the visits of the actions that the proofs leave.
  SearchReport ReportOf(const mcts::Tree& tree) const {
    const std::vector<mcts::RootAction> actions = tree.root_actions();
    const std::vector<bool> left = mcts::LeftByProof(
        actions, mcts::ChoiceAt(tree, options_.confidence_z, 0));
    SearchReport report = {.value = tree.root_value()};
    float visits = 0;
    for (size_t i = 0; i < actions.size(); ++i) {
      const float chosen = left[i] ? static_cast<float>(actions[i].visits) : 0;
      visits += chosen;
      report.policy.push_back(chosen);
      report.action_values.push_back(
          actions[i].visits > 0 ? actions[i].mean_value
                                : std::numeric_limits<float>::quiet_NaN());
    }
    if (visits == 0) report.policy.clear();  // proved without a visit
    for (float& share : report.policy) share /= visits;
    const mcts::MarginBounds proved = tree.root_bounds();
    if (proved.low == proved.high) report.proved_margin = proved.low;
    return report;
  }

  const std::shared_ptr<mcts::Evaluator> evaluator_;
  mcts::CachingEvaluator cache_;
  mcts::SharedSolver solver_;
  const SearchPlayerOptions options_;
  absl::Time start_;  // of the latest call
  // By game; destroyed before the objects that they use.
  absl::flat_hash_map<uint64_t, Session> sessions_;
  std::optional<uint64_t> pondered_game_;
};

}  // namespace

std::unique_ptr<Player> NewSearchPlayer(
    std::shared_ptr<mcts::Evaluator> evaluator,
    const SearchPlayerOptions& options) {
  return std::make_unique<SearchPlayer>(std::move(evaluator), options);
}

namespace {

// Returns a score as win minus loss. Evaluations are thousandths of a logit
// (alpha_beta.h): 2 / (1 + exp(-logit)) - 1 = tanh(logit / 2).
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
