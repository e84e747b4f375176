#include "tara/core/representative.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "tara/core/variant.h"

namespace tara {
namespace {

using Images = std::array<Board, kNumBoardTransforms>;

// [board transform]
Images ImagesOf(Board board) {
  const Board transposed = Transpose(board);
  Images images = {board,      FlipFiles(board),      FlipRanks(board),      0,
                   transposed, FlipFiles(transposed), FlipRanks(transposed), 0};
  images[3] = FlipRanks(images[1]);
  images[7] = FlipRanks(images[5]);
  return images;
}

// Returns those of the transforms (bits) whose images are least.
unsigned Least(const Images& images, unsigned transforms) {
  Board least = ~Board{0};
  for (int i = 0; i < kNumBoardTransforms; ++i) {
    if ((transforms >> i & 1) != 0) least = std::min(least, images[i]);
  }
  unsigned result = 0;
  for (int i = 0; i < kNumBoardTransforms; ++i) {
    result |= static_cast<unsigned>(images[i] == least) << i;
  }
  return result & transforms;
}

unsigned LeastLinks(const State& state, unsigned transforms) {
  if ((state.links_east | state.links_north) == 0) return transforms;
  Images east;
  Images north;
  for (int i = 0; i < kNumBoardTransforms; ++i) {
    const HillPairs pairs = TransformPairs(
        i, {.east = state.links_east, .north = state.links_north});
    east[i] = pairs.east;
    north[i] = pairs.north;
  }
  return Least(north, Least(east, transforms));
}

}  // namespace

Symmetry RepresentativeSymmetry(const State& state) {
  const VariantInfo& info = Info(state.variant);
  if (info.seats == 4) return CanonicalSymmetry(state);
  // Whoever moves becomes seat 0. In Poisoned Chalice a transposition, and
  // nothing else, exchanges the sides.
  unsigned transforms = 0xff;
  if (info.family == Family::kPoisonedChalice) {
    transforms = state.seat == 0 ? 0x0f : 0xf0;
  }
  const Side own = state.side();
  const Side enemy = Opponent(own);
  for (const Board board : {state.ringforts[own], state.ringforts[enemy],
                            state.kings[own], state.kings[enemy]}) {
    if ((transforms & (transforms - 1)) == 0) break;
    if (board != 0) transforms = Least(ImagesOf(board), transforms);
  }
  if ((transforms & (transforms - 1)) != 0) {
    transforms = LeastLinks(state, transforms);
  }
  return {static_cast<uint8_t>(std::countr_zero(transforms)), state.seat};
}

}  // namespace tara
