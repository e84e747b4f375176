#ifndef TARA_NN_ENCODE_ENCODED_BATCH_H_
#define TARA_NN_ENCODE_ENCODED_BATCH_H_

// A batch of positions as the network's inputs, and its outputs as evaluations:
// shared by all backends.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/encode/batch_encoder.h"

namespace tara::nn {

// Memory for an input tensor: aligned as the encoder likes it, and not written
// before the encoder does.
class TensorBuffer {
 public:
  // Resizes to `size` floats; the content is lost. Keeps the memory.
  void Resize(size_t size);
  float* data() const { return floats_.get(); }
  size_t size() const { return size_; }
  absl::Span<float> span() const { return absl::MakeSpan(data(), size_); }

 private:
  struct Free {
    void operator()(float* floats) const;
  };
  std::unique_ptr<float[], Free> floats_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// Positions as inputs of a network. Reusable: memory is kept between batches.
class EncodedBatch {
 public:
  // Replaces the batch by these positions, each seen through its symmetry.
  // REQUIRES: spans of one size; as EncodeBatch.
  void Encode(absl::Span<const State> states,
              absl::Span<const Symmetry> symmetries);
  // The same into the caller's memory, for example memory that a device reads
  // directly; planes() and globals() refer to it until the next call.
  // REQUIRES: spans of exactly the sizes of the batch.
  void Encode(absl::Span<const State> states,
              absl::Span<const Symmetry> symmetries, absl::Span<float> planes,
              absl::Span<float> globals);
  // Both through the symmetry that leads to the representative of each
  // (tara/core/symmetry.h): symmetric positions are then identical inputs
  // of the network, and its answers for them differ only in the order of the
  // priors.
  void EncodeCanonical(absl::Span<const State> states) {
    Encode(states, CanonicalOf(states));
  }
  void EncodeCanonical(absl::Span<const State> states, absl::Span<float> planes,
                       absl::Span<float> globals) {
    Encode(states, CanonicalOf(states), planes, globals);
  }

  int size() const { return static_cast<int>(first_output_.size()) - 1; }
  // [B, 7, 7, kNumPlanes]: PlaneLayout::kChannelsLast, as networks compute.
  float* planes() const { return encoded_planes_; }
  // [B, kNumGlobals]
  float* globals() const { return encoded_globals_; }
  // The policy outputs of the legal actions of position i, in the order of
  // LegalSet::ForEach.
  absl::Span<const int16_t> OutputsOf(int i) const {
    return absl::MakeConstSpan(outputs_).subspan(
        first_output_[i], first_output_[i + 1] - first_output_[i]);
  }

 private:
  absl::Span<const Symmetry> CanonicalOf(absl::Span<const State> states);

  TensorBuffer planes_;
  TensorBuffer globals_;
  float* encoded_planes_ = nullptr;
  float* encoded_globals_ = nullptr;
  std::vector<int16_t> outputs_;
  std::vector<int32_t> first_output_ = {0};  // [B + 1]
  std::vector<LegalSet> legal_;
  std::vector<Symmetry> canonical_;
};

// The network's outputs for one position.
struct RawOutput {
  const float* policy;   // [kNumPolicyOutputs]: logits
  const float* result;   // [3]: logits of win, draw, loss
  const float* margins;  // [kNumMargins]: logits, from -kMaxMargin on
};

// Fills the evaluation of a position whose legal actions have these policy
// outputs: probabilities by softmax, of the policy over the legal actions only;
// `margin` is the mean of `margins`. The order of the legal actions changes no
// bit of their priors.
void FillEvaluation(absl::Span<const int16_t> outputs, const RawOutput& output,
                    mcts::Evaluation& evaluation);

// Returns whether all numbers of a filled evaluation are finite, as they are
// not where the activations of a network overflow: no search can go by others.
bool IsFinite(const mcts::Evaluation& evaluation);

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

#endif  // TARA_NN_ENCODE_ENCODED_BATCH_H_
