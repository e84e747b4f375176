#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "tara/base/child_process.h"
#include "tara/base/clocks.h"
#include "tara/base/files.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/core/action.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/eval/players/make_player.h"
#include "tara/mcts/time/time_manager.h"

namespace tara::eval {
namespace {

// Time for an engine to end after `quit`.
constexpr absl::Duration kQuitPatience = absl::Seconds(1);
// Time for a silent engine to end, for its exit status.
constexpr absl::Duration kExitPatience = absl::Seconds(5);
// Maximum size of an answer with line ends; answers of engines have some
// hundred bytes.
constexpr size_t kMaxAnswerBytes = size_t{1} << 16;
// Limit of an engine's name and of its version.
constexpr size_t kMaxNameBytes = 100;
// Bytes of an engine's answer that errors quote.
constexpr size_t kQuotedBytes = 60;

constexpr absl::string_view kNeededCommands[] = {"variant", "clear_board",
                                                 "play", "genmove"};

// Returns a quoted answer for errors: truncated to fit a line, with "\xNN" for
// any byte that is not a printable ASCII character.
std::string QuotedAnswer(absl::string_view text) {
  const bool whole = text.size() <= kQuotedBytes;
  return absl::StrCat("'", PrintableAscii(text.substr(0, kQuotedBytes)),
                      whole ? "'" : "...'");
}

// Until when an engine may answer.
struct Deadline {
  Deadline(absl::Duration limit, const StopCheck* stop)
      : time(SteadyTime() + limit), limit(limit), stop(stop) {}

  absl::Time time;       // of SteadyTime
  absl::Duration limit;  // from its beginning, for errors
  const StopCheck* stop;
};

// A process of an engine and the dialogue with it. A command is a line "ID
// COMMAND ARGUMENTS". Its answer is "=ID TEXT", or "?ID TEXT" for a failure,
// may have several lines, and ends with an empty line. This is the Go Text
// Protocol, version 2 (Farnebäck 2002, "Specification of the Go Text Protocol,
// version 2, draft 2", sections 2.5 to 2.8), with Tara's commands. Not thread-
// safe.
class EngineSession {
 public:
  // As EngineName. `is_ours` is set if this process could not start the
  // program, which is not the engine's fault.
  static absl::StatusOr<std::unique_ptr<EngineSession>> Start(
      const EngineSpec& spec, bool* is_ours = nullptr) {
    bool ignored;
    if (is_ours == nullptr) is_ours = &ignored;
    *is_ours = true;
    // The log is appended to the file.
    if (const absl::string_view kind = KindOfFile(spec.log); !kind.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "log=", spec.log, ": is ", kind, "; expected a new file"));
    }
    TARA_ASSIGN_OR_RETURN(
        std::unique_ptr<ChildProcess> process,
        ChildProcess::Start({.command = spec.command, .log = spec.log}));
    std::unique_ptr<EngineSession> session(
        new EngineSession(std::move(process)));
    if (!spec.log.empty()) {
      session->log_.open(spec.log, std::ios::app);
      if (!session->log_.is_open()) {
        return absl::ErrnoToStatus(
            errno, absl::StrCat("cannot write the log ", spec.log));
      }
    }
    *is_ours = false;
    const absl::Status status = session->Introduce(spec);
    if (status.ok()) return session;
    return absl::Status(
        status.code(),
        absl::StrCat("engine '", absl::StrJoin(spec.command, " "),
                     "' cannot be used: ", status.message(),
                     spec.log.empty() ? "; log=FILE records its output" : ""));
  }

  // Sends `quit`, waits a moment, and ends the process.
  ~EngineSession() {
    const absl::Duration patience =
        answers_ ? kQuitPatience : absl::ZeroDuration();
    // It does not matter whether the engine receives it.
    const std::string quit = absl::StrCat(++last_id_, " quit");
    Log("> ", quit);
    process_->Write(quit + "\n", SteadyTime() + patience).IgnoreError();
    Log("ended: ", process_->End(patience));
  }
  EngineSession(const EngineSession&) = delete;
  EngineSession& operator=(const EngineSession&) = delete;

