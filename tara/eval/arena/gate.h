#ifndef TARA_EVAL_ARENA_GATE_H_
#define TARA_EVAL_ARENA_GATE_H_

#include <cstdint>
#include <vector>

#include "tara/core/state.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"

namespace tara::eval {

// A gate: matches that decide whether a candidate replaces the best network. It
// does not if it is weaker in any of them.
struct GateOptions {
  std::vector<State> starts;  // a match from each
  int games = 0;              // of a match, at most
  double max_drop_elo = 0;    // above 0
  uint64_t run_seed = 0;
  uint64_t candidate = 0;  // its index in the run
};

// Returns the matches, with the candidate as player A. Each ends early by a
// sequential test of H0, "the candidate is weaker by max_drop_elo", against H1,
// "it is as strong". The tests share an error of 5 % (Bonferroni): an equal
// candidate is rejected with a probability of at most 5 % over all matches.
// Their seeds differ from the seeds of the run's evaluations, which derive from
// (run_seed, generation): indices here count down from the largest.
std::vector<ArenaOptions> GateMatches(const GateOptions& options);

// Returns whether the match shows that the candidate is weaker: its test has
// accepted H0. A match that ends undecided does not.
bool IsWeaker(const ArenaResult& result);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_GATE_H_
