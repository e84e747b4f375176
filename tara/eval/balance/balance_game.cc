#include "tara/eval/balance/balance_game.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"
#include "tara/eval/balance/first_actions.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// The seed of a game's streams: 0 its random opening, which all players share,
// 1 whatever else is drawn.
uint64_t StreamSeed(const BalanceGameOptions& options, const BalanceGameId& id,
                    uint64_t stream) {
  const uint64_t begins_with =
      id.first.has_value() ? 1 + static_cast<uint64_t>(Index(*id.first)) : 0;
  const uint64_t games =
      DeriveSeed(options.seed, begins_with, StreamPurpose::kArena);
  const uint64_t game =
      DeriveSeed(games, static_cast<uint64_t>(id.index), StreamPurpose::kArena);
  return DeriveSeed(game, stream, StreamPurpose::kArena);
}

// Values are the mover's; these are Red's.
float ForRed(const State& state, float value) {
  return state.side() == kRed ? value : -value;
}

// Returns the entropy of a policy, equivalent actions taken together.
float ChoiceEntropy(const State& state, absl::Span<const float> policy) {
  if (policy.empty()) return kUnknown;
  const std::vector<int> classes = ActionClasses(state);
  std::vector<double> weights(policy.size());
  for (size_t i = 0; i < policy.size(); ++i) weights[classes[i]] += policy[i];
  return static_cast<float>(Entropy(weights));
}

}  // namespace

BalanceGameInProgress::BalanceGameInProgress(const BalanceGameOptions& options,
                                             BalanceGameId id, uint64_t number)
    : options_(options),
      number_(number),
      state_(InitialState(options.variant, options.rule_options)),
      random_(StreamSeed(options, id, 1)),
      game_{.id = id} {
  Random opening(StreamSeed(options, id, 0));
  if (id.first.has_value()) {
    TARA_CHECK(LegalActions(state_).Contains(*id.first),
               "a game cannot begin so");
    Append(*id.first, kUnknown, kUnknown);
  }
  PlayOpening(opening);
}

// An action that would end the game is not played.
void BalanceGameInProgress::PlayOpening(Random& opening) {
  while (static_cast<int>(game_.actions.size()) < options_.opening_plies) {
    const Action action = RandomAction(state_, opening);
    State next = state_;
    ApplyAction(action, next);
    if (next.finished()) break;
    Append(action, kUnknown, kUnknown);
  }
  opening_plies_ = static_cast<int>(game_.actions.size());
}

Turn BalanceGameInProgress::NextTurn() {
  report_ = SearchReport();
  return {.state = state_,
          .random = &random_,
          .game = number_,
          .actions = game_.actions,
          .report = &report_,
          .forfeit = &forfeit_};
}

void BalanceGameInProgress::Play(Action choice) {
  const float red_value =
      report_.value.has_value() ? ForRed(state_, *report_.value) : kUnknown;
  const auto ply = static_cast<int>(game_.actions.size());
  const float entropy =
      ply < kPolicyPlies ? ChoiceEntropy(state_, report_.policy) : kUnknown;
  const bool drawn = ply < opening_plies_ + options_.drawn_plies;
  Append(drawn ? Draw(choice) : choice, red_value, entropy);
}

// Draws from the policy; without one returns the choice.
Action BalanceGameInProgress::Draw(Action choice) {
  if (report_.policy.empty()) return choice;
  std::vector<double> weights;
  double sum = 0;
  for (const float share : report_.policy) {
    sum += std::pow(static_cast<double>(share), 1 / options_.temperature);
    weights.push_back(sum);  // cumulated
  }
  const double drawn = random_.Uniform() * sum;
  int nth = 0;
  while (nth + 1 < static_cast<int>(weights.size()) && weights[nth] <= drawn) {
    ++nth;
  }
  return LegalActions(state_).Nth(nth);
}

void BalanceGameInProgress::Append(Action action, float red_value,
                                   float entropy) {
  TARA_CHECK(LegalActions(state_).Contains(action),
             "a player chose an illegal action");
  ApplyAction(action, state_);
  if (static_cast<int>(game_.actions.size()) < kPolicyPlies) {
    game_.entropies.push_back(entropy);
  }
  game_.actions.push_back(action);
  game_.red_values.push_back(red_value);
}

