#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "tara/base/json.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/base/version.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/engine/engine.h"
#include "tara/engine/sessions.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/tree.h"
#include "tara/mcts/utility.h"

namespace tara::engine {
namespace {

// Requests of the JSON protocol (docs/reference/protocol.md, section 2), read
// strictly.

using Json = nlohmann::ordered_json;

// What an answer has, besides the sums of the search.
struct ReportOptions {
  bool actions = false;     // statistics of each action
  bool pv = false;          // lines: of the root, and of each action told
  bool policy = false;      // the priors of all legal actions
  bool evaluation = false;  // win, draw, loss, margin without a search
  bool margins = false;     // the distribution of the final margin
  int max_actions = 0;      // 0: all that were visited
  float confidence_z = 0;   // of the ranking
};

// Positions to be analysed.
struct AnalyzeRequest {
  // By turn: the number of actions before it.
  struct Position {
    int turn;
    State state;
  };
  std::vector<Position> positions;
  mcts::SearchOptions search;
  absl::Duration time = absl::InfiniteDuration();
  absl::Duration report_every = absl::InfiniteDuration();
  int priority = 0;
  ReportOptions report;
};

constexpr int64_t kMaxTimeMs = int64_t{24} * 3600 * 1000;
constexpr uint64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr size_t kMaxIdBytes = 256;
constexpr size_t kMaxTurns = 10000;

constexpr absl::string_view kCommands[] = {
    "analyze", "terminate", "terminate_all", "query_version", "clear_cache"};

struct ReportName {
  absl::string_view name;
  bool ReportOptions::* flag;
};
constexpr ReportName kReports[] = {{"actions", &ReportOptions::actions},
                                   {"pv", &ReportOptions::pv},
                                   {"policy", &ReportOptions::policy},
                                   {"evaluation", &ReportOptions::evaluation},
                                   {"margins", &ReportOptions::margins}};

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

// Reads the fields of a request. `field` becomes the name of the one being
// read.
class Reader {
 public:
  Reader(const Json& object, const EngineOptions& options, std::string& field)
      : object_(object), options_(options), field_(field) {}

