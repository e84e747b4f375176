#ifndef TARA_BASE_JSON_H_
#define TARA_BASE_JSON_H_

// JSON from outside: whatever parses JSON of files or programs does it here.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tara {

// How deep JSON may nest. Values are copied, written and compared by recursion,
// so that deeper ones could overflow the stack.
inline constexpr size_t kMaxJsonDepth = 32;

// Returns the value of a text; Json is nlohmann::json or ordered_json. Returns
// INVALID_ARGUMENT with the byte, from 1, for malformed JSON, and for JSON that
// nests deeper than kMaxJsonDepth or has a field twice in one object.
template <typename Json>
absl::StatusOr<Json> ParseJson(absl::string_view text);

// Returns the problem that the exception of an access to a value reports, such
// as "field 'score' is missing".
std::string JsonProblem(const nlohmann::json::exception& error);

// Returns the text of a value, with U+FFFD for bytes that are not UTF-8.
// `indent`: spaces per level; -1: all on one line.
template <typename Json>
std::string JsonText(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// Returns a value as messages show it: short; lists and objects by their kind.
template <typename Json>
std::string ShownJson(const Json& json);

}  // namespace tara

#endif  // TARA_BASE_JSON_H_
