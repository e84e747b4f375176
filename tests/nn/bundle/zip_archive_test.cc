#include "tara/nn/bundle/zip_archive.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tests/status_matchers.h"

namespace tara::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<ZipEntry>& Entries() {
  static const auto* const entries = new std::vector<ZipEntry>{
      {"first", "some text"},
      {"folder/empty", ""},
      {"folder/large",
       std::string(100000, 'x') + std::string("\0\x01\xff", 3)}};
  return *entries;
}

std::string Zip() { return MakeZip(Entries()).value(); }

TEST(ZipArchiveTest, EntriesComeBackInTheirOrder) {
  const auto reader = ZipReader::Open(Zip());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_THAT(reader->Names(),
              ElementsAre("first", "folder/empty", "folder/large"));
  for (const ZipEntry& entry : Entries()) {
    EXPECT_TRUE(reader->Has(entry.name));
    EXPECT_EQ(reader->Read(entry.name).value(), entry.contents);
  }
  EXPECT_FALSE(reader->Has("folder"));
}

TEST(ZipArchiveTest, EntriesAreDeflated) {
  EXPECT_LT(ZipReader::Open(Zip())->CompressedSize("folder/large"), 1000u);
}

TEST(ZipArchiveTest, AnEntryThatIsNotThereIsNotFound) {
  EXPECT_THAT(ZipReader::Open(Zip())->Read("second"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("second")));
}

TEST(ZipArchiveTest, ATruncatedArchiveIsRefused) {
  const std::string whole = Zip();
  for (size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_THAT(ZipReader::Open(whole.substr(0, size)).status(),
                StatusIs(absl::StatusCode::kDataLoss))
        << size;
  }
}

TEST(ZipArchiveTest, AChangedByteIsFound) {
  std::string changed =
      MakeZip({{"text", "abcdefghijklmnopqrstuvwxyz0123456789"}}).value();
  // After the name in the entry's header, 30 bytes and the 4 of the name.
  changed[40] = static_cast<char>(changed[40] ^ 1);
  const auto reader = ZipReader::Open(changed);
  if (!reader.ok()) return;  // found even earlier
  EXPECT_THAT(reader->Read("text"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("entry text")));
}

TEST(ZipArchiveTest, ASmallArchiveHasNoLargeEntry) {
  const std::string zeros(ZipReader::kSmallEntrySize + 1, '\0');
  const std::string bomb = MakeZip({{"zeros", zeros}}).value();
  ASSERT_LT(bomb.size(), 10000u);
  EXPECT_THAT(ZipReader::Open(bomb)->Read("zeros"),
              StatusIs(absl::StatusCode::kDataLoss,
                       "entry zeros has 8388609 bytes; expected at most "
                       "8388608 in this archive"));
}

TEST(ZipArchiveTest, ALargeEntryIsReadFromALargeArchive) {
  // A twentieth of what the archive may have does not deflate.
  std::string contents(ZipReader::kSmallEntrySize + 1, '\0');
  Random random(1);
  for (size_t i = 0; i < contents.size() / ZipReader::kMaxGrowth + 1; ++i) {
    contents[i] = static_cast<char>(random() & 0xff);
  }
  const std::string zip = MakeZip({{"some", contents}}).value();
  ASSERT_LT(zip.size(), contents.size() / 10);
  EXPECT_EQ(ZipReader::Open(zip).value().Read("some").value(), contents);
}

TEST(ZipArchiveTest, NoMoreIsReadThanIsAskedFor) {
  const auto reader = ZipReader::Open(Zip());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_TRUE(reader->Read("first", 9).ok());
  EXPECT_THAT(reader->Read("first", 8),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("at most 8 in")));
}

TEST(ZipArchiveTest, AnEntryThatIsLargerThanItClaimsIsDamaged) {
  // Both headers of the entry claim one byte of what are 100.
  std::string lying = MakeZip({{"text", std::string(100, 'x')}}).value();
  for (const auto& [magic, place] :
       {std::pair{"PK\x03\x04", 22}, std::pair{"PK\x01\x02", 24}}) {
    const size_t header = lying.find(magic);
    ASSERT_NE(header, std::string::npos);
    ASSERT_EQ(lying[header + place], 100);
    lying[header + place] = 1;
  }
  const auto reader = ZipReader::Open(lying);
  if (!reader.ok()) return;  // found even earlier
  EXPECT_THAT(reader->Read("text"), StatusIs(absl::StatusCode::kDataLoss));
}

// --- NumPy -------------------------------------------------------------------

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
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  }
}

}  // namespace
}  // namespace tara::nn
