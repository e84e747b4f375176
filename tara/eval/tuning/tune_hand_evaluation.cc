// Fits the weights of the hand-made evaluation to results of games and prints
// them as tara/mcts/alpha_beta/hand_evaluation.cc holds them.
//
//     tune_hand_evaluation VARIANT|all GAMES mcts:SIMULATIONS [SEED]
//     tune_hand_evaluation VARIANT|all GAMES alphabeta:NODES [SEED]
//
// Games begin with 0 to kMaxOpening random actions and go on with one player
// for both sides, now and then with a random action; each position of choice
// after the opening is an observation, each game's result the target of its
// positions. The weights in use: 5000 games a variant by mcts:120, seed 1.
// (Weights from 2500 games of alphabeta:400 with those played no better.)

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/players/alpha_beta_player.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/search_player.h"
#include "tara/eval/tuning/logistic_regression.h"
#include "tara/mcts/alpha_beta/hand_evaluation.h"
#include "tara/mcts/evaluators/simple_evaluators.h"

namespace tara::eval {
namespace {

constexpr uint32_t kMaxOpening = 16;
constexpr double kRandomActions = 0.03;
constexpr int kHeldOut = 10;  // one game in so many only measures
constexpr double kPenalty = 20;
constexpr int kWidth = 2 * mcts::kNumHandFeatures;

struct Data {
  LogisticData fitted;
  LogisticData held_out;
};

void AddObservation(const State& state, LogisticData& data) {
  const mcts::HandFeatures features = mcts::ComputeHandFeatures(state);
  const float first =
      static_cast<float>(mcts::HandStage(state)) / mcts::kFirstStage;
  for (const int16_t feature : features) data.inputs.push_back(feature * first);
  for (const int16_t feature : features) {
    data.inputs.push_back(feature * (1 - first));
  }
}

void PlayGame(Variant variant, Player& player, Random& random,
              LogisticData& data) {
  State state = InitialState(variant);
  for (uint32_t left = random.Below(kMaxOpening + 1);
       left > 0 && !state.finished(); --left) {
    ApplyAction(RandomAction(state, random), state);
  }
  while (!state.finished()) {
    Action action = RandomAction(state, random);
    if (random.Uniform() >= kRandomActions) {
      const Turn turn = {.state = state, .random = &random};
      const absl::Status status =
          player.ChooseActions({&turn, 1}, {&action, 1});
      TARA_CHECK(status.ok(), "players without a network do not fail");
    }
    if (LegalActions(state).Count() > 1) AddObservation(state, data);
    ApplyAction(action, state);
  }
  const int margin = Score(state).margin();
  const float target = margin == 0 ? 0.5f : (margin > 0 ? 1.0f : 0.0f);
  data.targets.resize(data.inputs.size() / kWidth, target);
}

std::string WeightsText(absl::Span<const double> weights) {
  std::string text;
  for (int i = 0; i < mcts::kNumHandFeatures; ++i) {
    absl::StrAppend(&text, i % 10 == 0 ? "\n          " : " ",
                    std::lround(1000 * weights[i]), ",");
  }
  return text;
}

void Tune(Variant variant, int games, Player& player, uint64_t seed) {
  Data data;
  data.fitted.width = data.held_out.width = kWidth;
  for (int game = 0; game < games; ++game) {
    Random random(DeriveSeed(seed,
                             static_cast<uint64_t>(game) * kNumVariants +
                                 static_cast<uint64_t>(variant),
                             StreamPurpose::kArena));
    PlayGame(variant, player, random,
             game % kHeldOut == 0 ? data.held_out : data.fitted);
  }
  const std::vector<double> weights = FitLogistic(data.fitted, kPenalty);
  absl::FPrintF(
      stderr, "%s: %d observations, loss %.4f fitted, %.4f held out\n",
      Info(variant).id, data.fitted.targets.size(),
      LogisticLoss(data.fitted, weights), LogisticLoss(data.held_out, weights));
  const absl::Span<const double> all = weights;
  for (int i = 0; i < mcts::kNumHandFeatures; ++i) {
    absl::FPrintF(stderr, "  %-26s %6.0f %6.0f\n",
                  mcts::HandFeatureName(variant, i), 1000 * all[i],
                  1000 * all[i + mcts::kNumHandFeatures]);
  }
  absl::PrintF(
      "    HandWeights{\n        // %s\n        .first = {%s},\n"
      "        .last = {%s}},\n",
      Info(variant).id, WeightsText(all.subspan(0, mcts::kNumHandFeatures)),
      WeightsText(all.subspan(mcts::kNumHandFeatures)));
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  int games = 0;
  int strength = 0;
  uint64_t seed = 1;
  std::pair<std::string, std::string> spec;
  if (arguments.size() >= 3) spec = absl::StrSplit(arguments[2], ':');
  if (arguments.size() < 3 || arguments.size() > 4 ||
      !absl::SimpleAtoi(arguments[1], &games) ||
      !absl::SimpleAtoi(spec.second, &strength) ||
      (arguments.size() == 4 && !absl::SimpleAtoi(arguments[3], &seed))) {
    absl::FPrintF(stderr,
                  "usage: tune_hand_evaluation VARIANT|all GAMES "
                  "mcts:SIMULATIONS|alphabeta:NODES [SEED]\n");
    return 2;
  }
  const std::unique_ptr<Player> player =
      spec.first == "mcts"
          ? NewSearchPlayer(std::make_unique<mcts::PlayoutEvaluator>(1, 0),
                            {.search = {.simulations = strength}})
          : NewAlphaBetaPlayer({.nodes = strength}, {.table_bytes = 1 << 20});
  for (const VariantInfo& info : kVariants) {
    if (arguments[0] != "all" && arguments[0] != info.id) continue;
    Tune(info.variant, games, *player, seed);
  }
  return 0;
}

}  // namespace
}  // namespace tara::eval

int main(int argc, char** argv) { return tara::eval::Main(argc, argv); }
