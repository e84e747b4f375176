#include "tara/eval/players/player.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/rules.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/levels/levels.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/tree/tree.h"
#include "tara/record/game_record.h"

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
      mcts::SessionOptions options = options_;
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

// Returns a score as win minus loss. Evaluations are thousandths of a logit
// (alpha_beta.h): 2 / (1 + exp(-logit)) - 1 = tanh(logit / 2).
float ValueOf(int score) {
  if (std::abs(score) >= kWonGame) return score > 0 ? 1.0f : -1.0f;
  return std::tanh(static_cast<float>(score) / 2000);
}

// Chooses in one game after another.
class OneByOne : public Player {
 public:
  using ChooseIn = std::function<absl::StatusOr<Action>(const Turn& turn)>;

  explicit OneByOne(ChooseIn choose) : choose_(std::move(choose)) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (size_t i = 0; i < turns.size(); ++i) {
      TARA_ASSIGN_OR_RETURN(actions[i], choose_(turns[i]));
    }
    return absl::OkStatus();
  }

 private:
  const ChooseIn choose_;
};

// Returns the action with the highest score, by action and its place among the
// legal ones; of several one that is drawn.
template <typename ScoreOf>
Action BestAction(const Turn& turn, const ScoreOf& score_of) {
  double best_score = -std::numeric_limits<double>::infinity();
  uint32_t tied = 0;
  Action best = kPass;
  size_t place = 0;
  LegalActions(turn.state).ForEach([&](Action action) {
    const double score = score_of(action, place++);
    if (score < best_score) return;
    if (score > best_score) {
      best_score = score;
      tied = 0;
    }
    // The n-th of the tied replaces the choice with probability 1/n.
    if (turn.random->Below(++tied) == 0) best = action;
  });
  return best;
}

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
      actions[i] = BestAction(turns[i], [&](Action, size_t place) {
        return evaluations[i].priors[place];
      });
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

std::unique_ptr<Player> NewSearchPlayer(
    std::shared_ptr<mcts::Evaluator> evaluator,
    const SearchPlayerOptions& options) {
  return std::make_unique<SearchPlayer>(std::move(evaluator), options);
}

std::unique_ptr<Player> NewAlphaBetaPlayer(const AlphaBetaLimits& limits,
                                           const AlphaBetaOptions& options) {
  const auto search = std::make_shared<AlphaBeta>(options);
  return std::make_unique<OneByOne>(
      [=](const Turn& turn) -> absl::StatusOr<Action> {
        const LegalSet legal = LegalActions(turn.state);
        if (legal.Count() == 1) return legal.Nth(0);
        // A stopped search only loses its last iteration, so the search can end
        // at the target instead of the limit.
        AlphaBetaLimits own = turn.budget.has_value()
                                  ? AlphaBetaLimits{.time = turn.budget->target}
                                  : limits;
        own.stop = turn.stop;
        const AlphaBetaResult result = search->Search(turn.state, own);
        if (turn.stopped()) return absl::CancelledError("interrupted");
        if (turn.report != nullptr) {
          *turn.report = {.value = ValueOf(result.score)};
        }
        return result.action;
      });
}

std::unique_ptr<Player> NewRandomPlayer() {
  return std::make_unique<OneByOne>(
      [](const Turn& turn) { return RandomAction(turn.state, *turn.random); });
}

std::unique_ptr<Player> NewGreedyPlayer() {
  return std::make_unique<OneByOne>([](const Turn& turn) {
    return BestAction(turn, [&](Action action, size_t) {
      return mcts::ScoreAfter(turn.state, action);
    });
  });
}

std::unique_ptr<Player> NewPolicyPlayer(
    std::shared_ptr<mcts::Evaluator> evaluator) {
  return std::make_unique<PolicyPlayer>(std::move(evaluator));
}

