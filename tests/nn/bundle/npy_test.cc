#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/bundle/zip_archive.h"

namespace tara::nn {
namespace {

using ::testing::HasSubstr;

const std::vector<float> kValues = {1, 2, 3, 4, 5, 6};

TEST(NpyTest, WritesTheHeaderThatNumPyDescribes) {
  const std::string file = ToNpy({2, 3}, kValues);
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const size_t size = static_cast<unsigned char>(file[8]) +
                      256u * static_cast<unsigned char>(file[9]);
  EXPECT_EQ((10 + size) % 64, 0u);
  EXPECT_EQ(file[10 + size - 1], '\n');
  EXPECT_THAT(file.substr(10, size),
              HasSubstr("{'descr': '<f4', 'fortran_order': False, "
                        "'shape': (2, 3), }"));
  EXPECT_EQ(file.size(), 10 + size + 6 * sizeof(float));
}

TEST(NpyTest, ATupleOfOneHasAComma) {
  EXPECT_THAT(ToNpy({6}, kValues), HasSubstr("'shape': (6,), }"));
}

TEST(NpyTest, ValuesComeBack) {
  EXPECT_EQ(FromNpy(ToNpy({2, 3}, kValues), {2, 3}).value(), kValues);
}

TEST(NpyTest, AnotherShapeOrSizeIsRefused) {
  const std::string file = ToNpy({2, 3}, kValues);
  for (const auto& status :
       {FromNpy(file, {3, 2}).status(), FromNpy("", {2, 3}).status(),
        FromNpy(file.substr(0, file.size() - 1), {2, 3}).status(),
        FromNpy(file + "x", {2, 3}).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  }
}

}  // namespace
}  // namespace tara::nn
