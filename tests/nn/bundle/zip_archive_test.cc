#include "tara/nn/bundle/zip_archive.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"

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
  const auto reader = ZipReader::Open(Zip());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_LT(reader->CompressedSize("folder/large"), 1000u);
}

TEST(ZipArchiveTest, TheSameEntriesMakeTheSameBytes) {
  EXPECT_EQ(Zip(), Zip());
}

TEST(ZipArchiveTest, AnEntryThatIsNotThereIsNotFound) {
  const auto reader = ZipReader::Open(Zip());
  ASSERT_TRUE(reader.ok()) << reader.status();
  const absl::Status status = reader->Read("second").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("second"));
}

TEST(ZipArchiveTest, WhatIsNoArchiveIsRefused) {
  for (const std::string& bytes :
       {std::string(), std::string("PK"), std::string(1000, 'a')}) {
    const absl::Status status = ZipReader::Open(bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << bytes;
    EXPECT_THAT(std::string(status.message()), HasSubstr("zip"));
  }
}

TEST(ZipArchiveTest, ATruncatedArchiveIsRefused) {
  const std::string whole = Zip();
  for (size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_EQ(ZipReader::Open(whole.substr(0, size)).status().code(),
              absl::StatusCode::kDataLoss)
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
  const absl::Status status = reader->Read("text").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("entry text"));
}

TEST(ZipArchiveTest, ASmallArchiveHasNoLargeEntry) {
  const std::string zeros(ZipReader::kSmallEntrySize + 1, '\0');
  const std::string bomb = MakeZip({{"zeros", zeros}}).value();
  ASSERT_LT(bomb.size(), 10000u);
  const absl::Status status =
      ZipReader::Open(bomb).value().Read("zeros").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("entry zeros has 8388609 bytes; expected at most "
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
  const absl::Status status = reader->Read("first", 8).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("at most 8 in"));
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
  EXPECT_EQ(reader->Read("text").status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace tara::nn
