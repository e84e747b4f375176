// CRC-32C (Castagnoli polynomial 0x1EDC6F41, reflected), the checksum of
// RFC 3720, appendix B.4. Uses the instruction of SSE4.2, which every x86-64
// that runs this project has; elsewhere a table.

#ifndef THIRD_PARTY_CRC32C_CRC32C_H_
#define THIRD_PARTY_CRC32C_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace crc32c {

// Returns the checksum of A followed by B, given `crc`, the checksum of A, and
// B as the `size_bytes` bytes at `data`. The checksum of nothing is 0.
// Pure; O(size_bytes), with SSE4.2 8 bytes in about 3 cycles.
uint32_t Extend(uint32_t crc, const void* data, size_t size_bytes);

// Returns the checksum of the `size_bytes` bytes at `data`.
inline uint32_t Crc32c(const void* data, size_t size_bytes) {
  return Extend(0, data, size_bytes);
}

}  // namespace crc32c

#endif  // THIRD_PARTY_CRC32C_CRC32C_H_
