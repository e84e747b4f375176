#include "tara/core/playouts.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/rules/registry.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"
#include "tara/core/traits.h"

namespace tara {
namespace {

using rules::View;

// Whether the action replaces an enemy ringfort other than by a swap.
bool IsCapture(const State& state, Action action) {
  if (TraitsOf(state.variant).has_links) return false;
  const ActionParts parts = Parts(action);
  if (parts.kind == ActionKind::kPass) return false;
  const Board enemies = state.ringforts[Opponent(state.side())];
  return (enemies & BoardOf(parts.to)) != 0;
}

void PlayByPublicRules(State state, Random& random,
                       PlayoutStatistics& statistics) {
  int64_t length = 0;
  int64_t legal_actions = 0;
  for (; !state.finished(); ++length) {
    const LegalSet legal = LegalActions(state);
    const int count = legal.Count();
    const Action action = legal.Nth(ChooseNth(random(), count));
    legal_actions += count;
    statistics.captures += IsCapture(state, action);
    ++statistics.phase_plies[static_cast<size_t>(state.phase)];
    ApplyAction(action, state);
  }
  statistics.AddGame(Score(state), length, legal_actions);
}

Random StreamOf(uint64_t seed, uint64_t game) {
  return Random(DeriveSeed(seed, game, StreamPurpose::kPlayouts));
}

}  // namespace

PlayoutStatistics PlayRandomGamesByPublicRules(Variant variant,
                                               const RuleOptions& options,
                                               uint64_t seed,
                                               int64_t first_game,
                                               int64_t games) {
  PlayoutStatistics statistics;
  const State start = InitialState(variant, options);
  for (int64_t i = first_game; i < first_game + games; ++i) {
    Random random = StreamOf(seed, static_cast<uint64_t>(i));
    PlayByPublicRules(start, random, statistics);
  }
  return statistics;
}

namespace {

// A game under way with rules fixed at compile time: once its functions are
// inlined, position and random stream live in registers.
template <typename Rules>
class Playout {
 public:
  Playout(const View& start, const typename Rules::Choices& legal,
          Random random)
      : view_(start), legal_(legal), random_(random) {}

  bool finished() const { return view_.finished(); }

  void Step() {
    const int count = legal_.Count();
    Rules::Play(legal_.Nth(ChooseNth(random_(), count)), view_);
    legal_ = rules::Settle<Rules>(view_);
  }

  // REQUIRES: finished().
  int8_t Margin() const {
    return static_cast<int8_t>(rules::Margin<Rules>(view_));
  }

 private:
  View view_;
  typename Rules::Choices legal_;
  Random random_;
};

// Two games at a time, by turns: each action depends on the one before, and
// while one game waits for that the other computes.
template <typename Rules>
[[gnu::flatten]] void PlayFrom(const State& state, uint64_t seed,
                               absl::Span<int8_t> margins) {
  const View start(state);
  const typename Rules::Choices legal = rules::Legal<Rules>(start);
  const auto new_game = [&](size_t game) {
    return Playout<Rules>(start, legal, StreamOf(seed, game));
  };
  size_t i = 0;
  for (; i + 1 < margins.size(); i += 2) {
    Playout<Rules> a = new_game(i);
    Playout<Rules> b = new_game(i + 1);
    while (!a.finished() && !b.finished()) {
      a.Step();
      b.Step();
    }
    while (!a.finished()) a.Step();
    while (!b.finished()) b.Step();
    margins[i] = a.Margin();
    margins[i + 1] = b.Margin();
  }
  if (i == margins.size()) return;
  Playout<Rules> last = new_game(i);
  while (!last.finished()) last.Step();
  margins[i] = last.Margin();
}

using PlayFromFunction = void (*)(const State&, uint64_t, absl::Span<int8_t>);
constexpr std::array<PlayFromFunction, kNumVariants> kPlayFrom =
    rules::TableOfRules([]<typename Rules>(std::type_identity<Rules>) {
      return PlayFromFunction(&PlayFrom<Rules>);
    });

}  // namespace

void PlayRandomGamesFromScalar(const State& start, uint64_t seed,
                               absl::Span<int8_t> margins) {
  if (HasOpeningOptions(start)) {
    return PlayRandomGamesFromByPublicRules(start, seed, margins);
  }
  kPlayFrom[static_cast<size_t>(start.variant)](start, seed, margins);
}

void PlayRandomGamesFromByPublicRules(const State& start, uint64_t seed,
                                      absl::Span<int8_t> margins) {
  for (size_t i = 0; i < margins.size(); ++i) {
    Random random = StreamOf(seed, i);
    State state = start;
    while (!state.finished()) {
      const LegalSet legal = LegalActions(state);
      ApplyAction(legal.Nth(ChooseNth(random(), legal.Count())), state);
    }
    margins[i] = static_cast<int8_t>(Score(state).margin());
  }
}

}  // namespace tara
