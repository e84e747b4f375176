#ifndef TARA_NN_ENCODE_ENCODER_PARTS_H_
#define TARA_NN_ENCODE_ENCODER_PARTS_H_

// Parts of the encoding of a position that light networks share.

#include <cstdint>

#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/state.h"

namespace tara::mcts {
struct Evaluation;  // tara/mcts/evaluator.h
}

namespace tara::nn {

struct RawOutput;  // tara/nn/encode/encoded_batch.h

// Planes of kPlanes, before any symmetry.

// Returns the ringforts of a side that no link joins to another (rules section
// 1).
Board Singles(const State& state, Side side);

// Returns where the other side may go in Manoeuvres, or nearly so: the rules
// themselves decide when it is its turn.
Board EnemyReach(const State& state, Side enemy);

// Legal king moves, over all kings of the side to move.
struct KingMoveBoards {
  Board origins = 0;
  Board destinations = 0;
  Board sacrifices = 0;
};
inline KingMoveBoards BoardsOfKingMoves(const LegalSet& legal) {
  KingMoveBoards boards;
  for (const LegalSet::KingMoves& king : legal.kings) {
    if (king.moves == 0) continue;
    boards.origins |= BoardOf(king.origin);
    boards.destinations |= king.moves;
    boards.sacrifices |= king.sacrifices;
  }
  return boards;
}

// Writes the globals [kNumGlobals] of a position. `own_kingdoms`: of the side
// to move.
void EncodeGlobalsOf(const State& state, const LegalSet& legal,
                     int own_kingdoms, int enemy_kingdoms, float* globals);

// FillEvaluation of a position whose legal actions have these policy outputs.
void FillEvaluation(absl::Span<const int16_t> outputs, const RawOutput& output,
                    mcts::Evaluation& evaluation);

}  // namespace tara::nn

#endif  // TARA_NN_ENCODE_ENCODER_PARTS_H_
