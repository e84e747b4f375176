#include "tara/train/play/self_play.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/state_hash.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/mcts/tree/tree.h"
#include "tara/record/game_record.h"

namespace tara::train {
namespace {

// --- One game ----------------------------------------------------------------

State StartOf(const SelfPlayOptions& options, uint64_t game_index,
              Random& random) {
  const size_t i = options.start_of
                       ? static_cast<size_t>(options.start_of(game_index))
                       : game_index % options.starts.size();
  if (options.drawn.empty()) return options.starts[i];
  return DrawStart(options.starts[i], options.drawn[i], random);
}

mcts::SearchOptions FullSearch(const SelfPlayOptions& options,
                               const State& start, mcts::LeafSolver* solver) {
  mcts::SearchOptions search = options.search;
  mcts::SetForVariant(start.variant, solver, search);
  return search;
}

std::optional<ResignationWatch> WatchOf(const SelfPlayOptions& options,
                                        uint64_t game_index) {
  if (!options.resignation.threshold.has_value()) return std::nullopt;
  return ResignationWatch(
      options.resignation,
      DeriveSeed(options.run_seed, game_index, StreamPurpose::kResignation));
}

// Returns the Kullback-Leibler divergence of the target from the priors, in
// nats: sum of t * log(t / p). `target` is in any unit, parallel to `actions`.
float PolicySurprise(const std::vector<mcts::RootAction>& actions,
                     absl::Span<const float> target) {
  double total = 0;
  double priors = 0;
  for (size_t i = 0; i < actions.size(); ++i) {
    total += target[i];
    priors += actions[i].prior;
  }
  if (total <= 0) return 0;
  double surprise = 0;
  for (size_t i = 0; i < actions.size(); ++i) {
    if (target[i] == 0) continue;
    const double share = target[i] / total;
    surprise += share * std::log(share * priors / actions[i].prior);
  }
  // Rounding may leave a little less than nothing.
  return static_cast<float>(std::max(0.0, surprise));
}

// A game of self-play: its tree, its stream and its record so far. Hands itself
// to the sink when it is over.
class SelfPlayGame : public mcts::SearchedGame {
 public:
  // `solver` may be null. The references must outlive the game.
  SelfPlayGame(const SelfPlayOptions& options, uint64_t game_index,
               mcts::LeafSolver* solver, const GameSink& sink,
               SelfPlayStats& stats)
      : options_(options),
        sink_(sink),
        stats_(stats),
        watch_(WatchOf(options, game_index)),
        seed_(
            DeriveSeed(options.run_seed, game_index, StreamPurpose::kSelfPlay)),
        random_(seed_),
        start_(StartOf(options, game_index, random_)),
        search_(FullSearch(options, start_, solver)),
        opening_(DrawOpening(options.opening, start_, random_)),
        turn_(DrawTurn()),
        tree_(OptionsOf(turn_), opening_.state, random_()),
        record_(record::NewGameRecord(start_, {.seed = seed_,
                                               .model_id = options.model_id,
                                               .generation = options.generation,
                                               .game_index = game_index})) {
    for (const Action action : opening_.actions) {
      record::AddStep(action, record_);
    }
    record_.set_opening_plies(static_cast<uint32_t>(opening_.actions.size()));
  }

  mcts::Tree& tree() override { return tree_; }
  absl::StatusOr<bool> Play() override {
    const State& root = tree_.root();
    if (watch_.has_value() &&
        watch_->Observe(root.side(), tree_.root_value())) {
      record::SetResigned(root, record_);
      stats_.resigned += 1;
      TARA_RETURN_IF_ERROR(End(Opponent(root.side())));
      return false;
    }
    const std::vector<mcts::RootAction> actions = tree_.root_actions();
    const Action action = Choose(actions);
    Record(action, actions);
    stats_.plies += 1;
    stats_.full_searches += turn_.full ? 1 : 0;
    turn_ = DrawTurn();
    tree_.SetRootOptions(OptionsOf(turn_));
    tree_.Advance(action);
    if (!tree_.finished()) return true;
    record::SetResult(tree_.root(), record_);
    TARA_RETURN_IF_ERROR(End(Score(tree_.root()).winner()));
    return false;
  }

