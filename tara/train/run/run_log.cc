#include "tara/train/run/run_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tara/base/files.h"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/core/variant.h"

namespace tara::train {

std::string EventLine(absl::string_view kind, int generation,
                      const Event& fields) {
  Event event = {{"event", std::string(kind)}, {"generation", generation}};
  event.update(fields);
  return JsonText(event);
}

Event LossFields(const nn::Losses& losses) {
  Event fields = {{"loss", losses.total}};
  for (const nn::HeadInfo& info : nn::kHeads) {
    fields[absl::StrCat(info.name, "_loss")] = losses.heads[info.head];
  }
  fields["policy_accuracy"] = losses.policy_accuracy;
  return fields;
}

std::vector<std::string> HeldOutLines(
    int generation, const std::vector<HeldOutLosses>& by_variant) {
  std::vector<std::string> lines;
  for (const HeldOutLosses& each : by_variant) {
    Event fields = {{"variant", std::string(Info(each.variant).id)},
                    {"positions", each.positions}};
    fields.update(LossFields(each.losses));
    lines.push_back(EventLine("held_out", generation, fields));
  }
  return lines;
}

std::vector<std::string> StrengthLines(
    int generation, bool is_final,
    const std::vector<StrengthResult>& strength) {
  std::vector<std::string> lines;
  for (const StrengthResult& result : strength) {
    Event fields = {{"final", is_final},
                    {"variant", result.variant},
                    {"opponent", result.opponent},
                    {"games", result.games},
                    {"wins", result.wins},
                    {"draws", result.draws},
                    {"losses", result.losses},
                    {"score", result.score},
                    {"score_low", result.score_low},
                    {"score_high", result.score_high}};
    if (result.forfeits > 0) fields["forfeits"] = result.forfeits;
    lines.push_back(EventLine("strength", generation, fields));
  }
  return lines;
}

std::vector<std::string> GateLines(int candidate, int best, bool promoted,
                                   const std::vector<StrengthResult>& results) {
  std::vector<std::string> lines;
  for (const StrengthResult& result : results) {
    lines.push_back(EventLine("gate", candidate,
                              {{"best", best},
                               {"promoted", promoted},
                               {"variant", result.variant},
                               {"games", result.games},
                               {"score", result.score},
                               {"score_low", result.score_low},
                               {"score_high", result.score_high},
                               {"weaker", result.weaker}}));
  }
  return lines;
}

int GenerationOfLine(const std::string& line) {
  const Event event = ParseJson<Event>(line).value_or(Event());
  if (!event.is_object() || !event.contains("generation")) return -1;
  const Event& generation = event["generation"];
  return generation.is_number_integer() ? generation.get<int>() : -1;
}

namespace {

// Returns the part of a file's contents up to the last end of a line.
absl::string_view WholeLines(absl::string_view contents) {
  return contents.substr(0, contents.rfind('\n') + 1);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadMetricsLines(
    const std::string& path) {
  TARA_ASSIGN_OR_RETURN(const std::string contents, ReadWholeFile(path));
  return std::vector<std::string>(
      absl::StrSplit(WholeLines(contents), '\n', absl::SkipEmpty()));
}

absl::StatusOr<std::unique_ptr<RunLog>> RunLog::Open(const std::string& path,
                                                     Progress& progress) {
  const int fd = OpenFile(path, O_WRONLY | O_CREAT | O_APPEND);
  if (fd < 0) return SystemError("cannot open", path);
  auto log = std::unique_ptr<RunLog>(new RunLog(path, fd, progress));
  TARA_ASSIGN_OR_RETURN(const std::string contents, ReadWholeFile(path));
  const size_t whole = WholeLines(contents).size();
  if (whole != contents.size() &&
      ftruncate(fd, static_cast<off_t>(whole)) != 0) {
    return SystemError("cannot cut off the torn last line of", path);
  }
  return log;
}

RunLog::~RunLog() { close(fd_); }

absl::Status RunLog::Append(const std::vector<std::string>& lines) {
  const absl::MutexLock lock(&mutex_);
  std::string text;
  for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
  const off_t end = lseek(fd_, 0, SEEK_END);
  const absl::Status status = WriteAll(fd_, path_, text);
  if (!status.ok() && ftruncate(fd_, end) != 0) {
    return SystemError("cannot undo a torn write to", path_);
  }
  TARA_RETURN_IF_ERROR(status);
  for (const std::string& line : lines) progress_.PrintEvent(line);
  return absl::OkStatus();
}

absl::Status RunLog::AppendMissing(std::vector<std::string> lines) {
  TARA_ASSIGN_OR_RETURN(const std::vector<std::string> there,
                        ReadMetricsLines(path_));
  std::erase_if(lines, [&](const std::string& line) {
    return std::find(there.begin(), there.end(), line) != there.end();
  });
  return Append(lines);
}

}  // namespace tara::train
