#ifndef TARA_EVAL_PLAYERS_ENGINE_PLAYER_H_
#define TARA_EVAL_PLAYERS_ENGINE_PLAYER_H_

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/child_process.h"
#include "tara/base/stop.h"
#include "tara/core/state.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"

namespace tara::eval {

// A process of an engine and the dialogue with it. A command is a line "ID
// COMMAND ARGUMENTS". Its answer is "=ID TEXT", or "?ID TEXT" for a failure,
// may have several lines, and ends with an empty line. This is the Go Text
// Protocol, version 2 (Farnebäck 2002, "Specification of the Go Text Protocol,
// version 2, draft 2", sections 2.5 to 2.8), with Tara's commands. Not thread-
// safe.
class EngineSession {
 public:
  // Starts the program and requests its name. Returns an error that describes
  // the program's behaviour and contains the command. `is_ours` is set if this
  // process could not start it, which is not the engine's fault.
  static absl::StatusOr<std::unique_ptr<EngineSession>> Start(
      const EngineSpec& spec, bool* is_ours = nullptr);

  // Sends `quit`, waits a moment, and ends the process.
  ~EngineSession();
  EngineSession(const EngineSession&) = delete;
  EngineSession& operator=(const EngineSession&) = delete;

  // Returns the answer to a command, without "=ID ". The deadline is a time of
  // SteadyTime; `limit` is the corresponding duration for the error. Errors
  // describe the engine's behaviour, as in "no answer to 'genmove' within 5s":
  // FAILED_PRECONDITION for an answer "?"; DEADLINE_EXCEEDED; UNAVAILABLE if it
  // ended; DATA_LOSS for a malformed answer; CANCELLED once `stop` is true
  // (null: never). The session is unusable after any error except the first.
  absl::StatusOr<std::string> Ask(absl::string_view command,
                                  absl::Time deadline, absl::Duration limit,
                                  const StopCheck* stop);

  // Whether the engine supports an optional command.
  bool knows(absl::string_view command) const;

  // The engine's "name version" in printable ASCII characters; "\xNN" stands
  // for any other byte.
  const std::string& name() const { return name_; }

 private:
  explicit EngineSession(std::unique_ptr<ChildProcess> process)
      : process_(std::move(process)) {}

  absl::Status Introduce(const EngineSpec& spec);
  absl::StatusOr<std::string> ReadAnswer(absl::string_view command,
                                         absl::Time deadline,
                                         absl::Duration limit,
                                         const StopCheck* stop);
  absl::Status Explain(const absl::Status& status, absl::string_view command,
                       absl::Duration limit);
  void Log(absl::string_view direction, absl::string_view line);

  std::unique_ptr<ChildProcess> process_;
  std::ofstream log_;
  bool answers_ = true;  // until it has failed to
  int64_t last_id_ = 0;
  std::string name_;
  std::string commands_;  // a line each
};

// Returns a quoted answer for errors: truncated to fit a line, with "\xNN" for
// any byte that is not a printable ASCII character.
std::string QuotedAnswer(absl::string_view text);

// Returns a player that uses another program. The program receives each game
// from its start. Turns in the middle of a game without its actions are an
// error of the call, unless the engine has the command `set_position`; so is a
// variant that it rejects at the start. If it ends, exceeds its time limit, or
// sends a malformed answer or an illegal action, the player forfeits the game
// (Turn::forfeit), and the program is restarted for the next one. A failure to
// start it, for lack of descriptors, processes or memory or because the program
// is missing, is an error of the call. The player has no reports. Returns the
// error of starting it.
absl::StatusOr<std::unique_ptr<Player>> NewEnginePlayer(const EngineSpec& spec);

// Starts the program and begins a game from each of these start positions.
// Returns the error of starting it, or its answer; both name the engine.
absl::Status CheckEngine(const EngineSpec& spec,
                         absl::Span<const State> starts);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_ENGINE_PLAYER_H_
