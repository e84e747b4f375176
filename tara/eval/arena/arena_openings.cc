#include <array>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/eval/arena/arena.h"
#include "tara/mcts/state_hash.h"

namespace tara::eval {
namespace {

// Draws in succession that found nothing new, after which openings get longer.
// One opening of 200 that is left is found then in four cases of ten: longer
// ones are as good.
constexpr int kDrawsUntilLonger = 100;
// Plies that openings may get longer by: some game's end is near then.
constexpr int kMaxLonger = 50;
// Openings by default, and how many of them there are at least.
constexpr int kOpeningPlies = 2;
constexpr size_t kMinOpenings = 200;

State RepresentativeOf(const State& state) {
  return TransformState(RepresentativeSymmetry(state), state);
}

}  // namespace

int DefaultOpeningPlies(Variant variant, const RuleOptions& rule_options) {
  std::vector<State> positions = {InitialState(variant, rule_options)};
  for (int plies = 1;; ++plies) {
    std::vector<State> next_positions;
    std::unordered_set<uint64_t> seen;
    for (const State& position : positions) {
      LegalActions(position).ForEach([&](Action action) {
        State next = position;
        ApplyAction(action, next);
        if (next.finished()) return;
        next = RepresentativeOf(next);
        if (seen.insert(mcts::HashState(next)).second) {
          next_positions.push_back(next);
        }
      });
    }
    positions = std::move(next_positions);
    const bool enough = positions.size() >= kMinOpenings;
    // Without another position, openings would equal the ones of one ply fewer.
    if ((enough && plies >= kOpeningPlies) || positions.empty()) return plies;
  }
}

int OpeningPlies(const ArenaOptions& options) {
  return options.opening_plies.has_value()
             ? *options.opening_plies
             : DefaultOpeningPlies(options.variant, options.rule_options);
}

Openings::Openings(const ArenaOptions& options)
    : start_(InitialState(options.variant, options.rule_options)),
      seed_(options.seed),
      given_(options.given_openings),
      least_plies_(OpeningPlies(options)) {}

Opening Openings::Draw(Random& random) const {
  Opening opening = {.state = start_, .actions = {}};
  while (static_cast<int>(opening.actions.size()) < plies_) {
    const Action action = RandomAction(opening.state, random);
    State next = opening.state;
    ApplyAction(action, next);
    if (next.finished()) break;
    opening.state = next;
    opening.actions.push_back(action);
  }
  return opening;
}

absl::StatusOr<Opening> Openings::Next() {
  if (!given_.empty()) {
    Opening opening = {.state = start_,
                       .actions = given_[next_++ % given_.size()]};
    for (const Action action : opening.actions) {
      TARA_RETURN_IF_ERROR(PlayAction(action, opening.state));
    }
    return opening;
  }
  // Three streams per opening: this one, and one for each of its two games.
  Random random(
      DeriveSeed(seed_, uint64_t{3} * next_++, StreamPurpose::kArena));
  int repeated = 0;
  while (true) {
    Opening opening = Draw(random);
    const uint64_t hash = mcts::HashState(RepresentativeOf(opening.state));
    if (least_plies_ == 0 || seen_.insert(hash).second) return opening;
    if (++repeated % kDrawsUntilLonger != 0) continue;
    if (++plies_ > least_plies_ + kMaxLonger) {
      return absl::FailedPreconditionError(absl::StrCat(
          "openings: no other opening of ", Info(start_.variant).id, " after ",
          next_ - 1, "; expected fewer games"));
    }
  }
}

absl::string_view ActionTypeName(ActionType type) {
  constexpr std::array<absl::string_view, kNumActionTypes> kNames = {
      "build", "capture", "backtrack", "sacrifice", "swap", "link", "pass"};
  return kNames[static_cast<size_t>(type)];
}

ActionType TypeOf(const State& state, Action action) {
  const ActionParts parts = Parts(action);
  switch (parts.kind) {
    case ActionKind::kSacrifice:
      return ActionType::kSacrifice;
    case ActionKind::kLink:
      return ActionType::kLink;
    case ActionKind::kPass:
      return MaySwap(state) ? ActionType::kSwap : ActionType::kPass;
    case ActionKind::kHill:
    case ActionKind::kKingMove:
      break;
  }
  const Board to = BoardOf(parts.to);
  if ((state.vacant() & to) != 0) return ActionType::kBuild;
  if ((state.ringforts[state.side()] & to) != 0) return ActionType::kBacktrack;
  return TraitsOf(state.variant).has_links ? ActionType::kSwap
                                           : ActionType::kCapture;
}

Action WithoutType(const State& state, absl::Span<const float> policy,
                   Action choice, ActionType avoided) {
  if (TypeOf(state, choice) != avoided) return choice;
  float most = -1;
  size_t i = 0;
  Action best = choice;
  LegalActions(state).ForEach([&](Action action) {
    const float weight = policy.empty() ? 0 : policy[i];
    ++i;
    if (weight <= most || TypeOf(state, action) == avoided) return;
    most = weight;
    best = action;
  });
  return best;
}

}  // namespace tara::eval
