#include "tara/nn/encode/encoded_batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "absl/base/casts.h"
#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/batch_encoder.h"
#include "tara/nn/encode/encoder_parts.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/encode/softmax.h"

namespace tara::nn {
namespace {

// [margin + kMaxMargin]: the margin; filled up with zeros.
constexpr auto kMargins = [] {
  std::array<float, SoftmaxRoom(kNumMargins)> margins{};
  for (int i = 0; i < kNumMargins; ++i) {
    margins[i] = static_cast<float>(i - kMaxMargin);
  }
  return margins;
}();

uint32_t BitsWithoutSign(float number) {
  return absl::bit_cast<uint32_t>(number) & 0x7fffffff;
}

}  // namespace

void TensorBuffer::Resize(size_t size) {
  if (size > capacity_) {
    // aligned_alloc wants whole lines.
    constexpr size_t kLine = 64;
    const size_t lines = (size * sizeof(float) + kLine - 1) / kLine;
    floats_.reset(
        static_cast<float*>(std::aligned_alloc(kLine, lines * kLine)));
    TARA_CHECK(floats_ != nullptr, "out of memory");
    capacity_ = size;
  }
  size_ = size;
}

void TensorBuffer::Free::operator()(float* floats) const { std::free(floats); }

void EncodedBatch::Encode(absl::Span<const State> states,
                          absl::Span<const Symmetry> symmetries) {
  planes_.Resize(states.size() * kNumPlanes * kNumSquares);
  globals_.Resize(states.size() * kNumGlobals);
  Encode(states, symmetries, planes_.span(), globals_.span());
}

void EncodedBatch::Encode(absl::Span<const State> states,
                          absl::Span<const Symmetry> symmetries,
                          absl::Span<float> planes, absl::Span<float> globals) {
  legal_.clear();
  first_output_.assign(1, 0);
  int count = 0;
  for (const State& state : states) {
    // For the features and for the softmax: the dearest part of both.
    legal_.push_back(LegalActions(state));
    count += legal_.back().Count();
    first_output_.push_back(count);
  }
  outputs_.resize(static_cast<size_t>(count));
  int16_t* next = outputs_.data();
  for (size_t i = 0; i < states.size(); ++i) {
    const auto& transform = kActionTransforms[symmetries[i].board];
    legal_[i].ForEach([&](Action action) {
      *next++ = static_cast<int16_t>(
          PolicyOutput(static_cast<Action>(transform[Index(action)])));
    });
  }
  EncodeBatch({.states = states, .symmetries = symmetries, .legal = legal_},
              {.layout = PlaneLayout::kChannelsLast,
               .planes = planes,
               .globals = globals});
  encoded_planes_ = planes.data();
  encoded_globals_ = globals.data();
}

void EncodedBatch::FindCanonical(absl::Span<const State> states) {
  canonical_.clear();
  for (const State& state : states) {
    canonical_.push_back(RepresentativeSymmetry(state));
  }
}

void EncodedBatch::EncodeCanonical(absl::Span<const State> states) {
  FindCanonical(states);
  Encode(states, canonical_);
}

void EncodedBatch::EncodeCanonical(absl::Span<const State> states,
                                   absl::Span<float> planes,
                                   absl::Span<float> globals) {
  FindCanonical(states);
  Encode(states, canonical_, planes, globals);
}

void FillEvaluation(const EncodedBatch& batch, int i, const RawOutput& output,
                    mcts::Evaluation& evaluation) {
  FillEvaluation(batch.OutputsOf(i), output, evaluation);
}

void FillEvaluation(absl::Span<const int16_t> outputs, const RawOutput& output,
                    mcts::Evaluation& evaluation) {
  // Computed on the stack, which is in the first cache.
  alignas(64) float buffer[SoftmaxRoom(kSoftmaxMost)];
  for (size_t k = 0; k < outputs.size(); ++k) {
    buffer[k] = output.policy[outputs[k]];
  }
  Softmax(buffer, static_cast<int>(outputs.size()));
  evaluation.priors.assign(buffer, buffer + outputs.size());

  std::copy_n(output.result, 3, buffer);
  Softmax(buffer, 3);
  evaluation.win = buffer[0];
  evaluation.draw = buffer[1];
  evaluation.loss = buffer[2];

  std::copy_n(output.margins, kNumMargins, buffer);
  Softmax(buffer, kNumMargins);
  evaluation.margins.assign(buffer, buffer + kNumMargins);
  std::array<float, kSoftmaxLanes> sums = {};
  for (size_t first = 0; first < kMargins.size(); first += kSoftmaxLanes) {
    for (size_t k = 0; k < kSoftmaxLanes; ++k) {
      sums[k] += kMargins[first + k] * buffer[first + k];
    }
  }
  evaluation.margin = std::accumulate(sums.begin(), sums.end(), 0.0f);
}

bool IsFinite(const mcts::Evaluation& evaluation) {
  // Without their signs, the bits of infinities and NaNs are the largest. This
  // vectorizes, unlike ordered sums of floats.
  constexpr uint32_t kInfinity = 0x7f800000;
  const std::vector<float>& priors = evaluation.priors;
  std::array<uint32_t, kSoftmaxLanes> greatest{};
  size_t first = 0;
  for (; first + kSoftmaxLanes <= priors.size(); first += kSoftmaxLanes) {
    for (size_t k = 0; k < kSoftmaxLanes; ++k) {
      const uint32_t bits = BitsWithoutSign(priors[first + k]);
      greatest[k] = std::max(greatest[k], bits);
    }
  }
  for (; first < priors.size(); ++first) {
    greatest[0] = std::max(greatest[0], BitsWithoutSign(priors[first]));
  }
  return *std::max_element(greatest.begin(), greatest.end()) < kInfinity &&
         std::isfinite(evaluation.win + evaluation.draw + evaluation.loss) &&
         std::isfinite(evaluation.margin);
}

}  // namespace tara::nn
