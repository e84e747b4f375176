#include "tara/eval/alpha_beta/alpha_beta.h"

#include <algorithm>
#include <utility>

#include "tara/base/check.h"
#include "tara/core/rules.h"
#include "tara/mcts/state_hash.h"

namespace tara::eval {
namespace {

constexpr int kInfinity = 1 << 20;
// Reading the clock costs as much as searching a few positions.
constexpr int64_t kNodesPerClockReading = 256;

// Late-move reductions: from this action and this depth on, one less deep.
constexpr int kFullDepthActions = 3;
constexpr int kReducibleDepth = 3;

// Orders: the table's action (at the root: the best of the iteration before),
// killers, then by history.
constexpr int32_t kTableOrder = 1 << 30;
constexpr int32_t kKillerOrder = 1 << 28;
constexpr int32_t kMaxHistory = 1 << 24;

static_assert(kMaxHandEvaluation < kWonGame);

struct Candidate {
  Action action;
  int32_t order;
};

// Actions of one position, best first as far as they have been picked.
class Candidates {
 public:
  // No position has more than 45 hills, 76 links, or 48 moves of kings and a
  // pass.
  static constexpr int kMax = 80;

  Candidates() {}  // only the used part of the array is initialized

  void Add(Action action, int32_t order) { list_[size_++] = {action, order}; }
  int size() const { return size_; }

  // Returns the i-th action by falling order, the first of equals first.
  // REQUIRES: those before have been picked.
  Action Pick(int i) {
    int best = i;
    for (int j = i + 1; j < size_; ++j) {
      if (list_[j].order > list_[best].order) best = j;
    }
    const Candidate picked = list_[best];
    // Not a swap: the rest keeps its order, so that equals stay in theirs.
    for (int j = best; j > i; --j) list_[j] = list_[j - 1];
    list_[i] = picked;
    return picked.action;
  }

