#include "tara/base/json.h"

#include <cstddef>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "tara/base/text.h"

namespace tara {
namespace {

// Parses JSON without storing it, and without recursion. Methods return whether
// to continue.
template <typename Json>
class Checker final : public Json::json_sax_t {
 public:
  const absl::Status& status() const { return status_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(typename Json::number_integer_t) override { return true; }
  bool number_unsigned(typename Json::number_unsigned_t) override {
    return true;
  }
  bool number_float(typename Json::number_float_t,
                    const std::string&) override {
    return true;
  }
  bool string(std::string&) override { return true; }
  bool binary(typename Json::binary_t&) override { return true; }

  bool start_object(size_t) override { return Begin(); }
  bool start_array(size_t) override { return Begin(); }
  bool end_object() override { return End(); }
  bool end_array() override { return End(); }

  bool key(std::string& name) override {
    if (names_.back().insert(name).second) return true;
    return Fail("field '", Shown(name),
                "' is given twice in one object; expected it once");
  }

  bool parse_error(size_t byte, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Fail("malformed JSON at byte ", byte);
  }

 private:
  template <typename... Parts>
  bool Fail(const Parts&... parts) {
    status_ = absl::InvalidArgumentError(absl::StrCat(parts...));
    return false;
  }

  bool Begin() {
    names_.emplace_back();
    if (names_.size() <= kMaxJsonDepth) return true;
    return Fail("JSON nests deeper than ", kMaxJsonDepth);
  }

  bool End() {
    names_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> names_;  // of the fields, by depth
  absl::Status status_;
};

}  // namespace

template <typename Json>
absl::StatusOr<Json> ParseJson(absl::string_view text) {
  // The parser takes a NUL for the end of the text.
  if (const size_t nul = text.find('\0'); nul != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("malformed JSON at byte ", nul + 1));
  }
  Checker<Json> checker;
  if (!Json::sax_parse(text, &checker)) return checker.status();
  return Json::parse(text);
}

std::string JsonProblem(const nlohmann::json::exception& error) {
  // "[json.exception.out_of_range.403] key 'score' not found"
  absl::string_view text = error.what();
  const size_t end = text.find("] ");
  if (end != absl::string_view::npos) text.remove_prefix(end + 2);
  if (absl::ConsumePrefix(&text, "key '") &&
      absl::ConsumeSuffix(&text, "' not found")) {
    return absl::StrCat("field '", Shown(text), "' is missing");
  }
  if (absl::ConsumePrefix(&text, "type must be ")) {
    return absl::StrCat("expected ",
                        absl::StrReplaceAll(text, {{", but is ", ", got "}}));
  }
  return Shown(text);
}

template <typename Json>
std::string ShownJson(const Json& json) {
  if (json.is_array()) return "a list";
  if (json.is_object()) return "an object";
  return Shown(JsonText(json));
}

template absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text);
template absl::StatusOr<nlohmann::ordered_json> ParseJson(
    absl::string_view text);
template std::string ShownJson(const nlohmann::json& json);
template std::string ShownJson(const nlohmann::ordered_json& json);

}  // namespace tara
