#ifndef TARA_EVAL_BALANCE_BALANCE_FACTS_H_
#define TARA_EVAL_BALANCE_BALANCE_FACTS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance_game.h"

namespace tara::eval {

// What an action does.
enum class ActionType : uint8_t {
  kBuild,      // on a vacant hill, by hand or by a king's move
  kCapture,    // of a ringfort
  kBacktrack,  // a king's move to a friendly ringfort
  kSacrifice,  // the same, giving the ringfort up
  kSwap,
  kLink,
  kPass,
};
inline constexpr int kNumActionTypes = 7;

// Returns "build", "capture", "backtrack", "sacrifice", "swap", "link", "pass".
absl::string_view ActionTypeName(ActionType type);

// Returns what the action does in the position. REQUIRES: it is legal.
ActionType TypeOf(const State& state, Action action);

// A side is ahead where its value is above this (win minus loss: an expected
// score of 55 %).
inline constexpr float kAhead = 0.1f;

// How a game looked to its player. Of games with values and a winner alone.
struct GameDrama {
  // How often the side ahead changed; nobody being ahead is no change.
  int lead_changes = 0;
  // The first ply from which on the winner stays ahead; the game's length where
  // it was not ahead when it was last judged.
  int decided_ply = 0;
  // The winner's lowest expected score, in [0, 1].
  double lowest_score = 0.5;
};

// What a seat did in a game.
struct SeatFacts {
  int actions = 0;
  int legal = 0;     // actions to choose from, over all its actions
  int captures = 0;  // of ringforts
};

// What there is to say of one finished game.
struct GameFacts {
  BalanceGameId id;
  int red_margin = 0;
  int length = 0;
  int legal = 0;  // actions to choose from, over all plies
  Ending ending = Ending::kNone;
  std::array<int, kNumActionTypes> types = {};  // actions, by ActionType
  int kings_captured = 0;
  std::array<SeatFacts, 4> seats = {};
  // Doubles: the seat that was out first, which ended the game; -1: none.
  int first_out = -1;
  std::optional<GameDrama> drama = {};
  std::vector<Action> actions = {};   // all
  std::vector<float> entropies = {};  // as BalanceGame has them

  // The first side's points of a game: 1 won, 0 lost.
  double score() const {
    return red_margin > 0 ? 1 : (red_margin < 0 ? 0 : 0.5);
  }
};

// Replays a game and returns what it was. INVALID_ARGUMENT where it does not
// follow the rules: an illegal action, told with its number, from 1; no end.
absl::StatusOr<GameFacts> FactsOf(Variant variant, const RuleOptions& options,
                                  const BalanceGame& game);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_BALANCE_FACTS_H_
