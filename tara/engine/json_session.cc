#include "tara/engine/json_session.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/threads.h"
#include "tara/base/version.h"
#include "tara/engine/analysis_report.h"
#include "tara/engine/engine_options.h"
#include "tara/engine/line_io.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/utility.h"

namespace tara::engine {

struct JsonSession::Analysis {
  Json id;
  int turn;
  State state;
  AnalysisReportOptions report;
};

JsonSession::JsonSession(EngineModel* model, const EngineOptions& options,
                         Sink sink)
    : model_(model),
      options_(options),
      sink_(std::move(sink)),
      engine_(std::make_unique<AnalysisEngine>(
          model, AnalysisEngineOptions{.threads = options.threads,
                                       .positions = options.positions,
                                       .leaves = options.leaves})) {}

JsonSession::~JsonSession() = default;

void JsonSession::Take(absl::string_view line) {
  if (line.find_first_not_of(" \t\r") == absl::string_view::npos) return;
  engine_->AwaitRoom();
  Request request;
  const absl::Status status = CatchExhaustion([&] {
    request = ParseRequest(line, options_);
    for (const RequestProblem& warning : request.warnings) {
      Warn(request, warning);
    }
    std::visit([&](const auto& body) { Answer(request, body); }, request.body);
    return absl::OkStatus();
  });
  if (status.ok()) return;
  Answer(request,
         RequestProblem{.message = std::string(status.message()), .field = ""});
}

void JsonSession::Refuse() {
  Write({{"error", "the line is too long; expected at most a megabyte"}});
}

void JsonSession::Write(const Json& answer, absl::string_view actions) {
  // Ids and names of fields may hold anything.
  std::string line =
      answer.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!actions.empty()) {
    line.pop_back();  // an object that has something in it already
    absl::StrAppend(&line, ",\"actions\":", actions, "}");
  }
  sink_(std::move(line));
}

void JsonSession::Answer(const Request& request,
                         const RequestProblem& problem) {
  Json answer;
  if (!request.id.is_null()) answer["id"] = request.id;
  answer["error"] = problem.message;
  if (!problem.field.empty()) answer["field"] = problem.field;
  Write(answer);
}

void JsonSession::Warn(const Request& request, const RequestProblem& problem) {
  Write({{"id", request.id},
         {"warning", problem.message},
         {"field", problem.field}});
}

void JsonSession::Answer(const Request& request, const AnalyzeRequest& body) {
  // All positions of a request are of one game, by the same rules.
  for (const AnalyzeRequest::Position& position : body.positions) {
    const absl::Status status = model_->CheckLearned(position.state);
    if (status.ok()) continue;
    Answer(request, RequestProblem{.message = std::string(status.message()),
                                   .field = ""});
    return;
  }
  const auto flag = std::make_shared<CancelFlag>(false);
  std::vector<std::weak_ptr<CancelFlag>>& flags =
      flags_[request.id.dump(-1, ' ', false, Json::error_handler_t::replace)];
  if (flags.size() == flags.capacity()) {  // clients may reuse ids
    std::erase_if(flags, [](const std::weak_ptr<CancelFlag>& answered) {
      return answered.expired();
    });
  }
  flags.push_back(flag);
  ForgetAnswered();
  if (mcts::Utility(body.search.utility).needs_margins()) model_->KeepMargins();
  for (const AnalyzeRequest::Position& position : body.positions) {
    const auto analysis = std::make_shared<const Analysis>(
        Analysis{.id = request.id,
                 .turn = position.turn,
                 .state = position.state,
                 .report = {.report = body.report,
                            .max_actions = body.max_actions,
                            .confidence_z = options_.confidence_z}});
    if (position.state.finished()) {
      Report(*analysis, AnalysisEvent::kDone, nullptr, absl::OkStatus());
      continue;
    }
    engine_->Add({.state = position.state,
                  .search = body.search,
                  .seed = DeriveSeed(options_.seed, 0, StreamPurpose::kArena),
                  .time = body.time,
                  .report_every = body.report_every,
                  .priority = body.priority,
                  .cancelled = flag,
                  .listener = [this, analysis](AnalysisEvent event,
                                               const mcts::Tree* tree,
                                               const absl::Status& status) {
                    Report(*analysis, event, tree, status);
                  }});
  }
}