  // Returns the names of fields that nobody has asked for.
  std::vector<std::string> Unread() const {
    std::vector<std::string> names;
    for (const auto& [name, value] : object_.items()) {
      if (!absl::c_linear_search(read_, name)) names.push_back(name);
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

  absl::Status ReadId(absl::string_view name, Json& id) {
    const Json* const value = Find(name);
    if (value == nullptr) return absl::InvalidArgumentError("is missing");
    const bool text =
        value->is_string() &&
        value->get_ref<const std::string&>().size() <= kMaxIdBytes;
    if (!text && !value->is_number_integer()) {
      return Unexpected(*value,
                        "a whole number or a text of at most 256 bytes");
    }
    id = *value;
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> ReadCommand() {
    const Json* const value = Find("command");
    if (value == nullptr) return "analyze";
    const std::string command =
        value->is_string() ? value->get<std::string>() : "";
    if (absl::c_linear_search(kCommands, command)) return command;
    return Unexpected(*value,
                      absl::StrCat("one of ", absl::StrJoin(kCommands, ", ")));
  }

  absl::StatusOr<AnalyzeRequest> ReadAnalyze() {
    AnalyzeRequest request;
    TARA_ASSIGN_OR_RETURN(const State start, ReadStart());
    TARA_ASSIGN_OR_RETURN(const std::vector<State> states, ReadActions(start));
    TARA_RETURN_IF_ERROR(ReadTurns(states, request));
    TARA_RETURN_IF_ERROR(ReadSearch(request));
    TARA_RETURN_IF_ERROR(ReadReport(request));
    TARA_RETURN_IF_ERROR(
        ReadWhole("priority", -1000000, 1000000, request.priority));
    return request;
  }

 private:
  // Sets a number where there is one.
  template <typename Number>
  absl::Status ReadWhole(absl::string_view name, int64_t least, int64_t most,
                         Number& number) {
    const Json* const value = Find(name);
    if (value == nullptr) return absl::OkStatus();
    // Unsigned numbers beyond int64_t would turn negative.
    if (value->is_number_integer() &&
        (!value->is_number_unsigned() || value->get<uint64_t>() <= kLargest) &&
        value->get<int64_t>() >= least && value->get<int64_t>() <= most) {
      number = static_cast<int>(value->get<int64_t>());
      return absl::OkStatus();
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
    std::optional<int> simulations, time_ms, every_ms;
    TARA_RETURN_IF_ERROR(
        ReadWhole("simulations", 1, mcts::kMaxSimulations, simulations));
    TARA_RETURN_IF_ERROR(ReadWhole("time_ms", 1, kMaxTimeMs, time_ms));
    TARA_RETURN_IF_ERROR(ReadWhole("report_every_ms", 1, kMaxTimeMs, every_ms));
    if (every_ms.has_value()) {
      request.report_every = absl::Milliseconds(*every_ms);
    }
    if (time_ms.has_value()) {
      request.time = absl::Milliseconds(*time_ms);
    } else if (!simulations.has_value() && options_.time > absl::Duration()) {
      request.time = options_.time;
    }
    const bool by_time = request.time < absl::InfiniteDuration();
    // A Gumbel root plans for a number of simulations.
    if (by_time) request.search.gumbel = false;
    request.search.simulations = simulations.value_or(
        by_time ? mcts::kMaxSimulations : request.search.simulations);
    return absl::OkStatus();
  }

  absl::Status ReadReport(AnalyzeRequest& request) {
    TARA_RETURN_IF_ERROR(
        ReadWhole("max_actions", 1, kNumActions, request.report.max_actions));
    request.report.confidence_z = options_.confidence_z;
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
      const auto named = absl::c_find_if(kReports, [&](const auto& each) {
        return name.is_string() &&
               name.get_ref<const std::string&>() == each.name;
      });
      if (named == std::end(kReports)) return Unexpected(name, expected);
      request.report.*named->flag = true;
    }
    return absl::OkStatus();
  }

  const Json& object_;
  const EngineOptions& options_;
  std::string& field_;
  std::vector<std::string> read_;
};

constexpr const char* kSideNames[] = {"red", "blue"};

// Rounded to four decimals: more would be noise, and take bytes.
double Rounded(double value) {
  return std::round(value * 1e4) / 1e4 + 0.0;  // + 0: no minus zero
}

// Appends a number as Rounded would have it: "0.25", "-1.0".
void AppendRounded(double value, std::string& text) {
  const int64_t units = std::llround(value * 1e4);
  const int64_t size = std::abs(units);
  absl::StrAppend(&text, units < 0 ? "-" : "", size / 10000, ".");
  char decimals[4];
  int64_t rest = size % 10000;
  for (int i = 3; i >= 0; --i, rest /= 10) {
    decimals[i] = static_cast<char>('0' + rest % 10);
  }
  int count = 4;
  while (count > 1 && decimals[count - 1] == '0') --count;
  text.append(decimals, count);
}

void AppendAction(const mcts::Tree& tree, const mcts::RootAction& action,
                  const ReportOptions& options, std::string& text) {
  absl::StrAppend(&text, R"({"action":")",
                  ActionToText(action.action, tree.root()), R"(","visits":)",
                  action.visits);
  const auto add = [&](absl::string_view name, double value) {
    absl::StrAppend(&text, ",\"", name, "\":");
    AppendRounded(value, text);
  };
  if (action.visits > 0) {
    add("value", action.mean_value);
    add("deviation", action.value_deviation);
    add("lcb", mcts::LowerConfidenceBound(action, options.confidence_z));
  }
  add("prior", action.prior);
  if (action.low > -kMaxMargin || action.high < kMaxMargin) {
    absl::StrAppend(&text, ",\"proved\":[", int{action.low}, ",",
                    int{action.high}, "]");
  }
  if (options.pv) {
    absl::StrAppend(&text, ",\"pv\":[");
    const char* separator = "\"";
    for (const std::string& next :
         LineToTexts(mcts::LineAfter(tree, action.action), tree.root())) {
      absl::StrAppend(&text, separator, next, "\"");
      separator = ",\"";
    }
    text += ']';
  }
  text += '}';
}

// Adds the seat to move of a position, or the result.
void AddTurnOrResult(const State& state, Json& answer) {
  answer["finished"] = state.finished();
  if (!state.finished()) {
    answer["seat"] = int{state.seat};
    answer["side"] = kSideNames[state.side()];
    return;
  }
  const Outcome outcome = Score(state);
  answer["result"] = {
      {"points", outcome.points},
      {"kingdoms", outcome.kingdoms},
      {"territory", outcome.territory},
      {"bridges", outcome.bridges},
      {"kings_captured", outcome.kings_captured},
      {"winner", outcome.winner() < 0 ? Json() : Json(outcome.winner())},
      {"ended_by", std::string(EndingName(outcome.ended_by))}};
}

// Adds the results of a search except the list of actions. Missing results,
// such as an action before the first simulation, are omitted.
void AddSearch(const mcts::Tree& tree, const ReportOptions& options,
               Json& answer) {
  const std::vector<mcts::RootAction> actions =
      mcts::RankActions(tree, options.confidence_z);
  answer["simulations"] = tree.root_visits();
  if (actions.empty()) return;
  answer["value"] = Rounded(tree.root_value());
  answer["margin"] = Rounded(tree.root_margin());
  const mcts::MarginBounds proved = tree.root_bounds();
  if (proved.low > -kMaxMargin || proved.high < kMaxMargin) {
    answer["proved"] = {int{proved.low}, int{proved.high}};
  }
  if (tree.root_visits() > 0 || tree.settled()) {
    answer["best"] = ActionToText(actions[0].action, tree.root());
    if (options.pv) {
      answer["pv"] =
          LineToTexts(mcts::LineAfter(tree, actions[0].action), tree.root());
    }
  }
  if (options.policy) {
    Json policy = Json::object();
    for (const mcts::RootAction& action : tree.root_actions()) {
      policy[ActionToText(action.action, tree.root())] = Rounded(action.prior);
    }
    answer["policy"] = std::move(policy);
  }
}

// Returns the statistics of each action, as a list in JSON. A text, for it is
// most of an answer: as values of the library it took several times as long,
// and a twentieth of an engine's time with a small network.
std::string ActionsText(const mcts::Tree& tree, const ReportOptions& options) {
  std::string text = "[";
  int count = 0;
  for (const mcts::RootAction& action :
       mcts::RankActions(tree, options.confidence_z)) {
    if (options.max_actions > 0 && count == options.max_actions) break;
    if (action.visits == 0 && count > 0) continue;
    if (count++ > 0) text += ',';
    AppendAction(tree, action, options, text);
  }
  text += ']';
  return text;
}

// Adds win, draw, loss and margin, and the distribution of margins, as asked
// for.
absl::Status AddEvaluation(const State& state, const ReportOptions& report,
                           EngineModel& model, Json& answer) {
  if (!report.evaluation && !report.margins) return absl::OkStatus();
  mcts::Evaluation evaluation;
  TARA_RETURN_IF_ERROR(model.EvaluateFully(state, evaluation));
  if (report.evaluation) {
    answer["evaluation"] = {{"win", Rounded(evaluation.win)},
                            {"draw", Rounded(evaluation.draw)},
                            {"loss", Rounded(evaluation.loss)},
                            {"margin", Rounded(evaluation.margin)}};
  }
  if (report.margins && !evaluation.margins.empty()) {
    // By margin; most are next to impossible.
    Json margins = Json::object();
    for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
      const double chance = Rounded(evaluation.margins[margin + kMaxMargin]);
      if (chance > 0) margins[absl::StrCat(margin)] = chance;
    }
    answer["margins"] = std::move(margins);
  }
  return absl::OkStatus();
}

class Session {
 public:
  using Sink = std::function<void(std::string line)>;

