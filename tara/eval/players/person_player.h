#ifndef TARA_EVAL_PLAYERS_PERSON_PLAYER_H_
#define TARA_EVAL_PLAYERS_PERSON_PLAYER_H_

#include <istream>
#include <memory>
#include <ostream>

#include "tara/eval/players/player.h"

namespace tara::eval {

// A person, who is shown the board on `out` and types an action, `legal`,
// `resign` (the game is given up) or `quit` on `in`. Who quits, ends the input
// or types Ctrl-C interrupts the process (SIGINT), as if by Ctrl-C: what plays
// the games then ends as it does. `in` is the standard input where that is to
// be heeded while the person thinks.
//
// Persons share a terminal: one is asked at a time, whichever thread asks. The
// streams must outlive the player.
std::unique_ptr<Player> NewPersonPlayer(std::istream& in, std::ostream& out);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_PERSON_PLAYER_H_