 private:
  int size_ = 0;
  std::array<Candidate, kMax> list_;
};

}  // namespace

AlphaBeta::AlphaBeta(AlphaBetaOptions options) : options_(std::move(options)) {
  if (options_.table_bytes > 0) {
    table_.resize(std::max<size_t>(
        1, static_cast<size_t>(options_.table_bytes) / sizeof(Entry)));
  }
}

AlphaBetaResult AlphaBeta::Search(const State& state,
                                  const AlphaBetaLimits& limits) {
  TARA_CHECK(!state.finished(), "the state must not be finished");
  TARA_CHECK(limits.depth >= 1 && limits.depth <= kMaxAlphaBetaDepth,
             "the depth is out of range");
  limits_ = limits;
  deadline_ = limits.time == absl::InfiniteDuration()
                  ? absl::InfiniteFuture()
                  : options_.clock() + limits.time;
  ++search_;
  nodes_ = 0;
  stopped_ = false;
  for (auto& killers : killers_) killers.fill(kNoAction);
  for (auto& history : history_) history.fill(0);

  AlphaBetaResult result = {.action = kNoAction};
  for (int depth = 1; depth <= limits.depth; ++depth) {
    may_stop_ = depth > 1;
    SearchRoot(state, depth, result);
    if (stopped_ || result.solved) break;
  }
  result.nodes = nodes_;
  return result;
}

void AlphaBeta::SearchRoot(const State& state, int depth,
                           AlphaBetaResult& result) {
  const int64_t evaluations_before = evaluations_;
  Candidates candidates;
  LegalActions(state).ForEach([&](Action action) {
    candidates.Add(action, OrderOf(action, state.side(), 0, result.action));
  });
  Node node = {
      .depth = depth, .alpha = -kInfinity, .beta = kInfinity, .ply = 0};
  for (int i = 0; i < candidates.size(); ++i) {
    const Action action = candidates.Pick(i);
    const int score = SearchAction(state, action, i, node);
    // What a stopped search has found so far counts: the best action of the
    // iteration before was tried first.
    if (stopped_) break;
    if (score <= node.alpha) continue;
    node.alpha = score;
    result.action = action;
    result.score = score;
  }
  if (stopped_) return;
  result.depth = depth;
  result.solved = evaluations_ == evaluations_before;
}

int AlphaBeta::ScoreFinished(const State& state, Side side) const {
  const int red = RedScoreOfMargin(Score(state).margin(),
                                   state.options.compensation_halves);
  return side == kRed ? red : -red;
}

int AlphaBeta::Evaluate(const State& state) {
  ++evaluations_;
  const int red = HandEvaluation(state);
  return state.side() == kRed ? red : -red;
}

void AlphaBeta::CountNode() {
  ++nodes_;
  if (!may_stop_) return;
  if (limits_.nodes > 0 && nodes_ >= limits_.nodes) stopped_ = true;
  if (nodes_ % kNodesPerClockReading != 0) return;
  if (deadline_ != absl::InfiniteFuture() && options_.clock() >= deadline_) {
    stopped_ = true;
  }
  if (limits_.stop != nullptr && (*limits_.stop)()) stopped_ = true;
}

int AlphaBeta::SearchChild(const State& parent, const State& child,
                           const Node& node) {
  CountNode();
  if (stopped_) return 0;
  if (child.finished()) return ScoreFinished(child, parent.side());
  if (child.side() == parent.side()) return SearchNode(child, node);
  return -SearchNode(child, {.depth = node.depth,
                             .alpha = -node.beta,
                             .beta = -node.alpha,
                             .ply = node.ply});
}

int AlphaBeta::SearchNode(const State& state, Node node) {
  const bool at_horizon = node.depth <= 0;
  if (at_horizon && !options_.extensions) return Evaluate(state);
  if (node.ply >= kMaxPly - 1) return Evaluate(state);
  Action table_action = kNoAction;
  if (!at_horizon) {
    if (const Entry* entry = Find(state); entry != nullptr) {
      if (Answers(*entry, node)) {
        if (entry->depth != kSolvedDepth) ++evaluations_;
        return entry->score;
      }
      table_action = entry->action;
    }
  }
  const LegalSet legal = LegalActions(state);
  const bool forced = options_.extensions && legal.Count() == 1;
  if (at_horizon && !forced) return Evaluate(state);
  if (forced) ++node.depth;
  return SearchActions(state, legal, node, table_action);
}

bool AlphaBeta::Answers(const Entry& entry, const Node& node) {
  return entry.depth >= node.depth &&
         (entry.bound == Bound::kExact ||
          (entry.bound == Bound::kLower && entry.score >= node.beta) ||
          (entry.bound == Bound::kUpper && entry.score <= node.alpha));
}

int AlphaBeta::SearchActions(const State& state, const LegalSet& legal,
                             Node node, Action table_action) {
  Candidates candidates;
  legal.ForEach([&](Action action) {
    candidates.Add(action,
                   OrderOf(action, state.side(), node.ply, table_action));
  });
  const int64_t evaluations_before = evaluations_;
  const int original_alpha = node.alpha;
  int best_score = -kInfinity;
  Action best = kNoAction;
  for (int i = 0; i < candidates.size(); ++i) {
    const Action action = candidates.Pick(i);
    const int score = SearchAction(state, action, i, node);
    if (stopped_) return 0;
    if (score > best_score) {
      best_score = score;
      best = action;
    }
    node.alpha = std::max(node.alpha, score);
    if (node.alpha >= node.beta) {
      RememberCutoff(state, action, node);
      break;
    }
  }
  Store(state, node, best_score, best, evaluations_ == evaluations_before,
        original_alpha);
  return best_score;
}

int32_t AlphaBeta::OrderOf(Action action, Side side, int ply,
                           Action table_action) const {
  if (action == table_action) return kTableOrder;
  if (action == killers_[ply][0]) return kKillerOrder + 1;
  if (action == killers_[ply][1]) return kKillerOrder;
  return history_[side][Index(action)];
}

int AlphaBeta::SearchAction(const State& state, Action action, int index,
                            const Node& node) {
  State child = state;
  ApplyAction(action, child);
  Node next = {.depth = node.depth - 1,
               .alpha = node.alpha,
               .beta = node.beta,
               .ply = node.ply + 1};
  if (index == 0) return SearchChild(state, child, next);
  // All actions but the first are expected to be no better: a window of one
  // point proves it.
  next.beta = node.alpha + 1;
  if (options_.reductions && index >= kFullDepthActions &&
      node.depth >= kReducibleDepth) {
    --next.depth;
    const int score = SearchChild(state, child, next);
    if (stopped_ || score <= node.alpha) return score;
    ++next.depth;
  }
  const int score = SearchChild(state, child, next);
  if (stopped_ || score <= node.alpha || score >= node.beta) return score;
  next.beta = node.beta;
  return SearchChild(state, child, next);
}

void AlphaBeta::RememberCutoff(const State& state, Action action,
                               const Node& node) {
  auto& killers = killers_[node.ply];
  if (killers[0] != action) {
    killers[1] = killers[0];
    killers[0] = action;
  }
  auto& history = history_[state.side()];
  int32_t& value = history[Index(action)];
  value += node.depth * node.depth;
  if (value > kMaxHistory) {
    for (int32_t& other : history) other /= 2;
  }
}

AlphaBeta::Entry* AlphaBeta::Slot(const State& state) {
  // The hash scaled to the table's size: any size will do.
  const auto product =
      static_cast<unsigned __int128>(mcts::HashState(state)) * table_.size();
  return &table_[static_cast<size_t>(product >> 64)];
}

const AlphaBeta::Entry* AlphaBeta::Find(const State& state) {
  if (table_.empty()) return nullptr;
  const Entry* entry = Slot(state);
  return entry->search == search_ && entry->state == state ? entry : nullptr;
}

void AlphaBeta::Store(const State& state, const Node& node, int score,
                      Action action, bool solved, int original_alpha) {
  if (table_.empty()) return;
  Entry* entry = Slot(state);
  const int depth = solved ? kSolvedDepth : node.depth;
  Bound bound = Bound::kExact;
  if (score <= original_alpha) bound = Bound::kUpper;
  if (score >= node.beta) bound = Bound::kLower;
  *entry = {.state = state,
            .score = score,
            .action = action,
            .depth = static_cast<int8_t>(depth),
            .bound = bound,
            .search = search_};
}

}  // namespace tara::eval
