#include "tara/record/game_lines.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"

namespace tara::record {
namespace {

// Keeps the fields in the order in which they are written.
using Json = nlohmann::ordered_json;

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("game line: ", parts...));
}

// Refuses what is no object, lacks a required field or has an unknown one.
absl::Status CheckFields(absl::string_view where, const Json& json,
                         std::initializer_list<absl::string_view> required,
                         absl::string_view optional = "") {
  if (!json.is_object()) {
    return Error(where, ": expected an object, got ", json.dump());
  }
  for (const absl::string_view name : required) {
    if (!json.contains(std::string(name))) {
      return Error(where, ": missing field '", name, "'");
    }
  }
  for (const auto& [name, value] : json.items()) {
    const bool known =
        name == optional ||
        std::find(required.begin(), required.end(), name) != required.end();
    if (!known) return Error(where, ": unknown field '", name, "'");
  }
  return absl::OkStatus();
}

// Returns the text of a field. REQUIRES: the object has it.
absl::StatusOr<std::string> TextField(absl::string_view where,
                                      const Json& object, const char* name) {
  const Json& value = object.at(name);
  if (value.is_string()) return value.get<std::string>();
  return Error(where, ", field '", name, "': expected text, got ",
               value.dump());
}

absl::StatusOr<RuleOptions> OptionsFromJson(Variant variant, const Json& json) {
  RuleOptions options;
  if (!json.is_object()) {
    return Error("options: expected an object, got ", json.dump());
  }
  for (const auto& [name, value] : json.items()) {
    const RuleOptionInfo* const option = FindRuleOption(name);
    const bool is_switch = option != nullptr && option->is_switch();
    if (is_switch ? !value.is_boolean() : !value.is_number()) {
      return Error("options, field '", name, "': expected ",
                   is_switch ? "true or false" : "a number", ", got ",
                   value.dump());
    }
    const absl::Status status =
        SetRuleOption(variant, name, value.dump(), options);
    if (!status.ok()) return Error("options: ", status.message());
  }
  return options;
}

Json OptionsToJson(const RuleOptions& options) {
  Json json = Json::object();
  for (const RuleOptionInfo& option : kRuleOptions) {
    const int value = option.get(options);
    if (value == option.DefaultValue()) continue;
    // Both are written as in JSON.
    json[std::string(option.name)] =
        Json::parse(FormatRuleOptionValue(option, value));
  }
  return json;
}

Json OutcomeJson(const Outcome& outcome) {
  const int winner = outcome.winner();
  return {{"points", outcome.points},
          {"kingdoms", outcome.kingdoms},
          {"territory", outcome.territory},
          {"bridges", outcome.bridges},
          {"kings_captured", outcome.kings_captured},
          {"winner", winner < 0 ? Json() : Json(winner)},
          {"ended_by", std::string(EndingName(outcome.ended_by))}};
}

// Compares each field of `expected` with that of `json`, which has it. Compares
// text, so that 3.0 is not 3.
absl::Status CheckSame(absl::string_view where, const Json& expected,
                       const Json& json) {
  for (const auto& [name, value] : expected.items()) {
    const std::string got = json.at(name).dump();
    if (got == value.dump()) continue;
    return Error(where, ", field '", name, "': expected ", value.dump(),
                 ", got ", got);
  }
  return absl::OkStatus();
}

absl::StatusOr<Action> PlayStep(absl::string_view where, const Json& step,
                                State& state) {
  TARA_RETURN_IF_ERROR(CheckFields(where, step, {"seat", "action", "legal"}));
  if (state.finished()) {
    return Error(where, ": expected no step, the game has ended (",
                 EndingName(state.ending), ")");
  }
  const Json expected = {{"seat", state.seat},
                         {"legal", LegalActionTexts(state)}};
  TARA_RETURN_IF_ERROR(CheckSame(where, expected, step));
  TARA_ASSIGN_OR_RETURN(const std::string text,
                        TextField(where, step, "action"));
  const absl::StatusOr<Action> action = ParseAction(text, state);
  if (!action.ok()) return Error(where, ": ", action.status().message());
  // One notation for one action: "d4" parses but is not how it is written.
  if (const std::string canonical = ActionToText(*action, state);
      canonical != text) {
    return Error(where, ", field 'action': expected ", canonical, ", got ",
                 text);
  }
  const absl::Status played = PlayAction(*action, state);
  if (!played.ok()) return Error(where, ": ", played.message());
  return *action;
}

absl::StatusOr<GameLine> GameFromJson(const Json& json) {
  TARA_RETURN_IF_ERROR(
      CheckFields("game", json, {"variant", "steps", "result"}, "options"));
  TARA_ASSIGN_OR_RETURN(const std::string id,
                        TextField("game", json, "variant"));
  const absl::StatusOr<Variant> variant = ParseVariant(id);
  if (!variant.ok()) return Error(variant.status().message());
  RuleOptions options;
  if (json.contains("options")) {
    TARA_ASSIGN_OR_RETURN(options,
                          OptionsFromJson(*variant, json.at("options")));
  }
  const Json& steps = json.at("steps");
  if (!steps.is_array()) {
    return Error("field 'steps': expected an array, got ", steps.type_name());
  }
  GameLine game = {.initial = InitialState(*variant, options), .actions = {}};
  State state = game.initial;
  for (size_t i = 0; i < steps.size(); ++i) {
    TARA_ASSIGN_OR_RETURN(const Action action,
                          PlayStep(absl::StrCat("step ", i), steps[i], state));
    game.actions.push_back(action);
  }
  if (!state.finished()) {
    return Error("the game is not finished after ", steps.size(),
                 " steps; seat ", state.seat, " is to move");
  }
  const Json expected = OutcomeJson(Score(state));
  const Json& result = json.at("result");
  TARA_RETURN_IF_ERROR(
      CheckFields("result", result,
                  {"points", "kingdoms", "territory", "bridges",
                   "kings_captured", "winner", "ended_by"}));
  TARA_RETURN_IF_ERROR(CheckSame("result", expected, result));
  return game;
}

}  // namespace

absl::StatusOr<GameLine> ParseGameLine(absl::string_view json_line) {
  try {
    return GameFromJson(Json::parse(json_line));
  } catch (const Json::exception& error) {  // names the byte
    return Error(error.what());
  }
}

absl::Status VerifyGameLine(absl::string_view json_line) {
  return ParseGameLine(json_line).status();
}

absl::StatusOr<std::string> GameToLine(const State& initial,
                                       absl::Span<const Action> actions) {
  if (initial != InitialState(initial.variant, initial.options)) {
    return Error(
        "expected a game from a start position; this form has no "
        "place for another");
  }
  Json steps = Json::array();
  State state = initial;
  for (const Action action : actions) {
    steps.push_back({{"seat", state.seat},
                     {"action", ActionToText(action, state)},
                     {"legal", LegalActionTexts(state)}});
    const absl::Status played = PlayAction(action, state);
    if (!played.ok()) {
      return Error("step ", steps.size() - 1, ": ", played.message());
    }
  }
  if (!state.finished()) {
    return Error("the game is not finished after ", actions.size(),
                 " steps; seat ", state.seat, " is to move");
  }
  Json json = {{"variant", std::string(Info(state.variant).id)}};
  if (initial.options != RuleOptions()) {
    json["options"] = OptionsToJson(initial.options);
  }
  json["steps"] = std::move(steps);
  json["result"] = OutcomeJson(Score(state));
  return json.dump();
}

std::string OutcomeToJson(const Outcome& outcome) {
  return OutcomeJson(outcome).dump();
}

}  // namespace tara::record
