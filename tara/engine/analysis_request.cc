#include "tara/engine/analysis_request.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/base/json.h"
#include "tara/base/option_table.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/core/action.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/engine/analysis_engine.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/tree/tree.h"

namespace tara::engine {
namespace {

// Without the sign of a zero, which has no meaning.
std::string Number(double value) {
  std::string text = absl::StrFormat("%.4f", value);
  return text == "-0.0000" ? "0.0000" : text;
}

}  // namespace

std::string AnalysisLine(const mcts::Tree& tree,
                         const AnalysisTextOptions& options) {
  std::string line = absl::StrCat("root simulations ", tree.root_visits(),
                                  " value ", Number(tree.root_value()),
                                  " margin ", Number(tree.root_margin()));
  const mcts::MarginBounds proved = tree.root_bounds();
  if (proved.low == proved.high) {
    absl::StrAppend(&line, " proved ", int{proved.low});
  }
  if (!options.not_learned.empty()) {
    absl::StrAppend(&line, " not_learned ", options.not_learned);
  }
  int order = 0;
  for (const mcts::RootAction& action :
       mcts::RankActions(tree, options.confidence_z)) {
    if (options.max_actions > 0 && order == options.max_actions) break;
    if (action.visits == 0 && order > 0) continue;
    absl::StrAppend(
        &line, " info action ", ActionToText(action.action, tree.root()),
        " visits ", action.visits, " value ", Number(action.mean_value),
        " prior ", Number(action.prior), " lcb ",
        Number(action.visits > 0
                   ? mcts::LowerConfidenceBound(action, options.confidence_z)
                   : -1),
        " order ", order, " pv");
    for (const std::string& next :
         LineToTexts(mcts::LineAfter(tree, action.action), tree.root())) {
      absl::StrAppend(&line, " ", next);
    }
    ++order;
  }
  return line;
}

namespace {

constexpr int64_t kMaxTimeMs = int64_t{24} * 3600 * 1000;
constexpr size_t kMaxIdBytes = 256;
constexpr size_t kMaxTurns = 10000;

constexpr absl::string_view kCommands[] = {
    "analyze", "terminate", "terminate_all", "query_version", "clear_cache"};

struct ReportName {
  absl::string_view name;
  bool ReportFlags::* flag;
};
constexpr ReportName kReports[] = {{"actions", &ReportFlags::actions},
                                   {"pv", &ReportFlags::pv},
                                   {"policy", &ReportFlags::policy},
                                   {"evaluation", &ReportFlags::evaluation},
                                   {"margins", &ReportFlags::margins}};

absl::Status Unexpected(const Json& value, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("is ", ShownJson(value), "; expected ", expected));
}

// A number, switch or text as options take it.
absl::StatusOr<std::string> OptionValue(const Json& value, absl::string_view on,
                                        absl::string_view off) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return std::string(value.get<bool>() ? on : off);
  if (value.is_number()) return value.dump();
  return Unexpected(value, "a number, true, false or a text");
}

// Reads the fields of a request. `field` names the one being read.
class Reader {
 public:
  Reader(const Json& object, const EngineOptions& options)
      : object_(object), options_(options) {}

  const std::string& field() const { return field_; }

  // Returns the names of fields that nobody has asked for.
  std::vector<std::string> Unread() const {
    std::vector<std::string> names;
    for (const auto& [name, value] : object_.items()) {
      if (std::find(read_.begin(), read_.end(), name) == read_.end()) {
        names.push_back(name);
      }
    }
    return names;
  }

  // Returns the field; null if it is not there.
  const Json* Find(absl::string_view name) {
    field_ = std::string(name);
    read_.push_back(field_);
    const auto found = object_.find(field_);
    return found == object_.end() ? nullptr : &*found;
  }

  absl::Status ReadId(Json& id) {
    const Json* const value = Find("id");
    if (value == nullptr) return absl::InvalidArgumentError("is missing");
    TARA_RETURN_IF_ERROR(CheckId(*value));
    id = *value;
    return absl::OkStatus();
  }

