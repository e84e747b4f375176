#include "tara/mcts/search/many_games.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/state.h"
#include "tara/mcts/search/evaluation_thread.h"

namespace tara {
namespace {

// A place for a game, and its leaves in flight. Leaves are reused: their memory
// lives through all games of the slot.
struct Slot {
  std::unique_ptr<SearchedGame> game;  // null: nothing to play
  std::vector<Tree::Leaf> leaves;
  size_t num_leaves = 0;  // in flight: the first so many of `leaves`
};

// Games that gather and evaluate together.
class Group {
 public:
  Group(int games, const ManyGamesOptions& options, const GameSource& next_game,
        SearchCounters& counters)
      : leaves_per_game_(options.leaves_per_game),
        next_game_(next_game),
        counters_(counters),
        timer_(options.times),
        slots_(games) {}

  // Moves every game on until it has leaves to evaluate. An empty batch then
  // means that all is played.
  absl::Status Gather() {
    timer_.Skip();
    states_.clear();
    for (Slot& slot : slots_) {
      TARA_RETURN_IF_ERROR(MoveOn(slot));
      for (size_t i = 0; i < slot.num_leaves; ++i) {
        states_.push_back(slot.leaves[i].state);
      }
    }
    if (evaluations_.size() < states_.size()) {
      evaluations_.resize(states_.size());
    }
    timer_.Add(&SearchTimes::gather);
    return absl::OkStatus();
  }

  absl::Span<const State> states() const { return states_; }
  absl::Span<Evaluation> evaluations() {
    return absl::MakeSpan(evaluations_).first(states_.size());
  }

  // Gives the answers to the trees, in the order in which they were asked.
  void Apply() {
    timer_.Skip();
    Count();
    const Evaluation* next = evaluations_.data();
    for (Slot& slot : slots_) ApplySlot(slot, next);
    timer_.Add(&SearchTimes::apply);
  }

  // Apply and Gather in one: a tree is looked at once while it is near.
  absl::Status ApplyAndGather() {
    timer_.Skip();
    Count();
    next_states_.clear();
    const Evaluation* next = evaluations_.data();
    for (Slot& slot : slots_) {
      ApplySlot(slot, next);
      TARA_RETURN_IF_ERROR(MoveOn(slot));
      for (size_t i = 0; i < slot.num_leaves; ++i) {
        next_states_.push_back(slot.leaves[i].state);
      }
    }
    states_.swap(next_states_);
    if (evaluations_.size() < states_.size()) {
      evaluations_.resize(states_.size());
    }
    timer_.Add(&SearchTimes::gather);
    return absl::OkStatus();
  }

  // Gives all leaves in flight up.
  void Cancel() {
    for (Slot& slot : slots_) {
      for (size_t i = 0; i < slot.num_leaves; ++i) {
        slot.game->tree().Cancel(slot.leaves[i]);
      }
      slot.num_leaves = 0;
    }
  }

 private:
  // Counts the batch.
  void Count() {
    const auto count = static_cast<int64_t>(states_.size());
    counters_.batches += 1;
    counters_.evaluations += count;
    counters_.simulations += count;
  }

  // Gives a slot its answers; `next` moves on to those of the slot after it.
  static void ApplySlot(Slot& slot, const Evaluation*& next) {
    for (size_t i = 0; i < slot.num_leaves; ++i) {
      slot.game->tree().Apply(slot.leaves[i], *next++);
    }
    slot.num_leaves = 0;
  }

  // Goes on with a slot's game, and the games after it, until there are leaves
  // or no game is left to start.
  absl::Status MoveOn(Slot& slot) {
    while (true) {
      if (slot.game == nullptr) {
        timer_.Add(&SearchTimes::gather);
        slot.game = next_game_();
        timer_.Add(&SearchTimes::play);
      }
      if (slot.game == nullptr) return absl::OkStatus();
      if (!slot.game->searched()) GatherLeaves(slot);
      if (slot.num_leaves > 0) return absl::OkStatus();
      if (!slot.game->searched()) continue;
      timer_.Add(&SearchTimes::gather);
      TARA_ASSIGN_OR_RETURN(const bool goes_on, slot.game->Play());
      timer_.Add(&SearchTimes::play);
      if (!goes_on) slot.game = nullptr;
    }
  }

