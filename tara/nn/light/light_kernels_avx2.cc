#include <immintrin.h>

#include <cstdint>

#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_kernel_templates.h"

namespace tara::nn::internal {
namespace {

// PlainVector by AVX2 and BMI2, and AVX-VNNI where this is compiled for it.
struct Avx2Vector {
  static constexpr int kShorts = 16;
  static constexpr int kInts = kShorts / 2;
  static constexpr int kParts = 1;
  static constexpr bool kSkipsZeros = false;
  using Int = __m256i;
  using Float = __m256;

  static Int Load(const void* from) {
    return _mm256_loadu_si256(static_cast<const Int*>(from));
  }
  static void Store(Int x, void* to) {
    _mm256_storeu_si256(static_cast<Int*>(to), x);
  }
  static Float LoadFloats(const float* from) { return _mm256_loadu_ps(from); }
  static void StoreFloats(Float x, float* to) { _mm256_storeu_ps(to, x); }
  static void StoreBytes(Int x, uint8_t* to) {
    const __m128i shorts = _mm_packs_epi32(_mm256_castsi256_si128(x),
                                           _mm256_extracti128_si256(x, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to),
                     _mm_packus_epi16(shorts, shorts));
  }
  static Int Zero() { return _mm256_setzero_si256(); }
  static Int AllInts(int32_t x) { return _mm256_set1_epi32(x); }
  static Float AllFloats(float x) { return _mm256_set1_ps(x); }

  static Int MaxBytes(Int a, Int b) { return _mm256_max_epu8(a, b); }
  static Int MixLow(Int a, Int b) { return _mm256_unpacklo_epi8(a, b); }
  static Int MixHigh(Int a, Int b) { return _mm256_unpackhi_epi8(a, b); }
  static Int MultiplyBytes(Int a, Int b) { return _mm256_maddubs_epi16(a, b); }

  static Int AddShorts(Int a, Int b) { return _mm256_adds_epi16(a, b); }
  static Int MultiplyFactor(Int a, Int b) { return _mm256_mulhrs_epi16(a, b); }
  template <int kBits>
  static Int ShiftShortsLeft(Int x) {
    return _mm256_slli_epi16(x, kBits);
  }
  template <int kBits>
  static Int ShiftShortsRight(Int x) {
    return _mm256_srai_epi16(x, kBits);
  }
  static Int PackShorts(Int a, Int b) { return _mm256_packus_epi16(a, b); }

  static Int AddInts(Int a, Int b) { return _mm256_add_epi32(a, b); }
  template <int kBits>
  static Int ShiftIntsRight(Int x) {
    return _mm256_srai_epi32(x, kBits);
  }
  static Int PackInts(Int a, Int b) { return _mm256_packs_epi32(a, b); }
#ifdef __AVXVNNI__
  static Int AddProducts(Int sum, Int a, Int b) {
    return _mm256_dpwssd_avx_epi32(sum, a, b);
  }
  static Int AddDots(Int sum, Int a, Int b) {
    return _mm256_dpbusd_avx_epi32(sum, a, b);
  }
#else
  static Int AddProducts(Int sum, Int a, Int b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
  }
  static Int AddDots(Int sum, Int a, Int b) {
    return AddProducts(sum, MultiplyBytes(a, b), _mm256_set1_epi16(1));
  }
#endif

  static Float ToFloats(Int x) { return _mm256_cvtepi32_ps(x); }
  static Int ToInts(Float x) { return _mm256_cvtps_epi32(x); }
  static Float Add(Float a, Float b) { return _mm256_add_ps(a, b); }
  static Float Multiply(Float a, Float b) { return _mm256_mul_ps(a, b); }
  static Float Relu(Float a) { return _mm256_max_ps(a, _mm256_setzero_ps()); }

  static unsigned Extract(Board board, Board mask) {
    return static_cast<unsigned>(_pext_u64(board, mask));
  }
};

}  // namespace

#ifdef __AVXVNNI__
LightKernels AvxVnniLightKernels() {
  return LightKernelCode<Avx2Vector>::Table("avxvnni");
}
#else
LightKernels Avx2LightKernels() {
  return LightKernelCode<Avx2Vector>::Table("avx2");
}
#endif

}  // namespace tara::nn::internal
