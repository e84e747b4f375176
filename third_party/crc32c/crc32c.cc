#include "third_party/crc32c/crc32c.h"

#include <array>
#include <cstring>

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace crc32c {

#if defined(__SSE4_2__)

uint32_t Extend(uint32_t crc, const void* data, size_t size_bytes) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  uint64_t state = static_cast<uint32_t>(~crc);
  for (; size_bytes >= sizeof(uint64_t); size_bytes -= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof(word));
    state = _mm_crc32_u64(state, word);
    bytes += sizeof(word);
  }
  auto state32 = static_cast<uint32_t>(state);
  for (; size_bytes > 0; --size_bytes) {
    state32 = _mm_crc32_u8(state32, *bytes++);
  }
  return ~state32;
}

#else

namespace {

// The states after each byte, of a state of zeros.
constexpr std::array<uint32_t, 256> StatesAfterBytes() {
  constexpr uint32_t kPolynomial = 0x82f63b78;  // lowest bit first
  std::array<uint32_t, 256> states = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t state = byte;
    for (int bit = 0; bit < 8; ++bit) {
      state = (state >> 1) ^ (state & 1 ? kPolynomial : 0);
    }
    states[byte] = state;
  }
  return states;
}

}  // namespace

uint32_t Extend(uint32_t crc, const void* data, size_t size_bytes) {
  static constexpr std::array<uint32_t, 256> kStates = StatesAfterBytes();
  const auto* bytes = static_cast<const unsigned char*>(data);
  uint32_t state = ~crc;
  for (; size_bytes > 0; --size_bytes) {
    state = kStates[(state ^ *bytes++) & 0xff] ^ (state >> 8);
  }
  return ~state;
}

#endif

}  // namespace crc32c
