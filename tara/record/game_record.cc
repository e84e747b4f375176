#include "tara/record/game_record.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "tara/base/check.h"
#include "tara/base/json.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/core/drawing.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/symmetry.h"

namespace tara::record {
namespace {

// Of one action by a prior of 2^-31, the least that the search keeps, 21.5
// nats; with room for other players.
constexpr float kMaxPolicySurprise = 100;

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Returns an error with its place before its message; OK is OK.
template <typename... Parts>
absl::Status At(const proto::GameRecord& record, const absl::Status& status,
                const Parts&... place) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("game ", record.game_index(), place..., ": ",
                                   status.message()));
}

absl::Status CheckVersion(absl::string_view what, uint32_t got, uint32_t oldest,
                          uint32_t newest) {
  if (got >= oldest && got <= newest) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "record of ", what, " version ", got, "; this program reads version",
      oldest == newest ? " " : absl::StrCat("s ", oldest, " to "), newest));
}

using Uint32s = google::protobuf::RepeatedField<uint32_t>;

// Checks a list of actions and the counts parallel to it. They are named
// "visited" and "visits", or the like.
absl::Status CheckList(absl::string_view kind, absl::string_view counted,
                       const Uint32s& actions, const Uint32s& counts,
                       const State& state) {
  const LegalSet legal = LegalActions(state);
  if (actions.size() != counts.size()) {
    return Error(actions.size(), " ", kind, " actions but ", counts.size(), " ",
                 counted);
  }
  std::bitset<kNumActions> seen;
  for (int i = 0; i < actions.size(); ++i) {
    const uint32_t index = actions[i];
    if (index >= kNumActions) {
      return Error(kind, " action ", index, " is out of range; expected 0 to ",
                   kNumActions - 1);
    }
    const Action action = static_cast<Action>(index);
    const auto objection = [&](const auto&... words) {
      return Error(kind, " action ", ActionToText(action, state), words...);
    };
    if (!legal.Contains(action)) return objection(" is illegal");
    if (seen[index]) return objection(" is listed twice");
    seen.set(index);
    if (counts[i] == 0) return objection(" has no ", counted);
  }
  return absl::OkStatus();
}

// Checks a step in `state`, which is not finished. Whether the action is legal
// is for the rules to say.
absl::Status CheckStep(const proto::Step& step, const State& state) {
  if (step.action() >= kNumActions) {
    return Error("action ", step.action(), " is out of range; expected 0 to ",
                 kNumActions - 1);
  }
  TARA_RETURN_IF_ERROR(CheckList("visited", "visits", step.visited_action(),
                                 step.visits(), state));
  TARA_RETURN_IF_ERROR(CheckList("target", "weight", step.target_action(),
                                 step.target_weight(), state));
  // Written so that NaN fails too.
  if (!(std::abs(step.root_value()) <= 1.0f)) {
    return Error("root value ", step.root_value(), "; expected -1 to 1");
  }
  if (!(step.policy_surprise() >= 0) ||
      step.policy_surprise() > kMaxPolicySurprise) {
    return Error("policy surprise ", step.policy_surprise(), "; expected 0 to ",
                 kMaxPolicySurprise);
  }
  if (step.has_proved_low() != step.has_proved_high()) {
    return Error("of the two bounds of the proved margin one is missing");
  }
  const int low = step.proved_low();
  const int high = step.proved_high();
  if (!step.has_proved_low() ||
      (low <= high && low >= -kMaxMargin && high <= kMaxMargin &&
       ResultForMover(state, low) == ResultForMover(state, high))) {
    return absl::OkStatus();
  }
  return Error("proved margin from ", low, " to ", high,
               "; expected an interval of one result within ", kMaxMargin,
               " points");
}

absl::Status CheckResult(const proto::GameResult& got, const Outcome& outcome) {
  const proto::GameResult core = ResultToProto(outcome);
  absl::Status status;
  const auto check = [&](absl::string_view name, const auto& values,
                         const auto& expected) {
    if (absl::c_equal(values, expected)) return;
    status.Update(Error("result: recorded ", name, " [",
                        absl::StrJoin(values, ", "), "]; the rules give [",
                        absl::StrJoin(expected, ", "), "]"));
  };
  check("points", got.points(), core.points());
  check("kingdoms", got.kingdoms(), core.kingdoms());
  check("territory", got.territory(), core.territory());
  check("bridges", got.bridges(), core.bridges());
  check("kings captured", got.kings_captured(), core.kings_captured());
  if (got.ended_by() != core.ended_by()) {
    status.Update(Error("result: recorded ending '", got.ended_by(),
                        "'; the rules give '", core.ended_by(), "'"));
  }
  return status;
}

