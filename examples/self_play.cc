// Plays one game by search against itself and prints it: the smallest program
// that uses the rules, an evaluator and the search.
//
//   bazel run //examples:self_play -- four_treasures 400
//
// To use a network instead of random games, call nn::LoadNetwork
// (tara/nn/inference/network_evaluator.h).

#include <cstdint>
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/tree/tree.h"

namespace tara {
namespace {

absl::Status PlayGame(Variant variant, int simulations, uint64_t seed) {
  mcts::PlayoutEvaluator evaluator(/*playouts=*/8, seed);
  mcts::SearchOptions options;
  options.simulations = simulations;
  Random random(seed);

  mcts::Tree tree(options, InitialState(variant), seed);
  while (!tree.finished()) {
    mcts::Tree* const trees[] = {&tree};
    TARA_RETURN_IF_ERROR(mcts::RunSearches(trees, evaluator));
    const State& state = tree.root();
    const Action action =
        mcts::ChooseAction(tree.root_actions(), {.temperature = 0}, random);
    std::cout << (state.side() == kRed ? "Red " : "Blue ")
              << ActionToText(action) << "  expects " << tree.root_margin()
              << " points more\n";
    tree.Advance(action);
  }

  const Outcome outcome = Score(tree.root());
  std::cout << "Red " << outcome.points[kRed] << ", Blue "
            << outcome.points[kBlue] << '\n';
  return absl::OkStatus();
}

absl::Status Main(const std::string& variant_id,
                  const std::string& simulations) {
  TARA_ASSIGN_OR_RETURN(const Variant variant, ParseVariant(variant_id));
  int number = 0;
  if (!absl::SimpleAtoi(simulations, &number) || number < 1) {
    return absl::InvalidArgumentError("simulations: a number of at least 1");
  }
  return PlayGame(variant, number, /*seed=*/1);
}

}  // namespace
}  // namespace tara

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: self_play VARIANT SIMULATIONS\n";
    return 2;
  }
  const absl::Status status = tara::Main(argv[1], argv[2]);
  if (!status.ok()) std::cerr << status.message() << '\n';
  return status.ok() ? 0 : 1;
}
