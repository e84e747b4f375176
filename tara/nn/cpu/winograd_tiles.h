#ifndef TARA_NN_CPU_WINOGRAD_TILES_H_
#define TARA_NN_CPU_WINOGRAD_TILES_H_

// The tiles of Winograd convolutions (winograd_layer.h) and their transforms,
// of as many channels at once as `Floats` holds, a vector; compiled once for
// each instruction set by the files that include it.

#include <cstring>

#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/nn/cpu/winograd_layer.h"

namespace tara::nn::internal {

// `kSet` keeps the instances of different files apart.
template <InstructionSet kSet>
class WinogradTiles {
 public:
  // The tiles of positions, by the place of the tile first: those of the first
  // two places are at the top, those of the two in the middle at the left, so
  // that the rows of a point that the others lack lie together.
  struct Place {
    int down;   // 0: outputs 0 to 3; 1: outputs 4 to 6
    int right;  // likewise
  };
  static constexpr Place kPlaces[] = {{0, 1}, {0, 0}, {1, 0}, {1, 1}};

  template <typename Element, int kCount>
  struct VectorOf {
    typedef Element Type __attribute__((vector_size(sizeof(Element) * kCount)));
  };
  // Eight channels, and as many as fill a register.
  using Eight = typename VectorOf<float, 8>::Type;
  using Widest =
      typename VectorOf<float, kSet == InstructionSet::kAvx512 ? 16 : 8>::Type;
  template <typename Floats>
  static constexpr int kChannels = sizeof(Floats) / sizeof(float);

  template <typename Vector, typename Element>
  static Vector Load(const Element* from) {
    Vector values;
    std::memcpy(&values, from, sizeof(values));
    return values;
  }
  template <typename Vector, typename Element>
  static void Store(const Vector& values, Element* to) {
    std::memcpy(to, &values, sizeof(values));
  }

  // Points of a line, and outputs, of tiles at a place.
  static constexpr int Points(int at) { return kWinogradLine - at; }
  static constexpr int Outputs(int at) { return 4 - at; }

  // The rows, of tiles of so many positions, that have the point.
  static constexpr int FirstRow(int point, int positions) {
    return IsLeft(point) ? positions : 0;
  }
  static constexpr int EndRow(int point, int positions) {
    return (IsTop(point) ? 2 : IsLeft(point) ? 3 : 4) * positions;
  }

  // A square of the tile at kPlaces[kPlace], -1 off the grid: of its inputs,
  // y and x from 0 to 5, and of its outputs, from 0 to 3.
  template <int kPlace>
  static constexpr int InputSquare(int y, int x) {
    return SquareAt(4 * kPlaces[kPlace].down - 1 + y,
                    4 * kPlaces[kPlace].right - 1 + x);
  }
  template <int kPlace>
  static constexpr int OutputSquare(int y, int x) {
    return SquareAt(4 * kPlaces[kPlace].down + y,
                    4 * kPlaces[kPlace].right + x);
  }

  // Calls transform.operator()<Floats>(c) for vectors of channels from c on:
  // of kind Wide while they fit, then eights. REQUIRES: whole eights.
  template <typename Wide, typename Function>
  static void ForEachVector(int channels, const Function& transform) {
    int c = 0;
    for (; c + kChannels<Wide> <= channels; c += kChannels<Wide>) {
      transform.template operator()<Wide>(c);
    }
    for (; c < channels; c += kChannels<Eight>) {
      transform.template operator()<Eight>(c);
    }
  }

  // B^T d, as differences that points share.
  template <typename Floats>
  static void TransformInput(const Floats (&d)[6], Floats (&v)[6]) {
    const Floats even = d[4] - 4 * d[2];
    const Floats odd = d[3] - 4 * d[1];
    const Floats far_even = d[4] - d[2];
    const Floats far_odd = 2 * (d[3] - d[1]);
    v[0] = 4 * (d[0] - d[2]) + far_even;
    v[1] = even + odd;
    v[2] = even - odd;
    v[3] = far_even + far_odd;
    v[4] = far_even - far_odd;
    v[5] = 4 * (d[1] - d[3]) + (d[5] - d[3]);
  }

  // A^T m.
  template <typename Floats>
  static void TransformOutput(const Floats (&m)[6], Floats (&y)[4]) {
    const Floats near = m[1] + m[2];
    const Floats near_odd = m[1] - m[2];
    const Floats far = m[3] + m[4];
    const Floats far_odd = m[3] - m[4];
    y[0] = m[0] + near + far;
    y[1] = near_odd + 2 * far_odd;
    y[2] = near + 4 * far;
    y[3] = near_odd + 8 * far_odd + m[5];
  }

  // Calls store(point, values) with B^T d B of the tile at kPlaces[kPlace] of a
  // position, whose rows lie `channels` apart.
  template <int kPlace, typename Floats, typename StoreFunction>
  static void TransformTile(const float* source, int channels,
                            const StoreFunction& store) {
    constexpr Place kAt = kPlaces[kPlace];
    Floats lines[6][6];
    for (int x = 0; x < Points(kAt.right); ++x) {
      Floats column[6];
      for (int y = 0; y < 6; ++y) {
        const int square = InputSquare<kPlace>(y, x);
        column[y] =
            square >= 0 ? Load<Floats>(source + square * channels) : Floats{};
      }
      Floats transformed[6];
      TransformInput(column, transformed);
      for (int i = 0; i < Points(kAt.down); ++i) lines[i][x] = transformed[i];
    }
    for (int i = 0; i < Points(kAt.down); ++i) {
      if (kAt.right == 1) lines[i][5] = Floats{};
      Floats transformed[6];
      TransformInput(lines[i], transformed);
      for (int j = 0; j < Points(kAt.right); ++j) {
        store(kWinogradLine * i + j, transformed[j]);
      }
    }
  }

 private:
  static constexpr int kLast = kWinogradLine - 1;
  static constexpr bool IsTop(int point) {
    return point / kWinogradLine == kLast;
  }
  static constexpr bool IsLeft(int point) {
    return point % kWinogradLine == kLast;
  }
  static constexpr int SquareAt(int rank, int file) {
    const bool on_grid =
        rank >= 0 && rank < kBoardSize && file >= 0 && file < kBoardSize;
    return on_grid ? rank * kBoardSize + file : -1;
  }
};

}  // namespace tara::nn::internal

#endif  // TARA_NN_CPU_WINOGRAD_TILES_H_
