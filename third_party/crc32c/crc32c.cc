#include "third_party/crc32c/crc32c.h"

#include <nmmintrin.h>

#include <cstring>

namespace crc32c {

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

}  // namespace crc32c
