#ifndef TARA_EVAL_PLAYERS_PERSON_PLAYER_H_
#define TARA_EVAL_PLAYERS_PERSON_PLAYER_H_

#include <istream>
#include <memory>
#include <ostream>

#include "tara/eval/players/player.h"

namespace tara::eval {

// A person who sees the board on `out` and types an action, `legal`, `resign`
// (forfeits the game) or `quit` on `in`. `quit`, the end of the input and
// Ctrl-C interrupt the process (SIGINT), and the program ends as after Ctrl-C.
// `in` must be the standard input for Ctrl-C to work while the person thinks.
// Persons share a terminal: they play one at a time, on any threads.
// The streams must outlive the player.
std::unique_ptr<Player> NewPersonPlayer(std::istream& in, std::ostream& out);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_PERSON_PLAYER_H_