absl::Status JsonSession::AddNetworkOutputs(const Analysis& analysis,
                                            Json& answer) {
  const ReportFlags& report = analysis.report.report;
  if (report.evaluation || report.margins) {
    mcts::Evaluation evaluation;
    TARA_RETURN_IF_ERROR(model_->EvaluateFully(analysis.state, evaluation));
    AddEvaluation(evaluation, report, answer);
  }
  return absl::OkStatus();
}

void JsonSession::Report(const Analysis& analysis, AnalysisEvent event,
                         const mcts::Tree* tree, const absl::Status& status) {
  Json answer = {{"id", analysis.id}, {"turn", analysis.turn}};
  std::string actions;
  absl::Status failure = status;
  if (event == AnalysisEvent::kProgress) answer["during_search"] = true;
  if (event == AnalysisEvent::kCancelled) answer["terminated"] = true;
  if (failure.ok()) {
    AddTurnOrResult(analysis.state, answer);
    const std::string not_learned = model_->NotLearnedOf(analysis.state);
    if (!not_learned.empty()) answer["not_learned"] = not_learned;
    if (tree != nullptr) {
      AddSearch(*tree, analysis.report, answer);
      if (analysis.report.report.actions && answer.contains("best")) {
        actions = ActionsText(*tree, analysis.report);
      }
      if (event == AnalysisEvent::kDone) {
        failure = AddNetworkOutputs(analysis, answer);
      }
    }
  }
  if (!failure.ok()) {
    answer = {{"id", analysis.id},
              {"turn", analysis.turn},
              {"error", std::string(failure.message())}};
    actions.clear();
  }
  Write(answer, actions);
}

int JsonSession::Cancel(const std::string& id) {
  const auto found = flags_.find(id);
  if (found == flags_.end()) return 0;
  int cancelled = 0;
  for (const std::weak_ptr<CancelFlag>& weak : found->second) {
    if (const std::shared_ptr<CancelFlag> flag = weak.lock()) {
      flag->store(true, std::memory_order_relaxed);
      ++cancelled;
    }
  }
  flags_.erase(found);
  return cancelled;
}

void JsonSession::ForgetAnswered() {
  if (flags_.size() < forget_at_) return;
  for (auto it = flags_.begin(); it != flags_.end();) {
    const bool answered = std::all_of(
        it->second.begin(), it->second.end(),
        [](const std::weak_ptr<CancelFlag>& flag) { return flag.expired(); });
    const auto here = it++;
    if (answered) flags_.erase(here);
  }
  forget_at_ = std::max<size_t>(1024, 2 * flags_.size());
}

void JsonSession::Answer(const Request& request, const TerminateRequest& body) {
  const int cancelled = Cancel(
      body.terminate_id.dump(-1, ' ', false, Json::error_handler_t::replace));
  engine_->SweepCancelled();
  Write({{"id", request.id},
         {"command", request.command},
         {"terminate_id", body.terminate_id},
         {"requests", cancelled}});
}

void JsonSession::Answer(const Request& request, const TerminateAllRequest&) {
  std::vector<std::string> ids;
  for (const auto& [id, flags] : flags_) ids.push_back(id);
  int cancelled = 0;
  for (const std::string& id : ids) cancelled += Cancel(id);
  engine_->SweepCancelled();
  Write({{"id", request.id},
         {"command", request.command},
         {"requests", cancelled}});
}

void JsonSession::Answer(const Request& request, const QueryVersionRequest&) {
  Json answer = {{"id", request.id},
                 {"command", request.command},
                 {"name", kEngineName},
                 {"version", kVersion},
                 {"protocol", kJsonProtocolVersion},
                 {"model", model_->name()}};
  if (!model_->backend().empty()) {
    answer["backend"] = model_->backend();
    answer["precision"] = model_->precision();
  }
  Write(answer);
}

void JsonSession::Answer(const Request& request, const ClearCacheRequest&) {
  model_->ClearCache();
  Write({{"id", request.id}, {"command", request.command}});
}

namespace {

constexpr size_t kMaxLineBytes = size_t{1} << 20;

}  // namespace

void RunJsonEngine(EngineModel& model, const EngineOptions& options,
                   std::istream& in, std::ostream& out) {
  OutputQueue answers(&out);
  JsonSession session(&model, options,
                      [&](std::string line) { answers.Push(std::move(line)); });
  InputLine line;
  while (ReadLine(in, kMaxLineBytes, line)) {
    answers.AwaitRoom();
    if (line.too_long) {
      session.Refuse();
    } else {
      session.Take(line.text);
    }
  }
}

}  // namespace tara::engine
