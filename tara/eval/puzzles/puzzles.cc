#include "tara/eval/puzzles/puzzles.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/solver/endgame_solver.h"

namespace tara::eval {
namespace {

// Positions before the end of a game that are looked at.
constexpr size_t kLastPlies = 12;
// Other ends of a game: random actions from at most kMostPliesBack plies before
// its end. Where nobody makes progress they would go on for ever.
constexpr int kOtherEnds = 8;
constexpr uint32_t kMostPliesBack = 10;
constexpr size_t kMostPlies = 100;
// Decisions of a puzzle.
constexpr int kFewest = 2;
constexpr int kMost = 3;
// First actions to choose from.
constexpr int kFewestActions = 3;
// The search for puzzles ends at this multiple of the number wanted.
constexpr size_t kSurplus = 2;
constexpr int kConcurrentGames = 64;

uint64_t StreamSeed(uint64_t seed, uint64_t index) {
  return DeriveSeed(seed, index, StreamPurpose::kArena);
}

// Finds the puzzles among positions.
class Finder {
 public:
  explicit Finder(int64_t node_limit) : solver_({.node_limit = node_limit}) {}

  std::optional<Puzzle> PuzzleAt(const State& state) {
    Puzzle puzzle = {.state = state, .line = {}};
    if (LegalActions(state).Count() < kFewestActions ||
        !Extend(state, state.side(), 0, puzzle.line)) {
      return std::nullopt;
    }
    return puzzle;
  }

 private:
  // Extends the line from `state`, after `decisions` of the side, up to the one
  // where several actions are right, or to the end of the game. Returns
  // false, with the line as it was, if it is no line of a puzzle, or the solver
  // gives up.
  bool Extend(const State& state, Side side, int decisions,
              std::vector<Action>& line) {
    if (state.finished()) return decisions >= kFewest;
    const auto values = solver_.SolveActions(state);
    if (!values.has_value()) return false;
    std::map<Action, int> margins;  // for the side to move
    int best = -kMaxMargin;
    for (const auto& [action, red_margin] : *values) {
      margins[action] = state.side() == kRed ? red_margin : -red_margin;
      best = std::max(best, margins[action]);
    }
    const int result = ResultForMover(state, best);
    const bool own = state.side() == side;
    std::vector<Action> good;
    for (const auto& [action, margin] : margins) {
      if (own ? ResultForMover(state, margin) == result : margin == best) {
        good.push_back(action);
      }
    }
    if (own && margins.size() > 1) {
      if (good.size() > 1 || result <= 0) return decisions >= kFewest;
      // Nobody looks for a pass on the board.
      if (good[0] == kPass || ++decisions > kMost) return false;
    }
    for (const Action action : good) {
      State next = state;
      ApplyAction(action, next);
      line.push_back(action);
      if (Extend(next, side, decisions, line)) return true;
      line.pop_back();
    }
    return false;
  }

  mcts::EndgameSolver solver_;
};

struct ErringGame : PlayedGame {
  ErringGame(uint64_t number, const State& start, uint64_t seed,
             const std::function<void(ErringGame&)>& finished)
      : PlayedGame(number, start, seed), finished(finished) {}

  Action Choose(const SearchReport& /*report*/, Action choice) override {
    states.push_back(state);
    return random.Below(8) == 0 ? RandomAction(state, random) : choice;
  }
  absl::StatusOr<std::unique_ptr<PlayedGame>> Finish() override {
    finished(*this);
    return nullptr;
  }

