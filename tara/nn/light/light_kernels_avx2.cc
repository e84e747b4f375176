#include <immintrin.h>

#include <cstdint>

#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_kernel_templates.h"

namespace tara::nn::internal {
namespace {

// PlainVector by AVX2 and BMI2, and AVX-VNNI where this is compiled for it.
struct Avx2Vector : BasicVector<32> {
  static void StoreBytes(Int x, uint8_t* to) {
    const __m128i shorts = _mm_packs_epi32(_mm256_castsi256_si128(x),
                                           _mm256_extracti128_si256(x, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to),
                     _mm_packus_epi16(shorts, shorts));
  }

  static Int MaxBytes(Int a, Int b) { return _mm256_max_epu8(a, b); }
  static Int MixLow(Int a, Int b) { return _mm256_unpacklo_epi8(a, b); }
  static Int MixHigh(Int a, Int b) { return _mm256_unpackhi_epi8(a, b); }
  static Int MultiplyBytes(Int a, Int b) { return _mm256_maddubs_epi16(a, b); }

  static Int AddShorts(Int a, Int b) { return _mm256_adds_epi16(a, b); }
  static Int MultiplyFactor(Int a, Int b) { return _mm256_mulhrs_epi16(a, b); }
  static Int PackShorts(Int a, Int b) { return _mm256_packus_epi16(a, b); }

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
