#ifndef TARA_TESTS_EVAL_TEST_PLAYERS_H_
#define TARA_TESTS_EVAL_TEST_PLAYERS_H_

// Players that never draw, and that tell what they were asked or give up; what
// perfect ones would come to; and choices and arenas of players.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/alpha_beta/alpha_beta.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/utility.h"
#include "tara/record/game_store.h"

namespace tara::eval {

// Red's margin under best play, by trying everything: the twin of the solver.
inline int Minimax(const State& state) {
  if (state.finished()) return Score(state).margin();
  int best = state.side() == kRed ? -kMaxMargin : kMaxMargin;
  LegalActions(state).ForEach([&](Action action) {
    State next = state;
    ApplyAction(action, next);
    best = state.side() == kRed ? std::max(best, Minimax(next))
                                : std::min(best, Minimax(next));
  });
  return best;
}

// A position and what each action leads to: the points of the side to move
// minus the other's under best play, by legal action.
struct SolvedPosition {
  State state;
  std::vector<int> margins;
};

// Returns positions of different games by a player that often errs: of each the
// earliest near its end that is quickly solved, with actions that are not worth
// the same.
inline std::vector<SolvedPosition> SolvedPositions(Variant variant,
                                                   size_t positions,
                                                   uint64_t seed = 1) {
  const auto seed_of = [](uint64_t from, uint64_t index) {
    return DeriveSeed(from, index, StreamPurpose::kArena);
  };
  AlphaBeta search;
  mcts::EndgameSolver solver({.node_limit = 300});
  std::vector<SolvedPosition> found;
  for (uint64_t game = 0; found.size() < positions; ++game) {
    Random random(seed_of(seed_of(seed, 0), game));
    std::vector<State> states;
    for (State state = InitialState(variant); !state.finished();) {
      if (LegalActions(state).Count() > 1) states.push_back(state);
      const bool errs = random.Below(4) == 0;
      ApplyAction(errs ? RandomAction(state, random)
                       : search.Search(state, {.depth = 1}).action,
                  state);
    }
    std::optional<SolvedPosition> earliest;
    for (; !states.empty(); states.pop_back()) {
      const State& state = states.back();
      const auto values = solver.SolveActions(state);
      if (!values.has_value()) break;
      SolvedPosition position = {.state = state, .margins = {}};
      for (const auto& [action, red_margin] : *values) {
        position.margins.push_back(state.side() == kRed ? red_margin
                                                        : -red_margin);
      }
      const auto [least, most] =
          std::minmax_element(position.margins.begin(), position.margins.end());
      if (*least < *most) earliest = std::move(position);
    }
    if (earliest.has_value()) found.push_back(*std::move(earliest));
  }
  return found;
}

// Plays the first legal action, or the last; remembers the positions it was
// given and the sizes of the batches; fails when told to.
class FixedPlayer : public Player {
 public:
  explicit FixedPlayer(bool last = false) : last_(last) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    if (fail) return absl::InternalError("told to fail");
    batches.push_back(turns.size());
    for (size_t i = 0; i < turns.size(); ++i) {
      const LegalSet legal = LegalActions(turns[i].state);
      actions[i] = legal.Nth(last_ ? legal.Count() - 1 : 0);
      seen.push_back(turns[i].state);
      scores.push_back(turns[i].match);
    }
    return absl::OkStatus();
  }

  std::vector<State> seen;
  std::vector<mcts::MatchScore>
      scores;  // how the matches stood, by state in `seen`
  std::vector<size_t> batches;
  bool fail = false;

 private:
  const bool last_;
};

// Plays the first legal action, and says that Red's margin is proved, if any
// is.
class ProvingPlayer : public FixedPlayer {
 public:
  explicit ProvingPlayer(std::optional<int> red_margin)
      : red_margin_(red_margin) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (const Turn& turn : turns) {
      if (!red_margin_.has_value()) continue;
      turn.report->proved_margin =
          turn.state.side() == kRed ? *red_margin_ : -*red_margin_;
    }
    return FixedPlayer::ChooseActions(turns, actions);
  }

 private:
  const std::optional<int> red_margin_;
};

// Gives up every `often`-th choice that it is asked for, of all games.
class QuittingPlayer : public Player {
 public:
  explicit QuittingPlayer(int often) : often_(often) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (const Turn& turn : turns) {
      if (++asked_ % often_ == 0) *turn.forfeit = "had enough";
    }
    return fixed_.ChooseActions(turns, actions);
  }

 private:
  const int often_;
  int asked_ = 0;
  FixedPlayer fixed_;
};

// Returns a factory of the players, or teams, of a spec.
inline PlayerFactory Factory(const std::string& spec) {
  return NewPlayerFactory(ParseTeamSpec(spec).value());
}

// Returns a factory of players of a class, made from these arguments.
template <typename PlayerClass, typename... Arguments>
PlayerFactory FactoryOf(Arguments... arguments) {
  return [=] { return std::make_unique<PlayerClass>(arguments...); };
}

// Returns a factory that fails.
inline PlayerFactory FailingFactory(const absl::Status& error) {
  return [=] { return error; };
}

// Returns the choice in one turn.
inline absl::StatusOr<Action> ChooseOne(Player& player, const Turn& turn) {
  Action action = kPass;
  const absl::Status status = player.ChooseActions(
      absl::MakeConstSpan(&turn, 1), absl::MakeSpan(&action, 1));
  if (!status.ok()) return status;
  return action;
}

// Returns a factory of players that choose as `player`, which must outlive
// them. For one thread.
inline PlayerFactory Lend(Player& player) {
  class Borrower : public Player {
   public:
    explicit Borrower(Player& lender) : lender_(lender) {}
    absl::Status ChooseActions(absl::Span<const Turn> turns,
                               absl::Span<Action> actions) override {
      return lender_.ChooseActions(turns, actions);
    }
    void EndGame(uint64_t game) override { lender_.EndGame(game); }

   private:
    Player& lender_;
  };
  return [&player] { return std::make_unique<Borrower>(player); };
}

inline absl::StatusOr<ArenaResult> PlayArena(
    const ArenaOptions& options, Player& a, Player& b,
    const ArenaProgressCallback& on_progress = {}) {
  return PlayArena(options, Lend(a), Lend(b), 1, on_progress);
}

inline ArenaResult Play(const ArenaOptions& options, const PlayerFactory& a,
                        const PlayerFactory& b, int threads = 1,
                        const ArenaProgressCallback& on_progress = {}) {
  const absl::StatusOr<ArenaResult> result =
      PlayArena(options, a, b, threads, on_progress);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or(ArenaResult());
}

inline ArenaResult Play(const ArenaOptions& options, Player& a, Player& b) {
  return Play(options, Lend(a), Lend(b));
}

// Of the players of specs.
inline ArenaResult Play(const ArenaOptions& options, const std::string& a,
                        const std::string& b, int threads = 1) {
  return Play(options, Factory(a), Factory(b), threads);
}

inline std::unique_ptr<record::GameStore> StoreInMemory() {
  return *record::OpenGameStore(":memory:", record::StoreMode::kReadWrite);
}

inline std::vector<double> Margins(const ArenaResult& result) {
  std::vector<double> margins;
  for (const ArenaGame& game : result.played) margins.push_back(game.margin);
  return margins;
}

}  // namespace tara::eval

#endif  // TARA_TESTS_EVAL_TEST_PLAYERS_H_