 private:
  // The options of a turn's search.
  mcts::SearchOptions OptionsOf(const mcts::TurnSearch& turn) const {
    mcts::SearchOptions search = search_;
    search.simulations = turn.simulations;
    if (!turn.full) {
      search.dirichlet_fraction = 0;
      search.forced_playouts = 0;
      search.gumbel_noise = 0;
    }
    return search;
  }

  mcts::TurnSearch DrawTurn() {
    return mcts::DrawTurnSearch({.full_share = options_.full_search_share,
                                 .full_simulations = search_.simulations,
                                 .fast_simulations = options_.fast_simulations},
                                random_);
  }

  // How actions are compared by what is proved of them.
  mcts::ChoiceOptions Choice(float temperature) const {
    const Side side = tree_.root().side();
    return {.temperature = temperature, .utility = [this, side](int margin) {
              return tree_.data().utility.OfMargin(margin, side);
            }};
  }

  Action Choose(const std::vector<mcts::RootAction>& actions) {
    const float temperature = record_.steps_size() < options_.temperature_plies
                                  ? options_.temperature
                                  : 0;
    if (!search_.gumbel) {
      return mcts::ChooseAction(actions, Choice(temperature), random_);
    }
    if (tree_.settled()) return mcts::ChooseAction(actions, Choice(0), random_);
    if (turn_.full || temperature == 0) return tree_.gumbel_action();
    // The shares of the improved policy take the place of visits.
    constexpr float kVisits = 1 << 20;
    const std::vector<float> shares = tree_.improved_policy();
    std::vector<mcts::RootAction> drawn = actions;
    for (size_t i = 0; i < drawn.size(); ++i) {
      drawn[i].visits = static_cast<int>(std::lround(kVisits * shares[i]));
    }
    return mcts::ChooseAction(drawn, Choice(temperature), random_);
  }

  // Returns the policy target as shares of the actions; empty: the visits.
  std::vector<float> TargetShares(
      const std::vector<mcts::RootAction>& actions) const {
    std::vector<float> shares;
    const int visits = tree_.root_visits();
    if (search_.gumbel && !tree_.settled()) {
      shares = tree_.improved_policy();
    } else if (!search_.gumbel && search_.forced_playouts > 0 && visits > 0) {
      shares = mcts::PolicyTarget(actions,
                                  {.forced_playouts = search_.forced_playouts,
                                   .puct = tree_.root_puct()},
                                  tree_.root_search_priors());
    }
    if (!search_.proof) return shares;
    const std::vector<bool> left = mcts::LeftByProof(actions, Choice(0));
    if (std::find(left.begin(), left.end(), false) == left.end()) return shares;
    if (shares.empty()) {
      for (const mcts::RootAction& action : actions) {
        shares.push_back(static_cast<float>(action.visits));
      }
    }
    float total = 0;
    for (size_t i = 0; i < shares.size(); ++i) total += left[i] ? shares[i] : 0;
    // Proved actions may lack visits: then all that are left are as good.
    for (size_t i = 0; i < shares.size(); ++i) {
      shares[i] = left[i] ? (total > 0 ? shares[i] : 1) : 0;
    }
    return shares;
  }

  // Adds an action and the search's results to the record.
  void Record(Action action, const std::vector<mcts::RootAction>& actions) {
    proto::Step& step = record::AddStep(action, record_);
    step.set_root_value(std::clamp(tree_.root_value(), -1.0f, 1.0f));
    step.set_simulations(static_cast<uint32_t>(tree_.root_visits()));
    if (search_.proof) {
      const mcts::MarginBounds proved = tree_.root_bounds();
      record::SetProved(proved.low, proved.high, tree_.root(), step);
    }
    if (turn_.full) RecordPolicy(actions, step);
  }

  // Adds the policy target to a step. `actions` were searched.
  void RecordPolicy(const std::vector<mcts::RootAction>& actions,
                    proto::Step& step) {
    std::vector<float> visits;
    for (const mcts::RootAction& candidate : actions) {
      visits.push_back(static_cast<float>(candidate.visits));
      if (candidate.visits == 0) continue;
      step.add_visited_action(static_cast<uint32_t>(Index(candidate.action)));
      step.add_visits(static_cast<uint32_t>(candidate.visits));
    }
    const std::vector<float> shares = TargetShares(actions);
    if (!shares.empty()) {
      std::vector<Action> targets;
      for (const mcts::RootAction& candidate : actions) {
        targets.push_back(candidate.action);
      }
      record::SetPolicyTarget(targets, shares, step);
    }
    step.set_policy_surprise(
        PolicySurprise(actions, shares.empty() ? visits : shares));
  }

