// Holds docs/reference/metrics.md to the heads of the network, each of which
// has a loss there.

#include <algorithm>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tara/nn/heads.h"
#include "tests/docs/document.h"

namespace tara {
namespace {

// Whether a line begins with `begin` and has `part`.
bool HasLine(const Document& document, absl::string_view begin,
             absl::string_view part) {
  return std::any_of(document.lines.begin(), document.lines.end(),
                     [&](const DocumentLine& line) {
                       return absl::StartsWith(line.text, begin) &&
                              absl::StrContains(line.text, part);
                     });
}

TEST(MetricsDocumentTest, EveryHeadHasItsLosses) {
  const absl::StatusOr<Document> document =
      ReadDocument("docs/reference/metrics.md");
  ASSERT_TRUE(document.ok()) << document.status();
  for (const nn::HeadInfo& head : nn::kHeads) {
    const std::string field = absl::StrCat("`", head.name, "_loss`");
    EXPECT_TRUE(HasLine(*document, absl::StrCat("| ", field, " |"), ""))
        << "learning: " << field;
    EXPECT_TRUE(HasLine(*document, "| `loss`, ", field))
        << "held_out: " << field;
  }
}

}  // namespace
}  // namespace tara
