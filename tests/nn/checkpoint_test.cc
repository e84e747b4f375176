#include "tara/nn/weights/checkpoint.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/nn/encode/features.h"
#include "tests/base/temporary_folder.h"
#include "tests/status_matchers.h"
#include "third_party/crc32c/crc32c.h"

namespace tara::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CheckpointTest : public ::testing::Test {
 protected:
  static Checkpoint Example() {
    return {.shape = {.channels = 8, .blocks = 2},
            .progress = {.step = 7, .generation = 3, .samples = 1 << 20},
            .optimizer_steps = 5,
            .tensors = {{"alpha", {2, 3}, {1, 2, 3, 4, 5, 6}},
                        {"empty", {0, 4}, {}},
                        {"scalar", {}, {-0.5f}}}};
  }

  // The bytes of the example's file.
  std::string Written(const Checkpoint& checkpoint = Example()) const {
    EXPECT_THAT(WriteCheckpoint(path_, checkpoint), IsOk());
    return ReadWholeFile(path_).value();
  }
  void WriteBytes(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  // Writes the bytes with a number at a byte of the payload, and the checksum
  // to match.
  void WritePatched(std::string bytes, size_t byte, int64_t value) const {
    std::memcpy(bytes.data() + byte, &value, sizeof(value));
    const uint32_t checksum =
        crc32c::Crc32c(bytes.data() + 24, bytes.size() - 24);
    std::memcpy(bytes.data() + 12, &checksum, sizeof(checksum));
    WriteBytes(bytes);
  }
  void ExpectError(absl::StatusCode code, const std::string& text) const {
    EXPECT_THAT(ReadCheckpoint(path_),
                StatusIs(code, AllOf(HasSubstr(text), HasSubstr(path_))));
  }
  void ExpectDamaged(const std::string& text) const {
    ExpectError(absl::StatusCode::kDataLoss, text);
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.At("network.checkpoint");
};

TEST_F(CheckpointTest, WhatIsWrittenIsReadAndNothingElseIsLeft) {
  const Checkpoint written = Example();
  ASSERT_TRUE(WriteCheckpoint(path_, written).ok());
  const auto read = ReadCheckpoint(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(EncodeCheckpoint(*read), EncodeCheckpoint(written));
  EXPECT_EQ(
      std::distance(std::filesystem::directory_iterator(folder_.path()), {}),
      1);
}

TEST_F(CheckpointTest, AnotherKindOfFileIsNoCheckpoint) {
  WriteBytes("a text that is no network, long enough for a header");
  ExpectDamaged("is not a checkpoint");
  WriteBytes("");
  ExpectDamaged("is not a checkpoint");
}

TEST_F(CheckpointTest, AFileCutAnywhereIsRefused) {
  const std::string whole = Written();
  for (size_t size = 0; size < whole.size(); ++size) {
    WriteBytes(whole.substr(0, size));
    EXPECT_THAT(ReadCheckpoint(path_), StatusIs(absl::StatusCode::kDataLoss))
        << size;
  }
  WriteBytes(whole.substr(0, 40));
  ExpectDamaged("it has 40 bytes");
  WriteBytes(whole + "x");
  ExpectDamaged("header announces");
}

TEST_F(CheckpointTest, AChangeOfAnyByteIsRefused) {
  const std::string whole = Written();
  for (size_t byte = 0; byte < whole.size(); ++byte) {
    std::string bytes = whole;
    bytes[byte] = static_cast<char>(bytes[byte] ^ 0x10);
    WriteBytes(bytes);
    EXPECT_FALSE(ReadCheckpoint(path_).ok()) << byte;
  }
  std::string bytes = whole;
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  WriteBytes(bytes);
  ExpectDamaged("checksum");
}

TEST_F(CheckpointTest, ValuesThatAreNotFiniteAreRefusedByTheirTensor) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
    Checkpoint checkpoint = Example();
    ASSERT_FALSE(checkpoint.tensors[0].values.empty());
    checkpoint.tensors[0].values.back() = value;
    ASSERT_TRUE(WriteCheckpoint(path_, checkpoint).ok());
    ExpectDamaged(absl::StrCat("tensor ", checkpoint.tensors[0].name,
                               " has the value ", value));
  }
}

TEST_F(CheckpointTest, OtherVersionsAreNamed) {
  const std::string whole = Written();
  for (const auto& [byte, name] :
       {std::pair{24, "feature"}, {32, "policy"}, {40, "value"}}) {
    WritePatched(whole, byte, 999);
    ExpectError(absl::StatusCode::kFailedPrecondition,
                absl::StrCat(name, " version 999"));
  }
  std::string bytes = whole;
  bytes[8] = 77;
  WriteBytes(bytes);
  ExpectError(absl::StatusCode::kFailedPrecondition, "format version 77");
  bytes[8] = 1;
  WriteBytes(bytes);
  ExpectError(absl::StatusCode::kFailedPrecondition,
              "has format version 1: its network has only the expected margin");
}

// Older programs say that they do not read version 3.
TEST_F(CheckpointTest, AnotherKindOfNetworkHasAFormatOfItsOwn) {
  Checkpoint light = Example();
  EXPECT_EQ(Written(light)[8], 2);
  light.shape.kind = NetworkKind::kLight;
  const std::string bytes = Written(light);
  EXPECT_EQ(bytes[8], 3);
  const absl::StatusOr<Checkpoint> read = ReadCheckpoint(path_);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->shape, light.shape);
  EXPECT_EQ(read->tensors.size(), light.tensors.size());
  WritePatched(bytes, 96, 9);
  ExpectDamaged("unknown kind 9 of networks");
}

