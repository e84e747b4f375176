// Holds the tables of docs/reference/config.md to those of the code.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/docs/config_tables.h"
#include "tests/docs/document.h"

namespace tara {
namespace {

std::string ReadPage() {
  const absl::StatusOr<Document> document =
      ReadDocument("docs/reference/config.md");
  if (!document.ok()) {
    ADD_FAILURE() << document.status();
    return "";
  }
  return absl::StrJoin(document->lines, "\n",
                       [](std::string* out, const DocumentLine& line) {
                         out->append(line.text);
                       });
}

TEST(ConfigDocumentTest, TablesAreThoseOfTheCode) {
  const std::string page = ReadPage();
  const absl::StatusOr<std::string> renewed = RenewConfigPage(page);
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  EXPECT_EQ(page, *renewed)
      << "bazel run //tests/docs:renew_config writes the tables anew";
}

TEST(ConfigDocumentTest, WhatDiffersFromTheCodeIsRenewedAndNothingElse) {
  const std::string page = ReadPage();
  // A value, a default before its semicolon, a name, and a row too many.
  const std::string changed = absl::StrReplaceAll(
      page,
      {{"| `gate.games` | uint32 | 0 to", "| `gate.games` | uint32 | 7 to"},
       {"| 1.5; `mcts` players", "| 99; `mcts` players"},
       {"| `noise` |", "| `noises` |"},
       {"| `minutes` |", "| `hours` | float | | `0` | |\n| `minutes` |"}});
  const absl::StatusOr<std::string> renewed = RenewConfigPage(changed);
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  // The meaning of an option that the page lacks is that of the code.
  EXPECT_EQ(*renewed, page);
  EXPECT_NE(renewed->find("share of Dirichlet noise in the root's priors"),
            std::string::npos);
}

TEST(ConfigDocumentTest, AFieldWithoutAPlaceIsAnError) {
  const absl::StatusOr<std::string> renewed =
      RenewConfigPage(absl::StrReplaceAll(ReadPage(), {{"## gate", "## x"}}));
  ASSERT_FALSE(renewed.ok());
  EXPECT_NE(renewed.status().message().find("gate.games"), std::string::npos);
}

}  // namespace
}  // namespace tara
