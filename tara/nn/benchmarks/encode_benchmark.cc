// Positions encoded per second on one thread, by the batch encoder and by its
// plain twin, beside what memory allows: filling the same tensors, by memset
// and around the caches. Run:
//   bazel run -c opt //tara/nn/benchmarks:encode_benchmark
//
// Up to eight positions (38 KB) the tensor stays in the first cache of a core,
// up to some 300 in the second; some 10000 are too many for any.

#include <benchmark/benchmark.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/batch_encoder.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

constexpr size_t kPlaneFloats = size_t{kNumPlanes} * kNumSquares;

enum class Views {
  kCanonical,  // as evaluators see positions
  kRandom,     // as trainers see them
};

// A batch of positions of random games, all variants in turn or one.
struct Batch {
  std::vector<State> states;
  std::vector<Symmetry> symmetries;
  std::vector<LegalSet> legal;
  std::unique_ptr<float, decltype(&std::free)> planes{nullptr, &std::free};
  std::vector<float> globals;

  size_t size() const { return states.size(); }
  EncoderInput input() const {
    return {.states = states, .symmetries = symmetries, .legal = legal};
  }
  EncoderOutput output(PlaneLayout layout) {
    return {.layout = layout,
            .planes = absl::MakeSpan(planes.get(), size() * kPlaneFloats),
            .globals = absl::MakeSpan(globals)};
  }
};

Symmetry RandomView(const State& state, Random& random) {
  const absl::Span<const Symmetry> all = PositionSymmetries(state.variant);
  for (;;) {
    const Symmetry view = all[random.Below(static_cast<uint32_t>(all.size()))];
    if (TransformState(view, state).seat == 0) return view;
  }
}

Batch MakeBatch(Variant variant, int count, Views views) {
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  Batch batch;
  State state = InitialState(variant);
  while (static_cast<int>(batch.size()) < count) {
    const LegalSet legal = LegalActions(state);
    if (random.Below(4) == 0) {
      batch.states.push_back(state);
      batch.legal.push_back(legal);
      batch.symmetries.push_back(views == Views::kCanonical
                                     ? CanonicalSymmetry(state)
                                     : RandomView(state, random));
    }
    ApplyAction(legal.Nth(static_cast<int>(
                    random.Below(static_cast<uint32_t>(legal.Count())))),
                state);
    if (state.finished()) state = InitialState(variant);
  }
  batch.planes.reset(static_cast<float*>(
      std::aligned_alloc(64, (batch.size() * kPlaneFloats + 15) / 16 * 64)));
  // Touched once, for the first pages cost more than what is measured.
  std::memset(batch.planes.get(), 0,
              batch.size() * kPlaneFloats * sizeof(float));
  batch.globals.resize(batch.size() * kNumGlobals);
  return batch;
}

// Writes zeros without reading what was there, as memset does only where the
// processor's string instructions see fit.
void FillAroundCaches(Batch& batch) {
#if defined(__AVX2__)
  float* const planes = batch.planes.get();
  for (size_t i = 0; i < batch.size() * kPlaneFloats; i += 8) {
    _mm256_stream_ps(planes + i, _mm256_setzero_ps());
  }
  _mm_sfence();
#endif
  std::memset(batch.globals.data(), 0, batch.globals.size() * sizeof(float));
  benchmark::ClobberMemory();
}

void Fill(Batch& batch) {
  std::memset(batch.planes.get(), 0,
              batch.size() * kPlaneFloats * sizeof(float));
  std::memset(batch.globals.data(), 0, batch.globals.size() * sizeof(float));
  benchmark::ClobberMemory();
}

// Returns the positions per second of memset, the best of some.
double FillRate(Batch& batch) {
  using Clock = std::chrono::steady_clock;
  const int repeats = static_cast<int>(4096 / batch.size() + 1);
  double best = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < repeats; ++i) Fill(batch);
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    best = std::max(
        best, repeats * static_cast<double>(batch.size()) / elapsed.count());
  }
  return best;
}

void SetRate(benchmark::State& bench, Batch& batch) {
  const auto positions = static_cast<double>(bench.iterations()) *
                         static_cast<double>(batch.size());
  bench.counters["positions/s"] =
      benchmark::Counter(positions, benchmark::Counter::kIsRate);
  bench.counters["of_fill"] = benchmark::Counter(positions / FillRate(batch),
                                                 benchmark::Counter::kIsRate);
}

// Arguments: batch.
void BM_Fill(benchmark::State& bench) {
  Batch batch = MakeBatch(Variant::kSacredHillL1,
                          static_cast<int>(bench.range(0)), Views::kCanonical);
  for (auto _ : bench) Fill(batch);
  SetRate(bench, batch);
}
BENCHMARK(BM_Fill)->ArgName("batch")->ArgsProduct({{1, 8, 64, 128, 1024, 4096,
                                                    65536}});

// Arguments: batch.
void BM_FillAroundCaches(benchmark::State& bench) {
  Batch batch = MakeBatch(Variant::kSacredHillL1,
                          static_cast<int>(bench.range(0)), Views::kCanonical);
  for (auto _ : bench) FillAroundCaches(batch);
  SetRate(bench, batch);
}
BENCHMARK(BM_FillAroundCaches)->ArgName("batch")->Arg(4096)->Arg(65536);

// Arguments: variant.
void BM_EncodeFeatures(benchmark::State& bench) {
  Batch batch =
      MakeBatch(static_cast<Variant>(bench.range(0)), 8, Views::kCanonical);
  const EncoderOutput output = batch.output(PlaneLayout::kChannelsFirst);
  for (auto _ : bench) {
    for (size_t i = 0; i < batch.size(); ++i) {
      EncodeFeatures(batch.states[i], batch.symmetries[i],
                     output.planes.subspan(kPlaneFloats * i, kPlaneFloats),
                     output.globals.subspan(kNumGlobals * i, kNumGlobals));
    }
    benchmark::ClobberMemory();
  }
  SetRate(bench, batch);
}
BENCHMARK(BM_EncodeFeatures)
    ->ArgName("variant")
    ->DenseRange(0, kNumVariants - 1);

// Arguments: variant, batch, random views, with legal actions.
void BM_EncodeBatch(benchmark::State& bench, PlaneLayout layout) {
  Batch batch = MakeBatch(static_cast<Variant>(bench.range(0)),
                          static_cast<int>(bench.range(1)),
                          static_cast<Views>(bench.range(2)));
  const EncoderOutput output = batch.output(layout);
  const bool with_legal = bench.range(3) != 0;
  for (auto _ : bench) {
    if (with_legal) {
      for (size_t i = 0; i < batch.size(); ++i) {
        batch.legal[i] = LegalActions(batch.states[i]);
      }
    }
    EncodeBatch(batch.input(), output);
    benchmark::ClobberMemory();
  }
  SetRate(bench, batch);
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
