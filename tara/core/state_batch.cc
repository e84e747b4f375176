#include "tara/core/state_batch.h"

#include <array>
#include <cstddef>
#include <type_traits>

#include "tara/base/check.h"
#include "tara/core/playouts.h"
#include "tara/core/rules.h"
#include "tara/core/rules/registry.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"

namespace tara {
namespace {

using rules::View;

// Write the legal actions into a set that has held none but of their form: what
// other forms use is empty and stays so.
void Write(const rules::HillChoices& choices, LegalSet& legal) {
  legal.hills = choices.hills;
}
void Write(const rules::LinkChoices& choices, LegalSet& legal) {
  legal.hills = choices.hills;
  legal.links_east = choices.links_east;
  legal.links_north = choices.links_north;
}
void Write(const rules::KingChoices& choices, LegalSet& legal) {
  legal = choices.ToLegalSet();
}

// Plays the actions and finds what is legal then. Puts the slots whose games
// have ended into `ended`, which has room for all, and returns their number.
//
// The games are independent, so that the processor works on several at once.
template <typename Rules>
[[gnu::flatten]] size_t StepAll(absl::Span<const Action> actions, State* states,
                                LegalSet* legal, int* ended) {
  using Choices = typename Rules::Choices;
  size_t num_ended = 0;
  for (size_t i = 0; i < actions.size(); ++i) {
    View view(states[i]);
    Rules::Play(Choices::MoveOf(actions[i]), view);
    const Choices choices = rules::Settle<Rules>(view);
    view.WriteTo(states[i]);
    Write(choices, legal[i]);
    ended[num_ended] = static_cast<int>(i);
    num_ended += view.finished();
  }
  return num_ended;
}

using StepFunction = size_t (*)(absl::Span<const Action>, State*, LegalSet*,
                                int*);
constexpr std::array<StepFunction, kNumVariants> kStepAll =
    rules::TableOfRules([]<typename Rules>(std::type_identity<Rules>) {
      return StepFunction(&StepAll<Rules>);
    });

}  // namespace

StateBatch::StateBatch(Variant variant, const RuleOptions& options, int slots,
                       uint64_t seed)
    : start_(InitialState(variant, options)),
      start_legal_(LegalActions(start_)),
      seed_(seed) {
  TARA_CHECK(slots >= 0, "a negative number of slots");
  states_.resize(slots);
  legal_.resize(slots);
  random_.resize(slots, Random(0));
  games_.resize(slots);
  ended_.resize(slots + 1);
  for (int slot = 0; slot < slots; ++slot) BeginGame(slot);
}

void StateBatch::LegalMasks(absl::Span<LegalMask> masks) const {
  TARA_CHECK(masks.size() == legal_.size(), "one mask a slot");
  for (size_t i = 0; i < legal_.size(); ++i) masks[i] = legal_[i].ToMask();
}

void StateBatch::Step(absl::Span<const Action> actions) {
  TARA_CHECK(actions.size() == states_.size(), "one action a slot");
  const size_t num_ended = kStepAll[static_cast<size_t>(start_.variant)](
      actions, states_.data(), legal_.data(), ended_.data());
  finished_.clear();
  for (size_t i = 0; i < num_ended; ++i) {
    const int slot = ended_[i];
    const State& end = states_[slot];
    finished_.push_back({.slot = slot,
                         .game = games_[slot],
                         .end = end,
                         .outcome = Score(end)});
    BeginGame(slot);
  }
}

void StateBatch::StepRandomly() {
  chosen_.resize(states_.size());
  for (size_t i = 0; i < states_.size(); ++i) {
    chosen_[i] = legal_[i].Nth(ChooseNth(random_[i](), legal_[i].Count()));
  }
  Step(chosen_);
}

void StateBatch::SetState(int slot, const State& state) {
  TARA_CHECK(state.variant == start_.variant && !state.finished(),
             "a position that the batch cannot play on from");
  states_[slot] = state;
  legal_[slot] = LegalActions(state);
}

void StateBatch::BeginGame(int slot) {
  states_[slot] = start_;
  legal_[slot] = start_legal_;
  games_[slot] = next_game_++;
  random_[slot] = Random(DeriveSeed(seed_, static_cast<uint64_t>(games_[slot]),
                                    StreamPurpose::kPlayouts));
}

}  // namespace tara