  absl::Status ReadCommand(std::string& command) {
    command = "analyze";
    const Json* const value = Find("command");
    if (value == nullptr) return absl::OkStatus();
    if (value->is_string()) {
      command = value->get<std::string>();
      for (const absl::string_view known : kCommands) {
        if (command == known) return absl::OkStatus();
      }
    }
    command.clear();
    return Unexpected(*value,
                      absl::StrCat("one of ", absl::StrJoin(kCommands, ", ")));
  }

  absl::StatusOr<TerminateRequest> ReadTerminate() {
    const Json* const value = Find("terminate_id");
    if (value == nullptr) return absl::InvalidArgumentError("is missing");
    TARA_RETURN_IF_ERROR(CheckId(*value));
    return TerminateRequest{.terminate_id = *value};
  }

  absl::StatusOr<AnalyzeRequest> ReadAnalyze() {
    AnalyzeRequest request;
    TARA_ASSIGN_OR_RETURN(const State start, ReadStart());
    TARA_ASSIGN_OR_RETURN(const std::vector<State> states, ReadActions(start));
    TARA_RETURN_IF_ERROR(ReadTurns(states, request));
    TARA_RETURN_IF_ERROR(ReadSearch(request));
    TARA_RETURN_IF_ERROR(ReadReport(request));
    TARA_ASSIGN_OR_RETURN(const std::optional<int64_t> priority,
                          ReadWhole("priority", -1000000, 1000000));
    request.priority = static_cast<int>(priority.value_or(0));
    return request;
  }

 private:
  static absl::Status CheckId(const Json& value) {
    const bool text = value.is_string() &&
                      value.get_ref<const std::string&>().size() <= kMaxIdBytes;
    if (text || value.is_number_integer()) return absl::OkStatus();
    return Unexpected(value, "a whole number or a text of at most 256 bytes");
  }

  absl::StatusOr<std::optional<int64_t>> ReadWhole(absl::string_view name,
                                                   int64_t least,
                                                   int64_t most) {
    const Json* const value = Find(name);
    if (value == nullptr) return std::nullopt;
    // Unsigned numbers beyond int64_t would turn negative.
    const bool fits = value->is_number_integer() &&
                      (!value->is_number_unsigned() ||
                       value->get<uint64_t>() <=
                           static_cast<uint64_t>(std::max<int64_t>(most, 0)));
    if (fits) {
      const auto number = value->get<int64_t>();
      if (number >= least && number <= most) return number;
    }
    return Unexpected(
        *value, absl::StrCat("a whole number from ", least, " to ", most));
  }

  absl::StatusOr<State> ReadStart() {
    const Json* const position = Find("position");
    if (position == nullptr) return ReadVariant();
    if (!position->is_string()) {
      return Unexpected(*position, "a position as text");
    }
    TARA_ASSIGN_OR_RETURN(
        const State state,
        ParsePosition(PlainText(position->get<std::string>())));
    for (const char* const name : {"variant", "options"}) {
      if (Find(name) != nullptr) {
        return absl::InvalidArgumentError(
            "next to a position, which includes it; expected one of the two");
      }
    }
    return state;
  }

  absl::StatusOr<State> ReadVariant() {
    const Json* const id = Find("variant");
    if (id == nullptr) {
      return absl::InvalidArgumentError(
          "is missing; expected a variant or a position");
    }
    if (!id->is_string()) return Unexpected(*id, "a variant's identifier");
    TARA_ASSIGN_OR_RETURN(const Variant variant,
                          ParseVariant(id->get<std::string>()));
    RuleOptions options;
    const Json* const given = Find("options");
    if (given == nullptr) return InitialState(variant, options);
    if (!given->is_object()) return Unexpected(*given, "an object");
    for (const auto& [name, value] : given->items()) {
      field_ = absl::StrCat("options.", name);
      TARA_ASSIGN_OR_RETURN(const std::string text,
                            OptionValue(value, "true", "false"));
      TARA_RETURN_IF_ERROR(SetRuleOption(variant, name, text, options));
    }
    return InitialState(variant, options);
  }

