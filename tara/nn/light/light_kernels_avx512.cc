#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_kernel_templates.h"

namespace tara::nn::internal {
namespace {

// PlainVector by AVX-512 with VNNI.
struct Avx512Vector {
  static constexpr int kLanes = 16;
  static constexpr int kBlockRows = 5;
  static constexpr int kBlockVectors = 4;
  using Int = __m512i;
  using Float = __m512;

  static Int Load(const int32_t* from) { return _mm512_loadu_si512(from); }
  static Float Load(const float* from) { return _mm512_loadu_ps(from); }
  static Int LoadBytes(const uint8_t* from) {
    return _mm512_cvtepu8_epi32(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static Int LoadShorts(const int16_t* from) {
    return _mm512_cvtepi16_epi32(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static void Store(Int x, int32_t* to) { _mm512_storeu_si512(to, x); }
  static void Store(Float x, float* to) { _mm512_storeu_ps(to, x); }
  static void StoreBytes(Int x, uint8_t* to) {
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(to),
        _mm512_cvtusepi32_epi8(_mm512_max_epi32(x, _mm512_setzero_si512())));
  }
  static Int All(int32_t x) { return _mm512_set1_epi32(x); }
  static Float All(float x) { return _mm512_set1_ps(x); }
  static Int Add(Int a, Int b) { return _mm512_add_epi32(a, b); }
  static Float Add(Float a, Float b) { return _mm512_add_ps(a, b); }
  static Float Multiply(Float a, Float b) { return _mm512_mul_ps(a, b); }
  static Int Max(Int a, Int b) { return _mm512_max_epi32(a, b); }
  static Float Relu(Float a) { return _mm512_max_ps(a, _mm512_setzero_ps()); }
  static Int ShiftRight(Int x, int bits) {
    return _mm512_srai_epi32(x, static_cast<unsigned>(bits));
  }
  static Int Pair(Int low, Int high) {
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
  }
  static Int Or(Int a, Int b) { return _mm512_or_si512(a, b); }
  static Float ToFloat(Int x) { return _mm512_cvtepi32_ps(x); }
  static Int ToInt(Float x) { return _mm512_cvtps_epi32(x); }
  static Int AddShorts(Int sum, Int a, Int b) {
    return _mm512_dpwssd_epi32(sum, a, b);
  }
  static Int AddBytes(Int sum, Int a, Int b) {
    return _mm512_dpbusd_epi32(sum, a, b);
  }
  static uint32_t Gather(Board board, const LightWindow& window) {
    return static_cast<uint32_t>(
               _pdep_u64(_pext_u64(board, window.mask), window.positions)) |
           window.outside;
  }
};

}  // namespace

LightKernels Avx512LightKernels() {
  return LightKernelCode<Avx512Vector>::Table(InstructionSet::kAvx512);
}

}  // namespace tara::nn::internal