// Returns the outcome of a game that ends at its last position with a margin.
Outcome OutcomeWithMargin(const State& last, int red_margin) {
  Outcome outcome = Score(last);
  outcome.points[kRed] = std::max(red_margin, 0);
  outcome.points[kBlue] = std::max(-red_margin, 0);
  return outcome;
}

// The margin of a game that the side to move at `last` resigns.
int MarginOfResignation(const State& last) {
  return MarginOfLead(Opponent(last.side()), 1,
                      last.options.compensation_halves);
}

// Sets how the replayed game ended, or says why it did not.
absl::Status EndReplay(const proto::GameRecord& record, ReplayedGame& game) {
  const State& last = game.states.back();
  const proto::GameResult& result = record.result();
  const bool early = result.has_resigned_by() || result.has_forfeited_by() ||
                     !result.adjudication().empty();
  if (early == last.finished()) {
    return Error(early ? "the record ends early here, but the game is over"
                       : "the record ends here, but the game is not over");
  }
  game.outcome = Score(last);
  if (!early) return absl::OkStatus();
  const auto mover = static_cast<uint32_t>(last.side());
  if (result.has_resigned_by() && result.resigned_by() != mover) {
    return Error("side ", result.resigned_by(),
                 " resigns; expected the side to move, ", mover);
  }
  if (result.has_forfeited_by() && result.forfeited_by() > 1) {
    return Error("side ", result.forfeited_by(), " forfeits; expected 0 or 1");
  }
  if (result.points_size() != 2) {
    return Error(result.points_size(),
                 " points; expected the points of two sides");
  }
  if (result.has_resigned_by()) game.resigned_by = last.side();
  game.outcome = OutcomeWithMargin(last, result.has_resigned_by()
                                             ? MarginOfResignation(last)
                                             : RedMargin(record));
  return absl::OkStatus();
}

}  // namespace

proto::GameRecord NewGameRecord(const State& initial,
                                const GameOrigin& origin) {
  proto::GameRecord record;
  record.set_schema_version(kGameSchemaVersion);
  record.set_rules_version(kRulesVersion);
  record.set_variant(std::string(Info(initial.variant).id));
  record.set_rule_options(FormatRuleOptions(initial.options));
  record.set_seed(origin.seed);
  record.set_model_id(origin.model_id);
  record.set_generation(origin.generation);
  record.set_game_index(origin.game_index);
  return record;
}

proto::Step& AddStep(Action action, proto::GameRecord& record) {
  proto::Step& step = *record.add_steps();
  step.set_action(static_cast<uint32_t>(Index(action)));
  return step;
}

void SetPolicyTarget(absl::Span<const Action> actions,
                     absl::Span<const float> shares, proto::Step& step) {
  TARA_CHECK(actions.size() == shares.size(), "a share for each action");
  constexpr float kMaxWeight = 65535;
  const float largest = *std::max_element(shares.begin(), shares.end());
  TARA_CHECK(largest > 0, "a policy target has a positive share");
  step.clear_target_action();
  step.clear_target_weight();
  for (size_t i = 0; i < actions.size(); ++i) {
    const auto weight =
        static_cast<uint32_t>(std::lround(shares[i] / largest * kMaxWeight));
    if (weight == 0) continue;
    step.add_target_action(static_cast<uint32_t>(Index(actions[i])));
    step.add_target_weight(weight);
  }
}

void SetProved(int low, int high, const State& state, proto::Step& step) {
  TARA_CHECK(low <= high, "bounds of a margin");
  step.clear_proved_low();
  step.clear_proved_high();
  if (ResultForMover(state, low) != ResultForMover(state, high)) return;
  step.set_proved_low(low);
  step.set_proved_high(high);
}

std::optional<int> ProvedResult(const proto::Step& step, const State& state) {
  if (!step.has_proved_low()) return std::nullopt;
  return ResultForMover(state, step.proved_low());
}

void SetResult(const State& last, proto::GameRecord& record) {
  TARA_CHECK(last.finished(), "only a finished game has a result");
  *record.mutable_result() = ResultToProto(Score(last));
}

void SetResigned(const State& last, proto::GameRecord& record) {
  SetMargin(last, MarginOfResignation(last), record);
  record.mutable_result()->set_resigned_by(last.side());
}

void SetMargin(const State& last, int red_margin, proto::GameRecord& record) {
  TARA_CHECK(!last.finished(), "a finished game has its own margin");
  *record.mutable_result() = ResultToProto(OutcomeWithMargin(last, red_margin));
}

int RedMargin(const proto::GameRecord& record) {
  return record.result().points(kRed) - record.result().points(kBlue);
}

absl::string_view EndingOf(const proto::GameRecord& record) {
  const proto::GameResult& result = record.result();
  if (result.has_resigned_by()) return "resigned";
  if (result.has_forfeited_by()) {
    return result.fault().empty() ? "time" : "fault";
  }
  if (!result.adjudication().empty()) return result.adjudication();
  if (record.unrecorded_length() > 0) return "unknown";
  return result.ended_by();
}