  // Returns the start and the position after each action.
  absl::StatusOr<std::vector<State>> ReadActions(const State& start) {
    std::vector<State> states = {start};
    const Json* const actions = Find("actions");
    if (actions == nullptr) return states;
    if (!actions->is_array()) return Unexpected(*actions, "a list of actions");
    int number = 0;
    for (const Json& action : *actions) {
      field_ = absl::StrCat("actions[", number++, "]");
      if (!action.is_string()) return Unexpected(action, "an action as text");
      State next = states.back();
      TARA_RETURN_IF_ERROR(PlayAction(action.get<std::string>(), next));
      states.push_back(next);
    }
    return states;
  }

  absl::Status ReadTurns(const std::vector<State>& states,
                         AnalyzeRequest& request) {
    const int last = static_cast<int>(states.size()) - 1;
    const Json* const turns = Find("turns");
    if (turns == nullptr) {
      request.positions = {{last, states.back()}};
      return absl::OkStatus();
    }
    if (!turns->is_array() || turns->empty() || turns->size() > kMaxTurns) {
      return Unexpected(
          *turns, absl::StrCat("a list of 1 to ", kMaxTurns, " whole numbers"));
    }
    int number = 0;
    for (const Json& turn : *turns) {
      field_ = absl::StrCat("turns[", number++, "]");
      if (!turn.is_number_unsigned() ||
          turn.get<uint64_t>() > static_cast<uint64_t>(last)) {
        return Unexpected(turn,
                          absl::StrCat("a whole number from 0 to ", last));
      }
      const int index = turn.get<int>();
      request.positions.push_back({index, states[index]});
    }
    return absl::OkStatus();
  }

  absl::Status ReadSearch(AnalyzeRequest& request) {
    request.search = options_.search;
    if (const Json* const given = Find("search")) {
      if (!given->is_object()) return Unexpected(*given, "an object");
      for (const auto& [name, value] : given->items()) {
        field_ = absl::StrCat("search.", name);
        TARA_ASSIGN_OR_RETURN(const std::string text,
                              OptionValue(value, "on", "off"));
        TARA_RETURN_IF_ERROR(mcts::SetSearchOption(name, text, request.search));
      }
    }
    TARA_ASSIGN_OR_RETURN(const std::optional<int64_t> simulations,
                          ReadWhole("simulations", 1, mcts::kMaxSimulations));
    TARA_ASSIGN_OR_RETURN(const std::optional<int64_t> time_ms,
                          ReadWhole("time_ms", 1, kMaxTimeMs));
    TARA_ASSIGN_OR_RETURN(const std::optional<int64_t> every_ms,
                          ReadWhole("report_every_ms", 1, kMaxTimeMs));
    const bool by_time =
        time_ms.has_value() ||
        (!simulations.has_value() && options_.time > absl::ZeroDuration());
    if (simulations.has_value()) {
      request.search.simulations = static_cast<int>(*simulations);
    } else if (by_time) {
      request.search.simulations = mcts::kMaxSimulations;
    }
    if (by_time) {
      request.search.gumbel = false;  // it plans for a number of simulations
      request.time =
          time_ms.has_value() ? absl::Milliseconds(*time_ms) : options_.time;
    }
    if (every_ms.has_value()) {
      request.report_every = absl::Milliseconds(*every_ms);
    }
    return absl::OkStatus();
  }

  absl::Status ReadReport(AnalyzeRequest& request) {
    TARA_ASSIGN_OR_RETURN(const std::optional<int64_t> most,
                          ReadWhole("max_actions", 1, kNumActions));
    request.max_actions = static_cast<int>(most.value_or(0));
    const Json* const report = Find("report");
    if (report == nullptr) {
      request.report.actions = request.report.pv = true;
      return absl::OkStatus();
    }
    const auto name_of = [](std::string* text, const ReportName& report) {
      absl::StrAppend(text, report.name);
    };
    const std::string expected = absl::StrCat(
        "a list of some of ", absl::StrJoin(kReports, ", ", name_of));
    if (!report->is_array()) return Unexpected(*report, expected);
    int number = 0;
    for (const Json& name : *report) {
      field_ = absl::StrCat("report[", number++, "]");
      bool known = false;
      for (const ReportName& each : kReports) {
        if (!name.is_string() ||
            name.get_ref<const std::string&>() != each.name) {
          continue;
        }
        request.report.*each.flag = known = true;
      }
      if (!known) return Unexpected(name, expected);
    }
    return absl::OkStatus();
  }

