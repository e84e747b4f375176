#ifndef TARA_EVAL_ALPHA_BETA_ALPHA_BETA_H_
#define TARA_EVAL_ALPHA_BETA_ALPHA_BETA_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara::eval {

// Scores. A won game is worth kWonGame and kPointWorth a point of the margin
// (less the compensation), a drawn one 0; evaluations lie between win and loss.
inline constexpr int kWonGame = 10000;
inline constexpr int kPointWorth = 100;

// Returns the score, for Red, of a game that ended with this margin of Red's
// (as scored), with a compensation for Blue's side in half points.
constexpr int RedScoreOfMargin(int red_margin, int compensation_halves = 0) {
  return (2 * red_margin - compensation_halves) * kPointWorth / 2 +
         ResultOfMargin(red_margin, compensation_halves) * kWonGame;
}

// Where a search ends: at the first of these that it meets. The first
// iteration (depth 1) is always finished.
struct AlphaBetaLimits {
  int depth = 100;    // actions ahead; at most kMaxAlphaBetaDepth
  int64_t nodes = 0;  // positions visited; 0: no limit
  absl::Duration time = absl::InfiniteDuration();
  // Ends the search as the time does; null: never.
  const std::function<bool()>* stop = nullptr;
};
inline constexpr int kMaxAlphaBetaDepth = 100;

struct AlphaBetaResult {
  Action action = kPass;
  int score = 0;        // for the side to move
  int depth = 0;        // of the last iteration that was finished
  int64_t nodes = 0;    // positions visited, the root not counted
  bool solved = false;  // no line rests on an evaluation: the score is exact
};

struct AlphaBetaOptions {
  // Memory of the transposition table, about; at least one entry; 0: no table.
  int64_t table_bytes = int64_t{16} << 20;
  // Whether actions tried late are first searched one less deep.
  bool reductions = true;
  // Whether a forced action counts for no depth. Without all of these a search
  // returns the score of a minimax to the same depth.
  bool extensions = true;
  std::function<absl::Time()> clock = SteadyTime;
};

// Alpha-beta search by iterative deepening: principal variation search with a
// transposition table, killer and history ordering, and late-move reductions.
//
// Scores change sign with the side to move, not with the ply: successive
// actions may belong to one side. Finished games count exactly. With limits of
// depth or nodes the result depends only on the position. One owner, no
// threads.
//
// Source: Knuth and Moore 1975, "An analysis of alpha-beta pruning"; Marsland
// and Campbell 1982, "Parallel search of strongly ordered game trees" (the
// minimal window of principal variation search); Schaeffer 1989, "The history
// heuristic and alpha-beta search enhancements in practice".
class AlphaBeta {
 public:
  explicit AlphaBeta(AlphaBetaOptions options = {});

  // REQUIRES: the state is not finished; a depth from 1 to kMaxAlphaBetaDepth.
  AlphaBetaResult Search(const State& state, const AlphaBetaLimits& limits);

 private:
  enum class Bound : uint8_t { kExact, kLower, kUpper };

  // A position, in full, whose score is known to some depth.
  struct Entry {
    State state;
    int32_t score;  // for the side to move
    Action action;  // best, or kNoAction
    int8_t depth;   // kSolvedDepth if exact at any depth
    Bound bound;
    uint32_t search;  // that wrote it; 0: none
  };

  static constexpr int kMaxPly = kMaxAlphaBetaDepth + 28;  // with extensions
  static constexpr int8_t kSolvedDepth = 127;
  static constexpr Action kNoAction = static_cast<Action>(kNumActions);

  struct Node {
    int depth;  // left to search; evaluated at 0
    int alpha;
    int beta;
    int ply;
  };

  void SearchRoot(const State& state, int depth, AlphaBetaResult& result);
  // Returns the score for the side to move, to within the bounds (it may lie
  // outside them: then it is a bound). Undefined once stopped_.
  int SearchNode(const State& state, Node node);
  static bool Answers(const Entry& entry, const Node& node);
  int SearchActions(const State& state, const LegalSet& legal, Node node,
                    Action table_action);
  // Searches the `index`-th action tried at a node.
  int SearchAction(const State& state, Action action, int index,
                   const Node& node);
  // Searches the position after an action; for the side that acted.
  int SearchChild(const State& parent, const State& child, const Node& node);
  int ScoreFinished(const State& state, Side side) const;
  int Evaluate(const State& state);

  void CountNode();
  int32_t OrderOf(Action action, Side side, int ply, Action table_action) const;
  void RememberCutoff(const State& state, Action action, const Node& node);

  Entry* Slot(const State& state);
  const Entry* Find(const State& state);
  void Store(const State& state, const Node& node, int score, Action action,
             bool solved, int original_alpha);

  const AlphaBetaOptions options_;
  std::vector<Entry> table_;
  uint32_t search_ = 0;

  // Of the search in progress.
  AlphaBetaLimits limits_;
  absl::Time deadline_;
  int64_t nodes_ = 0;
  int64_t evaluations_ = 0;  // scores that rest on an evaluation
  bool may_stop_ = false;
  bool stopped_ = false;
  std::array<std::array<Action, 2>, kMaxPly> killers_;
  std::array<std::array<int32_t, kNumActions>, 2> history_;  // by side
};

// A hand-made evaluation of positions: weighted counts on bitboards.
//
// Each feature is a count for one side (hand_evaluation.cc); the weights apply
// to Red's count minus Blue's, so exchanging the colours negates the
// evaluation. A feature has two weights by variant, for the first turn and for
// the last, between which the game's stage interpolates, fitted to results of
// games by logistic regression.

// Features that all variants share, and those whose meaning is the family's.
inline constexpr int kNumSharedFeatures = 32;
inline constexpr int kNumFamilyFeatures = 8;
inline constexpr int kNumHandFeatures = kNumSharedFeatures + kNumFamilyFeatures;

// Red's counts minus Blue's; of tempo features 1 or 0 for Red, -1 or 0 for
// Blue.
using HandFeatures = std::array<int16_t, kNumHandFeatures>;

// The stage of a game where it starts; 0 where nothing is left to decide.
inline constexpr int kFirstStage = 64;

// Evaluations lie within plus and minus this.
inline constexpr int kMaxHandEvaluation = 9999;

// Returns the features of a position. Pure.
HandFeatures ComputeHandFeatures(const State& state);

// Returns the stage, 0 to kFirstStage.
int HandStage(const State& state);

// Returns a feature's name in a variant's family; empty where the family does
// not use it. REQUIRES: 0 <= feature < kNumHandFeatures.
absl::string_view HandFeatureName(Variant variant, int feature);

// Returns the chance that Red wins, not Blue, in thousandths of a logit
// (0: even; 1000: 73 %). Always from Red's perspective. About 150 ns.
// REQUIRES: the game is not finished (Score returns results).
int HandEvaluation(const State& state);

// Returns, for each of four boards, what CountComponents (which says how it
// is done) returns: at most 12 components vanish at one cell, so that a
// counter of four bits a cell holds them until the end.
std::array<int, 4> CountComponentsOfFour(const std::array<Board, 4>& boards);

}  // namespace tara::eval

#endif  // TARA_EVAL_ALPHA_BETA_ALPHA_BETA_H_
