#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_kernel_templates.h"

namespace tara::nn::internal {
namespace {

// PlainVector by AVX2 and BMI2.
struct Avx2Vector {
  static constexpr int kLanes = 8;
  static constexpr int kBlockRows = 3;
  static constexpr int kBlockVectors = 2;
  using Int = __m256i;
  using Float = __m256;

  static Int Load(const int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const Int*>(from));
  }
  static Float Load(const float* from) { return _mm256_loadu_ps(from); }
  static Int LoadBytes(const uint8_t* from) {
    return _mm256_cvtepu8_epi32(
        _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  static Int LoadShorts(const int16_t* from) {
    return _mm256_cvtepi16_epi32(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static void Store(Int x, int32_t* to) {
    _mm256_storeu_si256(reinterpret_cast<Int*>(to), x);
  }
  static void Store(Float x, float* to) { _mm256_storeu_ps(to, x); }
  static void StoreBytes(Int x, uint8_t* to) {
    const __m128i shorts = _mm_packs_epi32(_mm256_castsi256_si128(x),
                                           _mm256_extracti128_si256(x, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to),
                     _mm_packus_epi16(shorts, shorts));
  }
  static Int All(int32_t x) { return _mm256_set1_epi32(x); }
  static Float All(float x) { return _mm256_set1_ps(x); }
  static Int Add(Int a, Int b) { return _mm256_add_epi32(a, b); }
  static Float Add(Float a, Float b) { return _mm256_add_ps(a, b); }
  static Float Multiply(Float a, Float b) { return _mm256_mul_ps(a, b); }
  static Int Max(Int a, Int b) { return _mm256_max_epi32(a, b); }
  static Float Relu(Float a) { return _mm256_max_ps(a, _mm256_setzero_ps()); }
  static Int ShiftRight(Int x, int bits) { return _mm256_srai_epi32(x, bits); }
  static Int Pair(Int low, Int high) {
    return _mm256_or_si256(low, _mm256_slli_epi32(high, 16));
  }
  static Int Or(Int a, Int b) { return _mm256_or_si256(a, b); }
  static Float ToFloat(Int x) { return _mm256_cvtepi32_ps(x); }
  static Int ToInt(Float x) { return _mm256_cvtps_epi32(x); }
  static Int AddShorts(Int sum, Int a, Int b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
  }
  static Int AddBytes(Int sum, Int a, Int b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b),
                                                   _mm256_set1_epi16(1)));
  }
  static uint32_t Gather(Board board, const LightWindow& window) {
    return static_cast<uint32_t>(
               _pdep_u64(_pext_u64(board, window.mask), window.positions)) |
           window.outside;
  }
};

}  // namespace

LightKernels Avx2LightKernels() {
  return LightKernelCode<Avx2Vector>::Table(InstructionSet::kAvx2);
}

}  // namespace tara::nn::internal