TEST_F(CheckpointTest, ImpossibleContentsWithAGoodChecksumAreRefused) {
  const std::string whole = Written();
  WritePatched(whole, 48, 0);
  ExpectDamaged("0 channels");
  // The tensors begin at byte 100: size and name of the first (4 + 5), its
  // number of axes (4), and at byte 113 its first axis.
  WritePatched(whole, 113, int64_t{1} << 62);
  ExpectDamaged("no tensor at byte 100");
}

TEST_F(CheckpointTest, FindSaysWhatIsMissingOrMisshapen) {
  const Checkpoint checkpoint = Example();
  EXPECT_TRUE(checkpoint.Find("alpha", {2, 3}).ok());
  EXPECT_THAT(checkpoint.Find("alpha", {3, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "tensor alpha has shape [2, 3]; expected [3, 2]"));
  EXPECT_THAT(
      checkpoint.Find("beta", {}),
      StatusIs(absl::StatusCode::kInvalidArgument, "missing tensor beta"));
}

TEST_F(CheckpointTest, InputsThatANetworkLacksHaveNoWeight) {
  Checkpoint old = Example();
  old.tensors = {{"raw/stem_globals.weight", {2, 3}, {1, 2, 3, 4, 5, 6}},
                 {"stem_conv.weight", {1, 1, 1, 2}, {7, 8}}};
  ASSERT_TRUE(WriteCheckpoint(path_, old).ok());
  const auto read = ReadCheckpoint(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  std::vector<float> globals(2 * kNumGlobals);
  for (int i = 0; i < 3; ++i) {
    globals[i] = static_cast<float>(1 + i);
    globals[kNumGlobals + i] = static_cast<float>(4 + i);
  }
  EXPECT_EQ(read->tensors[0].shape, (std::vector<int64_t>{2, kNumGlobals}));
  EXPECT_EQ(read->tensors[0].values, globals);
  std::vector<float> planes(2 * kNumPlanes);
  planes[0] = 7;
  planes[1] = 8;
  EXPECT_EQ(read->tensors[1].shape,
            (std::vector<int64_t>{1, kNumPlanes, 1, 2}));
  EXPECT_EQ(read->tensors[1].values, planes);
}

TEST_F(CheckpointTest, InputsThatThisProgramLacksAreRefused) {
  Checkpoint newer = Example();
  newer.tensors = {{"stem_globals.weight",
                    {1, kNumGlobals + 1},
                    std::vector<float>(kNumGlobals + 1)}};
  ASSERT_TRUE(WriteCheckpoint(path_, newer).ok());
  ExpectError(
      absl::StatusCode::kFailedPrecondition,
      absl::StrCat("has ", kNumGlobals + 1,
                   " globals; this program has the first ", kNumGlobals));
}

}  // namespace
}  // namespace tara::nn