namespace {

using Games = std::vector<std::unique_ptr<PlayedGame>>;

bool IsStopped(const GameLoopOptions& options) {
  return options.stop && options.stop();
}

// Tells the player to move of its clock, and what that allows for the move.
void SetTimes(const GameClocks& clocks, const PlayedGame& game, Turn& turn) {
  const mcts::TimeManager& manager = game.clocks[game.to_move()].manager;
  const mcts::TimeControl& control = clocks.control;
  turn.budget = manager.BudgetFor(mcts::ExpectedActionsLeft(game.state) / 2);
  turn.clock = {
      .control = control,
      .left = control.is_per_move() ? control.per_move : manager.left()};
  turn.may_ponder = true;
}

// Counts the time of a move, which may end the game.
void SpendTime(absl::Duration time, PlayedGame& game) {
  PlayerClock& clock = game.clocks[game.to_move()];
  ++clock.use.moves;
  clock.use.time += time;
  clock.manager.Spend(time);
  if (clock.manager.overstepped()) game.forfeited_by = game.to_move();
}

// Plays one action in each game in which the player of this place is to move.
absl::Status PlayOneAction(const GameLoopOptions& options, Player& player,
                           int place, const Games& games) {
  std::vector<PlayedGame*> movers;
  for (const auto& game : games) {
    if (!game->over() && game->to_move() == place) movers.push_back(game.get());
  }
  if (movers.empty()) return absl::OkStatus();
  std::vector<Turn> turns;
  std::vector<SearchReport> reports(movers.size());
  std::vector<std::string> faults(movers.size());
  for (size_t i = 0; i < movers.size(); ++i) {
    turns.push_back({.state = movers[i]->state,
                     .random = &movers[i]->random,
                     .match = movers[i]->match,
                     .game = movers[i]->number,
                     .actions = movers[i]->actions,
                     .seating = movers[i]->seatings[place],
                     .report = &reports[i],
                     .forfeit = &faults[i],
                     .stop = options.stop ? &options.stop : nullptr});
    if (options.clocks.has_value()) {
      SetTimes(*options.clocks, *movers[i], turns.back());
    }
  }
  std::vector<Action> actions(movers.size());
  const absl::Time start =
      options.clocks.has_value() ? options.clocks->now() : absl::InfinitePast();
  TARA_RETURN_IF_ERROR(player.ChooseActions(turns, absl::MakeSpan(actions)));
  if (options.clocks.has_value()) {
    TARA_CHECK(movers.size() == 1,
               "games with clocks are played one at a time");
    SpendTime(options.clocks->now() - start, *movers[0]);
  }
  for (size_t i = 0; i < movers.size(); ++i) {
    PlayedGame& game = *movers[i];
    if (!faults[i].empty()) {
      game.forfeited_by = place;
      game.fault = faults[i];
    }
    if (game.forfeited_by.has_value()) continue;
    game.Play(game.Choose(reports[i], actions[i]), reports[i]);
  }
  return absl::OkStatus();
}

void EndGame(const PlayedGame& game, absl::Span<Player* const> players) {
  for (Player* const player : players) player->EndGame(game.number);
}

// Like PlayGames. Leaves the games in progress in `games`.
absl::Status PlayUntilOver(const GameLoopOptions& options,
                           absl::Span<Player* const> players,
                           const GameSource& next_game,
                           const std::function<bool()>& go_on, Games& games) {
  const size_t most =
      options.clocks.has_value() ? 1 : static_cast<size_t>(options.games);
  const auto begin = [&](std::unique_ptr<PlayedGame>& game) -> absl::Status {
    if (game == nullptr) {
      TARA_ASSIGN_OR_RETURN(game, next_game());
    }
    if (game == nullptr || !options.clocks.has_value()) return absl::OkStatus();
    const PlayerClock clock = {.manager =
                                   mcts::TimeManager(options.clocks->control,
                                                     options.clocks->options)};
    game->clocks.assign(players.size(), clock);
    return absl::OkStatus();
  };
  while (games.size() < most) {
    TARA_RETURN_IF_ERROR(begin(games.emplace_back()));
    if (games.back() != nullptr) continue;
    games.pop_back();
    break;
  }
  while (!games.empty() && !IsStopped(options)) {
    for (size_t place = 0; place < players.size(); ++place) {
      TARA_RETURN_IF_ERROR(PlayOneAction(options, *players[place],
                                         static_cast<int>(place), games));
    }
    for (std::unique_ptr<PlayedGame>& game : games) {
      if (!game->over()) continue;
      EndGame(*game, players);
      TARA_ASSIGN_OR_RETURN(game, game->Finish());
      TARA_RETURN_IF_ERROR(begin(game));
    }
    std::erase(games, nullptr);
    if (!go_on()) break;
  }
  return absl::OkStatus();
}

}  // namespace

PlayedGame::PlayedGame(uint64_t number, const State& start, uint64_t seed)
    : number(number),
      state(start),
      random(seed),
      record(record::NewGameRecord(start, {.seed = seed})) {}

void PlayedGame::Play(Action action, const SearchReport& report) {
  proto::Step& step = record::AddStep(action, record);
  if (report.value.has_value()) {
    step.set_root_value(std::clamp(*report.value, -1.0f, 1.0f));
  }
  if (report.proved_margin.has_value()) {
    record::SetProved(*report.proved_margin, *report.proved_margin, state,
                      step);
  }
  const absl::Status legal = PlayAction(action, state);
  TARA_CHECK(legal.ok(), "a player chose an illegal action");
  actions.push_back(action);
}

absl::Status PlayGames(const GameLoopOptions& options,
                       absl::Span<Player* const> players,
                       const GameSource& next_game,
                       const std::function<bool()>& go_on) {
  Games games;
  absl::Status status =
      PlayUntilOver(options, players, next_game, go_on, games);
  // Choices interrupted on request are not an error.
  if (absl::IsCancelled(status) && IsStopped(options))
    status = absl::OkStatus();
  TARA_RETURN_IF_ERROR(status);
  for (const auto& game : games) {
    if (game != nullptr) EndGame(*game, players);
  }
  return absl::OkStatus();
}

absl::Status PlayGamesOnThreads(const GameLoopOptions& options,
                                absl::Span<const PlayerFactory> factories,
                                int threads, const GameSource& next_game,
                                const std::function<bool()>& go_on) {
  // Threads share no player.
  std::vector<std::vector<std::unique_ptr<Player>>> players(threads);
  std::vector<absl::Status> errors(threads);
  RunOnThreads(threads, [&](int thread) {
    for (const PlayerFactory& make : factories) {
      absl::StatusOr<std::unique_ptr<Player>> player = make();
      errors[thread].Update(player.status());
      if (!player.ok()) return;
      players[thread].push_back(*std::move(player));
    }
  });
  for (const absl::Status& error : errors) TARA_RETURN_IF_ERROR(error);
  std::atomic<bool> stopped = false;
  absl::Mutex mutex;
  absl::Status first_error;
  GameLoopOptions of_thread = options;
  of_thread.stop = [&] { return stopped || IsStopped(options); };
  RunOnThreads(threads, [&](int thread) {
    std::vector<Player*> own;
    for (const auto& player : players[thread]) own.push_back(player.get());
    // Here, so that the other threads end, too.
    const absl::Status status = CatchExhaustion([&] {
      return PlayGames(of_thread, own, next_game, [&] {
        if (!go_on()) stopped = true;
        return !stopped;
      });
    });
    if (status.ok()) return;
    stopped = true;
    absl::MutexLock lock(&mutex);
    first_error.Update(status);
  });
  return first_error;
}

}  // namespace tara::eval
