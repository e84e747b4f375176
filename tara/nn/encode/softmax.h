#ifndef TARA_NN_ENCODE_SOFTMAX_H_
#define TARA_NN_ENCODE_SOFTMAX_H_

#include <cstddef>

namespace tara::nn {

// Numbers that Softmax works on together.
inline constexpr int kSoftmaxLanes = 8;

// The most that it takes: their sum, in steps of 2^-22, fits 32 bits.
inline constexpr int kSoftmaxMost = 511;

// Rounds up to whole lanes.
constexpr size_t SoftmaxRoom(size_t count) {
  return (count + kSoftmaxLanes - 1) / kSoftmaxLanes * kSoftmaxLanes;
}

// Turns logits into probabilities, in place. The result of a logit depends on
// the set of the others, bit for bit: in another order they become the same
// probabilities. Relative error below 1e-6 for all but the smallest (below
// 1e-30 of the largest). Overwrites memory up to SoftmaxRoom(count).
void Softmax(float* values, int count);

// Logits further below the greatest are treated as this far below. Their
// powers, divided by the sum of kSoftmaxMost others, are still normal numbers:
// with subnormal products some processors take a hundred cycles more.
inline constexpr float kSoftmaxLowest = -80.0f;

// Softmax without vector instructions, for platforms without AVX2, such as
// browsers. Its results agree within the errors stated above, but not bit for
// bit. It needs no alignment and writes nothing beyond `count`.
void SoftmaxPortable(float* values, int count);

}  // namespace tara::nn

#endif  // TARA_NN_ENCODE_SOFTMAX_H_