absl::Status AskForStart(const BalanceGameOptions& options, Player& player,
                         StartReport& start) {
  Random random(StreamSeed(options, BalanceGameId(), 2));
  SearchReport report;
  const Turn turn = {
      .state = InitialState(options.variant, options.rule_options),
      .random = &random,
      .game = std::numeric_limits<uint64_t>::max(),
      .report = &report};
  Action choice;
  TARA_RETURN_IF_ERROR(
      player.ChooseActions({turn}, absl::MakeSpan(&choice, 1)));
  player.EndGame(turn.game);
  start = StartReport();
  if (report.value.has_value()) {
    start.value = ForRed(turn.state, *report.value);
  }
  if (report.policy.empty()) return absl::OkStatus();
  LegalActions(turn.state).ForEach([&](Action action) {
    const size_t i = start.actions.size();
    start.actions.push_back(action);
    start.policy.push_back(report.policy[i]);
    start.values.push_back(report.action_values.empty()
                               ? kUnknown
                               : ForRed(turn.state, report.action_values[i]));
  });
  return absl::OkStatus();
}

namespace {

constexpr std::array<absl::string_view, kNumActionTypes> kTypeNames = {
    "build", "capture", "backtrack", "sacrifice", "swap", "link", "pass"};

// Notes an action, before it is played.
void Note(const State& state, Action action, GameFacts& facts) {
  const int legal = LegalActions(state).Count();
  const ActionType type = TypeOf(state, action);
  SeatFacts& seat = facts.seats[state.seat];
  ++seat.actions;
  seat.legal += legal;
  seat.captures += type == ActionType::kCapture;
  ++facts.length;
  facts.legal += legal;
  ++facts.types[static_cast<size_t>(type)];
}

// Returns how the values ran towards the winner, whose sign is that of
// `red_margin`; none without values.
std::optional<GameDrama> DramaOf(const std::vector<float>& red_values,
                                 int red_margin) {
  if (red_margin == 0) return std::nullopt;
  GameDrama drama;
  int leader = 0;  // 1 the winner, -1 the loser, 0 none yet
  // Since when the winner has been ahead; -1: it is not.
  int ahead_since = -1;
  bool judged = false;
  for (size_t ply = 0; ply < red_values.size(); ++ply) {
    const float value = red_margin > 0 ? red_values[ply] : -red_values[ply];
    if (std::isnan(value)) continue;
    judged = true;
    drama.lowest_score = std::min(drama.lowest_score, (1 + value) / 2.0);
    const int ahead = value > kAhead ? 1 : (value < -kAhead ? -1 : 0);
    if (ahead * leader < 0) ++drama.lead_changes;
    if (ahead != 0) leader = ahead;
    if (ahead <= 0) ahead_since = -1;
    if (ahead > 0 && ahead_since < 0) ahead_since = static_cast<int>(ply);
  }
  if (!judged) return std::nullopt;
  drama.decided_ply =
      ahead_since >= 0 ? ahead_since : static_cast<int>(red_values.size());
  return drama;
}

}  // namespace

absl::string_view ActionTypeName(ActionType type) {
  return kTypeNames[static_cast<size_t>(type)];
}

ActionType TypeOf(const State& state, Action action) {
  const ActionParts parts = Parts(action);
  switch (parts.kind) {
    case ActionKind::kSacrifice:
      return ActionType::kSacrifice;
    case ActionKind::kLink:
      return ActionType::kLink;
    case ActionKind::kPass:
      return ActionType::kPass;
    case ActionKind::kHill:
    case ActionKind::kKingMove:
      break;
  }
  const Board to = BoardOf(parts.to);
  if ((state.vacant() & to) != 0) return ActionType::kBuild;
  if ((state.ringforts[state.side()] & to) != 0) return ActionType::kBacktrack;
  return Info(state.variant).family == Family::kStoneOfDestiny
             ? ActionType::kSwap
             : ActionType::kCapture;
}

absl::StatusOr<GameFacts> FactsOf(Variant variant, const RuleOptions& options,
                                  const BalanceGame& game) {
  GameFacts facts = {
      .id = game.id, .actions = game.actions, .entropies = game.entropies};
  State state = InitialState(variant, options);
  const int seats = Info(variant).seats;
  for (size_t i = 0; i < game.actions.size(); ++i) {
    const Action action = game.actions[i];
    if (!LegalActions(state).Contains(action)) {
      return absl::InvalidArgumentError(
          absl::StrCat("action ", i + 1, " of the game, ", ActionToText(action),
                       ", is illegal"));
    }
    Note(state, action, facts);
    const State before = state;
    ApplyAction(action, state);
    // Nobody is skipped before somebody is out: it is the next seat.
    if (seats == 4 && before.ending == Ending::kNone &&
        state.ending == Ending::kOut) {
      facts.first_out = (before.seat + 1) % seats;
    }
  }
  if (!state.finished()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the game does not end with its ", game.actions.size(), " actions"));
  }
  const Outcome outcome = Score(state);
  facts.red_margin = outcome.margin();
  facts.ending = outcome.ended_by;
  facts.kings_captured = outcome.kings_captured[0] + outcome.kings_captured[1];
  facts.drama = DramaOf(game.red_values, facts.red_margin);
  return facts;
}

}  // namespace tara::eval
