#include "tara/eval/regret/solved_set.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tara/base/atomic_file.h"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kKind[] = "tara_solved_endgames";
constexpr int kVersion = 1;

// Returns the number of positions that the first line promises.
absl::StatusOr<size_t> ParseHead(absl::string_view line) {
  const Json head = ParseJson<Json>(line).value_or(Json());
  if (!head.is_object() || !head.contains(kKind)) {
    return absl::FailedPreconditionError(
        absl::StrCat("no file of solved endgames; expected a first line {\"",
                     kKind, "\": ", kVersion, ", ...}"));
  }
  if (head[kKind] != kVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("solved endgames of version ", ShownJson(head[kKind]),
                     "; this program reads ", kVersion));
  }
  const auto count = head.find("positions");
  if (count == head.end() || !count->is_number_unsigned()) {
    return absl::DataLossError("the first line has no number \"positions\"");
  }
  return count->get<size_t>();
}

// Returns the margins if they are possible for the position.
absl::StatusOr<std::vector<int>> ParseMargins(const Json& json,
                                              const State& state) {
  std::vector<int> margins;
  if (json.is_array()) {
    for (const Json& margin : json) {
      if (!margin.is_number_integer() || margin < -kMaxMargin ||
          margin > kMaxMargin) {
        return absl::DataLossError(absl::StrCat("margin ", ShownJson(margin),
                                                "; expected -", kMaxMargin,
                                                " to ", kMaxMargin));
      }
      margins.push_back(margin.get<int>());
    }
  }
  const auto legal = static_cast<size_t>(LegalActions(state).Count());
  if (margins.size() != legal) {
    return absl::DataLossError(
        absl::StrCat(margins.size(), " margins for ", legal, " legal actions"));
  }
  return margins;
}

absl::StatusOr<SolvedPosition> ParseLine(absl::string_view line) {
  const absl::StatusOr<Json> parsed = ParseJson<Json>(line);
  if (!parsed.ok()) return absl::DataLossError(parsed.status().message());
  const Json& json = *parsed;
  if (!json.is_object() || !json.contains("position") ||
      !json.at("position").is_string() || !json.contains("margins")) {
    return absl::DataLossError(
        "expected {\"position\": \"...\", \"margins\": [...]}");
  }
  const absl::StatusOr<State> state =
      ParsePosition(json.at("position").get_ref<const std::string&>());
  if (!state.ok()) return absl::DataLossError(state.status().message());
  if (state->finished()) return absl::DataLossError("the game is finished");
  TARA_ASSIGN_OR_RETURN(std::vector<int> margins,
                        ParseMargins(json.at("margins"), *state));
  return SolvedPosition{.state = *state, .margins = std::move(margins)};
}

absl::Status In(const std::string& path, size_t line,
                const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(path, ":", line, ": ", status.message()));
}

}  // namespace

absl::Status WriteSolvedSet(const std::string& path,
                            absl::Span<const SolvedPosition> positions) {
  std::string text = absl::StrCat(
      Json({{kKind, kVersion}, {"positions", positions.size()}}).dump(), "\n");
  for (const SolvedPosition& position : positions) {
    absl::StrAppend(&text,
                    Json({{"position", PositionToText(position.state)},
                          {"margins", position.margins}})
                        .dump(),
                    "\n");
  }
  return WriteFileAtomically(path, text);
}

absl::StatusOr<std::vector<SolvedPosition>> ReadSolvedSet(
    const std::string& path) {
  TARA_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  const absl::StatusOr<size_t> count =
      ParseHead(lines.empty() ? absl::string_view() : lines.front());
  if (!count.ok()) return In(path, 1, count.status());
  if (lines.size() != *count + 1) {
    return absl::DataLossError(absl::StrCat(path, ": ", lines.size() - 1,
                                            " positions; expected ", *count,
                                            ", as the first line says"));
  }
  std::vector<SolvedPosition> positions;
  for (size_t i = 1; i < lines.size(); ++i) {
    absl::StatusOr<SolvedPosition> position = ParseLine(lines[i]);
    if (!position.ok()) return In(path, i + 1, position.status());
    positions.push_back(*std::move(position));
  }
  return positions;
}

}  // namespace tara::eval
