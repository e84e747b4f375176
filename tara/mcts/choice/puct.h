#ifndef TARA_MCTS_CHOICE_PUCT_H_
#define TARA_MCTS_CHOICE_PUCT_H_

namespace tara::mcts {

// Returns the score of an action, by which searches select (PUCT):
//
//   Q + c(N) * sqrt(N) * P / (1 + n)
//
// `value` is Q, for the side to move; `exploration` is c(N) * sqrt(N) of the
// node; `prior` is P; `tries` is 1 + n, the visits of the action. Of numbers,
// and of vectors of them. Another formula is another selection: SelectAction
// (tara/mcts/tree/walk.h) takes its best action, and of those not tried
// only the one with the highest prior, so that the score has to rise with it.
// Source: Silver et al. 2017 (Nature 550), Methods, "Select".
template <typename Number, typename Factor>
inline Number PuctScore(Number value, Factor exploration, Number prior,
                        Number tries) {
  return value + exploration * prior / tries;
}

// Returns the tries at which the score of an action is `score`: with more it is
// less. For the pruning of policy targets. REQUIRES: score > value.
inline double TriesOfPuctScore(double value, double exploration, double prior,
                               double score) {
  return exploration * prior / (score - value);
}

}  // namespace tara::mcts

#endif  // TARA_MCTS_CHOICE_PUCT_H_
