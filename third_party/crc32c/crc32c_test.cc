#include "third_party/crc32c/crc32c.h"

#include <cstdint>
#include <numeric>
#include <string>

#include "gtest/gtest.h"

namespace {

// Expected values: RFC 3720, appendix B.4.
TEST(Crc32cTest, AgreesWithTheExamplesOfTheRfc) {
  std::string bytes(32, '\x00');
  EXPECT_EQ(crc32c::Crc32c(bytes.data(), bytes.size()), 0x8a9136aau);
  bytes.assign(32, '\xff');
  EXPECT_EQ(crc32c::Crc32c(bytes.data(), bytes.size()), 0x62a8ab43u);
  std::iota(bytes.begin(), bytes.end(), '\x00');
  EXPECT_EQ(crc32c::Crc32c(bytes.data(), bytes.size()), 0x46dd794eu);
}

TEST(Crc32cTest, IsZeroForNothing) {
  EXPECT_EQ(crc32c::Crc32c(nullptr, 0), 0u);
}

TEST(Crc32cTest, ExtendsAtAnyPoint) {
  const std::string bytes = "some text that is longer than two words";
  const uint32_t whole = crc32c::Crc32c(bytes.data(), bytes.size());
  for (size_t split = 0; split <= bytes.size(); ++split) {
    const uint32_t first = crc32c::Crc32c(bytes.data(), split);
    EXPECT_EQ(crc32c::Extend(first, bytes.data() + split, bytes.size() - split),
              whole)
        << split;
  }
}

}  // namespace
