// Positions encoded per second on one thread, by the batch encoder and by its
// plain twin, and the limit that memory sets: clearing the same tensors.
//
// Up to eight positions (38 KB) the tensor stays in the first cache of a core,
// up to some 300 in the second; 10,000 exceed all caches.

#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "tara/base/random.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/batch_encoder.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tests/nn/plain_features.h"

namespace tara::nn {
namespace {

constexpr size_t kPlaneFloats = size_t{kNumPlanes} * kNumSquares;

enum class Views {
  kCanonical,  // as evaluators see positions
  kRandom,     // as trainers see them
};

Symmetry RandomView(const State& state, Random& random) {
  const absl::Span<const Symmetry> all = PositionSymmetries(state.variant);
  for (;;) {
    const Symmetry view = all[random.Below(static_cast<uint32_t>(all.size()))];
    if (TransformState(view, state).seat == 0) return view;
  }
}

// Positions of random games of a variant, and their tensors.
struct Batch {
  Batch(Variant variant, int count, Views views) {
    Random random(1);
    states = RandomPositions({InitialState(variant)}, count, random);
    states.resize(count);
    for (const State& state : states) {
      legal.push_back(LegalActions(state));
      symmetries.push_back(views == Views::kCanonical
                               ? CanonicalSymmetry(state)
                               : RandomView(state, random));
    }
    planes.Resize(states.size() * kPlaneFloats);
    globals.resize(states.size() * kNumGlobals);
    // Touches the pages, whose first use costs more than what is measured.
    Clear();
  }

  void Clear() {
    std::memset(planes.data(), 0, planes.size() * sizeof(float));
    std::memset(globals.data(), 0, globals.size() * sizeof(float));
  }

  void SetRate(benchmark::State& bench) const {
    bench.SetItemsProcessed(bench.iterations() *
                            static_cast<int64_t>(states.size()));
  }

  std::vector<State> states;
  std::vector<Symmetry> symmetries;
  std::vector<LegalSet> legal;
  TensorBuffer planes;
  std::vector<float> globals;
};

// Arguments: batch.
void BM_Clear(benchmark::State& bench) {
  Batch batch(Variant::kSacredHillL1, static_cast<int>(bench.range(0)),
              Views::kCanonical);
  for (auto _ : bench) {
    batch.Clear();
    benchmark::ClobberMemory();
  }
  batch.SetRate(bench);
}
BENCHMARK(BM_Clear)->ArgName("batch")->ArgsProduct({{1, 8, 64, 128, 1024, 4096,
                                                     65536}});

// Arguments: variant.
void BM_EncodeFeatures(benchmark::State& bench) {
  Batch batch(static_cast<Variant>(bench.range(0)), 8, Views::kCanonical);
  for (auto _ : bench) {
    for (size_t i = 0; i < batch.states.size(); ++i) {
      EncodeFeatures(
          batch.states[i], batch.symmetries[i],
          batch.planes.span().subspan(kPlaneFloats * i, kPlaneFloats),
          absl::MakeSpan(batch.globals).subspan(kNumGlobals * i, kNumGlobals));
    }
    benchmark::ClobberMemory();
  }
  batch.SetRate(bench);
}
BENCHMARK(BM_EncodeFeatures)
    ->ArgName("variant")
    ->DenseRange(0, kNumVariants - 1);

// Arguments: variant, batch, random views, with legal actions.
void BM_EncodeBatch(benchmark::State& bench, PlaneLayout layout) {
  Batch batch(static_cast<Variant>(bench.range(0)),
              static_cast<int>(bench.range(1)),
              static_cast<Views>(bench.range(2)));
  const bool with_legal = bench.range(3) != 0;
  const EncoderInput input = {.states = batch.states,
                              .symmetries = batch.symmetries,
                              .legal = batch.legal};
  const EncoderOutput output = {.layout = layout,
                                .planes = batch.planes.span(),
                                .globals = absl::MakeSpan(batch.globals)};
  for (auto _ : bench) {
    if (with_legal) {
      for (size_t i = 0; i < batch.states.size(); ++i) {
        batch.legal[i] = LegalActions(batch.states[i]);
      }
    }
    EncodeBatch(input, output);
    benchmark::ClobberMemory();
  }
  batch.SetRate(bench);
}

void EncoderArguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"variant", "batch", "random", "legal"});
  for (int variant = 0; variant < kNumVariants; ++variant) {
    bench->Args({variant, 8, 0, 0});
  }
  bench->ArgsProduct({{0}, {1, 4, 6, 64, 128, 1024, 4096, 65536}, {0}, {0}});
  bench->Args({0, 8, 1, 0})->Args({0, 8, 0, 1});
}
BENCHMARK_CAPTURE(BM_EncodeBatch, channels_first, PlaneLayout::kChannelsFirst)
    ->Apply(EncoderArguments);
BENCHMARK_CAPTURE(BM_EncodeBatch, channels_last, PlaneLayout::kChannelsLast)
    ->Apply(EncoderArguments);

}  // namespace
}  // namespace tara::nn
