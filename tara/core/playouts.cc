#include "tara/core/playouts.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/rules/registry.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

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

const batch::KernelTable& KernelsFor(
    [[maybe_unused]] InstructionSet instruction_set) {
#if defined(__x86_64__)
  if (instruction_set == InstructionSet::kAvx512) return batch::Avx512Kernels();
  if (instruction_set == InstructionSet::kAvx2) return batch::Avx2Kernels();
#endif
  return batch::PortableKernels();
}

// Not a group: its lowest byte is not a variant.
constexpr uint64_t kDone = ~uint64_t{0};

// The variant and the options of a position as one number.
uint64_t GroupOf(const State& state) {
  static_assert(sizeof(RuleOptions) < sizeof(uint64_t));
  uint64_t group = 0;
  std::memcpy(&group, &state.options, sizeof(RuleOptions));
  return (group << 8) | static_cast<uint64_t>(state.variant);
}

// Returns the place of a position in its group, in the order that the kernels
// need: by seat, or in Stone of Destiny by phase, then by number of ringforts.
int RankOf(const State& state) {
  if (state.variant != Variant::kStoneOfDestiny) return state.seat;
  return state.phase == Phase::kManoeuvres ? kNumHills - Count(state.vacant())
                                           : kNumHills;
}
constexpr int kNumRanks = kNumHills + 1;

// Puts the positions of one group, from `first` on, into `order` by rank, and
// marks them done. Returns how many there are.
int64_t TakeGroup(absl::Span<const State> starts, size_t first,
                  std::vector<uint64_t>& groups, std::vector<int32_t>& order) {
  const uint64_t group = groups[first];
  std::array<int32_t, kNumRanks + 1> places = {};  // of the next of each rank
  for (size_t i = first; i < starts.size(); ++i) {
    if (groups[i] == group) ++places[RankOf(starts[i]) + 1];
  }
  std::partial_sum(places.begin(), places.end(), places.begin());
  for (size_t i = first; i < starts.size(); ++i) {
    if (groups[i] != group) continue;
    order[places[RankOf(starts[i])]++] = static_cast<int32_t>(i);
    groups[i] = kDone;
  }
  return places[kNumRanks - 1];
}

// From how many games on lanes are faster than PlayRandomGamesFromScalar:
// measured at 4, where they are only in some variants, and at 8, where they are
// in all (docs/lab/2026-11-speed.md).
constexpr size_t kLanesPayFrom = 6;

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

PlayoutStatistics PlayRandomGames(Variant variant, const RuleOptions& options,
                                  uint64_t seed, int64_t first_game,
                                  int64_t games,
                                  InstructionSet instruction_set) {
  TARA_CHECK(games >= 0, "a negative number of games");
  const State start = InitialState(variant, options);
  if (HasOpeningOptions(start)) {
    return PlayRandomGamesByPublicRules(variant, options, seed, first_game,
                                        games);
  }
  PlayoutStatistics statistics;
  KernelsFor(instruction_set)
      .from_start[static_cast<int>(variant)]({.start = start,
                                              .seed = seed,
                                              .first_game = first_game,
                                              .games = games},
                                             statistics);
  for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
    statistics
        .results[1 - ResultOfMargin(margin, options.compensation_halves)] +=
        statistics.margins[margin + kMaxMargin];
  }
  return statistics;
}

void PlayRandomGamesFrom(absl::Span<const State> starts,
                         absl::Span<const uint64_t> seeds, int playouts,
                         InstructionSet instruction_set,
                         absl::Span<int8_t> margins) {
  TARA_CHECK(playouts > 0, "no playouts of a position");
  TARA_CHECK(seeds.size() == starts.size() &&
                 margins.size() == starts.size() * playouts,
             "spans of different sizes");
  std::vector<uint64_t> groups;
  groups.reserve(starts.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    TARA_CHECK(!starts[i].finished(), "a playout from a finished game");
    groups.push_back(GroupOf(starts[i]));
    // Lanes know neither swaps nor limits of a game's first action.
    if (HasOpeningOptions(starts[i])) {
      PlayRandomGamesFromByPublicRules(starts[i], seeds[i],
                                       margins.subspan(i * playouts, playouts));
      groups.back() = kDone;
    }
  }
  std::vector<int32_t> order(starts.size());
  const batch::KernelTable& kernels = KernelsFor(instruction_set);
  for (size_t first = 0; first < starts.size(); ++first) {
    if (groups[first] == kDone) continue;
    const int64_t count = TakeGroup(starts, first, groups, order);
    kernels.from_positions[static_cast<int>(starts[first].variant)](
        {.starts = starts.data(),
         .seeds = seeds.data(),
         .playouts = playouts,
         .order = order.data(),
         .count = count,
         .margins = margins.data()});
  }
}

void PlayRandomGamesFrom(absl::Span<const State> starts,
                         absl::Span<const uint64_t> seeds, int playouts,
                         absl::Span<int8_t> margins) {
  static const InstructionSet kBest = SupportedInstructionSets().back();
  TARA_CHECK(margins.size() == starts.size() * playouts,
             "spans of different sizes");
  // PlayRandomGamesFromScalar is compiled with PDEP: portable lanes never are
  // faster.
  if (kBest != InstructionSet::kPortable && margins.size() >= kLanesPayFrom) {
    return PlayRandomGamesFrom(starts, seeds, playouts, kBest, margins);
  }
  for (size_t i = 0; i < starts.size(); ++i) {
    PlayRandomGamesFromScalar(starts[i], seeds[i],
                              margins.subspan(i * playouts, playouts));
  }
}

}  // namespace tara
