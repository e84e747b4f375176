#ifndef TESTS_DOCS_DRAWING_TOKENS_H_
#define TESTS_DOCS_DRAWING_TOKENS_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tara/core/board.h"
#include "tests/docs/document.h"

namespace tara {

// What a drawing of the board says of each hill, in canonical order.
using HillTokens = std::array<std::string, kNumHills>;

// Returns the drawings of a block, which stand side by side:
//
//   left                   right
//     7 |    B7 C7 ...       7 |    40 41 ...
//
// Empty unless each has seven ranks and a word for each hill.
std::vector<HillTokens> Drawings(const FencedBlock& block);

// Returns the board field of a position text, hill by hill: a letter or ".";
// nothing if it has not one for each hill.
std::optional<HillTokens> BoardTokens(absl::string_view position);

}  // namespace tara

#endif  // TESTS_DOCS_DRAWING_TOKENS_H_
