#include <immintrin.h>

#include <cstdint>

#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_kernel_templates.h"

namespace tara::nn::internal {
namespace {

// PlainVector by AVX-512 with VNNI, and BMI2.
struct Avx512Vector : BasicVector<64> {
  static constexpr int kParts = 4;

  static void StoreBytes(Int x, uint8_t* to) {
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(to),
        _mm512_cvtusepi32_epi8(_mm512_max_epi32(x, _mm512_setzero_si512())));
  }

  static Int MaxBytes(Int a, Int b) { return _mm512_max_epu8(a, b); }
  static Int MixLow(Int a, Int b) { return _mm512_unpacklo_epi8(a, b); }
  static Int MixHigh(Int a, Int b) { return _mm512_unpackhi_epi8(a, b); }
  static Int MultiplyBytes(Int a, Int b) { return _mm512_maddubs_epi16(a, b); }

  static Int AddShorts(Int a, Int b) { return _mm512_adds_epi16(a, b); }
  static Int MultiplyFactor(Int a, Int b) { return _mm512_mulhrs_epi16(a, b); }
  static Int PackShorts(Int a, Int b) { return _mm512_packus_epi16(a, b); }

  static Int PackInts(Int a, Int b) { return _mm512_packs_epi32(a, b); }
  static Int AddProducts(Int sum, Int a, Int b) {
    return _mm512_dpwssd_epi32(sum, a, b);
  }
  static Int AddDots(Int sum, Int a, Int b) {
    return _mm512_dpbusd_epi32(sum, a, b);
  }

  static Float ToFloats(Int x) { return _mm512_cvtepi32_ps(x); }
  static Int ToInts(Float x) { return _mm512_cvtps_epi32(x); }
  static unsigned Extract(Board board, Board mask) {
    return static_cast<unsigned>(_pext_u64(board, mask));
  }
};

}  // namespace

LightKernels Avx512LightKernels() {
  return LightKernelCode<Avx512Vector>::Table("avx512");
}

}  // namespace tara::nn::internal
