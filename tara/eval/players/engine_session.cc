#include "tara/eval/players/engine_session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tara/base/status_macros.h"
#include "tara/base/thread_time.h"

namespace tara::eval {
namespace {

// An engine that was told to quit gets so long to do so.
constexpr absl::Duration kQuitPatience = absl::Seconds(1);
// One that stopped talking: to be told how it ended.
constexpr absl::Duration kExitPatience = absl::Seconds(1);
// Of an answer with the ends of its lines: more is no answer. What engines
// answer has some hundred.
constexpr size_t kMaxAnswerBytes = size_t{1} << 16;
// Of the name and of the version that an engine gives.
constexpr size_t kMaxNameBytes = 100;
// Of what an engine said, in an error.
constexpr size_t kQuotedBytes = 60;

constexpr absl::string_view kNeededCommands[] = {"variant", "clear_board",
                                                 "play", "genmove"};

// Returns the text with "\xNN" for every byte that is no printable ASCII
// character: names go to terminals, reports and stores.
std::string Printable(absl::string_view text) {
  std::string printable;
  for (const char c : text) {
    if (absl::ascii_isprint(static_cast<unsigned char>(c))) {
      printable += c;
    } else {
      absl::StrAppend(&printable, "\\x",
                      absl::BytesToHexString(absl::string_view(&c, 1)));
    }
  }
  return printable;
}

}  // namespace

std::string QuotedAnswer(absl::string_view text) {
  const bool whole = text.size() <= kQuotedBytes;
  return absl::StrCat("'", Printable(text.substr(0, kQuotedBytes)),
                      whole ? "'" : "...'");
}

EngineSession::EngineSession(std::unique_ptr<ChildProcess> process,
                             const std::string& log)
    : process_(std::move(process)) {
  if (!log.empty()) log_.open(log, std::ios::app);
}

EngineSession::~EngineSession() {
  const absl::Duration patience =
      answers_ ? kQuitPatience : absl::ZeroDuration();
  // Whether it hears is of no account.
  const std::string quit = absl::StrCat(++last_id_, " quit");
  Log("> ", quit);
  process_->Write(quit + "\n", SteadyTime() + patience).IgnoreError();
  Log("ended: ", process_->End(patience));
}

absl::StatusOr<std::unique_ptr<EngineSession>> EngineSession::Start(
    const EngineSpec& spec) {
  TARA_ASSIGN_OR_RETURN(
      std::unique_ptr<ChildProcess> process,
      ChildProcess::Start({.command = spec.command, .log = spec.log}));
  std::unique_ptr<EngineSession> session(
      new EngineSession(std::move(process), spec.log));
  const absl::Status status = session->Introduce(spec);
  if (status.ok()) return session;
  return absl::Status(
      status.code(),
      absl::StrCat("engine '", absl::StrJoin(spec.command, " "),
                   "' cannot be used: ", status.message(),
                   spec.log.empty() ? "; log=FILE shows what it says" : ""));
}

absl::Status EngineSession::Introduce(const EngineSpec& spec) {
  const absl::Duration limit = spec.start_limit;
  const absl::Time deadline = SteadyTime() + limit;
  TARA_ASSIGN_OR_RETURN(const std::string version,
                        Ask("protocol_version", deadline, limit));
  if (version != "2") {
    return absl::FailedPreconditionError(
        absl::StrCat("it speaks version ", QuotedAnswer(version),
                     " of the protocol; expected 2"));
  }
  for (const absl::string_view command : {"name", "version"}) {
    TARA_ASSIGN_OR_RETURN(const std::string answer,
                          Ask(command, deadline, limit));
    if (answer.size() > kMaxNameBytes) {
      return absl::FailedPreconditionError(absl::StrCat(
          "its ", command, " ", QuotedAnswer(answer), " has ", answer.size(),
          " bytes; expected at most ", kMaxNameBytes));
    }
    if (answer.empty()) continue;
    absl::StrAppend(&name_, name_.empty() ? "" : " ", Printable(answer));
  }
  TARA_ASSIGN_OR_RETURN(commands_, Ask("list_commands", deadline, limit));
  for (const absl::string_view command : kNeededCommands) {
    if (knows(command)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("it does not have the command '", command, "'; expected ",
                     absl::StrJoin(kNeededCommands, ", ")));
  }
  return absl::OkStatus();
}

bool EngineSession::knows(absl::string_view command) const {
  const std::vector<absl::string_view> words =
      absl::StrSplit(commands_, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  return std::find(words.begin(), words.end(), command) != words.end();
}

absl::StatusOr<std::string> EngineSession::Ask(absl::string_view command,
                                               absl::Time deadline,
                                               absl::Duration limit) {
  const std::string line = absl::StrCat(++last_id_, " ", command);
  Log("> ", line);
  const absl::Status written = process_->Write(line + "\n", deadline);
  absl::StatusOr<std::string> answer =
      written.ok() ? ReadAnswer(command, deadline, limit)
                   : Explain(written, command, limit);
  answers_ = answer.ok() || absl::IsFailedPrecondition(answer.status());
  return answer;
}

absl::StatusOr<std::string> EngineSession::ReadAnswer(absl::string_view command,
                                                      absl::Time deadline,
                                                      absl::Duration limit) {
  std::vector<std::string> lines;
  size_t bytes = 0;
  while (true) {
    const absl::StatusOr<std::string> line = process_->ReadLine(deadline);
    if (!line.ok()) return Explain(line.status(), command, limit);
    bytes += line->size() + 1;
    if (bytes > kMaxAnswerBytes) {
      return absl::DataLossError(absl::StrCat(
          "answered '", command, "' with more than ", kMaxAnswerBytes,
          " bytes; an empty line ends an answer"));
    }
    Log("< ", *line);
    if (line->empty()) {
      // Empty lines before an answer are allowed; they end it after it.
      if (lines.empty()) continue;
      break;
    }
    lines.push_back(*line);
    const char mark = lines[0][0];
    if (mark == '=' || mark == '?') continue;
    return absl::DataLossError(
        absl::StrCat("answered ", QuotedAnswer(*line), " to '", command,
                     "'; expected a line that begins with '=' or '?'"));
  }
  absl::string_view first = lines[0];
  const bool refused = first[0] == '?';
  first.remove_prefix(1);
  const absl::string_view id =
      first.substr(0, first.find_first_not_of("0123456789"));
  if (id != absl::StrCat(last_id_)) {
    return absl::DataLossError(
        absl::StrCat("answered ", QuotedAnswer(lines[0]), " to '", command,
                     "'; expected the number of the command, ", last_id_));
  }
  lines[0] = std::string(first.substr(id.size()));
  std::string text = absl::StrJoin(lines, "\n");
  absl::StripAsciiWhitespace(&text);
  if (!refused) return text;
  return absl::FailedPreconditionError(
      absl::StrCat("refused '", command, "': ", QuotedAnswer(text)));
}

// Turns an error of the process into what the engine did.
absl::Status EngineSession::Explain(const absl::Status& status,
                                    absl::string_view command,
                                    absl::Duration limit) {
  if (absl::IsDeadlineExceeded(status)) {
    return absl::DeadlineExceededError(absl::StrCat(
        "no answer to '", command, "' within ", absl::FormatDuration(limit)));
  }
  if (absl::IsUnavailable(status)) {
    return absl::UnavailableError(
        absl::StrCat("ended (", process_->End(kExitPatience),
                     ") instead of answering '", command, "'"));
  }
  return absl::DataLossError(
      absl::StrCat("answered '", command, "' with ", status.message()));
}

void EngineSession::Log(absl::string_view direction, absl::string_view line) {
  // Flushed, as the engine's own words go to the same file.
  if (log_.is_open()) log_ << direction << line << std::endl;
}

}  // namespace tara::eval
