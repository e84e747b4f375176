// Holds docs/reference/bundle.md to the inputs of the network: other programs
// encode positions by its tables.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

using ::testing::HasSubstr;

template <typename Features>
std::string TableOf(const std::string& kind, const Features& features) {
  std::string table =
      absl::StrCat("| ", kind, " | name | meaning |\n|---|---|---|\n");
  for (size_t i = 0; i < features.size(); ++i) {
    absl::StrAppend(&table, "| ", i, " | `", features[i].name, "` | ",
                    features[i].meaning, " |\n");
  }
  return table;
}

TEST(BundleDocumentTest, ListsAllInputsInTheirOrder) {
  const absl::StatusOr<std::string> page =
      ReadWholeFile("docs/reference/bundle.md");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(*page, HasSubstr(TableOf("plane", kPlanes) + "\n"));
  EXPECT_THAT(*page, HasSubstr(TableOf("global", kGlobals) + "\n"));
}

}  // namespace
}  // namespace tara::nn
