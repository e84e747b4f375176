// What JavaScript sees of the core: functions of positions as text, networks'
// batches, and searches. web/src/engine/core.ts declares their types.

#include <emscripten/bind.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/svg_board.h"
#include "tara/core/variant.h"
#include "tara/eval/rating/davidson.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/levels/levels.h"
#include "web/wasm/network.h"
#include "web/wasm/search.h"
#include "web/wasm/views.h"

namespace tara::web {
namespace {

using emscripten::val;

// Random games that judge a position by themselves.
constexpr int kJudgingPlayouts = 1000;

// Seeds come as numbers of JavaScript.
uint64_t SeedOf(double seed) { return static_cast<uint64_t>(seed); }

val ToText(const State& state) { return val(PositionToText(state)); }

// Reads a position that the engine itself wrote.
State OwnPosition(const std::string& text) {
  const absl::StatusOr<State> state = ParsePosition(text);
  TARA_CHECK(state.ok(), "a position of the engine's own");
  return *state;
}

// `options` as "name=value,name=value", or "-".
val InitialPosition(const std::string& variant_id, const std::string& options) {
  const absl::StatusOr<Variant> variant = ParseVariant(variant_id);
  if (!variant.ok()) return Answer<State>(variant.status(), ToText);
  const absl::StatusOr<RuleOptions> rules = ParseRuleOptions(*variant, options);
  if (!rules.ok()) return Answer<State>(rules.status(), ToText);
  return Answer<State>(InitialState(*variant, *rules), ToText);
}

val CheckPosition(const std::string& text) {
  return Answer(ParsePosition(text), ToText);
}

// Reads a position as people set it up.
val CompletedPosition(const std::string& text) {
  return Answer(CompletePosition(text), ToText);
}

// Returns the picture of a position; `last` is the index of the action that led
// there, or -1.
std::string Picture(const std::string& position, int last) {
  SvgOptions options;
  if (last >= 0) options.last = static_cast<Action>(last);
  return SvgBoard(OwnPosition(position), options);
}

val View(const std::string& position) { return ViewOf(OwnPosition(position)); }

// Returns why a hill cannot be acted on after `chosen`, or -1; "" if no rule
// forbids it.
std::string ReasonOf(const std::string& position, int hill, int chosen) {
  return WhyNot(OwnPosition(position), hill, chosen);
}

// Plays an action in notation: {value: {action, text}}.
val Play(const std::string& position, const std::string& notation) {
  State state = OwnPosition(position);
  const absl::StatusOr<Action> action = ParseAction(notation, state);
  absl::Status status = action.status();
  if (status.ok()) status = PlayAction(*action, state);
  if (!status.ok()) return Answer<State>(status, ToText);
  return Answer<State>(state, [&](const State& next) {
    return Object({{"action", Index(*action)}, {"text", PositionToText(next)}});
  });
}

// Judges a position by a network, or by random games without one, which have no
// owners. The order of `priors` is that of the legal actions.
val Judge(const std::string& position, Network* network) {
  const State state = OwnPosition(position);
  mcts::Evaluation evaluation;
  val owners = val::null();
  if (network != nullptr) {
    const Network::Judgement judgement = network->Judge(state);
    evaluation = judgement.evaluation;
    owners = Array(kNumHills, [&shares = judgement.owners](int hill) {
      return ToPair(shares[2 * hill], shares[2 * hill + 1]);
    });
  } else {
    const absl::Status status = mcts::PlayoutEvaluator(kJudgingPlayouts, 1)
                                    .Evaluate(absl::MakeConstSpan(&state, 1),
                                              absl::MakeSpan(&evaluation, 1));
    TARA_CHECK(status.ok(), "random games never fail");
  }
  const bool red = state.side() == kRed;
  // From -kMaxMargin on, for the side to move.
  std::vector<float>& margins = evaluation.margins;
  if (!red) std::reverse(margins.begin(), margins.end());
  return Object({{"priors", ToArray(evaluation.priors)},
                 {"win", red ? ToPair(evaluation.win, evaluation.loss)
                             : ToPair(evaluation.loss, evaluation.win)},
                 {"draw", evaluation.draw},
                 {"redMargin", red ? evaluation.margin : -evaluation.margin},
                 {"redMargins", ToArray(margins)},
                 {"owners", owners}});
}

std::unique_ptr<Search> MakeSearch(const std::string& position, int simulations,
                                   bool network, int level, double seed) {
  return std::make_unique<Search>(OwnPosition(position), simulations, network,
                                  level, SeedOf(seed));
}

// Returns {value: Network} or {error}.
val OpenNetwork(const std::string& kind, int channels, int blocks,
                const val& tensors, bool plain) {
  return Answer(
      Network::Open(kind, channels, blocks, tensors, plain),
      [](const std::shared_ptr<Network>& network) { return val(network); });
}

int Choose(const Search& search, double temperature, double seed) {
  return search.Choose(temperature, SeedOf(seed));
}

// Returns {elo, deviation} of a player of the variant by `results`, which are
// [{elo, deviation, began, score}] of games with rated opponents: their rating,
// whether the player began, and 1, 0.5 or 0.
val RateByResults(const std::string& variant_id, const val& results) {
  const absl::StatusOr<Variant> variant = ParseVariant(variant_id);
  TARA_CHECK(variant.ok(), "a variant of the catalogue");
  std::vector<eval::RatedResult> games;
  const int count = results["length"].as<int>();
  for (int i = 0; i < count; ++i) {
    const val game = results[i];
    games.push_back({.opponent = {.elo = game["elo"].as<double>(),
                                  .deviation = game["deviation"].as<double>()},
                     .began = game["began"].as<bool>(),
                     .score = game["score"].as<double>()});
  }
  std::vector<double> levels;
  for (int level = 1; level <= mcts::kNumLevels; ++level) {
    levels.push_back(mcts::EloOfLevel(*variant, level).elo);
  }
  const eval::RatingEstimate rating =
      eval::RateByResults(games, levels, mcts::FirstSeatElo(*variant));
  return Object({{"elo", rating.elo}, {"deviation", rating.deviation}});
}

}  // namespace

EMSCRIPTEN_BINDINGS(tara) {
  using emscripten::function;
  function("catalogue", &Catalogue);
  function("initialPosition", &InitialPosition);
  function("checkPosition", &CheckPosition);
  function("completePosition", &CompletedPosition);
  function("picture", &Picture);
  function("view", &View);
  function("play", &Play);
  function("whyNot", &ReasonOf);
  function("judge", &Judge, emscripten::allow_raw_pointers());
  function("leavesTogether", &mcts::LeavesTogether);
  function("rateByResults", &RateByResults);
  function("openNetwork", &OpenNetwork);

  emscripten::class_<Network>("Network").smart_ptr<std::shared_ptr<Network>>(
      "Network");
  emscripten::class_<Search>("Search")
      .constructor(&MakeSearch)
      .function("done", &Search::done)
      .function("run", &Search::Run, emscripten::allow_raw_pointers())
      .function("report", &Search::Report)
      .function("choose", &Choose);
}

}  // namespace tara::web
