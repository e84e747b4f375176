#include "tara/train/run/run_log.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/core/variant.h"

namespace tara::train {
namespace {

using Json = nlohmann::ordered_json;

void AddLosses(const nn::Losses& losses, Json& line) {
  line["loss"] = losses.total;
  for (const nn::HeadInfo& info : nn::kHeads) {
    line[absl::StrCat(info.name, "_loss")] = losses.heads[info.head];
  }
  line["policy_accuracy"] = losses.policy_accuracy;
}

// Draws the points of an event of metrics.jsonl.
void Draw(const Json& event, EventWriter& events) {
  const auto text = [&](const char* field) { return event.value(field, ""); };
  const auto draw = [&](absl::string_view curve, absl::string_view field,
                        bool if_zero = true) {
    const auto value = event.find(field);
    // A number that is not finite is null.
    if (value == event.end() || !value->is_number()) return;
    if (!if_zero && *value == 0) return;
    events.Scalar(curve, *value, event.value("generation", int64_t{0}));
  };
  const std::string kind = text("event");
  if (kind == "self_play") {
    for (const char* const field :
         {"games_per_second", "evaluations_per_second",
          "simulations_per_second", "cached_share", "distinct_share"}) {
      draw(absl::StrCat("self_play/", field), field);
    }
  } else if (kind == "learning_speed") {
    draw("learning/samples_per_second", "samples_per_second");
  } else if (kind == "learning") {
    draw("loss/total", "loss");
    for (const nn::HeadInfo& info : nn::kHeads) {
      // That of an auxiliary head which is not learned is 0.
      draw(absl::StrCat("loss/", info.name), absl::StrCat(info.name, "_loss"),
           /*if_zero=*/!info.is_auxiliary);
    }
    draw("learning/policy_accuracy", "policy_accuracy");
    draw("learning/rate", "learning_rate");
    draw("learning/window_positions", "window_positions");
  } else if (kind == "held_out") {
    for (const nn::HeadInfo& info : nn::kHeads) {
      draw(absl::StrCat("held_out/", info.name, "/", text("variant")),
           absl::StrCat(info.name, "_loss"));
    }
  } else if (kind == "strength") {
    draw(absl::StrCat("strength/", text("variant"), "/", text("opponent")),
         "score");
  } else if (kind == "gate") {
    events.Scalar("gate/promoted", event.value("promoted", false) ? 1 : 0,
                  event.value("generation", int64_t{0}));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunLog>> RunLog::Open(const RunFolder& folder,
                                                     Progress& progress) {
  TARA_ASSIGN_OR_RETURN(auto metrics, MetricsFile::Open(folder.metrics_path()));
  TARA_ASSIGN_OR_RETURN(auto events,
                        EventWriter::Create(folder.tensorboard_path()));
  return std::unique_ptr<RunLog>(new RunLog(
      folder.metrics_path(), std::move(metrics), std::move(events), progress));
}

RunLog::RunLog(std::string path, std::unique_ptr<MetricsFile> metrics,
               std::unique_ptr<EventWriter> events, Progress& progress)
    : path_(std::move(path)),
      metrics_(std::move(metrics)),
      events_(std::move(events)),
      progress_(progress) {}

absl::Status RunLog::Write(const std::vector<std::string>& lines) {
  const absl::MutexLock lock(&mutex_);
  TARA_RETURN_IF_ERROR(metrics_->AppendLines(lines));
  for (const std::string& line : lines) progress_.Event(line);
  return absl::OkStatus();
}

absl::Status RunLog::SelfPlay(
    int generation, const SelfPlayRates& rates,
    const std::map<std::string, int64_t>& games_by_node) {
  const Json line = {
      {"event", "self_play"},
      {"generation", generation},
      {"games", rates.games},
      {"seconds", rates.seconds},
      {"games_per_second", rates.games_per_second},
      {"evaluations_per_second", rates.evaluations_per_second},
      {"positions_per_batch", rates.positions_per_batch},
      {"batch_fill", rates.batch_fill},
      {"positions_per_merged_batch", rates.positions_per_merged_batch},
      {"cached_share", rates.cached_share},
      {"evaluate_share", rates.evaluate_share},
      {"cores", rates.cores},
      {"distinct_share", rates.distinct_share},
      {"simulations_per_second", rates.simulations_per_second},
      {"simulations_per_evaluation", rates.simulations_per_evaluation},
      {"graph_share", rates.graph_share},
      {"solved_share", rates.solved_share},
      {"full_share", rates.full_share},
      {"proof_share", rates.proof_share},
      {"games_resigned", rates.resigned},
      {"games_played_on", rates.played_on},
      {"played_on_resignable", rates.resignable},
      {"played_on_false_positives", rates.resignable_not_lost}};
  Draw(line, *events_);
  if (!games_by_node.empty()) {
    events_->Scalar("fleet/nodes", static_cast<double>(games_by_node.size()),
                    generation);
  }
  TARA_RETURN_IF_ERROR(events_->Flush());
  std::vector<std::string> lines = {JsonText(line)};
  for (const auto& [node, games] : games_by_node) {
    lines.push_back(
        JsonText(Json({{"event", "fleet"},
                       {"generation", generation},
                       {"node", node},
                       {"games", games},
                       {"games_per_second", games / rates.seconds}})));
  }
  return Write(lines);
}

absl::Status RunLog::LearningSpeed(int generation, const LearningRates& rates) {
  const Json line = {{"event", "learning_speed"},
                     {"generation", generation},
                     {"seconds", rates.seconds},
                     {"samples_per_second", rates.samples_per_second},
                     {"step_share", rates.step_share},
                     {"wait_for_batch_share", rates.batch_share},
                     {"read_share", rates.read_share}};
  Draw(line, *events_);
  TARA_RETURN_IF_ERROR(events_->Flush());
  return Write({JsonText(line)});
}

std::vector<std::string> RunLog::Learning(const LearningReport& report) {
  const int generation = report.generation;
  Json line = {{"event", "learning"},
               {"generation", generation},
               {"step", report.step},
               {"samples", report.samples}};
  AddLosses(report.losses, line);
  line.update({{"learning_rate", report.learning_rate},
               {"window_games", report.window_games},
               {"window_positions", report.window_positions},
               {"skipped_steps", report.skipped_steps}});
  return {JsonText(line)};
}

std::vector<std::string> RunLog::HeldOut(
    int generation, const std::vector<HeldOutLosses>& by_variant) {
  std::vector<std::string> lines;
  for (const HeldOutLosses& each : by_variant) {
    const std::string variant(Info(each.variant).id);
    Json line = {{"event", "held_out"},
                 {"generation", generation},
                 {"variant", variant},
                 {"positions", each.positions}};
    AddLosses(each.losses, line);
    lines.push_back(JsonText(line));
  }
  return lines;
}

std::vector<std::string> RunLog::Strength(
    int generation, bool is_final,
    const std::vector<StrengthResult>& strength) {
  std::vector<std::string> lines;
  for (const StrengthResult& result : strength) {
    Json line = {{"event", "strength"},
                 {"generation", generation},
                 {"final", is_final},
                 {"variant", result.variant},
                 {"opponent", result.opponent},
                 {"games", result.games},
                 {"wins", result.wins},
                 {"draws", result.draws},
                 {"losses", result.losses},
                 {"score", result.score},
                 {"score_low", result.score_low},
                 {"score_high", result.score_high}};
    if (result.forfeits > 0) line["forfeits"] = result.forfeits;
    lines.push_back(JsonText(line));
  }
  return lines;
}

std::vector<std::string> RunLog::Gate(const GateReport& report) {
  std::vector<std::string> lines;
  for (const auto& [result, weaker] : report.results) {
    lines.push_back(JsonText(Json({{"event", "gate"},
                                   {"generation", report.candidate},
                                   {"best", report.best},
                                   {"promoted", report.promoted},
                                   {"variant", result.variant},
                                   {"games", result.games},
                                   {"score", result.score},
                                   {"score_low", result.score_low},
                                   {"score_high", result.score_high},
                                   {"weaker", weaker}})));
  }
  return lines;
}

absl::Status RunLog::Append(const std::vector<std::string>& lines) {
  TARA_ASSIGN_OR_RETURN(const std::vector<std::string> before,
                        ReadMetricsLines(path_));
  const std::set<std::string> there(before.begin(), before.end());
  std::vector<std::string> missing;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(missing),
               [&](const std::string& line) { return !there.contains(line); });
  TARA_RETURN_IF_ERROR(Write(missing));
  bool gate_is_drawn = false;
  for (const std::string& line : missing) {
    const Json event = *ParseJson<Json>(line);  // our own
    // A trial at the gate has a line a variant, but one point.
    if (event.at("event") == "gate" && std::exchange(gate_is_drawn, true)) {
      continue;
    }
    Draw(event, *events_);
  }
  return events_->Flush();
}

absl::Status RunLog::Note(int generation, absl::string_view text) {
  return Write({JsonText(Json({{"event", "note"},
                               {"generation", generation},
                               {"text", std::string(text)}}))});
}

int GenerationOfLine(const std::string& line) {
  const Json event = ParseJson<Json>(line).value_or(Json());
  if (!event.is_object() || !event.contains("generation")) return -1;
  const Json& generation = event["generation"];
  return generation.is_number_integer() ? generation.get<int>() : -1;
}

}  // namespace tara::train