  // Hands the game to the sink and counts it. `winner` is a side, or -1.
  absl::Status End(int winner) {
    TARA_RETURN_IF_ERROR(sink_(record_));
    if (watch_.has_value() && watch_->played_on()) {
      stats_.played_on += 1;
      if (const std::optional<Side> loser = watch_->loser()) {
        stats_.resignable += 1;
        stats_.resignable_not_lost += winner != Opponent(*loser);
      }
    }
    stats_.caught_up += tree_.counts().catch_ups;
    stats_.solved += tree_.counts().solved;
    stats_.games += 1;
    return absl::OkStatus();
  }

  const SelfPlayOptions& options_;
  const GameSink& sink_;
  SelfPlayStats& stats_;
  std::optional<ResignationWatch> watch_;  // where sides may resign
  const uint64_t seed_;
  Random random_;  // before what is drawn from it
  const State start_;
  mcts::SearchOptions search_;  // of full searches
  const Opening opening_;
  mcts::TurnSearch turn_;
  mcts::Tree tree_;
  proto::GameRecord record_;
};

// --- Many games --------------------------------------------------------------

// Measures the time that another solver takes.
class TimedSolver : public mcts::LeafSolver {
 public:
  TimedSolver(mcts::LeafSolver* solver, SelfPlayTimes* times)
      : solver_(solver), times_(times) {}

  std::optional<int> SolveRedMargin(const State& state) override {
    const absl::Time begin = times_->clock();
    const std::optional<int> margin = solver_->SolveRedMargin(state);
    times_->solve += absl::ToInt64Nanoseconds(times_->clock() - begin);
    return margin;
  }

