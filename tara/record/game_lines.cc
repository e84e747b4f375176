#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/core/drawing.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/record/game_record.h"

namespace tara::record {
namespace {

// Keeps the fields in the order in which they are written.
using Json = nlohmann::ordered_json;

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

using Names = std::initializer_list<absl::string_view>;

// Rejects non-objects, missing required fields and unknown ones.
absl::Status CheckFields(absl::string_view where, const Json& json,
                         Names required, Names optional = {}) {
  if (!json.is_object()) {
    return Error(where, ": expected an object, got ", ShownJson(json));
  }
  for (const absl::string_view name : required) {
    if (!json.contains(std::string(name))) {
      return Error(where, ": missing field '", name, "'");
    }
  }
  for (const auto& [name, value] : json.items()) {
    const auto is_in = [&name](Names names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (!is_in(required) && !is_in(optional))
      return Error(where, ": unknown field '", Shown(name), "'");
  }
  return absl::OkStatus();
}

// Returns the text of a field. REQUIRES: the object has it.
absl::StatusOr<std::string> TextField(absl::string_view where,
                                      const Json& object, const char* name) {
  const Json& value = object.at(name);
  if (value.is_string()) return value.get<std::string>();
  return Error(where, ", field '", name, "': expected text, got ",
               ShownJson(value));
}

absl::StatusOr<RuleOptions> OptionsFromJson(Variant variant, const Json& json) {
  RuleOptions options;
  if (!json.is_object()) {
    return Error("options: expected an object, got ", ShownJson(json));
  }
  for (const auto& [name, value] : json.items()) {
    const RuleOptionInfo* const option = FindRuleOption(name);
    const bool is_switch = option != nullptr && option->is_switch();
    if (is_switch ? !value.is_boolean() : !value.is_number()) {
      return Error("options, field '", Shown(name), "': expected ",
                   is_switch ? "true or false" : "a number", ", got ",
                   ShownJson(value));
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
        *ParseJson<Json>(FormatRuleOptionValue(option, value));
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
    const std::string wanted = value.dump();
    if (got == wanted) continue;
    return Error(where, ", field '", name, "': expected ", wanted, ", got ",
                 Shown(got, wanted.size() + 100));
  }
  return absl::OkStatus();
}

// How much of a game a text must have.
enum class Form {
  kWhole,    // a finished game, with all that the rules say of it
  kAsGiven,  // no more than the actions; what else there is must be right
};

constexpr Names kStepFields = {"seat", "action", "legal"};
constexpr Names kGameFields = {"variant", "steps", "result"};

// Plays a step and adds it to the game.
absl::Status PlayStep(absl::string_view where, const Json& step, Form form,
                      State& state, GameLine& game) {
  TARA_RETURN_IF_ERROR(
      form == Form::kWhole
          ? CheckFields(where, step, kStepFields, {"note"})
          : CheckFields(where, step, {"action"}, {"seat", "legal", "note"}));
  if (state.finished()) {
    return Error(where, ": expected no step, the game has ended (",
                 EndingName(state.ending), ")");
  }
  Json expected = Json::object();
  if (step.contains("seat")) expected["seat"] = state.seat;
  if (step.contains("legal")) expected["legal"] = LegalActionTexts(state);
  TARA_RETURN_IF_ERROR(CheckSame(where, expected, step));
  TARA_ASSIGN_OR_RETURN(const std::string text,
                        TextField(where, step, "action"));
  const absl::StatusOr<Action> action = ParseAction(text, state);
  if (!action.ok()) return Error(where, ": ", action.status().message());
  // One notation for one action: "d4" parses but is not how it is written.
  if (const std::string canonical = ActionToText(*action, state);
      canonical != text) {
    return Error(where, ", field 'action': expected ", canonical, ", got ",
                 Shown(text));
  }
  const absl::Status played = PlayAction(*action, state);
  if (!played.ok()) return Error(where, ": ", played.message());
  game.actions.push_back(*action);
  if (step.contains("note")) {
    game.notes.resize(game.actions.size());
    TARA_ASSIGN_OR_RETURN(game.notes.back(), TextField(where, step, "note"));
  }
  return absl::OkStatus();
}

absl::Status CheckResult(const State& last, const Json& result) {
  const Json expected = OutcomeJson(Score(last));
  TARA_RETURN_IF_ERROR(
      CheckFields("result", result,
                  {"points", "kingdoms", "territory", "bridges",
                   "kings_captured", "winner", "ended_by"}));
  return CheckSame("result", expected, result);
}

absl::StatusOr<GameLine> GameFromJson(const Json& json, Form form) {
  TARA_RETURN_IF_ERROR(form == Form::kWhole
                           ? CheckFields("game", json, kGameFields, {"options"})
                           : CheckFields("game", json, {"variant", "steps"},
                                         {"options", "result"}));
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
    TARA_RETURN_IF_ERROR(
        PlayStep(absl::StrCat("step ", i + 1), steps[i], form, state, game));
  }
  if (!game.notes.empty()) game.notes.resize(game.actions.size());
  const bool has_result = json.contains("result");
  if (!state.finished() && (form == Form::kWhole || has_result)) {
    return Error("the game is not finished after ", steps.size(), " steps; ",
                 SeatName(state.variant, state.seat), " is to move",
                 form == Form::kWhole ? "" : "; expected no field 'result'");
  }
  if (has_result) {
    TARA_RETURN_IF_ERROR(CheckResult(state, json.at("result")));
  }
  return game;
}

absl::StatusOr<GameLine> GameFromJsonText(absl::string_view text, Form form) {
  TARA_ASSIGN_OR_RETURN(const Json json, ParseJson<Json>(text));
  return GameFromJson(json, form);
}

// Plays the actions of words from `initial`.
absl::StatusOr<GameLine> GameFromActions(
    const State& initial, absl::Span<const absl::string_view> words) {
  GameLine game = {.initial = initial, .actions = {}};
  State state = initial;
  for (size_t i = 0; i < words.size(); ++i) {
    const absl::StatusOr<Action> action = ParseAction(words[i], state);
    const absl::Status played =
        action.ok() ? PlayAction(*action, state) : action.status();
    if (!played.ok()) return Error("action ", i + 1, ": ", played.message());
    game.actions.push_back(*action);
  }
  return game;
}

constexpr size_t kPositionFields = 9;

absl::StatusOr<GameLine> GameFromWords(
    absl::Span<const absl::string_view> words) {
  // Neither an option nor an action has a '/', as the board of a position has.
  if (words.size() > 1 && absl::StrContains(words[1], '/')) {
    const size_t fields = std::min(words.size(), kPositionFields);
    const absl::StatusOr<State> start =
        CompletePosition(absl::StrJoin(words.first(fields), " "));
    if (!start.ok()) return Error(start.status().message());
    return GameFromActions(*start, words.subspan(fields));
  }
  const absl::StatusOr<Variant> variant = ParseVariant(words[0]);
  if (!variant.ok()) return Error(variant.status().message());
  size_t first = 1;
  RuleOptions options;
  // Not a link such as D4=E4: names of options have no capitals.
  if (words.size() > 1 &&
      (words[1] == "-" || (absl::StrContains(words[1], "=") &&
                           absl::ascii_islower(words[1][0])))) {
    const absl::StatusOr<RuleOptions> given =
        ParseRuleOptions(*variant, words[1]);
    if (!given.ok()) return Error("options: ", given.status().message());
    options = *given;
    ++first;
  }
  return GameFromActions(InitialState(*variant, options), words.subspan(first));
}

}  // namespace

absl::StatusOr<GameLine> ParseGameLine(absl::string_view json_line) {
  return GameFromJsonText(PlainText(json_line), Form::kWhole);
}

absl::StatusOr<GameLine> ParseGameText(absl::string_view game) {
  const std::string text = PlainText(game);
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
  if (words.empty()) return Error("the text is empty");
  if (words[0][0] == '{') return GameFromJsonText(text, Form::kAsGiven);
  return GameFromWords(words);
}

namespace {

absl::StatusOr<std::string> LineOf(const GameLine& game, Form form) {
  if (game.initial !=
      InitialState(game.initial.variant, game.initial.options)) {
    return Error(
        "expected a game from a start position; this form has no "
        "place for another");
  }
  Json steps = Json::array();
  State state = game.initial;
  for (size_t i = 0; i < game.actions.size(); ++i) {
    const Action action = game.actions[i];
    Json& step = steps.emplace_back();
    step = {{"seat", state.seat},
            {"action", ActionToText(action, state)},
            {"legal", LegalActionTexts(state)}};
    if (i < game.notes.size() && !game.notes[i].empty()) {
      step["note"] = game.notes[i];
    }
    const absl::Status played = PlayAction(action, state);
    if (!played.ok()) return Error("action ", i + 1, ": ", played.message());
  }
  if (form == Form::kWhole && !state.finished()) {
    return Error("the game is not finished after ", game.actions.size(),
                 " actions; ", SeatName(state.variant, state.seat),
                 " is to move");
  }
  Json json = {{"variant", std::string(Info(state.variant).id)}};
  if (game.initial.options != RuleOptions()) {
    json["options"] = OptionsToJson(game.initial.options);
  }
  json["steps"] = std::move(steps);
  if (state.finished()) json["result"] = OutcomeJson(Score(state));
  return json.dump();
}

}  // namespace

absl::StatusOr<std::string> GameToLine(const State& initial,
                                       absl::Span<const Action> actions) {
  return LineOf({initial, {actions.begin(), actions.end()}}, Form::kWhole);
}

absl::StatusOr<std::string> GameToText(const GameLine& game) {
  return LineOf(game, Form::kAsGiven);
}

std::string OutcomeToJson(const Outcome& outcome) {
  return OutcomeJson(outcome).dump();
}

}  // namespace tara::record
