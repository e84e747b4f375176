#include "tara/cli/play_session.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <istream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "tara/base/status_macros.h"
#include "tara/cli/game_flags.h"
#include "tara/core/board.h"
#include "tara/core/drawing.h"
#include "tara/core/legal_set.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"

namespace tara::cli {
namespace {

constexpr absl::string_view kSideNames[] = {"Red", "Blue"};
// Actions that a hint lists.
constexpr size_t kHintActions = 5;

// How to write the actions of a position's phase.
absl::string_view NotationHelp(const State& state) {
  if (state.phase == Phase::kLink) {
    return "a link of two adjacent hills: D4=E4";
  }
  if (Info(state.variant).family == Family::kHighKings &&
      state.phase != Phase::kPlacement) {
    return "a king's move, D4-E6 (with sacrifice of the hill: C5-B3*), or pass";
  }
  return "a hill: a file A to G and a rank 1 to 7, as in D4";
}

}  // namespace

PlaySession::PlaySession(const PlaySessionOptions& options,
                         eval::Player& opponent, Advisor advisor,
                         Console& console)
    : options_(options),
      opponent_(opponent),
      advisor_(std::move(advisor)),
      console_(console),
      random_(DeriveSeed(options.seed, 0, StreamPurpose::kArena)),
      states_({options.start}) {}

absl::Span<const PlaySession::SessionCommand> PlaySession::Commands() {
  static constexpr std::array kCommands = {
      SessionCommand{"help", "this list", &PlaySession::Help},
      SessionCommand{"legal", "your legal actions", &PlaySession::Legal},
      SessionCommand{"hint", "what the computer would play",
                     &PlaySession::Hint},
      SessionCommand{"go", "let the computer choose for you", &PlaySession::Go},
      SessionCommand{"undo", "take your last action back", &PlaySession::Undo},
      SessionCommand{"moves", "the actions so far", &PlaySession::Moves},
      SessionCommand{"board", "draw the board again", &PlaySession::Board},
      SessionCommand{"position", "the position as text, for `tara show`",
                     &PlaySession::Position},
      SessionCommand{"resign", "give the game up", &PlaySession::Resign},
      SessionCommand{"quit", "stop playing", &PlaySession::Quit},
  };
  return kCommands;
}

absl::Status PlaySession::Run() {
  if (!options_.not_learned.empty()) {
    console_.out << "The opponent's network has not learned "
                 << options_.not_learned << ".\n";
  }
  console_.out << "Type an action, or 'help'.\n\n";
  while (!stopped_) {
    if (states_.back().finished()) break;
    if (!PersonToMove()) {
      TARA_RETURN_IF_ERROR(LetOpponentMove());
      continue;
    }
    if (!board_is_shown_) TARA_RETURN_IF_ERROR(Board());
    if (console_.in_is_terminal) {
      const State& state = states_.back();
      console_.out << SeatName(state.variant, state.seat) << "> ";
    }
    console_.out.flush();
    std::string line;
    if (!std::getline(console_.in, line)) {
      if (console_.in_is_terminal) console_.out << "\n";
      return absl::OkStatus();
    }
    TARA_RETURN_IF_ERROR(Obey(line));
  }
  if (!states_.back().finished()) return absl::OkStatus();
  TARA_RETURN_IF_ERROR(Board());
  const int winner = Score(states_.back()).winner();
  if (winner < 0) {
    console_.out << "A draw.\n";
  } else if (options_.person[winner] != options_.person[Opponent(winner)]) {
    console_.out << (options_.person[winner] ? "You win.\n" : "You lose.\n");
  } else {
    console_.out << kSideNames[winner] << " wins.\n";
  }
  return absl::OkStatus();
}

bool PlaySession::PersonToMove() const {
  return options_.person[states_.back().side()];
}

void PlaySession::Apply(Action action) {
  State next = states_.back();
  ApplyAction(action, next);
  states_.push_back(next);
  actions_.push_back(action);
  board_is_shown_ = false;
}

absl::Status PlaySession::LetOpponentMove() {
  const State& state = states_.back();
  console_.out.flush();
  Action action;
  std::string forfeit;
  const eval::Turn turn = {.state = state,
                           .random = &random_,
                           .actions = actions_,
                           .may_ponder = true,
                           .forfeit = &forfeit};
  TARA_RETURN_IF_ERROR(opponent_.ChooseActions(absl::MakeConstSpan(&turn, 1),
                                               absl::MakeSpan(&action, 1)));
  if (!forfeit.empty()) {
    console_.out << SeatName(state.variant, state.seat)
                 << " gives the game up (" << forfeit << "); "
                 << kSideNames[Opponent(state.side())] << " wins.\n";
    stopped_ = true;
    return absl::OkStatus();
  }
  console_.out << SeatName(state.variant, state.seat) << " plays "
               << ActionToText(action) << ".\n";
  Apply(action);
  return absl::OkStatus();
}

absl::Status PlaySession::Obey(absl::string_view line) {
  const std::vector<std::string> words =
      absl::StrSplit(line, absl::ByAnyChar(" ,\t\r"), absl::SkipEmpty());
  if (words.empty()) return absl::OkStatus();
  const std::string name = absl::AsciiStrToLower(words[0]);
  for (const SessionCommand& command : Commands()) {
    const bool is_alias = (name == "?" && command.name == "help") ||
                          (name == "exit" && command.name == "quit");
    if (command.name == name || is_alias) return (this->*command.run)();
  }
  return PlayWords(words);
}

absl::Status PlaySession::PlayWords(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const State& state = states_.back();
    // Keys without a letter type control characters.
    const std::string shown = absl::Utf8SafeCHexEscape(word);
    if (state.finished() || !PersonToMove()) {
      console_.out << shown << ": it is not your turn any more.\n";
      break;
    }
    const absl::StatusOr<Action> action = ParseAction(word);
    if (!action.ok()) {
      console_.out << "'" << shown << "' is no action or command. Expected "
                   << NotationHelp(state) << "; or 'help'.\n";
      break;
    }
    if (!LegalActions(state).Contains(*action)) {
      console_.out << ActionToText(*action) << " is not legal here ("
                   << PhaseName(state.phase) << ").\n";
      return Legal();
    }
    Apply(*action);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<mcts::RootAction>> PlaySession::Advice() {
  console_.out.flush();
  TARA_ASSIGN_OR_RETURN(std::vector<mcts::RootAction> actions,
                        advisor_(states_.back()));
  std::stable_sort(actions.begin(), actions.end(),
                   [](const mcts::RootAction& a, const mcts::RootAction& b) {
                     return a.visits > b.visits;
                   });
  return actions;
}

absl::Status PlaySession::Help() {
  console_.out << "An action is " << NotationHelp(states_.back())
               << ".\nSeveral actions may stand on a line. Commands:\n";
  for (const SessionCommand& command : Commands()) {
    console_.out << absl::StrFormat("  %-10s%s\n", command.name, command.help);
  }
  return absl::OkStatus();
}

absl::Status PlaySession::Legal() {
  const std::vector<std::string> legal = LegalActionTexts(states_.back());
  console_.out << "Legal: " << Wrap(absl::StrJoin(legal, " "), 7) << "\n";
  return absl::OkStatus();
}

absl::Status PlaySession::Hint() {
  TARA_ASSIGN_OR_RETURN(const std::vector<mcts::RootAction> actions, Advice());
  int visits = 0;
  for (const mcts::RootAction& each : actions) visits += each.visits;
  console_.out << "Hint: " << ActionToText(actions.front().action)
               << "\n  action    share of search    expected result\n";
  for (size_t i = 0; i < std::min(actions.size(), kHintActions); ++i) {
    const mcts::RootAction& each = actions[i];
    if (each.visits == 0) break;
    console_.out << absl::StrFormat(
        "  %-8s  %13.0f %%    %+.2f\n", ActionToText(each.action),
        100.0 * each.visits / std::max(1, visits), each.mean_value);
  }
  console_.out << "  (from -1, a sure loss for you, to +1, a sure win";
  if (!options_.not_learned.empty()) {
    console_.out << "; not learned: " << options_.not_learned;
  }
  console_.out << ")\n";
  return absl::OkStatus();
}

absl::Status PlaySession::Go() {
  TARA_ASSIGN_OR_RETURN(const std::vector<mcts::RootAction> actions, Advice());
  const State& state = states_.back();
  console_.out << SeatName(state.variant, state.seat) << " plays "
               << ActionToText(actions.front().action) << ".\n";
  Apply(actions.front().action);
  return absl::OkStatus();
}

absl::Status PlaySession::Undo() {
  // Back to the last position where the person chose something.
  for (size_t i = actions_.size(); i-- > 0;) {
    if (!options_.person[states_[i].side()]) continue;
    console_.out << "Taken back:";
    for (size_t k = i; k < actions_.size(); ++k) {
      console_.out << " " << ActionToText(actions_[k]);
    }
    console_.out << "\n";
    states_.resize(i + 1);
    actions_.resize(i);
    return Board();
  }
  console_.out << "There is nothing of yours to take back.\n";
  return absl::OkStatus();
}

absl::Status PlaySession::Moves() {
  std::vector<std::string> texts;
  for (const Action action : actions_) texts.push_back(ActionToText(action));
  console_.out << (texts.empty() ? "None yet."
                                 : Wrap(absl::StrJoin(texts, " "), 0))
               << "\n";
  return absl::OkStatus();
}

absl::Status PlaySession::Board() {
  const State& state = states_.back();
  console_.out << "\n"
               << DrawBoard(state, {.unicode = !options_.ascii,
                                    .colour = options_.colour,
                                    .highlight = LegalActions(state)});
  board_is_shown_ = true;
  return absl::OkStatus();
}

absl::Status PlaySession::Position() {
  console_.out << PositionToText(states_.back()) << "\n";
  return absl::OkStatus();
}

absl::Status PlaySession::Resign() {
  const Side side = states_.back().side();
  console_.out << kSideNames[side] << " resigns; " << kSideNames[Opponent(side)]
               << " wins.\n";
  stopped_ = true;
  return absl::OkStatus();
}

absl::Status PlaySession::Quit() {
  stopped_ = true;
  return absl::OkStatus();
}

}  // namespace tara::cli
