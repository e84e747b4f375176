#include "tara/nn/encode/encoded_batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

#include "absl/base/casts.h"
#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/batch_encoder.h"
#include "tara/nn/encode/features.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

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

absl::Span<const Symmetry> EncodedBatch::CanonicalOf(
    absl::Span<const State> states) {
  canonical_.clear();
  for (const State& state : states) {
    canonical_.push_back(RepresentativeSymmetry(state));
  }
  return canonical_;
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
  // Without their signs, the bits of infinities and NaNs are the largest.
  constexpr uint32_t kInfinity = 0x7f800000;
  uint32_t greatest = 0;
  for (const float prior : evaluation.priors) {
    const uint32_t bits = absl::bit_cast<uint32_t>(prior) & 0x7fffffff;
    greatest = std::max(greatest, bits);
  }
  return greatest < kInfinity &&
         std::isfinite(evaluation.win + evaluation.draw + evaluation.loss) &&
         std::isfinite(evaluation.margin);
}

void SoftmaxPortable(float* values, int count) {
  TARA_CHECK(count >= 1, "a softmax of some numbers");
  constexpr float kUnit = 0x1p22f;
  const float top = *std::max_element(values, values + count);
  // Whole numbers add up to the same in any order.
  uint64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    values[i] = std::exp(std::max(values[i] - top, kSoftmaxLowest));
    sum += static_cast<uint64_t>(std::lround(values[i] * kUnit));
  }
  const float scale = kUnit / static_cast<float>(sum);
  for (int i = 0; i < count; ++i) values[i] *= scale;
}

#if defined(__AVX2__)

namespace {

// Returns e^x for -80 <= x <= 0, within 2e-7 of it:
//   e^x = 2^n e^r,  n = round(x / ln 2),  r = x - n ln 2,  |r| <= ln 2 / 2,
// and e^r by its Taylor series to r^7, whose rest is below 6e-9. ln 2 is taken
// off in two parts (Cody and Waite 1980, "Software Manual for the Elementary
// Functions", chapter 6), where n times the first is exact.
inline __m256 Exp(__m256 x) {
  const __m256 n =
      _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)),
                      _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
  __m256 series = _mm256_set1_ps(1.0f / 5040);
  for (const float factor :
       {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) {
    series = _mm256_fmadd_ps(series, r, _mm256_set1_ps(factor));
  }
  const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
  return _mm256_castsi256_ps(
      _mm256_add_epi32(_mm256_castps_si256(series), exponent));
}

inline float HighestOf(__m256 values) {
  __m128 half = _mm_max_ps(_mm256_castps256_ps128(values),
                           _mm256_extractf128_ps(values, 1));
  half = _mm_max_ps(half, _mm_movehl_ps(half, half));
  half = _mm_max_ss(half, _mm_shuffle_ps(half, half, 1));
  return _mm_cvtss_f32(half);
}

inline int32_t SumOf(__m256i values) {
  __m128i half = _mm_add_epi32(_mm256_castsi256_si128(values),
                               _mm256_extracti128_si256(values, 1));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
  return _mm_cvtsi128_si32(half);
}

}  // namespace

void Softmax(float* values, int count) {
  TARA_CHECK(count >= 1 && count <= kSoftmaxMost, "a softmax of some numbers");
  const int room = static_cast<int>(SoftmaxRoom(static_cast<size_t>(count)));
  // 1. Padding of the last lanes, too small to count.
  for (int i = count; i < room; ++i) {
    values[i] = -std::numeric_limits<float>::infinity();
  }
  // 2. The highest logit.
  __m256 highest = _mm256_load_ps(values);
  for (int i = kSoftmaxLanes; i < room; i += kSoftmaxLanes) {
    highest = _mm256_max_ps(highest, _mm256_load_ps(values + i));
  }
  const __m256 top = _mm256_set1_ps(HighestOf(highest));
  // 3. Powers, and their sum: whole numbers add up to the same in any order.
  const __m256 lowest = _mm256_set1_ps(kSoftmaxLowest);
  const __m256 unit = _mm256_set1_ps(0x1p22f);
  __m256i sum = _mm256_setzero_si256();
  for (int i = 0; i < room; i += kSoftmaxLanes) {
    const __m256 below =
        _mm256_max_ps(_mm256_sub_ps(_mm256_load_ps(values + i), top), lowest);
    const __m256 power = Exp(below);
    _mm256_store_ps(values + i, power);
    sum = _mm256_add_epi32(sum, _mm256_cvtps_epi32(_mm256_mul_ps(power, unit)));
  }
  // 4. Probabilities.
  const __m256 scale = _mm256_set1_ps(0x1p22f / static_cast<float>(SumOf(sum)));
  for (int i = 0; i < room; i += kSoftmaxLanes) {
    _mm256_store_ps(values + i,
                    _mm256_mul_ps(_mm256_load_ps(values + i), scale));
  }
}

#else

void Softmax(float* values, int count) {
  SoftmaxPortable(values, count);
  // Padding lanes are zero and do not change sums over whole vectors.
  std::fill(values + count, values + SoftmaxRoom(static_cast<size_t>(count)),
            0.0f);
}

#endif

}  // namespace tara::nn
