#include <algorithm>
#include <array>
#include <cstdint>
#include <istream>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/drawing.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/levels/levels.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/tree/tree.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"

namespace tara::cli {
namespace {

absl::string_view BattleRule(const VariantInfo& info) {
  switch (info.family) {
    case Family::kSacredHill:
      return info.level == 1
                 ? "capture a besieged single ringfort if there is one. If "
                   "not, build next to a ringfort of yours; if that is "
                   "impossible, build anywhere."
                 : "the value of a vacant hill is the number of your ringforts "
                   "next to it; that of a besieged single ringfort is the "
                   "number of ringforts that besiege it. Act on a hill of the "
                   "highest value.";
    case Family::kFourTreasures:
      return "capture a besieged single ringfort if there is one; if not, "
             "build on any vacant hill.";
    case Family::kHighKings:
      return "while one of your kings can reach a vacant hill that is not next "
             "to another of your kings, you must make such a move. Otherwise a "
             "king returns to a ringfort of yours or captures a besieged "
             "single ringfort; you pass if no king on the board can move.";
    case Family::kPoisonedChalice:
      return "build in one of your rows (files for Red, ranks for Blue) that "
             "has an empty hill, at least one enemy ringfort, and not more "
             "ringforts of yours than of theirs. Without such a row, capture a "
             "besieged single ringfort; if there is none, build anywhere.";
    case Family::kStoneOfDestiny:
      return "swap an enemy ringfort that has no link and no king: it becomes "
             "yours, and your king goes there.";
  }
  return "";
}

absl::string_view ManoeuvresRule(Family family) {
  switch (family) {
    case Family::kSacredHill:
      return "after your first ringfort, build a knight's move away from one "
             "of your ringforts; no ringfort of yours may be closer than that.";
    case Family::kHighKings:
      return "a king makes a knight's move to a vacant hill that is not next "
             "to a ringfort of its side, and builds there.";
    case Family::kPoisonedChalice:
      return "build one ringfort on each of the four edges, never opposite "
             "another.";
    case Family::kStoneOfDestiny:
      return "build one or two steps, along a file, a rank or a diagonal, from "
             "the enemy king (anywhere if all of these are taken); your king "
             "moves there.";
    case Family::kFourTreasures:
      break;  // begins with Battle
  }
  return "";
}

// Returns how a game is won, in a sentence or two.
absl::string_view AimOf(Variant variant) {
  const FamilyTraits& traits = TraitsOf(variant);
  if (traits.kings_move) {
    return "Capture two kings and you win at once. Otherwise fewer kingdoms "
           "(groups of linked ringforts) win, then more ringforts; a captured "
           "king is one point.";
  }
  if (traits.bridges_first) {
    return "More bridges win: 2 points plus the difference. If equal, more "
           "ringforts win, scored the same way.";
  }
  return "Fewer kingdoms (groups of linked ringforts) win: 2 points plus the "
         "difference. If equal, more ringforts win, scored the same way.";
}

// Returns the rule that the turn goes by: "Link: join two ...".
// REQUIRES: the game is not finished.
std::string RuleOfTurn(const State& state) {
  const VariantInfo& info = Info(state.variant);
  switch (state.phase) {
    case Phase::kPlacement:
      return "Placement: place a king with a ringfort, not next to a ringfort "
             "of yours.";
    case Phase::kManoeuvres:
      return absl::StrCat("Manoeuvres: ", ManoeuvresRule(info.family));
    case Phase::kBattle:
      return absl::StrCat("Battle: ", BattleRule(info));
    case Phase::kLink:
      return "Link: join two neighbouring ringforts of yours. Linked ringforts "
             "are permanently safe.";
    case Phase::kFinished:
      break;
  }
  return "";
}

// Returns what DrawBoard's signs mean, in a line or two.
std::string KeyOfSigns(Variant variant, bool unicode) {
  std::string text = unicode ? "● a ringfort of Red, ○ of Blue"
                             : "o a ringfort of Red, x of Blue";
  if (TraitsOf(variant).kings_per_side > 0) {
    absl::StrAppend(&text, unicode ? "; ♚ ♔" : "; K Q",
                    " with a king, ! stranded");
  }
  absl::StrAppend(&text, unicode ? "; ━━━ ───" : "; === ---",
                  " links; [ ] a legal action");
  return text;
}

struct PlayFlags {
  GameFlags game;
  std::string opponent;    // empty: the best that there is for the variant
  bool untrained = false;  // in what a network has not learned, too
  std::string side = "red";
  int hint_simulations = 1000;
  std::optional<uint64_t> seed;  // another each time
  std::string colour = "auto";
  bool ascii = false;
};

constexpr absl::string_view kSideNames[] = {"Red", "Blue"};
// Actions that a hint lists.
constexpr size_t kHintActions = 5;

// How to write the actions of a position's phase.
absl::string_view NotationHelp(const State& state) {
  if (state.phase == Phase::kLink) {
    return "a link of two adjacent hills such as D4=E4";
  }
  if (TraitsOf(state.variant).kings_move && state.phase != Phase::kPlacement) {
    return "a king's move such as D4-E6 (C5-B3*: with sacrifice of B3), or "
           "pass";
  }
  if (MaySwap(state)) return "a hill such as D4, or swap (the pie rule)";
  return "a hill such as D4";
}

// Of a session, and what they do.
constexpr std::pair<absl::string_view, absl::string_view> kCommands[] = {
    {"help",
     "the rule of the turn, the signs, this list; help D4: is D4 legal?"},
    {"legal", "your legal actions"},
    {"hint", "what the computer would play"},
    {"go", "let the computer choose for you"},
    {"undo", "undo your last action"},
    {"moves", "the actions so far"},
    {"board", "draw the board again"},
    {"position", "the position as text, for `tara show`"},
    {"resign", "resign the game"},
    {"quit", "stop playing"},
};

// A game of the user at a console against a player. Reads lines: actions in
// notation, or commands. Not thread-safe; borrows what it is given.
class PlaySession {
 public:
  // `spec` is that of the opponent.
  PlaySession(const PlayFlags& flags, const State& start,
              const eval::PlayerSpec& spec, eval::Player& opponent,
              Console& console)
      : flags_(flags),
        person_({flags.side != "blue", flags.side != "red"}),
        seed_(flags.seed.value_or(std::random_device()())),
        colour_(UseColour(flags.colour, console)),
        spec_(spec),
        not_learned_(NotLearnedBy(spec, start)),
        opponent_(opponent),
        console_(console),
        random_(DeriveSeed(seed_, 0, StreamPurpose::kArena)),
        states_({start}) {}

