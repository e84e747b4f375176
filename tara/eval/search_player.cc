#include "tara/eval/search_player.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/core/legal_set.h"
#include "tara/core/rules.h"
#include "tara/mcts/caching_evaluator.h"
#include "tara/mcts/choose_action.h"
#include "tara/mcts/endgame_solver.h"
#include "tara/mcts/many_games.h"
#include "tara/mcts/stop_rule.h"
#include "tara/mcts/tree.h"
#include "tara/mcts/utility.h"

namespace tara {
namespace {

// Simulations of a search that time ends: as many as a tree can count.
constexpr int kEndlessSimulations = (1 << 24) - 2;
// Positions searched at a time then: few, for each may take much memory.
constexpr size_t kTimedTrees = 16;

// What is kept of a game between its turns.
struct Thought {
  Tree tree;
  size_t plies;  // actions of the game that led to the tree's root
};

// The search of one position, to its limits.
class OneSearch : public SearchedGame {
 public:
  OneSearch(Tree* tree, absl::Duration time, absl::Time start)
      : tree_(tree), time_(time), start_(start) {}

  Tree& tree() override { return *tree_; }
  absl::StatusOr<bool> Play() override { return false; }

  bool searched() override {
    if (tree_->done()) return true;
    if (time_ == absl::ZeroDuration() || tree_->root_visits() == 0) {
      return false;
    }
    if (absl::Now() - start_ >= time_) return true;
    // The visits are looked at now and then: that takes a while itself.
    if (++asked_ % 256 != 0) return false;
    SearchProgress progress;
    progress.simulations = progress.new_simulations = tree_->root_visits();
    progress.elapsed = absl::Now() - start_;
    CountVisits(tree_->root_actions(), progress);
    return SettledRoot({.simulations = std::nullopt, .time = time_})
        .Stops(progress);
  }

 private:
  Tree* const tree_;
  const absl::Duration time_;
  const absl::Time start_;
  int asked_ = 0;
};

class SearchPlayer : public Player {
 public:
  SearchPlayer(std::unique_ptr<Evaluator> evaluator,
               const SearchPlayerOptions& options)
      : evaluator_(std::move(evaluator)),
        cache_(evaluator_.get(), options.cache_positions),
        options_(options) {
    if (timed()) options_.search.simulations = kEndlessSimulations;
  }

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (size_t first = 0; first < turns.size(); first += MaxTrees()) {
      TARA_RETURN_IF_ERROR(SearchSome(turns.subspan(first, MaxTrees()),
                                      actions.subspan(first, MaxTrees())));
    }
    return absl::OkStatus();
  }

  void EndGame(uint64_t game) override { thoughts_.erase(game); }

 private:
  bool timed() const { return options_.time > absl::ZeroDuration(); }

  // Trees searched at a time: as many as hold some million simulations (about
  // half a gigabyte), but enough for a decent batch.
  size_t MaxTrees() const {
    return timed() ? kTimedTrees
                   : static_cast<size_t>(
                         std::max(8, 1000000 / options_.search.simulations));
  }

  absl::Status SearchSome(absl::Span<const Turn> turns,
                          absl::Span<Action> actions) {
    std::vector<Thought> thoughts;
    std::vector<size_t> searched;  // index into turns, by thought
    for (size_t i = 0; i < turns.size(); ++i) {
      const LegalSet legal = LegalActions(turns[i].state);
      if (legal.Count() == 1) {
        actions[i] = legal.Nth(0);
        continue;
      }
      thoughts.push_back(BeginThought(turns[i]));
      searched.push_back(i);
    }
    TARA_RETURN_IF_ERROR(Search(thoughts));
    for (size_t t = 0; t < thoughts.size(); ++t) {
      const Turn& turn = turns[searched[t]];
      actions[searched[t]] = Choose(thoughts[t].tree, *turn.random);
      if (!options_.reuse || turn.actions.empty()) continue;
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
      if (Follow(turn, thought)) return thought;
    }
    SearchOptions options = options_.search;
    options.utility.match = turn.match;
    options.utility.margin_deviation = MarginDeviation(turn.state.variant);
    options.solver_vacant_hills = std::min(
        options.solver_vacant_hills, SolvableVacantHills(turn.state.variant));
    options.solver = options.solver_vacant_hills > 0 ? &solver_ : nullptr;
    return {.tree = Tree(options, turn.state, (*turn.random)()),
            .plies = turn.actions.size()};
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

  absl::Status Search(std::vector<Thought>& thoughts) {
    if (thoughts.empty()) return absl::OkStatus();
    const absl::Duration time =
        options_.time * static_cast<int64_t>(thoughts.size());
    const absl::Time start = timed() ? absl::Now() : absl::InfinitePast();
    size_t next = 0;
    SearchCounters counters;
    return PlayManyGames(
        {.games = static_cast<int>(thoughts.size()),
         .leaves_per_game = options_.leaves_per_game},
        [&]() -> std::unique_ptr<SearchedGame> {
          if (next == thoughts.size()) return nullptr;
          return std::make_unique<OneSearch>(&thoughts[next++].tree, time,
                                             start);
        },
        cache_, [] { return false; }, counters);
  }

  Action Choose(const Tree& tree, Random& random) const {
    if (options_.search.gumbel && !tree.settled()) return tree.gumbel_action();
    const Utility utility(tree.options().utility);
    const bool is_red = tree.root().side() == kRed;
    return ChooseAction(tree.root_actions(),
                        {.confidence_z = options_.confidence_z,
                         .worth =
                             [&](int margin) {
                               return is_red ? utility.OfRedMargin(margin)
                                             : -utility.OfRedMargin(-margin);
                             }},
                        random);
  }

  const std::unique_ptr<Evaluator> evaluator_;
  CachingEvaluator cache_;
  EndgameSolver solver_;
  SearchPlayerOptions options_;
  absl::flat_hash_map<uint64_t, Thought> thoughts_;  // by game
};

}  // namespace

std::unique_ptr<Player> NewSearchPlayer(std::unique_ptr<Evaluator> evaluator,
                                        const SearchPlayerOptions& options) {
  return std::make_unique<SearchPlayer>(std::move(evaluator), options);
}

}  // namespace tara