  const Json& object_;
  const EngineOptions& options_;
  std::string field_;
  std::vector<std::string> read_;
};

// Reads what depends on the command.
absl::Status ReadBody(Reader& reader, Request& request) {
  if (request.command == "analyze") {
    TARA_ASSIGN_OR_RETURN(request.body, reader.ReadAnalyze());
  } else if (request.command == "terminate") {
    TARA_ASSIGN_OR_RETURN(request.body, reader.ReadTerminate());
  } else if (request.command == "terminate_all") {
    request.body = TerminateAllRequest();
  } else if (request.command == "query_version") {
    request.body = QueryVersionRequest();
  } else {
    request.body = ClearCacheRequest();
  }
  return absl::OkStatus();
}

absl::Status ReadAll(Reader& reader, Request& request) {
  TARA_RETURN_IF_ERROR(reader.ReadId(request.id));
  TARA_RETURN_IF_ERROR(reader.ReadCommand(request.command));
  return ReadBody(reader, request);
}

// Returns the object of a line, or INVALID_ARGUMENT.
absl::StatusOr<Json> ParseObject(absl::string_view line) {
  absl::StatusOr<Json> object = ParseJson<Json>(line);
  if (!object.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        object.status().message(), "; expected an object on one line"));
  }
  if (object->is_object()) return object;
  return absl::InvalidArgumentError(absl::StrCat(
      "a request is ", ShownJson(*object), "; expected an object"));
}

}  // namespace

Request ParseRequest(absl::string_view line, const EngineOptions& options) {
  Request request;
  const absl::StatusOr<Json> object = ParseObject(line);
  if (!object.ok()) {
    request.body =
        RequestProblem{.message = std::string(object.status().message())};
    return request;
  }
  Reader reader(*object, options);
  const absl::Status status = ReadAll(reader, request);
  if (!status.ok()) {
    request.body = RequestProblem{.message = std::string(status.message()),
                                  .field = reader.field()};
    return request;
  }
  for (const std::string& name : reader.Unread()) {
    request.warnings.push_back({.message = "unknown field", .field = name});
  }
  return request;
}

absl::StatusOr<AnalyzeArguments> ParseAnalyzeArguments(
    const std::vector<std::string>& words) {
  AnalyzeArguments parsed;
  std::optional<int> centiseconds;
  const OptionTable table = {
      {"interval", &centiseconds, 1, 360000, ""},
      {"simulations", &parsed.limits.simulations, 1, mcts::kMaxSimulations, ""},
      {"actions", &parsed.text.max_actions, 1, kNumActions, ""},
  };
  const auto set = [&](absl::string_view name, absl::string_view value) {
    const Option* const option = FindOption(table, name);
    return option != nullptr
               ? SetOption(*option, value)
               : absl::InvalidArgumentError(absl::StrCat(
                     "unknown argument '", Shown(name),
                     "'; expected interval, simulations or actions"));
  };
  auto next = words.begin();
  if (next != words.end() && absl::ascii_isdigit((*next)[0])) {
    TARA_RETURN_IF_ERROR(set("interval", *next++));
  }
  for (; next != words.end(); next += 2) {
    if (next + 1 == words.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", Shown(*next), "' has no value; expected NAME VALUE"));
    }
    TARA_RETURN_IF_ERROR(set(*next, *(next + 1)));
  }
  if (centiseconds.has_value()) {
    parsed.limits.interval = absl::Milliseconds(int64_t{10} * *centiseconds);
  }
  return parsed;
}

}  // namespace tara::engine
