#ifndef TARA_MCTS_SEARCH_SEARCH_SIGNATURE_H_
#define TARA_MCTS_SEARCH_SEARCH_SIGNATURE_H_

#include <cstdint>

namespace tara::mcts {

// Returns a hash over what searches of fixed positions of all variants find,
// with fixed simulations and all options in turn (noise, graph, proof, Gumbel
// root, selection): the visits, values and bounds of the root's actions. It is
// the same on every run; a change that moves it changes what is searched.
uint64_t SearchSignature();

}  // namespace tara::mcts

#endif  // TARA_MCTS_SEARCH_SEARCH_SIGNATURE_H_
