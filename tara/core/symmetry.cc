#include "tara/core/symmetry.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {
namespace {

constexpr Action TransformParts(int transform, const ActionParts& parts) {
  if (parts.kind == ActionKind::kPass) return kPass;
  const Hill to = TransformHill(transform, parts.to);
  if (parts.kind == ActionKind::kHill) return HillAction(to);
  const Hill from = TransformHill(transform, parts.from);
  return parts.kind == ActionKind::kLink
             ? LinkAction(std::min(from, to), std::max(from, to))
             : KingMove(from, to, parts.kind == ActionKind::kSacrifice);
}

// All 8 of the square, then the same with the colours swapped.
constexpr Symmetry kSingles[] = {
    {0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0},
    {0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1},
};
// Exchanging files and ranks exchanges the colours (rows_by_side).
constexpr Symmetry kRowsBySide[] = {
    {0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 1}, {5, 1}, {6, 1}, {7, 1},
};
// Turns of the table; by seat shift. Reflections reverse the order of play.
constexpr Symmetry kDoubles[] = {
    {kIdentityTransform, 0},
    {kClockwiseTurn, 1},
    {kHalfTurn, 2},
    {kAnticlockwiseTurn, 3},
};

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

// Returns the transforms (bits) with the smallest images.
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

constexpr std::array<std::array<uint16_t, kNumActions>, kNumBoardTransforms>
    kActionTransforms = [] {
      std::array<std::array<uint16_t, kNumActions>, kNumBoardTransforms>
          table{};
      for (int transform = 0; transform < kNumBoardTransforms; ++transform) {
        for (int index = 0; index < kNumActions; ++index) {
          const ActionParts parts = Parts(static_cast<Action>(index));
          table[transform][index] =
              static_cast<uint16_t>(Index(TransformParts(transform, parts)));
        }
      }
      return table;
    }();

State TransformState(const Symmetry& symmetry, const State& state) {
  State result = state;
  const Side swapped = symmetry.seat_shift & 1;
  for (const Side side : {kRed, kBlue}) {
    const Side from = side ^ swapped;
    result.ringforts[side] =
        TransformBoard(symmetry.board, state.ringforts[from]);
    result.kings[side] = TransformBoard(symmetry.board, state.kings[from]);
    result.kings_captured[side] = state.kings_captured[from];
  }
  const HillPairs links = TransformPairs(
      symmetry.board, {.east = state.links_east, .north = state.links_north});
  result.links_east = links.east;
  result.links_north = links.north;
  if (swapped) result.options = WithColoursExchanged(state.options);
  if (!state.finished()) {
    result.seat = static_cast<uint8_t>((state.seat + symmetry.seat_shift) %
                                       Info(state.variant).seats);
  }
  return result;
}

Symmetry Inverse(const Symmetry& symmetry) {
  // The quarter turns undo each other; all else undoes itself.
  const bool quarter_turn =
      symmetry.board == kClockwiseTurn || symmetry.board == kAnticlockwiseTurn;
  const int board = quarter_turn
                        ? kClockwiseTurn + kAnticlockwiseTurn - symmetry.board
                        : symmetry.board;
  return {static_cast<uint8_t>(board),
          static_cast<uint8_t>((4 - symmetry.seat_shift) % 4)};
}

absl::Span<const Symmetry> GameSymmetries(Variant variant) {
  // The transforms that keep the seats come first.
  const absl::Span<const Symmetry> all = PositionSymmetries(variant);
  const auto end = std::find_if(all.begin(), all.end(), [](const Symmetry& s) {
    return s.seat_shift != 0;
  });
  return all.subspan(0, static_cast<size_t>(end - all.begin()));
}

absl::Span<const Symmetry> PositionSymmetries(Variant variant) {
  if (Info(variant).seats == 4) return kDoubles;
  if (TraitsOf(variant).rows_by_side) return kRowsBySide;
  return kSingles;
}

Symmetry CanonicalSymmetry(const State& state) {
  if (Info(state.variant).seats == 4) return kDoubles[(4 - state.seat) % 4];
  const bool transpose =
      state.seat == 1 && TraitsOf(state.variant).rows_by_side;
  return {static_cast<uint8_t>(transpose ? kTranspose : kIdentityTransform),
          state.seat};
}

Symmetry RepresentativeSymmetry(const State& state) {
  if (Info(state.variant).seats == 4) return CanonicalSymmetry(state);
  // Whoever moves becomes seat 0. Where sides have rows a transposition, and
  // nothing else, exchanges the sides.
  unsigned transforms = 0xff;
  if (TraitsOf(state.variant).rows_by_side) {
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
