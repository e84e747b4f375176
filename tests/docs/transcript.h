#ifndef TESTS_DOCS_TRANSCRIPT_H_
#define TESTS_DOCS_TRANSCRIPT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/docs/document.h"

namespace tara {

// A line of a transcript: a keyword and its text
// (docs/reference/rules.md 12.3).
struct TranscriptLine {
  std::string keyword;
  std::string text;
};

TranscriptLine SplitTranscriptLine(absl::string_view line);

// Replays a block of transcript and returns what the rules of the core
// disagree with, each as "file:line: what is wrong; what was expected". A line
// that cannot be read is a disagreement; the first line must be a position.
// After a first position or an action that is refused, the rest of the block
// is left out: it would only repeat the same.
std::vector<std::string> ReplayTranscript(const Document& document,
                                          const FencedBlock& block);

}  // namespace tara

#endif  // TESTS_DOCS_TRANSCRIPT_H_
