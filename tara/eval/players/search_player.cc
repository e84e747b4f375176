#include "tara/eval/players/search_player.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/search/pondering.h"
#include "tara/mcts/search/search_until.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/time/stop_rule.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/mcts/tree/tree.h"
#include "tara/mcts/utility.h"

namespace tara::eval {
namespace {

// Positions searched at a time then: few, for each may take much memory.
constexpr size_t kTimedTrees = 16;

// What is kept of a game between its turns.
struct Thought {
  mcts::Tree tree;
  size_t plies;  // actions of the game that led to the tree's root
};

// The search of one position among several, to its limits.
class TimedSearch : public mcts::OneSearch {
 public:
  TimedSearch(mcts::Tree* tree, std::optional<absl::Duration> time,
              const std::function<absl::Time()>* now)
      : mcts::OneSearch(tree), time_(time), now_(now), start_((*now)()) {}

  bool searched() override {
    if (tree().done()) return true;
    if (!time_.has_value() || tree().root_visits() == 0) return false;
    const absl::Duration elapsed = (*now_)() - start_;
    if (elapsed >= *time_) return true;
    // The visits are looked at now and then: that takes a while itself.
    if (++asked_ % 256 != 0) return false;
    mcts::SearchProgress progress;
    progress.simulations = progress.new_simulations = tree().root_visits();
    progress.elapsed = elapsed;
    mcts::CountVisits(tree().root_actions(), progress);
    return mcts::SettledRoot({.simulations = std::nullopt, .time = time_})
        .Stops(progress);
  }

 private:
  const std::optional<absl::Duration> time_;
  const std::function<absl::Time()>* const now_;
  const absl::Time start_;
  int asked_ = 0;
};

class SearchPlayer : public Player {
 public:
  SearchPlayer(std::unique_ptr<mcts::Evaluator> evaluator,
               const SearchPlayerOptions& options)
      : evaluator_(std::move(evaluator)),
        cache_(evaluator_.get(), options.cache_positions),
        options_(options) {
    if (timed()) options_.search.simulations = mcts::kEndlessSimulations;
    TARA_CHECK(
        !options.search.gumbel || (options.threads == 1 && !options.ponder),
        "a Gumbel root has one owner and a plan");
    TARA_CHECK(!options.ponder || options.reuse,
               "what pondering found is kept in the tree");
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
      Ponder(turns[0], actions[0]);
    }
    return absl::OkStatus();
  }

  void EndGame(uint64_t game) override {
    // An error of the evaluator will show again if it matters.
    if (pondered_game_ == game) StopPondering().IgnoreError();
    thoughts_.erase(game);
  }

 private:
  bool timed() const { return options_.time > absl::ZeroDuration(); }

  // Trees searched at a time: as many as hold some million simulations (about
  // half a gigabyte), but enough for a decent batch.
  size_t MaxTrees(absl::Span<const Turn> turns) const {
    const bool any_timed = std::any_of(
        turns.begin(), turns.end(),
        [&](const Turn& turn) { return TimeFor(turn).has_value(); });
    return any_timed ? kTimedTrees
                     : static_cast<size_t>(
                           std::max(8, 1000000 / options_.search.simulations));
  }

  // The time for an ordinary choice; none where simulations end the search.
  std::optional<absl::Duration> TimeFor(const Turn& turn) const {
    if (turn.budget.has_value()) return turn.budget->target;
    if (timed()) return options_.time;
    return std::nullopt;
  }

