#include "tara/nn/bundle/manifest.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tara::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

BundleManifest SomeManifest() {
  return {.made_by = "a test",
          .shape = {.channels = 16, .blocks = 2},
          .parameters = 12345,
          .weights = WeightType::kFloat16,
          .has_owner = true,
          .variants = {{.variant = Variant::kHighKingsL2,
                        .options = {.no_progress_limit = 25,
                                    .placement_captures_kings = true}}},
          .provenance = {.run = "kings",
                         .checkpoint = "ckpt-000007",
                         .begun_with = "first.pt",
                         .begun_with_crc32c = "0a1b2c3d",
                         .generation = 7,
                         .steps = 700,
                         .samples = 89600,
                         .games = 1400,
                         .seed = 18446744073709551615u,
                         .training_seconds = 62.5,
                         .processor_seconds = 99.5,
                         .config = "variant: \"high_kings_l2\"\n",
                         .scores = {{.variant = "high_kings_l2",
                                     .opponent = "greedy",
                                     .generation = 6,
                                     .games = 40,
                                     .score = 0.75,
                                     .low = 0.5,
                                     .high = 0.875}}}};
}

// Returns the error of the manifest in which one text is replaced by another.
absl::Status ErrorWith(const std::string& from, const std::string& to) {
  const std::string text = ManifestToJson(SomeManifest());
  const std::string changed = absl::StrReplaceAll(text, {{from, to}});
  EXPECT_NE(changed, text) << from;
  return ManifestFromJson(changed).status();
}

TEST(ManifestTest, ComesBackFromItsText) {
  const BundleManifest manifest = SomeManifest();
  const auto read = ManifestFromJson(ManifestToJson(manifest));
  ASSERT_TRUE(read.ok()) << read.status();
  // Its text holds all of it.
  EXPECT_EQ(ManifestToJson(*read), ManifestToJson(manifest));
  EXPECT_EQ(read->variants[0].options.no_progress_limit, 25);
  EXPECT_TRUE(read->variants[0].options.placement_captures_kings);
  EXPECT_EQ(read->provenance.begun_with, "first.pt");
  EXPECT_EQ(read->provenance.begun_with_crc32c, "0a1b2c3d");
  EXPECT_EQ(read->provenance.seed, 18446744073709551615u);
}

// The folder of a run may have any name.
TEST(ManifestTest, IsUtf8WhateverTheNameOfTheRunIs) {
  BundleManifest manifest = SomeManifest();
  manifest.provenance.run = "run\xff";
  const auto read = ManifestFromJson(ManifestToJson(manifest));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->provenance.run, "run\xEF\xBF\xBD");
}

TEST(ManifestTest, WhatIsNotKnownIsLeftOut) {
  BundleManifest manifest = SomeManifest();
  manifest.provenance = {.run = "",
                         .checkpoint = "net",
                         .generation = 0,
                         .steps = 0,
                         .samples = 0,
                         .games = {},
                         .seed = {},
                         .training_seconds = {},
                         .processor_seconds = {},
                         .config = "",
                         .scores = {}};
  const auto read = ManifestFromJson(ManifestToJson(manifest));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE(read->provenance.seed.has_value());
  EXPECT_FALSE(read->provenance.games.has_value());
  EXPECT_FALSE(read->provenance.training_seconds.has_value());
}

TEST(ManifestTest, AnotherVersionIsRefusedWithWhatDiffers) {
  const struct {
    const char* from;
    const char* to;
    const char* message;
  } cases[] = {
      {"\"format_version\": 2", "\"format_version\": 0", "format version 0"},
      {"\"format_version\": 2", "\"format_version\": 9", "format version 9"},
      {"\"features\": 2", "\"features\": 9", "features version 9"},
      {"\"policy\": 1", "\"policy\": 9", "policy version 9"},
      {"\"values\": 2", "\"values\": 9", "values version 9"},
      {"\"rules\": 1", "\"rules\": 9", "rules version 9"}};
  for (const auto& wrong : cases) {
    const absl::Status status = ErrorWith(wrong.from, wrong.to);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(wrong.message), HasSubstr("this program")));
  }
}

TEST(ManifestTest, WhatIsNoManifestIsRefused) {
  EXPECT_EQ(ManifestFromJson("").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ManifestFromJson("[1]").status().code(),
            absl::StatusCode::kDataLoss);
  for (const auto& [from, to] :
       std::vector<std::pair<const char*, const char*>>{
           {"tara-bundle", "else"},
           {"\"channels\": 16", "\"channels\": 0"},
           {"\"channels\": 16", "\"channels\": \"many\""},
           {"\"id\": \"high_kings_l2\"", "\"id\": \"chess\""},
           {"\"no_progress_limit\": 25", "\"no_progress_limit\": 0"},
           {"\"provenance\"", "\"from\""},
           {"\"versions\"", "\"editions\""}}) {
    EXPECT_EQ(ErrorWith(from, to).code(), absl::StatusCode::kDataLoss) << to;
  }
}

}  // namespace
}  // namespace tara::nn
