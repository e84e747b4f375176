#ifndef TARA_EVAL_PLAYERS_TEAM_PLAYER_H_
#define TARA_EVAL_PLAYERS_TEAM_PLAYER_H_

#include <memory>

#include "tara/eval/players/player.h"

namespace tara::eval {

// Two players as partners, for variants in pairs: `first` has the first of the
// side's seats (0 or 1) in games of seating 0 (Turn::seating), and the second
// (2 or 3) in those of seating 1; `second` the other. They do not talk: each
// sees the game alone. What the team has proved is what both have, each at its
// last choice, so that a result is not proved for a partner who would give it
// away.
std::unique_ptr<Player> NewTeamPlayer(std::unique_ptr<Player> first,
                                      std::unique_ptr<Player> second);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_TEAM_PLAYER_H_