  // As NewJsonSession.
  Session(EngineModel* model, const EngineOptions& options, Sink sink)
      : model_(model),
        options_(options),
        sink_(std::move(sink)),
        engine_(std::make_unique<AnalysisEngine>(model, options)) {}

  // As JsonSession.
  void Take(absl::string_view line) {
    if (line.find_first_not_of(" \t\r") == absl::string_view::npos) return;
    engine_->AwaitRoom();
    Json id;
    std::string field;
    const absl::Status status =
        CatchExhaustion([&] { return Process(line, id, field); });
    if (status.ok()) return;
    Json answer;
    if (!id.is_null()) answer["id"] = id;
    answer["error"] = std::string(status.message());
    if (!field.empty()) answer["field"] = field;
    Write(answer);
  }

 private:
  using CancelFlag = std::atomic<bool>;

  // `actions`: the list of actions in JSON, if there is one.
  void Write(const Json& answer, absl::string_view actions = "") {
    std::string line = JsonText(answer);
    if (!actions.empty()) {
      line.pop_back();  // an object that has something in it already
      absl::StrAppend(&line, ",\"actions\":", actions, "}");
    }
    sink_(std::move(line));
  }

  // Answers a line. Returns what is wrong with it; `id` is then its id, and
  // `field` the field that it is about, where there are such.
  absl::Status Process(absl::string_view line, Json& id, std::string& field) {
    const absl::StatusOr<Json> object = ParseJson<Json>(line);
    if (!object.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          object.status().message(), "; expected an object on one line"));
    }
    if (!object->is_object()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a request is ", ShownJson(*object), "; expected an object"));
    }
    Reader reader(*object, options_, field);
    TARA_RETURN_IF_ERROR(reader.ReadId("id", id));
    TARA_ASSIGN_OR_RETURN(const std::string command, reader.ReadCommand());
    AnalyzeRequest analyze;
    Json terminate_id;
    if (command == "analyze") {
      TARA_ASSIGN_OR_RETURN(analyze, reader.ReadAnalyze());
    } else if (command == "terminate") {
      TARA_RETURN_IF_ERROR(reader.ReadId("terminate_id", terminate_id));
    }
    field.clear();
    for (const std::string& name : reader.Unread()) {
      Write({{"id", id}, {"warning", "unknown field"}, {"field", name}});
    }
    if (command == "analyze") return Analyze(id, analyze);
    Json answer = {{"id", id}, {"command", command}};
    if (command == "terminate") {
      answer["terminate_id"] = terminate_id;
      answer["requests"] = Cancel(JsonText(terminate_id));
    } else if (command == "terminate_all") {
      answer["requests"] = Cancel(std::nullopt);
    } else if (command == "query_version") {
      answer["name"] = kEngineName;
      answer["version"] = kVersion;
      answer["protocol"] = kJsonProtocolVersion;
      answer["model"] = model_->name();
      if (!model_->backend().empty()) {
        answer["backend"] = model_->backend();
        answer["precision"] = model_->precision();
      }
    } else {
      model_->ClearCache();
    }
    Write(answer);
    return absl::OkStatus();
  }

