#ifndef TARA_EVAL_BALANCE_BALANCE_GAME_H_
#define TARA_EVAL_BALANCE_BALANCE_GAME_H_

// Games of one player with itself, from which the balance of a variant is
// read: how they are played, and what is kept of them.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/game.pb.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara::eval {

// How a study's games are played. Game i is the same in every run.
struct BalanceGameOptions {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions rule_options = {};
  uint64_t seed = 1;
  // Uniformly random actions that begin a game; the same in game i of every
  // player. They make games of players differ that never draw, but what comes
  // after them is a position that no strong player would have chosen.
  int opening_plies = 0;
  // Of the actions after those, so many are drawn from the player's policy, in
  // proportion to policy^(1 / temperature); then, and where it has none, the
  // player chooses.
  int drawn_plies = 8;
  double temperature = 1;
};

// Which game: the index-th of those that begin with `first`, or of those that
// begin as the player likes.
struct BalanceGameId {
  int index = 0;
  std::optional<Action> first = {};

  // Which number the game has in its study (GameRecord.place), and back.
  uint64_t place() const {
    const uint64_t begins_with =
        first.has_value() ? 1 + static_cast<uint64_t>(Index(*first)) : 0;
    return (begins_with << 32) + static_cast<uint64_t>(index);
  }
  static BalanceGameId AtPlace(uint64_t place) {
    BalanceGameId id = {.index = static_cast<int>(place & 0x7fffffff)};
    if (place >> 32 > 0) id.first = static_cast<Action>((place >> 32) - 1);
    return id;
  }

  friend bool operator==(const BalanceGameId&, const BalanceGameId&) = default;
  friend bool operator<(const BalanceGameId& x, const BalanceGameId& y) {
    return x.place() < y.place();
  }
};

// Where the indices of games begin that have a purpose of their own, so that
// they have nothing in common with a study's other games: see fair_study.h.
inline constexpr int kPilotIndex = 1 << 27;
inline constexpr int kSearchIndex = 2 << 27;
inline constexpr int kFreshIndex = 3 << 27;
inline constexpr int kFreshCompensationIndex = 4 << 27;

// Returns what games of a purpose (record::GameStatistics) were played for, as
// in "pilots of the openings"; empty for those of a study itself, and for other
// games.
absl::string_view PurposeName(int purpose);

// Plies whose policy is looked at.
inline constexpr int kPolicyPlies = 8;

// What the player thinks of the start position.
struct StartReport {
  std::optional<float> value = {};  // Red's
  std::vector<Action> actions = {};
  // By action; empty where the player has none.
  std::vector<float> policy = {};
  std::vector<float> values = {};  // Red's; NaN where unknown
};

// What an action does.
enum class ActionType : uint8_t {
  kBuild,      // on a vacant hill, by hand or by a king's move
  kCapture,    // of a ringfort
  kBacktrack,  // a king's move to a friendly ringfort
  kSacrifice,  // the same, giving the ringfort up
  kSwap,       // of a ringfort; or the pie rule's
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
  // By action, of the first kPolicyPlies: Step.policy_entropy; NaN: none.
  std::vector<float> entropies = {};
  // What the player would have chosen where another action was drawn, by ply.
  std::map<int, Action> chosen = {};

  // The first side's points of a game: 1 won, 0 lost.
  double score() const { return (1 + result) / 2.0; }
};

// Returns a value or an entropy in whole thousandths, as figures are computed
// from: those of studies that older programs kept have no more.
float InThousandths(float value);

// Replays a game and returns what it was. Errors as record::Replay's, and
// INVALID_ARGUMENT for a game that was not played to its end.
absl::StatusOr<GameFacts> FactsOf(const proto::GameRecord& game);

// The games of one study, in order of their indices.
struct BalanceStudy {
  BalanceGameOptions options = {};
  std::string player = {};
  // Games that begin as the player likes.
  std::vector<GameFacts> games = {};
  // Games made to begin with an action, by the first member of its class. The
  // first `first_games` of each class tell how the classes differ; any more
  // confirm the one that turned out fairest.
  std::map<Action, std::vector<GameFacts>> first_games = {};
  int num_first_games = 0;
  std::optional<StartReport> start = {};
};

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_BALANCE_GAME_H_