  std::vector<State> states;  // so far
  const std::function<void(ErringGame&)>& finished;
};

// Returns the longest puzzle among the last positions of a game.
std::optional<Puzzle> LastPuzzle(absl::Span<const State> states,
                                 Finder& finder) {
  std::optional<Puzzle> found;
  for (size_t back = 1; back <= std::min(states.size(), kLastPlies); ++back) {
    auto puzzle = finder.PuzzleAt(states[states.size() - back]);
    if (puzzle.has_value()) found = std::move(puzzle);
  }
  return found;
}

// Returns a puzzle at the end of a game, or else at another end.
std::optional<Puzzle> PuzzleOf(ErringGame& game, Finder& finder) {
  const std::vector<State>& states = game.states;
  std::optional<Puzzle> found = LastPuzzle(states, finder);
  for (int end = 0; end < kOtherEnds && !found.has_value(); ++end) {
    const size_t back = 1 + game.random.Below(kMostPliesBack);
    if (back > states.size()) continue;
    State state = states[states.size() - back];
    std::vector<State> others;
    while (!state.finished() && others.size() < kMostPlies) {
      others.push_back(state);
      ApplyAction(RandomAction(state, game.random), state);
    }
    found = LastPuzzle(others, finder);
  }
  return found;
}

absl::Status CountTraps(uint64_t seed, Player& naive,
                        std::vector<Puzzle>& puzzles) {
  std::vector<Random> streams;
  streams.reserve(puzzles.size());
  std::vector<Turn> turns;
  for (const Puzzle& puzzle : puzzles) {
    const uint64_t i = turns.size();
    turns.push_back({.state = puzzle.state,
                     .random = &streams.emplace_back(StreamSeed(seed, i)),
                     .game = i});
  }
  std::vector<Action> actions(turns.size());
  TARA_RETURN_IF_ERROR(naive.ChooseActions(turns, absl::MakeSpan(actions)));
  for (size_t i = 0; i < puzzles.size(); ++i) {
    naive.EndGame(i);
    puzzles[i].traps += actions[i] != puzzles[i].line[0];
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Puzzle>> MakePuzzles(
    const PuzzleOptions& options, Player& player,
    absl::Span<Player* const> naive) {
  Finder finder(options.node_limit);
  std::map<uint64_t, Puzzle> by_game;
  const std::function<void(ErringGame&)> finished = [&](ErringGame& game) {
    auto puzzle = PuzzleOf(game, finder);
    if (puzzle.has_value()) by_game[game.number] = *std::move(puzzle);
  };
  const auto wanted = static_cast<size_t>(options.puzzles);
  uint64_t number = 0;
  const GameSource next_game = [&]() -> std::unique_ptr<PlayedGame> {
    const bool enough = by_game.size() >= kSurplus * wanted;
    if (enough || number == static_cast<uint64_t>(options.games)) {
      return nullptr;
    }
    const uint64_t seed = StreamSeed(options.seed, number);
    return std::make_unique<ErringGame>(number++, options.start, seed,
                                        finished);
  };
  const auto stopped = [&] { return options.stop && options.stop(); };
  Player* const players[] = {&player};
  TARA_RETURN_IF_ERROR(
      PlayGames({.games = kConcurrentGames, .stop = options.stop}, players,
                next_game, [&] { return !stopped(); }));
  if (stopped()) return absl::CancelledError("interrupted");

  std::vector<Puzzle> puzzles;
  std::set<std::string> seen;
  for (auto& [game, puzzle] : by_game) {
    const State& state = puzzle.state;
    if (seen.insert(PositionToText(
                        TransformState(RepresentativeSymmetry(state), state)))
            .second) {
      puzzles.push_back(std::move(puzzle));
    }
  }
  for (Player* const each : naive) {
    TARA_RETURN_IF_ERROR(CountTraps(options.seed, *each, puzzles));
  }
  std::vector<size_t> order(puzzles.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return puzzles[a].traps > puzzles[b].traps;
  });
  order.resize(std::min(order.size(), wanted));
  std::sort(order.begin(), order.end());
  std::vector<Puzzle> chosen;
  for (const size_t i : order) chosen.push_back(std::move(puzzles[i]));
  return chosen;
}

std::string PuzzleToText(const Puzzle& puzzle) {
  return absl::StrCat(
      PositionToText(puzzle.state), " ",
      absl::StrJoin(LineToTexts(puzzle.line, puzzle.state), " "));
}

}  // namespace tara::eval
