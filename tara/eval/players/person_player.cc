#include "tara/eval/players/person_player.h"

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/const_init.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/stop.h"
#include "tara/core/action.h"
#include "tara/core/drawing.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"

namespace tara::eval {
namespace {

// Held by who talks to the terminal.
ABSL_CONST_INIT absl::Mutex terminal(absl::kConstInit);
// Whether the person has quit, in any game.
bool has_left ABSL_GUARDED_BY(terminal) = false;

// How long Ctrl-C at the prompt may be overlooked.
constexpr int kPatienceMs = 50;

std::string LegalText(const State& state) {
  return absl::StrJoin(LegalActionTexts(state), " ");
}

class PersonPlayer : public Player {
 public:
  PersonPlayer(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    const absl::MutexLock lock(&terminal);
    for (size_t i = 0; i < turns.size(); ++i) {
      // Ignored if the person has quit or resigned.
      actions[i] = LegalActions(turns[i].state).Nth(0);
      if (has_left) continue;
      const std::optional<Action> chosen = Ask(turns[i]);
      if (chosen.has_value()) actions[i] = *chosen;
      if (has_resigned_) {
        has_resigned_ = false;
        if (turns[i].forfeit == nullptr) {
          return absl::FailedPreconditionError("the person resigned");
        }
        *turns[i].forfeit = "resigned";
      }
    }
    return absl::OkStatus();
  }

 private:
  // Returns what the person plays; nothing if the person resigns or leaves.
  std::optional<Action> Ask(const Turn& turn)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(terminal) {
    const State& state = turn.state;
    std::vector<std::string> played;
    for (const Action action : turn.actions) {
      played.push_back(ActionToText(action));
    }
    out_ << "\n";
    if (!played.empty()) {
      out_ << "Played: " << absl::StrJoin(played, " ") << "\n";
    }
    out_ << DrawBoard(state, {.highlight = LegalActions(state)});
    while (true) {
      out_ << SeatName(state.variant, state.seat)
           << ", an action (or legal, resign, quit): " << std::flush;
      const std::optional<std::string> line = ReadLine();
      if (!line.has_value() || *line == "quit") {
        out_ << "\n" << std::flush;
        // A second signal would kill.
        if (!has_left) std::raise(SIGINT);
        has_left = true;
        return std::nullopt;
      }
      if (*line == "resign") {
        has_resigned_ = true;
        return std::nullopt;
      }
      if (*line == "legal") {
        out_ << "Legal: " << LegalText(state) << "\n";
        continue;
      }
      const absl::StatusOr<Action> action = ParseAction(*line, state);
      if (action.ok() && LegalActions(state).Contains(*action)) return *action;
      if (line->empty()) continue;
      // Keys without a letter type control characters.
      out_ << "'" << absl::Utf8SafeCHexEscape(*line)
           << "' is not a legal action; expected one of " << LegalText(state)
           << "\n";
    }
  }

  // Returns a trimmed line; none at the end of the input or after a signal,
  // when the person has quit.
  std::optional<std::string> ReadLine()
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(terminal) {
    while (&in_ == &std::cin && in_.rdbuf()->in_avail() <= 0) {
      pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
      if (poll(&input, 1, kPatienceMs) > 0) break;
      // Another thread may have received the signal.
      if (StopRequested()) {
        has_left = true;
        return std::nullopt;
      }
    }
    std::string line;
    if (!std::getline(in_, line)) return std::nullopt;
    return std::string(absl::StripAsciiWhitespace(line));
  }

  std::istream& in_;
  std::ostream& out_;
  bool has_resigned_ = false;
};

}  // namespace

std::unique_ptr<Player> NewPersonPlayer(std::istream& in, std::ostream& out) {
  return std::make_unique<PersonPlayer>(in, out);
}

}  // namespace tara::eval