  // Returns the answer to a command, without "=ID ". Errors describe the
  // engine's behaviour, as in "no answer to 'genmove' within 5s":
  // FAILED_PRECONDITION for an answer "?"; DEADLINE_EXCEEDED; UNAVAILABLE if it
  // ended; DATA_LOSS for a malformed answer; CANCELLED once deadline.stop is
  // true (null: never). The session is unusable after any error except the
  // first.
  absl::StatusOr<std::string> Ask(absl::string_view command,
                                  const Deadline& deadline) {
    const std::string line = absl::StrCat(++last_id_, " ", command);
    Log("> ", line);
    const absl::Status written =
        process_->Write(line + "\n", deadline.time, deadline.stop);
    absl::StatusOr<std::string> answer =
        written.ok() ? ReadAnswer(command, deadline)
                     : Explain(written, command, deadline);
    answers_ = answer.ok() || absl::IsFailedPrecondition(answer.status());
    return answer;
  }

  // Whether the engine supports an optional command.
  bool knows(absl::string_view command) const {
    const std::vector<absl::string_view> words =
        absl::StrSplit(commands_, absl::ByAnyChar(" \n"), absl::SkipEmpty());
    return std::find(words.begin(), words.end(), command) != words.end();
  }

  const std::string& name() const { return name_; }

 private:
  explicit EngineSession(std::unique_ptr<ChildProcess> process)
      : process_(std::move(process)) {}