  // Plays until the game is finished or the person stops (end of input too).
  // Returns an error of the opponent or of a hint.
  absl::Status Run() {
    if (!not_learned_.empty()) {
      console_.out << "The opponent's network has not learned " << not_learned_
                   << ".\n";
    }
    const Variant variant = states_[0].variant;
    console_.out << Wrap(absl::StrCat(Info(variant).name, ". ", AimOf(variant)),
                         0)
                 << "\nType " << NotationHelp(states_[0]) << ", or help.\n\n";
    while (!stopped_ && !states_.back().finished()) {
      if (!PersonToMove()) {
        TARA_RETURN_IF_ERROR(LetOpponentMove());
        continue;
      }
      if (!board_is_shown_) Board();
      if (console_.in_is_terminal) {
        const State& state = states_.back();
        console_.out << SeatName(state.variant, state.seat) << "> ";
      }
      console_.out.flush();
      std::string line;
      if (!std::getline(console_.in, line)) {
        if (console_.in_is_terminal) console_.out << "\n";
        break;
      }
      TARA_RETURN_IF_ERROR(Execute(line));
    }
    if (!states_.back().finished()) return absl::OkStatus();
    Board();
    const int winner = Score(states_.back()).winner();
    if (winner < 0) {
      console_.out << "A draw.\n";
    } else if (person_[winner] != person_[Opponent(winner)]) {
      console_.out << (person_[winner] ? "You win.\n" : "You lose.\n");
    } else {
      console_.out << kSideNames[winner] << " wins.\n";
    }
    return absl::OkStatus();
  }

 private:
  bool PersonToMove() const { return person_[states_.back().side()]; }

  void Apply(Action action) {
    State next = states_.back();
    ApplyAction(action, next);
    states_.push_back(next);
    actions_.push_back(action);
    board_is_shown_ = false;
  }

  absl::Status LetOpponentMove() {
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
      console_.out << SeatName(state.variant, state.seat) << " forfeits ("
                   << forfeit << "); " << kSideNames[Opponent(state.side())]
                   << " wins.\n";
      stopped_ = true;
      return absl::OkStatus();
    }
    PlayAndTell(action);
    return absl::OkStatus();
  }

  void PlayAndTell(Action action) {
    const State& state = states_.back();
    console_.out << SeatName(state.variant, state.seat) << " plays "
                 << ActionToText(action, state) << ".\n";
    Apply(action);
  }