int CompensationHalves(absl::string_view rule_options) {
  constexpr absl::string_view kName = "compensation";
  RuleOptions options;
  for (const absl::string_view option : absl::StrSplit(rule_options, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(option, absl::MaxSplits('=', 1));
    if (parts.first != kName) continue;
    // All variants have it. A wrong value leaves the default.
    SetRuleOption(Variant{}, kName, parts.second, options).IgnoreError();
  }
  return options.compensation_halves;
}

int LengthOf(const proto::GameRecord& record) {
  return record.unrecorded_length() > 0
             ? static_cast<int>(record.unrecorded_length())
             : record.steps_size();
}

std::vector<Action> ActionsOf(const proto::GameRecord& record) {
  std::vector<Action> actions;
  for (const proto::Step& step : record.steps()) {
    actions.push_back(static_cast<Action>(step.action()));
  }
  return actions;
}

proto::GameResult ResultToProto(const Outcome& outcome) {
  proto::GameResult result;
  for (const Side side : {kRed, kBlue}) {
    result.add_points(outcome.points[side]);
    result.add_kingdoms(outcome.kingdoms[side]);
    result.add_territory(outcome.territory[side]);
    result.add_bridges(outcome.bridges[side]);
    result.add_kings_captured(outcome.kings_captured[side]);
  }
  result.set_ended_by(std::string(EndingName(outcome.ended_by)));
  return result;
}

absl::StatusOr<State> InitialStateOf(const proto::GameRecord& record) {
  TARA_RETURN_IF_ERROR(
      At(record, CheckVersion("schema", record.schema_version(),
                              kOldestGameSchemaVersion, kGameSchemaVersion)));
  TARA_RETURN_IF_ERROR(At(record, CheckVersion("rules", record.rules_version(),
                                               kRulesVersion, kRulesVersion)));
  const absl::StatusOr<Variant> variant = ParseVariant(record.variant());
  TARA_RETURN_IF_ERROR(At(record, variant.status()));
  const absl::StatusOr<RuleOptions> options =
      ParseRuleOptions(*variant, record.rule_options());
  TARA_RETURN_IF_ERROR(At(record, options.status()));
  return InitialState(*variant, *options);
}

absl::StatusOr<ReplayedGame> Replay(const proto::GameRecord& record) {
  TARA_ASSIGN_OR_RETURN(State state, InitialStateOf(record));
  if (record.unrecorded_length() > 0) {
    return At(record,
              absl::FailedPreconditionError("its actions were not kept by the "
                                            "older program that played it"));
  }
  const int length = record.steps_size();
  const auto at_ply = [&record](int ply, const absl::Status& status) {
    return At(record, status, ", ply ", ply);
  };
  if (record.opening_plies() > static_cast<uint32_t>(length)) {
    return at_ply(length,
                  Error("the record ends here, but its random opening has ",
                        record.opening_plies(), " plies"));
  }
  ReplayedGame game;
  game.states.reserve(length + 1);
  for (int ply = 0; ply < length; ++ply) {
    if (state.finished()) {
      return at_ply(ply, Error("the game is over (", EndingName(state.ending),
                               "), but ", length - ply, " steps follow"));
    }
    const proto::Step& step = record.steps(ply);
    TARA_RETURN_IF_ERROR(at_ply(ply, CheckStep(step, state)));
    game.states.push_back(state);
    TARA_RETURN_IF_ERROR(
        at_ply(ply, PlayAction(static_cast<Action>(step.action()), state)));
  }
  game.states.push_back(state);
  TARA_RETURN_IF_ERROR(at_ply(length, EndReplay(record, game)));
  TARA_RETURN_IF_ERROR(At(record, CheckResult(record.result(), game.outcome)));
  return game;
}

absl::Status ValidateRecord(const proto::GameRecord& record) {
  return Replay(record).status();
}

std::vector<Action> CanonicalLine(Variant variant,
                                  absl::Span<const Action> actions) {
  std::vector<Action> least(actions.begin(), actions.end());
  for (const Symmetry& symmetry : GameSymmetries(variant)) {
    std::vector<Action> line;
    Symmetry turned = symmetry;
    for (const Action action : actions) {
      line.push_back(TransformAction(turned, action));
      // The only pass so early is a swap, which may transpose the board.
      if (line.size() == 2 && action == kPass &&
          TraitsOf(variant).rows_by_side) {
        turned.board = static_cast<uint8_t>((turned.board & kTranspose) |
                                            ((turned.board & 1) << 1) |
                                            ((turned.board & 2) >> 1));
      }
    }
    if (std::lexicographical_compare(
            line.begin(), line.end(), least.begin(), least.end(),
            [](Action x, Action y) { return Index(x) < Index(y); })) {
      least = std::move(line);
    }
  }
  return least;
}

uint64_t SameGameKey(const proto::GameRecord& game) {
  const absl::StatusOr<Variant> variant = ParseVariant(game.variant());
  if (!variant.ok() || game.steps_size() == 0) return 0;
  for (const proto::Step& step : game.steps()) {
    if (step.action() >= kNumActions) return 0;
  }
  uint64_t key = 1 + static_cast<uint64_t>(*variant);
  for (const Action action : CanonicalLine(*variant, ActionsOf(game))) {
    key = MixBits(key) ^ static_cast<uint64_t>(Index(action));
  }
  return MixBits(key);
}

namespace {

// Keeps the fields in the order in which they are written.
using Json = nlohmann::ordered_json;

// How much of a game a text must have.
enum class Form {
  kWhole,    // a finished game, with all that the rules say of it
  kAsGiven,  // no more than the actions; what else there is must be right
};

using Names = std::initializer_list<absl::string_view>;

// Rejects non-objects, objects without the required fields, or those of a whole
// game, and unknown fields.
absl::Status CheckFields(absl::string_view where, const Json& json, Form form,
                         Names required, Names of_whole, Names optional) {
  if (!json.is_object()) {
    return Error(where, ": expected an object, got ", ShownJson(json));
  }
  std::vector<absl::string_view> known(required);
  if (form == Form::kWhole) known.insert(known.end(), of_whole);
  for (const absl::string_view name : known) {
    if (!json.contains(std::string(name))) {
      return Error(where, ": missing field '", name, "'");
    }
  }
  known.insert(known.end(), of_whole);
  known.insert(known.end(), optional);
  for (const auto& [name, value] : json.items()) {
    if (!absl::c_linear_search(known, name)) {
      return Error(where, ": unknown field '", Shown(name), "'");
    }
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

// Plays a step and adds it to the game.
absl::Status PlayStep(absl::string_view where, const Json& step, Form form,
                      State& state, GameLine& game) {
  TARA_RETURN_IF_ERROR(
      CheckFields(where, step, form, {"action"}, {"seat", "legal"}, {"note"}));
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

absl::StatusOr<GameLine> GameFromJson(absl::string_view text, Form form) {
  TARA_ASSIGN_OR_RETURN(const Json json, ParseJson<Json>(text));
  TARA_RETURN_IF_ERROR(CheckFields("game", json, form, {"variant", "steps"},
                                   {"result"}, {"options"}));
  TARA_ASSIGN_OR_RETURN(const std::string id,
                        TextField("game", json, "variant"));
  TARA_ASSIGN_OR_RETURN(const Variant variant, ParseVariant(id));
  RuleOptions options;
  if (json.contains("options")) {
    TARA_ASSIGN_OR_RETURN(options,
                          OptionsFromJson(variant, json.at("options")));
  }
  const Json& steps = json.at("steps");
  if (!steps.is_array()) {
    return Error("field 'steps': expected an array, got ", steps.type_name());
  }
  GameLine game = {.initial = InitialState(variant, options), .actions = {}};
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
    const Json& result = json.at("result");
    TARA_RETURN_IF_ERROR(
        CheckFields("result", result, Form::kWhole,
                    {"points", "kingdoms", "territory", "bridges",
                     "kings_captured", "winner", "ended_by"},
                    {}, {}));
    TARA_RETURN_IF_ERROR(
        CheckSame("result", OutcomeJson(Score(state)), result));
  }
  return game;
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
    TARA_ASSIGN_OR_RETURN(const State start, CompletePosition(absl::StrJoin(
                                                 words.first(fields), " ")));
    return GameFromActions(start, words.subspan(fields));
  }
  TARA_ASSIGN_OR_RETURN(const Variant variant, ParseVariant(words[0]));
  size_t first = 1;
  RuleOptions options;
  // Not a link such as D4=E4: names of options have no capitals.
  if (words.size() > 1 &&
      (words[1] == "-" || (absl::StrContains(words[1], "=") &&
                           absl::ascii_islower(words[1][0])))) {
    const absl::StatusOr<RuleOptions> given =
        ParseRuleOptions(variant, words[1]);
    if (!given.ok()) return Error("options: ", given.status().message());
    options = *given;
    ++first;
  }
  return GameFromActions(InitialState(variant, options), words.subspan(first));
}

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

absl::StatusOr<GameLine> ParseGameLine(absl::string_view json_line) {
  return GameFromJson(PlainText(json_line), Form::kWhole);
}

absl::StatusOr<GameLine> ParseGameText(absl::string_view game) {
  const std::string text = PlainText(game);
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
  if (words.empty()) return Error("the text is empty");
  if (words[0][0] == '{') return GameFromJson(text, Form::kAsGiven);
  return GameFromWords(words);
}

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
