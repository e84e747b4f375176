#include <immintrin.h>

#include <cstdint>

#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_kernel_templates.h"

namespace tara::nn::internal {
namespace {

// PlainVector by AVX-512 with VNNI, and BMI2.
struct Avx512Vector {
  static constexpr int kShorts = 32;
  static constexpr int kInts = kShorts / 2;
  static constexpr int kParts = 4;
  static constexpr bool kSkipsZeros = false;
  using Int = __m512i;
  using Float = __m512;

  static Int Load(const void* from) {
    return _mm512_loadu_si512(static_cast<const Int*>(from));
  }
  static void Store(Int x, void* to) {
    _mm512_storeu_si512(static_cast<Int*>(to), x);
  }
  static Float LoadFloats(const float* from) { return _mm512_loadu_ps(from); }
  static void StoreFloats(Float x, float* to) { _mm512_storeu_ps(to, x); }
  static void StoreBytes(Int x, uint8_t* to) {
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(to),
        _mm512_cvtusepi32_epi8(_mm512_max_epi32(x, _mm512_setzero_si512())));
  }
  static Int Zero() { return _mm512_setzero_si512(); }
  static Int AllInts(int32_t x) { return _mm512_set1_epi32(x); }
  static Float AllFloats(float x) { return _mm512_set1_ps(x); }

  static Int MaxBytes(Int a, Int b) { return _mm512_max_epu8(a, b); }
  static Int MixLow(Int a, Int b) { return _mm512_unpacklo_epi8(a, b); }
  static Int MixHigh(Int a, Int b) { return _mm512_unpackhi_epi8(a, b); }
  static Int MultiplyBytes(Int a, Int b) { return _mm512_maddubs_epi16(a, b); }

  static Int AddShorts(Int a, Int b) { return _mm512_adds_epi16(a, b); }
  static Int MultiplyFactor(Int a, Int b) { return _mm512_mulhrs_epi16(a, b); }
  template <int kBits>
  static Int ShiftShortsLeft(Int x) {
    return _mm512_slli_epi16(x, kBits);
  }
  template <int kBits>
  static Int ShiftShortsRight(Int x) {
    return _mm512_srai_epi16(x, kBits);
  }
  static Int PackShorts(Int a, Int b) { return _mm512_packus_epi16(a, b); }

  static Int AddInts(Int a, Int b) { return _mm512_add_epi32(a, b); }
  template <int kBits>
  static Int ShiftIntsRight(Int x) {
    return _mm512_srai_epi32(x, kBits);
  }
  static Int PackInts(Int a, Int b) { return _mm512_packs_epi32(a, b); }
  static Int AddProducts(Int sum, Int a, Int b) {
    return _mm512_dpwssd_epi32(sum, a, b);
  }
  static Int AddDots(Int sum, Int a, Int b) {
    return _mm512_dpbusd_epi32(sum, a, b);
  }

  static Float ToFloats(Int x) { return _mm512_cvtepi32_ps(x); }
  static Int ToInts(Float x) { return _mm512_cvtps_epi32(x); }
  static Float Add(Float a, Float b) { return _mm512_add_ps(a, b); }
  static Float Multiply(Float a, Float b) { return _mm512_mul_ps(a, b); }
  static Float Relu(Float a) { return _mm512_max_ps(a, _mm512_setzero_ps()); }

  static unsigned Extract(Board board, Board mask) {
    return static_cast<unsigned>(_pext_u64(board, mask));
  }
};

}  // namespace

LightKernels Avx512LightKernels() {
  return LightKernelCode<Avx512Vector>::Table("avx512");
}

}  // namespace tara::nn::internal
