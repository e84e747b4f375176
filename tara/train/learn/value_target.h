#ifndef TARA_TRAIN_LEARN_VALUE_TARGET_H_
#define TARA_TRAIN_LEARN_VALUE_TARGET_H_

#include <array>
#include <vector>

#include "proto/game.pb.h"
#include "tara/record/game_record.h"

namespace tara::train {

// How value targets are mixed from the outcome of the game and what the
// searches on its way thought.
struct ValueTargetOptions {
  // The share of the searches, s below; the rest is the outcome's. 0: the
  // outcome alone, which is noisy but right on average.
  float search_share = 0;
  // Over about so many plies, from the position on, the searches are averaged:
  // what is further away is the outcome's. At least 1.
  float horizon = 16;
};

// What a position is worth, for the side to move there.
struct ValueTarget {
  float value = 0;  // win minus loss probability
  float draw = 0;   // probability; value + draw and draw - value are at most 1

  // Probabilities of win, draw and loss; sum to 1.
  std::array<float, 3> result() const {
    return {(1 - draw + value) / 2, draw, (1 - draw - value) / 2};
  }
};

// Returns the value targets of the positions before each step of a record.
//
// With z the outcome (1 won, 0 drawn, -1 lost), q_k the root value of the
// search k plies later, both for the side to move at the position (by side,
// never by parity), and n the plies to the end, a target is
//
//   (1 - s) z + s ((1 - a) sum_{k < n} a^k q_k + a^n z),   a = 1 - 1 / horizon.
//
// Where the result is proved it takes the place of everything that comes later:
// such a position has the proved result for its target, and counts as that for
// those before it. Plies without a search are passed over. What a search
// expected of draws is not recorded: draws have the share of the outcome alone.
//
// Source: the average with a horizon is that of KataGo's short-term value
// targets, docs/KataGoMethods.md; mixing outcome and search, Willemsen, Baier
// and Kaisers 2022, "Value targets in off-policy AlphaZero".
//
// REQUIRES: `game` is the record's; root values are win minus loss (not of
// another utility) where search_share > 0; horizon >= 1.
std::vector<ValueTarget> ValueTargets(const proto::GameRecord& record,
                                      const record::ReplayedGame& game,
                                      const ValueTargetOptions& options);

}  // namespace tara::train

#endif  // TARA_TRAIN_LEARN_VALUE_TARGET_H_
