#ifndef TARA_NN_ENCODE_SOFTMAX_PORTABLE_H_
#define TARA_NN_ENCODE_SOFTMAX_PORTABLE_H_

namespace tara::nn {

// Logits further below the greatest count as so far. Their powers, divided by
// the sum of kSoftmaxMost others, are still normal numbers: where a product is
// not, some processors take a hundred cycles more.
inline constexpr float kSoftmaxLowest = -80.0f;

// Softmax (softmax.h) without vector instructions: what it is where there is no
// AVX2, such as in a browser. Its results agree within the errors stated there,
// but not bit for bit; it asks for no alignment and writes nothing beyond
// `count`.
void SoftmaxPortable(float* values, int count);

}  // namespace tara::nn

#endif  // TARA_NN_ENCODE_SOFTMAX_PORTABLE_H_