  absl::Status SearchSome(absl::Span<const Turn> turns,
                          absl::Span<Action> actions) {
    std::vector<Thought> thoughts;
    std::vector<size_t> searched;  // index into turns, by thought
    std::vector<std::optional<absl::Duration>> times;  // by thought
    for (size_t i = 0; i < turns.size(); ++i) {
      const LegalSet legal = LegalActions(turns[i].state);
      if (legal.Count() == 1) {
        actions[i] = legal.Nth(0);
        continue;
      }
      thoughts.push_back(BeginThought(turns[i]));
      searched.push_back(i);
      times.push_back(TimeFor(turns[i]));
    }
    if (thoughts.size() == 1 &&
        (times[0].has_value() || options_.threads > 1)) {
      TARA_RETURN_IF_ERROR(SearchOne(thoughts[0].tree, turns[searched[0]]));
    } else {
      TARA_RETURN_IF_ERROR(SearchTogether(thoughts, times));
    }
    for (size_t t = 0; t < thoughts.size(); ++t) {
      const Turn& turn = turns[searched[t]];
      actions[searched[t]] = Choose(thoughts[t].tree, *turn.random);
      if (turn.opinion != nullptr) {
        *turn.opinion = OpinionOf(thoughts[t].tree);
      }
      const bool goes_on =
          !turn.actions.empty() || (options_.ponder && turn.may_ponder);
      if (!options_.reuse || !goes_on) continue;
      thoughts_.insert_or_assign(turn.game, std::move(thoughts[t]));
    }
    return absl::OkStatus();
  }

  // Returns a tree of the turn's position: that of the game's last turn if
  // there is one and the actions since then lead here.
  Thought BeginThought(const Turn& turn) {
    const auto found = thoughts_.find(turn.game);
    if (found != thoughts_.end()) {
      Thought thought = std::move(found->second);
      thoughts_.erase(found);
      if (Follow(turn, thought)) {
        thought.tree.SetSimulations(SimulationsFor(turn));
        return thought;
      }
    }
    mcts::SearchOptions options = options_.search;
    options.simulations = SimulationsFor(turn);
    options.utility.match = turn.match;
    options.utility.margin_deviation =
        mcts::MarginDeviation(turn.state.variant);
    mcts::SolveLeaves(turn.state.variant, &solver_, options);
    return {.tree = mcts::Tree(options, turn.state, (*turn.random)()),
            .plies = turn.actions.size()};
  }

  int SimulationsFor(const Turn& turn) const {
    return turn.budget.has_value() ? mcts::kEndlessSimulations
                                   : options_.search.simulations;
  }

  // Advances a tree by the actions since then. Returns whether that leads to
  // the turn's position.
  static bool Follow(const Turn& turn, Thought& thought) {
    if (turn.actions.size() < thought.plies) return false;
    for (const Action action : turn.actions.subspan(thought.plies)) {
      if (thought.tree.finished() ||
          !LegalActions(thought.tree.root()).Contains(action)) {
        return false;
      }
      thought.tree.Advance(action);
    }
    thought.plies = turn.actions.size();
    return thought.tree.root() == turn.state;
  }

  // Goes on thinking about the position after the action, if it is another's.
  void Ponder(const Turn& turn, Action action) {
    Thought thought = BeginThought(turn);
    thought.tree.Advance(action);
    ++thought.plies;
    if (thought.tree.finished() ||
        thought.tree.root().side() == turn.state.side()) {
      thoughts_.insert_or_assign(turn.game, std::move(thought));
      return;
    }
    pondering_.Start(std::move(thought.tree), cache_,
                     {.threads = options_.threads,
                      .leaves_per_batch = options_.leaves_per_game,
                      .simulations = options_.ponder_simulations});
    pondered_game_ = turn.game;
    pondered_plies_ = thought.plies;
  }

  // Puts the tree that is pondered on back among the others.
  absl::Status StopPondering() {
    if (!pondering_.started()) return absl::OkStatus();
    TARA_ASSIGN_OR_RETURN(mcts::Tree tree, pondering_.Stop());
    thoughts_.insert_or_assign(
        *pondered_game_,
        Thought{.tree = std::move(tree), .plies = pondered_plies_});
    return absl::OkStatus();
  }

  // Searches the only position of a call, by time or with several threads.
  absl::Status SearchOne(mcts::Tree& tree, const Turn& turn) {
    mcts::SearchUntilOptions options = {
        .threads = options_.threads,
        .leaves_per_batch = options_.leaves_per_game,
        .clock = options_.now};
    mcts::AnyOf rules;
    if (turn.budget.has_value()) {
      // The clock runs while a kept tree is advanced, too.
      const absl::Duration spent = options_.now() - start_;
      options.time = std::max(absl::ZeroDuration(), turn.budget->limit - spent);
      rules.Add(
          std::make_unique<mcts::TargetTime>(turn.budget->target - spent));
    } else if (timed()) {
      options.time = options_.time;
      options.clock = options_.time_clock;
    }
    if (options.time < absl::InfiniteDuration()) {
      rules.Add(std::make_unique<mcts::SettledRoot>(mcts::SettledRootOptions{
          .simulations = std::nullopt, .time = options.time}));
    }
    return mcts::SearchUntil(tree, cache_, rules, options,
                             [] { return false; });
  }