 private:
  mcts::LeafSolver* const solver_;
  SelfPlayTimes* const times_;
};

// Plays games until `next_game` has no more: one thread's work.
absl::Status PlayAsWorker(
    const SelfPlayOptions& options, int in_step, mcts::Evaluator& evaluator,
    const GameSink& sink,
    const std::function<std::optional<uint64_t>()>& next_game,
    const StopCheck& stop, SelfPlayStats& stats) {
  std::optional<mcts::EndgameSolver> solver;
  std::optional<TimedSolver> timed_solver;
  mcts::LeafSolver* leaf_solver = nullptr;
  if (options.search.proof && options.search.solver_vacant_hills > 0) {
    leaf_solver = &solver.emplace();
    if (options.times != nullptr) {
      leaf_solver = &timed_solver.emplace(leaf_solver, options.times);
    }
  }
  const mcts::ManyGamesOptions many = {
      .games = in_step,
      .leaves_per_game = options.leaves_per_game,
      .groups = options.evaluation_groups,
      .times = options.times};
  return mcts::PlayManyGames(
      many,
      [&]() -> std::unique_ptr<mcts::SearchedGame> {
        const std::optional<uint64_t> game_index = next_game();
        if (!game_index.has_value()) return nullptr;
        return std::make_unique<SelfPlayGame>(options, *game_index, leaf_solver,
                                              sink, stats);
      },
      evaluator, stop, stats);
}

}  // namespace

ResignationWatch::ResignationWatch(const ResignationOptions& options,
                                   uint64_t seed)
    : options_(options),
      played_on_(Random(seed).Uniform() < options.played_on_share) {
  TARA_CHECK(options.turns >= 1, "turns must be >= 1");
}

bool ResignationWatch::Observe(Side side, float root_value) {
  int& bad_turns = bad_turns_[side];
  bad_turns = root_value <= *options_.threshold ? bad_turns + 1 : 0;
  if (bad_turns < options_.turns) return false;
  if (!loser_.has_value()) loser_ = side;
  return !played_on_;
}

absl::Status PlayGames(const SelfPlayOptions& options,
                       absl::Span<const uint64_t> game_indices,
                       mcts::Evaluator& evaluator, const GameSink& sink,
                       const StopCheck& stop, SelfPlayStats& stats) {
  TARA_CHECK(!options.starts.empty(), "self-play without a start position");
  TARA_CHECK(
      options.drawn.empty() || options.drawn.size() == options.starts.size(),
      "drawn options of each start");
  if (game_indices.empty()) return absl::OkStatus();
  // Games of a variant are about equally long: rather than a last wave of a few
  // games with small batches, all waves are made equally large.
  const int threads = std::max(options.threads, 1);
  const int games = static_cast<int>(game_indices.size());
  const int most = std::max(options.games_per_thread, 1) * threads;
  const int waves = (games + most - 1) / most;
  const int in_step = (games + waves * threads - 1) / (waves * threads);
  const int in_group =
      (in_step + options.evaluation_groups - 1) / options.evaluation_groups;
  stats.batch_room = in_group * options.leaves_per_game;

  std::atomic<size_t> begun = 0;
  const auto next_game = [&]() -> std::optional<uint64_t> {
    const size_t next = begun++;
    if (next < game_indices.size()) return game_indices[next];
    if (next == game_indices.size() && options.on_all_started) {
      options.on_all_started();
    }
    return std::nullopt;
  };
  std::atomic<bool> failed = false;  // stops the other threads
  const StopCheck stop_all = [&] { return failed || stop(); };
  absl::Mutex mutex;
  absl::Status first_error;
  RunOnThreads(threads, [&](int) {
    SelfPlayTimes* const times = options.times;
    const absl::Time begin = times == nullptr ? absl::Time() : times->clock();
    // Caught here, so that the other threads end, too.
    const absl::Status status = CatchExhaustion([&] {
      return PlayAsWorker(options, in_step, evaluator, sink, next_game,
                          stop_all, stats);
    });
    if (!status.ok()) failed = true;
    const absl::MutexLock lock(&mutex);
    first_error.Update(status);
    if (times == nullptr) return;
    const int64_t time = absl::ToInt64Nanoseconds(times->clock() - begin);
    times->workers += time;
    times->longest_worker = std::max<int64_t>(times->longest_worker, time);
  });
  return first_error;
}

absl::Status CheckPlayedBy(const SelfPlayOptions& options,
                           const proto::GameRecord& game) {
  const uint64_t seed =
      DeriveSeed(options.run_seed, game.game_index(), StreamPurpose::kSelfPlay);
  Random random(seed);
  const State start = StartOf(options, game.game_index(), random);
  const Opening opening = DrawOpening(options.opening, start, random);
  const auto plies = static_cast<int>(opening.actions.size());
  struct Field {
    std::string name, value, expected;
  };
  std::vector<Field> fields = {
      {"seed", absl::StrCat(game.seed()), absl::StrCat(seed)},
      {"model_id", game.model_id(), options.model_id},
      {"generation", absl::StrCat(game.generation()),
       absl::StrCat(options.generation)},
      {"variant", game.variant(), std::string(Info(start.variant).id)},
      {"rule_options", game.rule_options(), FormatRuleOptions(start.options)},
      {"opening_plies", absl::StrCat(game.opening_plies()),
       absl::StrCat(plies)}};
  if (game.steps_size() < plies) {
    fields.push_back({"steps", absl::StrCat(game.steps_size()),
                      absl::StrCat(plies, " or more")});
  }
  for (int ply = 0; ply < std::min(plies, game.steps_size()); ++ply) {
    fields.push_back({absl::StrCat("action of ply ", ply),
                      absl::StrCat(game.steps(ply).action()),
                      absl::StrCat(Index(opening.actions[ply]))});
  }
  for (const Field& field : fields) {
    if (field.value == field.expected) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        field.name, ": ", field.value, "; expected ", field.expected));
  }
  return absl::OkStatus();
}

absl::Status DistinctPositions::Add(const proto::GameRecord& game) {
  TARA_ASSIGN_OR_RETURN(const record::ReplayedGame replayed,
                        record::Replay(game));
  std::vector<uint64_t> hashes;
  for (int ply = 0; ply < game.steps_size(); ++ply) {
    if (!record::IsChosenBySearch(game, ply)) continue;
    const State& state = replayed.states[ply];
    hashes.push_back(
        mcts::HashState(TransformState(RepresentativeSymmetry(state), state)));
  }
  const absl::MutexLock lock(&mutex_);
  hashes_.insert(hashes.begin(), hashes.end());
  positions_ += static_cast<int64_t>(hashes.size());
  return absl::OkStatus();
}

double DistinctPositions::share() const {
  const absl::MutexLock lock(&mutex_);
  return static_cast<double>(hashes_.size()) /
         static_cast<double>(std::max<int64_t>(positions_, 1));
}

}  // namespace tara::train
