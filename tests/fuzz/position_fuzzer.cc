// Positions as text from a hostile world: what parses prints identically, is
// valid, and can be played to its end with every position valid; what is
// completed parses.
//
// Input: a line of text, a newline, then bytes that choose actions.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "tara/core/position_text.h"
#include "tests/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = input.find('\n');
  const absl::string_view text = input.substr(0, end);
  const absl::StatusOr<tara::State> completed = tara::CompletePosition(text);
  if (completed.ok()) {
    const std::string whole = tara::PositionToText(*completed);
    const absl::StatusOr<tara::State> same = tara::ParsePosition(whole);
    TARA_CHECK(same.ok() && *same == *completed, "completed, but not valid");
  }
  const absl::StatusOr<tara::State> state = tara::ParsePosition(text);
  if (!state.ok()) {
    TARA_CHECK(!state.status().message().empty(), "an error without a message");
    return 0;
  }
  TARA_CHECK(tara::PositionToText(*state) == text, "parse and print differ");
  tara::PlayByBytes(
      *state, end == absl::string_view::npos ? "" : input.substr(end + 1));
  return 0;
}