  // Searches positions side by side: each to its number of simulations, or
  // those with a time for the sum of the times.
  absl::Status SearchTogether(
      std::vector<Thought>& thoughts,
      absl::Span<const std::optional<absl::Duration>> times) {
    if (thoughts.empty()) return absl::OkStatus();
    absl::Duration all = absl::ZeroDuration();
    for (const auto& time : times) all += time.value_or(absl::ZeroDuration());
    size_t next = 0;
    mcts::SearchCounters counters;
    return PlayManyGames(
        {.games = static_cast<int>(thoughts.size()),
         .leaves_per_game = options_.leaves_per_game},
        [&]() -> std::unique_ptr<mcts::SearchedGame> {
          if (next == thoughts.size()) return nullptr;
          const size_t index = next++;
          return std::make_unique<TimedSearch>(
              &thoughts[index].tree,
              times[index].has_value() ? std::optional(all) : std::nullopt,
              &options_.time_clock);
        },
        cache_, [] { return false; }, counters);
  }

  Action Choose(const mcts::Tree& tree, Random& random) const {
    if (options_.search.gumbel && !tree.settled()) return tree.gumbel_action();
    const mcts::Utility utility(tree.options().utility);
    return mcts::ChooseAction(tree.root_actions(),
                              HowToChoose(utility, tree.root().side()), random);
  }

  // The utility is borrowed.
  mcts::ChoiceOptions HowToChoose(const mcts::Utility& utility,
                                  Side side) const {
    return {.confidence_z = options_.confidence_z,
            .worth = [&utility, side](int margin) {
              return utility.OfMargin(margin, side);
            }};
  }

  // The policy are the visits, of those that the proofs leave.
  Opinion OpinionOf(const mcts::Tree& tree) const {
    const std::vector<mcts::RootAction> actions = tree.root_actions();
    const mcts::Utility utility(tree.options().utility);
    const std::vector<bool> left =
        mcts::LeftByProof(actions, HowToChoose(utility, tree.root().side()));
    Opinion opinion = {.value = tree.root_value()};
    float visits = 0;
    for (size_t i = 0; i < actions.size(); ++i) {
      const float chosen = left[i] ? static_cast<float>(actions[i].visits) : 0;
      visits += chosen;
      opinion.policy.push_back(chosen);
      opinion.action_values.push_back(
          actions[i].visits > 0 ? actions[i].mean_value
                                : std::numeric_limits<float>::quiet_NaN());
    }
    if (visits == 0) opinion.policy.clear();  // proved without a visit
    for (float& share : opinion.policy) share /= visits;
    const mcts::MarginBounds proved = tree.root_bounds();
    if (proved.low == proved.high) opinion.proved_margin = proved.low;
    return opinion;
  }

  const std::unique_ptr<mcts::Evaluator> evaluator_;
  mcts::CachingEvaluator cache_;
  mcts::SharedSolver solver_;
  SearchPlayerOptions options_;
  absl::Time start_;                                 // of the latest call
  absl::flat_hash_map<uint64_t, Thought> thoughts_;  // by game
  // A tree that is pondered on is not among the thoughts.
  std::optional<uint64_t> pondered_game_;  // the latest
  size_t pondered_plies_ = 0;
  mcts::Pondering pondering_;  // destroyed before what it uses
};

}  // namespace

std::unique_ptr<Player> NewSearchPlayer(
    std::unique_ptr<mcts::Evaluator> evaluator,
    const SearchPlayerOptions& options) {
  return std::make_unique<SearchPlayer>(std::move(evaluator), options);
}

}  // namespace tara::eval