  // Executes a line; wrong input is answered, not returned.
  absl::Status Execute(absl::string_view line) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" ,\t\r"), absl::SkipEmpty());
    if (words.empty()) return absl::OkStatus();
    const std::string name = absl::AsciiStrToLower(words[0]);
    const State& state = states_.back();
    if (name == "help" || name == "?") {
      words.size() > 1 ? HelpOn(words[1]) : Help();
    } else if (name == "legal") {
      Legal();
    } else if (name == "hint") {
      return Hint();
    } else if (name == "go") {
      TARA_ASSIGN_OR_RETURN(const std::vector<mcts::RootAction> actions,
                            Advice());
      PlayAndTell(actions.front().action);
    } else if (name == "undo") {
      Undo();
    } else if (name == "moves") {
      const std::vector<std::string> texts = LineToTexts(actions_, states_[0]);
      console_.out << (texts.empty() ? "None yet."
                                     : Wrap(absl::StrJoin(texts, " "), 0))
                   << "\n";
    } else if (name == "board") {
      Board();
    } else if (name == "position") {
      console_.out << PositionToText(state) << "\n";
    } else if (name == "resign") {
      console_.out << kSideNames[state.side()] << " resigns; "
                   << kSideNames[Opponent(state.side())] << " wins.\n";
      stopped_ = true;
    } else if (name == "quit" || name == "exit") {
      stopped_ = true;
    } else {
      PlayWords(words);
    }
    return absl::OkStatus();
  }

  void PlayWords(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const State& state = states_.back();
      if (state.finished() || !PersonToMove()) {
        console_.out << absl::Utf8SafeCHexEscape(word)
                     << ": it is no longer your turn.\n";
        break;
      }
      const absl::StatusOr<Action> action = ParseAction(word, state);
      if (!action.ok() || !LegalActions(state).Contains(*action)) {
        HelpOn(word);
        if (action.ok()) Legal();
        return;
      }
      Apply(*action);
    }
  }

  // Searches with the opponent's network, if it has one, else with random
  // games. Returns the actions, the most visited first.
  absl::StatusOr<std::vector<mcts::RootAction>> Advice() {
    console_.out.flush();
    // Loaded when it is first asked: most games go without.
    if (evaluator_ == nullptr && spec_.kind != eval::PlayerKind::kNet) {
      evaluator_ = std::make_unique<mcts::PlayoutEvaluator>(1, seed_);
    } else if (evaluator_ == nullptr) {
      TARA_ASSIGN_OR_RETURN(const std::string file, eval::NetworkFileOf(spec_));
      TARA_ASSIGN_OR_RETURN(evaluator_,
                            nn::LoadNetworkEvaluator(file, spec_.inference));
    }
    mcts::SearchOptions options;
    options.simulations = flags_.hint_simulations;
    options.c_puct = spec_.search.search.c_puct;
    mcts::Tree tree(options, states_.back(), seed_);
    TARA_RETURN_IF_ERROR(mcts::RunSearches({&tree}, *evaluator_));
    std::vector<mcts::RootAction> actions = tree.root_actions();
    std::stable_sort(actions.begin(), actions.end(),
                     [](const mcts::RootAction& a, const mcts::RootAction& b) {
                       return a.visits > b.visits;
                     });
    return actions;
  }

  void Help() {
    const State& state = states_.back();
    console_.out << Wrap(RuleOfTurn(state), 0) << "\n"
                 << Wrap(AimOf(state.variant), 0) << "\n"
                 << "Signs: " << KeyOfSigns(state.variant, !flags_.ascii)
                 << "\nAn action is " << NotationHelp(state)
                 << ". A line can have several.\n"
                 << "Commands:\n";
    for (const auto& [name, help] : kCommands) {
      console_.out << absl::StrFormat("  %-10s%s\n", name, help);
    }
  }

  void HelpOn(absl::string_view word) {
    const State& state = states_.back();
    const absl::StatusOr<Action> action = ParseAction(word, state);
    if (!action.ok()) {
      // Keys without a letter type control characters.
      console_.out << "Unknown action or command '"
                   << absl::Utf8SafeCHexEscape(word) << "'. Type "
                   << NotationHelp(state) << ", or help.\n";
    } else if (LegalActions(state).Contains(*action)) {
      console_.out << ActionToText(*action, state) << " is legal.\n";
    } else {
      std::string why = WhyNot(state, *action);
      if (why.empty()) {
        why = absl::StrCat(ActionToText(*action, state), " is not legal here. ",
                           RuleOfTurn(state));
      }
      console_.out << Wrap(why, 0) << "\n";
    }
  }

  void Legal() {
    const std::vector<std::string> legal = LegalActionTexts(states_.back());
    console_.out << "Legal: " << Wrap(absl::StrJoin(legal, " "), 7) << "\n";
  }

  absl::Status Hint() {
    TARA_ASSIGN_OR_RETURN(const std::vector<mcts::RootAction> actions,
                          Advice());
    int visits = 0;
    for (const mcts::RootAction& each : actions) visits += each.visits;
    const State& state = states_.back();
    console_.out << "Hint: " << ActionToText(actions.front().action, state)
                 << "\n  action    share of search    chances of winning\n";
    for (size_t i = 0; i < std::min(actions.size(), kHintActions); ++i) {
      const mcts::RootAction& each = actions[i];
      if (each.visits == 0) break;
      console_.out << absl::StrFormat("  %-8s  %13.0f %%    %16.0f %%\n",
                                      ActionToText(each.action, state),
                                      100.0 * each.visits / std::max(1, visits),
                                      50 * (1 + each.mean_value));
    }
    if (!not_learned_.empty()) {
      console_.out << "  (not learned: " << not_learned_ << ")\n";
    }
    return absl::OkStatus();
  }

  void Undo() {
    // Back to the last position where the person chose something.
    for (size_t i = actions_.size(); i-- > 0;) {
      if (!person_[states_[i].side()]) continue;
      console_.out << "Undone:";
      for (size_t k = i; k < actions_.size(); ++k) {
        console_.out << " " << ActionToText(actions_[k], states_[k]);
      }
      console_.out << "\n";
      states_.resize(i + 1);
      actions_.resize(i);
      return Board();
    }
    console_.out << "You have no action to undo.\n";
  }

  void Board() {
    const State& state = states_.back();
    console_.out << "\n"
                 << DrawBoard(state, {.unicode = !flags_.ascii,
                                      .colour = colour_,
                                      .highlight = LegalActions(state)});
    board_is_shown_ = true;
  }

  const PlayFlags& flags_;
  const std::array<bool, 2> person_;  // the sides that the person plays
  const uint64_t seed_;
  const bool colour_;
  const eval::PlayerSpec& spec_;
  const std::string not_learned_;  // by the opponent's network; empty: none
  std::unique_ptr<mcts::Evaluator> evaluator_;
  eval::Player& opponent_;
  Console& console_;
  Random random_;
  std::vector<State> states_;  // of the game so far, the last is now
  std::vector<Action> actions_;
  bool board_is_shown_ = false;
  bool stopped_ = false;
};