  absl::Status Introduce(const EngineSpec& spec) {
    const StopCheck stop = StopRequested;
    const Deadline deadline(spec.start_limit, &stop);
    TARA_ASSIGN_OR_RETURN(const std::string version,
                          Ask("protocol_version", deadline));
    if (version != "2") {
      return absl::FailedPreconditionError(
          absl::StrCat("it speaks version ", QuotedAnswer(version),
                       " of the protocol; expected 2"));
    }
    for (const absl::string_view command : {"name", "version"}) {
      TARA_ASSIGN_OR_RETURN(const std::string answer, Ask(command, deadline));
      if (answer.size() > kMaxNameBytes) {
        return absl::FailedPreconditionError(absl::StrCat(
            "its ", command, " ", QuotedAnswer(answer), " has ", answer.size(),
            " bytes; expected at most ", kMaxNameBytes));
      }
      if (answer.empty()) continue;
      absl::StrAppend(&name_, name_.empty() ? "" : " ", PrintableAscii(answer));
    }
    TARA_ASSIGN_OR_RETURN(commands_, Ask("list_commands", deadline));
    for (const absl::string_view command : kNeededCommands) {
      if (knows(command)) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("it does not have the command '", command,
                       "'; expected ", absl::StrJoin(kNeededCommands, ", ")));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> ReadAnswer(absl::string_view command,
                                         const Deadline& deadline) {
    std::vector<std::string> lines;
    size_t bytes = 0;
    while (true) {
      const absl::StatusOr<std::string> line =
          process_->ReadLine(deadline.time, deadline.stop);
      if (!line.ok()) return Explain(line.status(), command, deadline);
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
  absl::Status Explain(const absl::Status& status, absl::string_view command,
                       const Deadline& deadline) {
    if (absl::IsCancelled(status)) return status;
    if (absl::IsDeadlineExceeded(status)) {
      return absl::DeadlineExceededError(
          absl::StrCat("no answer to '", command, "' within ",
                       absl::FormatDuration(deadline.limit)));
    }
    if (absl::IsUnavailable(status)) {
      return absl::UnavailableError(
          absl::StrCat("ended (", process_->End(kExitPatience),
                       ") instead of answering '", command, "'"));
    }
    return absl::DataLossError(
        absl::StrCat("answered '", command, "' with ", status.message()));
  }

  void Log(absl::string_view direction, absl::string_view line) {
    // Flushed, as the engine's own words go to the same file.
    if (log_.is_open()) log_ << direction << line << std::endl;
  }

  std::unique_ptr<ChildProcess> process_;
  std::ofstream log_;
  bool answers_ = true;  // until it has failed to
  int64_t last_id_ = 0;
  std::string name_;
  std::string commands_;  // a line each
};

std::string SecondsText(absl::Duration time) {
  return absl::StrFormat("%.3f", std::max(0.0, absl::ToDoubleSeconds(time)));
}

// "variant ID", with rule options that are not the rules' own.
std::string VariantCommand(const State& state) {
  const std::string options = FormatRuleOptions(state.options);
  return absl::StrCat("variant ", Info(state.variant).id,
                      options == "-" ? "" : " ", options == "-" ? "" : options);
}

// A command that engines may have: to begin from a position.
constexpr absl::string_view kSetPosition = "set_position";

// A process of the engine and its state of the game. Games that it plays at the
// same time are played over to each position.
class EnginePlayer : public Player {
 public:
  explicit EnginePlayer(const EngineSpec& spec) : spec_(spec) {}

  // Starts the process unless it runs. Errors of EngineSession::Start.
  absl::Status Start(bool* is_ours = nullptr) {
    if (session_ != nullptr) return absl::OkStatus();
    variant_.clear();
    actions_.reset();
    clock_.reset();
    is_lost_ = false;
    TARA_ASSIGN_OR_RETURN(session_, EngineSession::Start(spec_, is_ours));
    return absl::OkStatus();
  }

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (size_t i = 0; i < turns.size(); ++i) {
      game_ = turns[i].game;
      std::string fault;
      TARA_RETURN_IF_ERROR(Choose(turns[i], actions[i], fault));
      if (fault.empty()) continue;
      if (turns[i].forfeit == nullptr) return absl::AbortedError(fault);
      *turns[i].forfeit = fault;
    }
    return absl::OkStatus();
  }

  // A process that was lost with the game is replaced now, while no clock runs;
  // an error will show again when it is needed.
  void EndGame(uint64_t game) override {
    if (game != game_) return;
    game_.reset();
    actions_.reset();
    if (is_lost_) Start().IgnoreError();
  }

 private:
  // Fills the action, or the reason why the engine cannot continue. Returns the
  // error of a turn that no engine can play.
  absl::Status Choose(const Turn& turn, Action& action, std::string& fault) {
    const LegalSet legal = LegalActions(turn.state);
    if (legal.Count() == 1) {  // sent with the next turn
      action = legal.Nth(0);
      return absl::OkStatus();
    }
    bool is_ours = false;
    const absl::Status started = Start(&is_ours);
    if (is_ours || absl::IsCancelled(started)) return started;
    if (!started.ok()) {
      fault = std::string(started.message());
      return absl::OkStatus();
    }
    const std::optional<State> start = StartOf(turn);
    if (!start.has_value() && !session_->knows(kSetPosition)) {
      return absl::FailedPreconditionError(absl::StrCat(
          session_->name(),
          " plays games from their start; this is a position "
          "in the middle of one; expected an engine with the command ",
          kSetPosition, ", or a player of another kind"));
    }
    start_ = start;
    const absl::StatusOr<Action> choice = Choose(turn, legal);
    if (choice.ok()) {
      action = *choice;
      if (actions_.has_value()) actions_->push_back(action);
      return absl::OkStatus();
    }
    const std::string what =
        absl::StrCat(session_->name(), ": ", choice.status().message());
    if (!absl::IsAborted(choice.status())) session_ = nullptr;  // resigned
    if (absl::IsCancelled(choice.status())) return choice.status();
    is_lost_ = session_ == nullptr;
    // Not the game's fault: it would refuse the next one, too.
    if (refuses_variant_) return absl::FailedPreconditionError(what);
    fault = what;
    return absl::OkStatus();
  }

  // Returns a start position whose game reaches the turn's position by its
  // actions, if any: preferably the start of the engine's current game.
  std::optional<State> StartOf(const Turn& turn) const {
    RuleOptions options = turn.state.options;
    const State start = InitialState(turn.state.variant, options);
    options.pie_rule = Info(turn.state.variant).seats == 2;
    // A position does not tell of a swap that is past.
    const State with_swap = InitialState(turn.state.variant, options);
    for (const State& candidate : {start_.value_or(start), start, with_swap}) {
      State state = candidate;
      bool legal = true;
      for (const Action action : turn.actions) {
        legal = legal && PlayAction(action, state).ok();
      }
      if (legal && state == turn.state) return candidate;
    }
    return std::nullopt;
  }

  absl::StatusOr<Action> Choose(const Turn& turn, const LegalSet& legal) {
    const Deadline deadline(
        turn.clock.has_value()
            ? std::max(absl::ZeroDuration(), turn.clock->left) + spec_.grace
            : spec_.move_limit,
        turn.stop);
    TARA_RETURN_IF_ERROR(SetPosition(turn, deadline));
    TARA_RETURN_IF_ERROR(SetClock(turn, deadline));
    TARA_ASSIGN_OR_RETURN(const std::string answer,
                          session_->Ask("genmove", deadline));
    if (answer == "resign") return absl::AbortedError("resigned");
    const absl::StatusOr<Action> action = ParseAction(answer, turn.state);
    if (!action.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("answered 'genmove' with ", QuotedAnswer(answer),
                       ", which is not an action; expected one such as ",
                       ActionToText(legal.Nth(0), turn.state)));
    }
    if (!legal.Contains(*action)) {
      return absl::InvalidArgumentError(
          absl::StrCat("played ", ActionToText(*action, turn.state),
                       ", which is not legal after ", turn.actions.size(),
                       " actions of ", Info(turn.state.variant).id));
    }
    return action;
  }

  absl::Status Say(absl::string_view command, const Deadline& deadline) {
    return session_->Ask(command, deadline).status();
  }

  // Brings the engine to the turn's position.
  absl::Status SetPosition(const Turn& turn, const Deadline& deadline) {
    if (!start_.has_value()) {
      variant_.clear();  // its next game is another
      actions_.reset();
      clock_.reset();
      return Say(absl::StrCat(kSetPosition, " ", PositionToText(turn.state)),
                 deadline);
    }
    const std::string variant = VariantCommand(*start_);
    if (variant != variant_) {
      const absl::Status said = Say(variant, deadline);
      refuses_variant_ = absl::IsFailedPrecondition(said) && !has_ever_played_;
      TARA_RETURN_IF_ERROR(said);
      has_ever_played_ = true;
      variant_ = variant;
      clock_.reset();
      actions_.emplace();
    } else if (!actions_.has_value() || !KnowsGame(turn)) {
      TARA_RETURN_IF_ERROR(Say("clear_board", deadline));
      clock_.reset();
      actions_.emplace();
    }
    const std::vector<std::string> texts = LineToTexts(turn.actions, *start_);
    while (actions_->size() < turn.actions.size()) {
      const size_t next = actions_->size();
      TARA_RETURN_IF_ERROR(Say(absl::StrCat("play ", texts[next]), deadline));
      actions_->push_back(turn.actions[next]);
    }
    return absl::OkStatus();
  }

  // Whether the turn's game continues from the engine's position.
  bool KnowsGame(const Turn& turn) const {
    return actions_->size() <= turn.actions.size() &&
           std::equal(actions_->begin(), actions_->end(), turn.actions.begin());
  }

  // Engines that know no clocks think as long as they like, and may lose.
  absl::Status SetClock(const Turn& turn, const Deadline& deadline) {
    if (!turn.clock.has_value()) return absl::OkStatus();
    const mcts::TimeControl& control = turn.clock->control;
    if (clock_ != control && session_->knows("time_settings")) {
      // A fixed time per action is an increment without a main time.
      const absl::Duration each =
          control.is_per_move() ? control.per_move : control.increment;
      TARA_RETURN_IF_ERROR(
          Say(absl::StrCat("time_settings ", SecondsText(control.per_game), " ",
                           SecondsText(each)),
              deadline));
    }
    clock_ = control;
    if (control.is_per_move() || !session_->knows("time_left")) {
      return absl::OkStatus();
    }
    return Say(absl::StrCat("time_left ", SecondsText(turn.clock->left)),
               deadline);
  }

  const EngineSpec spec_;
  std::unique_ptr<EngineSession> session_;
  bool is_lost_ = false;          // through its own fault
  std::optional<uint64_t> game_;  // of the latest turn, until it ends
  bool has_ever_played_ = false;  // has ever accepted a variant
  bool refuses_variant_ = false;
  // The state of the process.
  std::string variant_;         // as sent to it; empty: none
  std::optional<State> start_;  // of the game that is its latest turn's
  std::optional<std::vector<Action>> actions_;  // of its game; none: no game
  std::optional<mcts::TimeControl> clock_;
};

}  // namespace

absl::StatusOr<std::string> EngineName(const EngineSpec& spec) {
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<EngineSession> session,
                        EngineSession::Start(spec));
  return session->name();
}

absl::StatusOr<std::unique_ptr<Player>> NewEnginePlayer(
    const EngineSpec& spec) {
  auto player = std::make_unique<EnginePlayer>(spec);
  TARA_RETURN_IF_ERROR(player->Start());
  return player;
}

absl::Status CheckEngine(const EngineSpec& spec,
                         absl::Span<const State> starts) {
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<EngineSession> session,
                        EngineSession::Start(spec));
  const StopCheck stop = StopRequested;
  for (const State& start : starts) {
    const absl::Status said =
        session->Ask(VariantCommand(start), Deadline(spec.move_limit, &stop))
            .status();
    if (said.ok()) continue;
    return absl::Status(said.code(),
                        absl::StrCat(session->name(), ": ", said.message()));
  }
  return absl::OkStatus();
}

}  // namespace tara::eval
