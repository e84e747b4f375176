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

// A process of an engine, and what is said with it: a command is a line
// "ID COMMAND ARGUMENTS"; its answer "=ID TEXT", or "?ID TEXT" for what cannot
// be done, perhaps of several lines, ends with an empty line. That is the Go
// Text Protocol, version 2 (Farnebäck 2002, "Specification of the Go Text
// Protocol, version 2, draft 2", sections 2.5 to 2.8), with Tara's commands.
// Not thread-safe.
class EngineSession {
 public:
  // Starts the program and asks who it is. Returns an error that says what it
  // did instead of answering, and names the command. Where it could not even be
  // started, which is none of its doing, `is_ours` is set.
  static absl::StatusOr<std::unique_ptr<EngineSession>> Start(
      const EngineSpec& spec, bool* is_ours = nullptr);

  // Tells it to quit, gives it a moment, and ends it.
  ~EngineSession();
  EngineSession(const EngineSession&) = delete;
  EngineSession& operator=(const EngineSession&) = delete;

  // Returns the answer to a command, without "=ID ". The deadline is a time of
  // SteadyTime; `limit` is what it stands for, for the error. Errors say what
  // the engine did, as "no answer to 'genmove' within 5s": FAILED_PRECONDITION
  // if it answered "?"; DEADLINE_EXCEEDED; UNAVAILABLE if it ended; DATA_LOSS
  // for what is no answer; CANCELLED once `stop` is true (null: never). After
  // all but the first it is of no more use.
  absl::StatusOr<std::string> Ask(absl::string_view command,
                                  absl::Time deadline, absl::Duration limit,
                                  const StopCheck* stop);

  // Whether it has the command; commands that it must have are not asked for.
  bool knows(absl::string_view command) const;

  // As it calls itself: "name version", of printable ASCII characters; "\xNN"
  // stands for every other byte.
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

// Returns an answer between quotes, as errors have it: cut to what fits a line,
// and "\xNN" for every byte that is no printable ASCII character.
std::string QuotedAnswer(absl::string_view text);

// Returns a player that asks another program. It tells it
// the games from their start; turns in the middle of a game whose actions are
// not given are an error of the call, unless it has the command `set_position`;
// so is a variant that it refuses to play from the first. If it ends, does not
// answer in time, answers what is no answer or an action that is not legal, it
// gives the game up (Turn::forfeit); it is started again for the next. That it
// cannot be started, for want of descriptors, processes or memory or because
// the program is gone, is an error of the call. Has no reports. Returns the
// error of starting it.
absl::StatusOr<std::unique_ptr<Player>> NewEnginePlayer(const EngineSpec& spec);

// Starts the program and has it begin a game from each of these positions,
// which are those at the start of games. Returns the error of starting it, or
// what it answered; both name it.
absl::Status CheckEngine(const EngineSpec& spec,
                         absl::Span<const State> starts);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_ENGINE_PLAYER_H_
