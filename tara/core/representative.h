#ifndef TARA_CORE_REPRESENTATIVE_H_
#define TARA_CORE_REPRESENTATIVE_H_

#include "tara/core/state.h"
#include "tara/core/symmetry.h"

namespace tara {

// Returns a symmetry that takes the position to the representative of all that
// are symmetric to it: of those with seat 0 to move, the one whose boards are
// the least numbers (compared in turn: ringforts of the side to move, of its
// opponent, kings of both, links). So positions are symmetric if and only if
// their representatives are equal. Of several such symmetries, the first in the
// order of PositionSymmetries; of a representative itself, the identity.
//
// In doubles one symmetry alone leads to seat 0, and it is that one. Cost: some
// 30 ns where board transforms keep the seats.
// REQUIRES: the position is not finished.
Symmetry RepresentativeSymmetry(const State& state);

}  // namespace tara

#endif  // TARA_CORE_REPRESENTATIVE_H_
