#include <wasm_simd128.h>

#include <cstdint>

#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_kernel_templates.h"

namespace tara::nn::internal {
namespace {

// PlainVector with the SIMD of WebAssembly. Products of bytes are products of
// int16, of the even and of the odd bytes.
struct WasmVector : BasicVector<16> {
  static constexpr bool kSkipsZeros = true;

  static void StoreBytes(Int x, uint8_t* to) {
    const Int shorts = wasm_i16x8_narrow_i32x4(x, x);
    wasm_v128_store32_lane(to, wasm_u8x16_narrow_i16x8(shorts, shorts), 0);
  }

  static Int MaxBytes(Int a, Int b) { return wasm_u8x16_max(a, b); }
  static Int MixLow(Int a, Int b) {
    return wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,
                              22, 7, 23);
  }
  static Int MixHigh(Int a, Int b) {
    return wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                              29, 14, 30, 15, 31);
  }
  static Int MultiplyBytes(Int a, Int b) {
    return wasm_i16x8_add_sat(wasm_i16x8_mul(EvenBytes(a), EvenInt8s(b)),
                              wasm_i16x8_mul(OddBytes(a), OddInt8s(b)));
  }

  static Int AddShorts(Int a, Int b) { return wasm_i16x8_add_sat(a, b); }
  static Int MultiplyFactor(Int a, Int b) {
    return wasm_i16x8_q15mulr_sat(a, b);
  }
  static Int PackShorts(Int a, Int b) { return wasm_u8x16_narrow_i16x8(a, b); }

  static Int PackInts(Int a, Int b) { return wasm_i16x8_narrow_i32x4(a, b); }
  static Int AddProducts(Int sum, Int a, Int b) {
    return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(a, b));
  }
  static Int AddDots(Int sum, Int a, Int b) {
    return AddProducts(AddProducts(sum, EvenBytes(a), EvenInt8s(b)),
                       OddBytes(a), OddInt8s(b));
  }

  template <int kFours>
  static unsigned NonZero(const uint8_t* bytes) {
    unsigned zero = 0;
    for (int i = 0; i < kFours / kInts; ++i) {
      const Int fours = wasm_i32x4_eq(Load(bytes + 4 * kInts * i), Zero());
      zero |= wasm_i32x4_bitmask(fours) << (kInts * i);
    }
    return ~zero & ((1u << kFours) - 1);
  }

  static Float ToFloats(Int x) {
    return reinterpret_cast<Float>(wasm_f32x4_convert_i32x4(x));
  }
  static Int ToInts(Float x) {
    return wasm_i32x4_trunc_sat_f32x4(
        wasm_f32x4_nearest(reinterpret_cast<Int>(x)));
  }

  static unsigned Extract(Board board, Board mask) {
    return PlainVector::Extract(board, mask);
  }

 private:
  static Int EvenBytes(Int x) {
    return wasm_v128_and(x, wasm_i16x8_const_splat(255));
  }
  static Int OddBytes(Int x) { return wasm_u16x8_shr(x, 8); }
  static Int EvenInt8s(Int x) {
    return wasm_i16x8_shr(wasm_i16x8_shl(x, 8), 8);
  }
  static Int OddInt8s(Int x) { return wasm_i16x8_shr(x, 8); }
};

}  // namespace

LightKernels WasmLightKernels() {
  return LightKernelCode<WasmVector>::Table("wasm");
}

}  // namespace tara::nn::internal