  void GatherLeaves(Slot& slot) {
    Tree& tree = slot.game->tree();
    while (static_cast<int>(slot.num_leaves) < leaves_per_game_ &&
           tree.in_flight() < tree.simulations_left()) {
      if (slot.num_leaves == slot.leaves.size()) slot.leaves.emplace_back();
      switch (tree.Gather(slot.leaves[slot.num_leaves])) {
        case Tree::Gathered::kLeaf:
          ++slot.num_leaves;
          break;
        case Tree::Gathered::kFinished:
          counters_.simulations += 1;
          if (slot.game->searched()) return;
          break;
        case Tree::Gathered::kFull:
          return;
        case Tree::Gathered::kInFlight:
          TARA_CHECK(slot.num_leaves > 0,
                     "a tree with no leaf in flight met one");
          return;
      }
    }
  }

  const int leaves_per_game_;
  const GameSource& next_game_;
  SearchCounters& counters_;
  StageTimer timer_;
  std::vector<Slot> slots_;
  // The batch: the leaves of all slots in order, and the answers, kept for
  // their memory.
  std::vector<State> states_;
  std::vector<State> next_states_;
  std::vector<Evaluation> evaluations_;
};

absl::Status PlayOneGroup(Group& group, Evaluator& evaluator,
                          SearchTimes* times,
                          const std::function<bool()>& stop) {
  StageTimer timer(times);
  if (stop()) return absl::OkStatus();
  TARA_RETURN_IF_ERROR(group.Gather());
  while (!group.states().empty() && !stop()) {
    timer.Skip();
    TARA_RETURN_IF_ERROR(
        evaluator.Evaluate(group.states(), group.evaluations()));
    timer.Add(&SearchTimes::evaluate);
    TARA_RETURN_IF_ERROR(group.ApplyAndGather());
  }
  return absl::OkStatus();
}

// The groups by turns: this one gathers while the other one is evaluated.
absl::Status PlayTwoGroups(absl::Span<Group> groups, Evaluator& evaluator,
                           SearchTimes* times,
                           const std::function<bool()>& stop) {
  StageTimer timer(times);
  EvaluationThread thread(evaluator);
  Group* evaluated = nullptr;
  size_t turn = 0;
  while (!stop()) {
    Group& group = groups[turn];
    turn = 1 - turn;
    TARA_RETURN_IF_ERROR(group.Gather());
    if (evaluated != nullptr) {
      timer.Skip();
      TARA_RETURN_IF_ERROR(thread.Wait());
      timer.Add(&SearchTimes::evaluate);
      std::exchange(evaluated, nullptr)->Apply();
    } else if (group.states().empty() && groups[turn].states().empty()) {
      return absl::OkStatus();
    }
    if (group.states().empty()) continue;
    thread.Start(group.states(), group.evaluations());
    evaluated = &group;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PlayManyGames(const ManyGamesOptions& options,
                           const GameSource& next_game, Evaluator& evaluator,
                           const std::function<bool()>& stop,
                           SearchCounters& counters) {
  TARA_CHECK(options.games >= 1, "a worker has games");
  TARA_CHECK(options.leaves_per_game >= 1, "a batch has leaves");
  TARA_CHECK(options.groups == 1 || options.groups == 2, "one group or two");
  std::vector<Group> groups;
  const int in_group = (options.games + options.groups - 1) / options.groups;
  for (int i = 0; i < options.groups; ++i) {
    groups.emplace_back(in_group, options, next_game, counters);
  }
  const absl::Status status =
      options.groups == 1
          ? PlayOneGroup(groups[0], evaluator, options.times, stop)
          : PlayTwoGroups(absl::MakeSpan(groups), evaluator, options.times,
                          stop);
  for (Group& group : groups) group.Cancel();
  return status;
}

}  // namespace tara
