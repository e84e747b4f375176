#ifndef TARA_TRAIN_LEARN_REPLAY_WINDOW_H_
#define TARA_TRAIN_LEARN_REPLAY_WINDOW_H_

// Which games are learned from: how many of the newest, and which of them only
// measure.

#include <cstdint>

namespace tara::train {

struct WindowOptions {
  int max_games = 2000;  // the newest; positive
  // With a growth a, the window has only
  //   c * (1 + b * ((N / c)^a - 1) / a)
  // of the N games of the run, c being min_games and b the growth's rate at the
  // start: early games, of a weak player, leave it soon, and it grows as what
  // is learned changes less. 0: it has max_games from the start.
  // Source: Wu 2019 (arXiv:1902.10565), appendix C, with a = 0.75, b = 0.4, in
  // samples; here in games, whose number is known even where old ones are gone.
  double growth = 0;
  double growth_rate = 0.4;  // in (0, 1], so that the window never goes back
  int min_games = 250;       // positive
};

// Returns how many of the newest games are learned from when a run has played
// `games`. Of runs with fewer games these are all there are.
// REQUIRES: growth in [0, 1].
int64_t WindowGames(const WindowOptions& options, int64_t games);

// Whether a game is held out: never learned from, so that losses on it say how
// well is predicted what was not seen. About `share` of the games of any run.
// Depends on nothing else, so that a game stays on its side for ever.
bool IsHeldOut(double share, uint64_t run_seed, uint64_t game_index);

}  // namespace tara::train

#endif  // TARA_TRAIN_LEARN_REPLAY_WINDOW_H_