  absl::Status Analyze(const Json& id, const AnalyzeRequest& request) {
    // All positions of a request are of one game, by the same rules.
    for (const AnalyzeRequest::Position& position : request.positions) {
      TARA_RETURN_IF_ERROR(model_->CheckLearned(position.state));
    }
    const auto flag = std::make_shared<CancelFlag>(false);
    flags_.emplace(JsonText(id), flag);
    if (flags_.size() >= forget_at_) {
      std::erase_if(flags_,
                    [](const auto& each) { return each.second.expired(); });
      forget_at_ = std::max<size_t>(1024, 2 * flags_.size());
    }
    if (mcts::Utility(request.search.utility).needs_margins())
      model_->KeepMargins();
    for (const AnalyzeRequest::Position& position : request.positions) {
      const auto report = [this, id, position, options = request.report](
                              AnalysisEvent event, const mcts::Tree* tree,
                              const absl::Status& status) {
        Report(id, position, options, event, tree, status);
      };
      if (position.state.finished()) {
        report(AnalysisEvent::kDone, nullptr, absl::OkStatus());
        continue;
      }
      engine_->Add({.state = position.state,
                    .search = request.search,
                    .seed = DeriveSeed(options_.seed, 0, StreamPurpose::kArena),
                    .time = request.time,
                    .report_every = request.report_every,
                    .priority = request.priority,
                    .cancelled = flag,
                    .listener = report});
    }
    return absl::OkStatus();
  }