absl::Status PrintNetwork(const eval::PlayerSpec& opponent, Variant variant,
                          Console& console) {
  if (opponent.kind != eval::PlayerKind::kNet) return absl::OkStatus();
  TARA_ASSIGN_OR_RETURN(const std::string path,
                        eval::FindCheckpoint(opponent.path));
  console.out << "The opponent is the network of " << path << ", computed in "
              << nn::PrecisionName(opponent.inference.precision) << ".\n";
  if (opponent.level > 0) {
    const mcts::LevelElo elo = mcts::EloOfLevel(variant, opponent.level);
    console.out << "Level " << opponent.level << ": " << elo.elo << " +-"
                << elo.interval
                << " Elo in this variant (95 %; level 5 has 1000).\n";
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunPlay(const PlayFlags& options, Console& console) {
  TARA_ASSIGN_OR_RETURN(const State start, StartOf(options.game));
  const std::string chosen = options.opponent.empty()
                                 ? DefaultPlayer(start, console)
                                 : options.opponent;
  TARA_ASSIGN_OR_RETURN(auto spec, AsUsageError(eval::ParsePlayerSpec(chosen)));
  TARA_RETURN_IF_ERROR(
      CheckLearned({spec}, {start}, options.untrained, console));
  TARA_ASSIGN_OR_RETURN(spec, eval::WithPrecision(spec));
  TARA_ASSIGN_OR_RETURN(const auto opponent, eval::NewPlayerFactory(spec)());
  TARA_RETURN_IF_ERROR(PrintNetwork(spec, start.variant, console));
  TARA_RETURN_IF_ERROR(
      PlaySession(options, start, spec, *opponent, console).Run());
  return kExitOk;
}

}  // namespace

void RegisterPlay(Command& root) {
  const auto [command, options] = root.AddCommand(
      "play", "play against the computer in the terminal", RunPlay);
  options->game.variant = std::string(kVariants[0].id);
  AddGameFlags(command, &options->game, kVariantHelp, /*required=*/false);
  command.Add({
      {"--opponent SPEC", &options->opponent, "opponent",
       Default("best, if it has learned the rules, else mcts:sims=1000")},
      UntrainedOption(&options->untrained),
      {"--seat red|blue|both", &options->side,
       "your side; Red begins. In doubles you play both seats of a side. both: "
       "two people at one terminal"},
      {"--hint-sims N", &options->hint_simulations, 1, 1000000,
       "simulations of 'hint' and 'go'"},
      {"--seed N", &options->seed, 0, 0x1p63, "random seed of the opponent",
       Default("random")},
      AsciiOption(&options->ascii),
      ColourOption(&options->colour),
  });
  command.SetNotes(absl::StrCat("Opponents:\n", eval::PlayerSpecHelp(),
                                "\n"
                                "Within the game, 'help' lists the commands."));
  command.SetExamples({"play",
                       "play --variant high_kings_l2 --seat blue --opponent "
                       "net:runs/kings",
                       "play --variant four_treasures --opponent "
                       "mcts:ms=3000,graph=on,ponder=on"});
}

}  // namespace tara::cli
