#ifndef TARA_EVAL_BALANCE_GAME_FACTS_H_
#define TARA_EVAL_BALANCE_GAME_FACTS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/game.pb.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"
#include "tara/eval/arena/arena_openings.h"

namespace tara::eval {

// A side is ahead where its value is above this (win minus loss: an expected
// score of 55 %).
inline constexpr float kAhead = 0.1f;

// The course of a game by its player's own values. Of games with values and a
// winner.
struct GameDrama {
  // Changes of the side that is ahead; even positions are not a change.
  int lead_changes = 0;
  // The ply after which the winner stays ahead; the game's length if it was not
  // ahead at the last evaluation.
  int decided_ply = 0;
  // The winner's lowest expected score, in [0, 1].
  double lowest_score = 0.5;
};

// The actions of a seat in a game.
struct SeatFacts {
  int actions = 0;
  int captures = 0;  // of ringforts
};

// What the measures of a study need of one finished game.
struct GameFacts {
  uint64_t place = 0;  // GameRecord.place
  int red_margin = 0;  // as scored
  int result = 0;      // 1 Red won, 0 a draw, -1 Blue won; with compensation
  int length = 0;
  int legal = 0;  // actions to choose from, over all plies
  Ending ending = Ending::kNone;
  std::array<int, kNumActionTypes> types = {};  // actions, by ActionType
  int kings_captured = 0;
  std::array<SeatFacts, 4> seats = {};
  // Doubles: the seat that was out first, which ended the game; -1: none.
  int first_out = -1;
  std::optional<GameDrama> drama = {};
  std::vector<Action> actions = {};  // all
  uint64_t same_game = 0;            // record::SameGameKey

  // Red's points of a game: 1 won, 1/2 drawn, 0 lost.
  double score() const { return (1 + result) / 2.0; }
};

// Replays a game and returns its facts. Errors as record::Replay's, and
// INVALID_ARGUMENT for a game that was not played to its end.
absl::StatusOr<GameFacts> FactsOf(const proto::GameRecord& game);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_GAME_FACTS_H_
