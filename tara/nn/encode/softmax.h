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

// Turns logits into probabilities, in place. What a logit becomes depends on
// the others as a set alone, bit for bit: in another order they become the same
// probabilities. Relative error below 1e-6 of all but the least (those below
// 1e-30 of the greatest). What follows up to SoftmaxRoom(count) is overwritten.
// REQUIRES: 1 <= count <= kSoftmaxMost; `values` aligned to 32 bytes.
void Softmax(float* values, int count);

// Logits further below the greatest count as so far. Their powers, divided by
// the sum of kSoftmaxMost others, are still normal numbers: where a product is
// not, some processors take a hundred cycles more.
inline constexpr float kSoftmaxLowest = -80.0f;

// Softmax without vector instructions: what it is where there is no AVX2, such
// as in a browser. Its results agree within the errors stated above, but not
// bit for bit; it asks for no alignment and writes nothing beyond `count`.
void SoftmaxPortable(float* values, int count);

}  // namespace tara::nn

#endif  // TARA_NN_ENCODE_SOFTMAX_H_
