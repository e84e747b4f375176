#include <arm_neon.h>

#include <cstdint>
#include <cstring>

#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_kernel_templates.h"

namespace tara::nn::internal {
namespace {

// PlainVector with the NEON of any ARMv8. Products of bytes are products of
// int16, of the even and of the odd bytes.
struct NeonVector : BasicVector<16> {
  static constexpr bool kSkipsZeros = true;

  static void StoreBytes(Int x, uint8_t* to) {
    const int16x4_t shorts = vqmovn_s32(Ints(x));
    const uint8x8_t bytes = vqmovun_s16(vcombine_s16(shorts, shorts));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
    std::memcpy(to, &four, sizeof(four));
  }

  static Int MaxBytes(Int a, Int b) { return Of(vmaxq_u8(Bytes(a), Bytes(b))); }
  static Int MixLow(Int a, Int b) { return Of(vzip1q_u8(Bytes(a), Bytes(b))); }
  static Int MixHigh(Int a, Int b) { return Of(vzip2q_u8(Bytes(a), Bytes(b))); }
  static Int MultiplyBytes(Int a, Int b) {
    return Of(vqaddq_s16(EvenProducts(a, b), OddProducts(a, b)));
  }

  static Int AddShorts(Int a, Int b) {
    return Of(vqaddq_s16(Shorts(a), Shorts(b)));
  }
  static Int MultiplyFactor(Int a, Int b) {
    return Of(vqrdmulhq_s16(Shorts(a), Shorts(b)));
  }
  static Int PackShorts(Int a, Int b) {
    return Of(vcombine_u8(vqmovun_s16(Shorts(a)), vqmovun_s16(Shorts(b))));
  }

  static Int PackInts(Int a, Int b) {
    return Of(vcombine_s16(vqmovn_s32(Ints(a)), vqmovn_s32(Ints(b))));
  }
  static Int AddProducts(Int sum, Int a, Int b) {
    const int16x8_t x = Shorts(a), y = Shorts(b);
    return AddInts(sum,
                   Of(vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)),
                                 vmull_high_s16(x, y))));
  }
  static Int AddDots(Int sum, Int a, Int b) {
    return Of(vpadalq_s16(vpadalq_s16(Ints(sum), EvenProducts(a, b)),
                          OddProducts(a, b)));
  }

  template <int kFours>
  static unsigned NonZero(const uint8_t* bytes) {
    constexpr uint32_t kBits[] = {1, 2, 4, 8};
    const uint32x4_t bits = vld1q_u32(kBits);
    unsigned fours = 0;
    for (int i = 0; i < kFours / kInts; ++i) {
      const int32x4_t x = Ints(Load(bytes + 4 * kInts * i));
      fours |= vaddvq_u32(vandq_u32(vtstq_s32(x, x), bits)) << (kInts * i);
    }
    return fours;
  }

  static Float ToFloats(Int x) {
    return reinterpret_cast<Float>(vcvtq_f32_s32(Ints(x)));
  }
  static Int ToInts(Float x) {
    return Of(vcvtnq_s32_f32(reinterpret_cast<float32x4_t>(x)));
  }
  static unsigned Extract(Board board, Board mask) {
    return PlainVector::Extract(board, mask);
  }

 private:
  static uint8x16_t Bytes(Int x) { return reinterpret_cast<uint8x16_t>(x); }
  static int16x8_t Shorts(Int x) { return reinterpret_cast<int16x8_t>(x); }
  static int32x4_t Ints(Int x) { return reinterpret_cast<int32x4_t>(x); }
  template <typename Lanes>
  static Int Of(Lanes x) {
    return reinterpret_cast<Int>(x);
  }

  // Products of bytes of `a` and int8 of `b`.
  static int16x8_t EvenProducts(Int a, Int b) {
    return vmulq_s16(vandq_s16(Shorts(a), vdupq_n_s16(255)),
                     vshrq_n_s16(vshlq_n_s16(Shorts(b), 8), 8));
  }
  static int16x8_t OddProducts(Int a, Int b) {
    const uint16x8_t bytes = reinterpret_cast<uint16x8_t>(a);
    return vmulq_s16(vreinterpretq_s16_u16(vshrq_n_u16(bytes, 8)),
                     vshrq_n_s16(Shorts(b), 8));
  }
};

}  // namespace

LightKernels NeonLightKernels() {
  return LightKernelCode<NeonVector>::Table("neon");
}

}  // namespace tara::nn::internal
