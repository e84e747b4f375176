#ifndef TARA_CLI_PLAY_SESSION_H_
#define TARA_CLI_PLAY_SESSION_H_

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/base/random.h"
#include "tara/cli/console.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/eval/players/player.h"
#include "tara/mcts/choice/choose_action.h"

namespace tara::cli {

// Returns what a search thinks of the legal actions of a position.
using Advisor =
    std::function<absl::StatusOr<std::vector<mcts::RootAction>>(const State&)>;

struct PlaySessionOptions {
  State start = {};
  // The sides that the person plays; the opponent plays the others.
  std::array<bool, 2> person = {true, false};
  uint64_t seed = 1;
  bool ascii = false;
  bool colour = false;
  // What of the rules the opponent's network has not learned; empty: nothing.
  std::string not_learned = {};
};

// A game of a person at a console against a player. Reads lines: actions in
// notation, or commands. Not thread-safe; borrows what it is given.
class PlaySession {
 public:
  PlaySession(const PlaySessionOptions& options, eval::Player& opponent,
              Advisor advisor, Console& console);

  // Plays until the game is finished or the person stops (end of input too).
  // Returns an error of the opponent or the advisor.
  absl::Status Run();

 private:
  struct SessionCommand {
    absl::string_view name;
    absl::string_view help;
    absl::Status (PlaySession::*run)();
  };
  static absl::Span<const SessionCommand> Commands();

  bool PersonToMove() const;
  void Apply(Action action);
  absl::Status LetOpponentMove();
  // Does what a line says; wrong input is answered, not returned.
  absl::Status Obey(absl::string_view line);
  absl::Status PlayWords(const std::vector<std::string>& words);
  // Returns the advisor's actions, the most visited first.
  absl::StatusOr<std::vector<mcts::RootAction>> Advice();

  absl::Status Help();
  absl::Status Legal();
  absl::Status Hint();
  absl::Status Go();
  absl::Status Undo();
  absl::Status Moves();
  absl::Status Board();
  absl::Status Position();
  absl::Status Resign();
  absl::Status Quit();

  const PlaySessionOptions options_;
  eval::Player& opponent_;
  const Advisor advisor_;
  Console& console_;
  Random random_;
  std::vector<State> states_;  // of the game so far, the last is now
  std::vector<Action> actions_;
  bool board_is_shown_ = false;
  bool stopped_ = false;
};

}  // namespace tara::cli

#endif  // TARA_CLI_PLAY_SESSION_H_
