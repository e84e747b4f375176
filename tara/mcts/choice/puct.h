#ifndef TARA_MCTS_CHOICE_PUCT_H_
#define TARA_MCTS_CHOICE_PUCT_H_

namespace tara::mcts {

// The selection formula of searches (PUCT). The score of an action is
//
//   Q + c(N) * sqrt(N) * P / (1 + n)
//
// where Q is its value for the side to move, P its prior and n its visits; N
// are the visits of the node and c(N) its weight of exploration. The members
// are the terms of a node, which TermsOf (tara/mcts/tree/walk.cc) sets by the
// options; a parameter of another formula is one more member. They have no
// defaults: code that does not set one does not compile. All that selects or
// prunes by scores uses the two functions. Of the actions not tried only the
// one with the highest prior can be selected, so the score has to rise with P.
// Source: Silver et al. 2017 (Nature 550), Methods, "Select".
struct Puct {
  float exploration;  // c(N) * sqrt(N)

  // Returns the score of an action; `tries` is 1 + n. Works on
  // numbers and on vectors of them.
  template <typename Number>
  Number Score(Number value, Number prior, Number tries) const {
    return value + exploration * prior / tries;
  }

  // Returns the tries at which the score of an action is `score`: with more it
  // is less. For the pruning of policy targets. REQUIRES: score > value.
  double TriesOf(double score, double value, double prior) const {
    return exploration * prior / (score - value);
  }
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_CHOICE_PUCT_H_
