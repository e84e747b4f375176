// Random games from the leaves of a search, by variant, number of leaves and
// playouts of each: by the public rules, scalar, and in lanes.
// Items are playouts; time is CPU time of one thread.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "benchmark/benchmark.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/instruction_set.h"
#include "tara/core/playouts.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {
namespace {

constexpr int kBatches = 64;

// Plays up to `plies` random actions, none of which ends the game.
State PlayedOn(State state, int plies, Random& random) {
  for (int i = 0; i < plies; ++i) {
    const LegalSet legal = LegalActions(state);
    State next = state;
    ApplyAction(legal.Nth(ChooseNth(random(), legal.Count())), next);
    if (next.finished()) break;
    state = next;
  }
  return state;
}

// Batches of leaves: one to four plies below positions from all over a game.
std::vector<State> LeavesOf(Variant variant, int leaves) {
  Random random(7);
  std::vector<State> states;
  for (int batch = 0; batch < kBatches; ++batch) {
    const State root = PlayedOn(InitialState(variant),
                                static_cast<int>(random.Below(45)), random);
    for (int i = 0; i < leaves; ++i) {
      states.push_back(
          PlayedOn(root, 1 + static_cast<int>(random.Below(4)), random));
    }
  }
  return states;
}

using PlayFrom = void (*)(const State&, uint64_t, absl::Span<int8_t>);

// Calls play(starts, seeds, margins) for one batch after the other.
template <typename Play>
void Run(benchmark::State& run, Variant variant, int leaves, int playouts,
         Play&& play) {
  const std::vector<State> states = LeavesOf(variant, leaves);
  std::vector<uint64_t> seeds(states.size());
  for (size_t i = 0; i < seeds.size(); ++i) seeds[i] = MixBits(i);
  std::vector<int8_t> margins(static_cast<size_t>(leaves) * playouts);
  size_t batch = 0;
  for (auto _ : run) {
    play(absl::MakeConstSpan(states).subspan(batch * leaves, leaves),
         absl::MakeConstSpan(seeds).subspan(batch * leaves, leaves),
         absl::MakeSpan(margins));
    batch = (batch + 1) % kBatches;
  }
  run.SetItemsProcessed(static_cast<int64_t>(run.iterations()) * leaves *
                        playouts);
}

void RunOneByOne(benchmark::State& run, Variant variant, int leaves,
                 int playouts, PlayFrom play_from) {
  Run(run, variant, leaves, playouts,
      [&](absl::Span<const State> starts, absl::Span<const uint64_t> seeds,
          absl::Span<int8_t> margins) {
        for (size_t i = 0; i < starts.size(); ++i) {
          play_from(starts[i], seeds[i],
                    margins.subspan(i * playouts, playouts));
        }
      });
}

void Register(const VariantInfo& info, int leaves, int playouts) {
  const std::string name = absl::StrCat(info.id, "/", leaves, "x", playouts);
  const Variant variant = info.variant;
  benchmark::RegisterBenchmark(absl::StrCat(name, "/public").c_str(),
                               RunOneByOne, variant, leaves, playouts,
                               &PlayRandomGamesFromByPublicRules);
  benchmark::RegisterBenchmark(absl::StrCat(name, "/scalar").c_str(),
                               RunOneByOne, variant, leaves, playouts,
                               &PlayRandomGamesFromScalar);
  for (const InstructionSet set : SupportedInstructionSets()) {
    benchmark::RegisterBenchmark(
        absl::StrCat(name, "/", InstructionSetName(set)).c_str(),
        [=](benchmark::State& run) {
          Run(run, variant, leaves, playouts,
              [&](absl::Span<const State> starts,
                  absl::Span<const uint64_t> seeds,
                  absl::Span<int8_t> margins) {
                PlayRandomGamesFrom(starts, seeds, playouts, set, margins);
              });
        });
  }
}

void RegisterAll() {
  for (const VariantInfo& info : kVariants) {
    for (const int leaves : {1, 2, 4, 8, 16, 64}) {
      for (const int playouts : {1, 4, 16}) Register(info, leaves, playouts);
    }
  }
}

}  // namespace
}  // namespace tara

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  tara::RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