  // Writes the progress or the result of a position's search. Thread-safe.
  void Report(const Json& id, const AnalyzeRequest::Position& position,
              const ReportOptions& report, AnalysisEvent event,
              const mcts::Tree* tree, const absl::Status& status) {
    Json answer = {{"id", id}, {"turn", position.turn}};
    std::string actions;
    absl::Status failure = status;
    if (event == AnalysisEvent::kProgress) answer["during_search"] = true;
    if (event == AnalysisEvent::kCancelled) answer["terminated"] = true;
    if (failure.ok()) {
      AddTurnOrResult(position.state, answer);
      const std::string not_learned = model_->NotLearnedOf(position.state);
      if (!not_learned.empty()) answer["not_learned"] = not_learned;
      if (tree != nullptr) {
        AddSearch(*tree, report, answer);
        if (report.actions && answer.contains("best")) {
          actions = ActionsText(*tree, report);
        }
        if (event == AnalysisEvent::kDone) {
          failure = AddEvaluation(position.state, report, *model_, answer);
        }
      }
    }
    if (!failure.ok()) {
      answer = {{"id", id},
                {"turn", position.turn},
                {"error", std::string(failure.message())}};
      actions.clear();
    }
    Write(answer, actions);
  }

  // Cancels the requests of an id, or all without one. Returns how many were
  // under way.
  int Cancel(const std::optional<std::string>& id) {
    auto [next, end] = id.has_value() ? flags_.equal_range(*id)
                                      : std::pair(flags_.begin(), flags_.end());
    int cancelled = 0;
    while (next != end) {
      if (const std::shared_ptr<CancelFlag> flag = next->second.lock()) {
        flag->store(true, std::memory_order_relaxed);
        ++cancelled;
      }
      next = flags_.erase(next);
    }
    engine_->SweepCancelled();
    return cancelled;
  }

  EngineModel* const model_;
  const EngineOptions options_;
  const Sink sink_;
  // By id, as text: the unanswered requests, and some answered ones.
  std::multimap<std::string, std::weak_ptr<CancelFlag>> flags_;
  size_t forget_at_ = 1024;
  std::unique_ptr<AnalysisEngine> engine_;  // last: it calls Report
};

}  // namespace

JsonSession NewJsonSession(EngineModel* model, const EngineOptions& options,
                           std::function<void(std::string line)> sink) {
  return [session = std::make_shared<Session>(model, options, std::move(sink))](
             absl::string_view line) { session->Take(line); };
}

void RunJsonEngine(EngineModel& model, const EngineOptions& options,
                   std::istream& in, std::ostream& out) {
  constexpr size_t kMaxLineBytes = size_t{1} << 20;
  OutputQueue answers(&out);
  const JsonSession session =
      NewJsonSession(&model, options,
                     [&](std::string line) { answers.Push(std::move(line)); });
  InputLine line;
  while (ReadLine(in, kMaxLineBytes, line)) {
    answers.AwaitRoom();
    if (line.too_long) {
      answers.Push(
          R"({"error":"the line is too long; expected at most a megabyte"})");
    } else {
      session(line.text);
    }
  }
}

}  // namespace tara::engine
