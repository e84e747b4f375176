// Multiplications and additions per second of one core in each number type, by
// a loop over registers alone: the limit of every direct convolution.

#include <benchmark/benchmark.h>
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace tara::nn {
namespace {

constexpr int kSteps = 4096;
// Enough sums that none waits for itself: two instructions a cycle of up to
// six cycles each.
constexpr int kSums = 12;

// Hides a value from the optimiser, which would else do equal sums once. The
// registers of 64 bytes are none to clang where the target has not got them.
template <typename Vector>
[[gnu::always_inline]] inline void Hide(Vector& value) {
  asm volatile("" : "+x"(value));
}
[[gnu::always_inline, gnu::target("avx512f")]] inline void Hide(__m512& value) {
  asm volatile("" : "+v"(value));
}
[[gnu::always_inline, gnu::target("avx512f")]] inline void Hide(
    __m512i& value) {
  asm volatile("" : "+v"(value));
}

// The loops: each multiplies and adds zeros into kSums registers. One function
// for each instruction, because the compiler must know what it may emit.

[[gnu::target("avx2,fma")]] void FloatsAvx2() {
  __m256 sums[kSums] = {};
  __m256 factor = {};
  for (__m256& sum : sums) Hide(sum);
  for (int i = 0; i < kSteps; ++i) {
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(factor, factor, sum);
    Hide(factor);
  }
  for (__m256& sum : sums) Hide(sum);
}

[[gnu::target("avx512f")]] void FloatsAvx512() {
  __m512 sums[kSums] = {};
  __m512 factor = {};
  for (__m512& sum : sums) Hide(sum);
  for (int i = 0; i < kSteps; ++i) {
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(factor, factor, sum);
    Hide(factor);
  }
  for (__m512& sum : sums) Hide(sum);
}

[[gnu::target("avx2")]] void IntegersAvx2() {
  __m256i sums[kSums] = {};
  __m256i factor = {};
  for (__m256i& sum : sums) Hide(sum);
  for (int i = 0; i < kSteps; ++i) {
    for (__m256i& sum : sums) {
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(factor, factor));
      Hide(factor);
    }
  }
  for (__m256i& sum : sums) Hide(sum);
}

[[gnu::target("avx512f,avx512bw")]] void IntegersAvx512() {
  __m512i sums[kSums] = {};
  __m512i factor = {};
  for (__m512i& sum : sums) Hide(sum);
  for (int i = 0; i < kSteps; ++i) {
    for (__m512i& sum : sums) {
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(factor, factor));
      Hide(factor);
    }
  }
  for (__m512i& sum : sums) Hide(sum);
}

[[gnu::target("avx2,avxvnni")]] void BytesAvx2() {
  __m256i sums[kSums] = {};
  __m256i factor = {};
  for (__m256i& sum : sums) Hide(sum);
  for (int i = 0; i < kSteps; ++i) {
    for (__m256i& sum : sums) {
      sum = _mm256_dpbusd_avx_epi32(sum, factor, factor);
    }
    Hide(factor);
  }
  for (__m256i& sum : sums) Hide(sum);
}

[[gnu::target("avx512f,avx512vnni")]] void BytesAvx512() {
  __m512i sums[kSums] = {};
  __m512i factor = {};
  for (__m512i& sum : sums) Hide(sum);
  for (int i = 0; i < kSteps; ++i) {
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, factor, factor);
    Hide(factor);
  }
  for (__m512i& sum : sums) Hide(sum);
}

[[gnu::target("avx512f,avx512bf16")]] void BfloatsAvx512() {
  __m512 sums[kSums] = {};
  __m512i factor = {};
  for (__m512& sum : sums) Hide(sum);
  for (int i = 0; i < kSteps; ++i) {
    for (__m512& sum : sums) {
      sum = _mm512_dpbf16_ps(sum, (__m512bh)factor, (__m512bh)factor);
    }
    Hide(factor);
  }
  for (__m512& sum : sums) Hide(sum);
}

// The same over the tiles of AMX, of 16 rows of 64 bytes: eight registers, four
// of which are sums. An instruction multiplies and adds 16 x 16 x 64 bytes in
// 16 cycles, so that four sums do not wait for each other.
constexpr int kTileSums = 4;

// The operand of `ldtilecfg`.
struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes_of_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

[[gnu::target("amx-tile")]] void ZeroTiles() {
  constexpr TileShapes kShapes;
  _tile_loadconfig(&kShapes);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
}

[[gnu::target("amx-tile,amx-int8")]] void ByteTiles() {
  ZeroTiles();
  for (int i = 0; i < kSteps; ++i) {
    _tile_dpbusd(0, 4, 5);
    _tile_dpbusd(1, 4, 5);
    _tile_dpbusd(2, 4, 5);
    _tile_dpbusd(3, 4, 5);
  }
  _tile_release();
}

[[gnu::target("amx-tile,amx-bf16")]] void BfloatTiles() {
  ZeroTiles();
  for (int i = 0; i < kSteps; ++i) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  _tile_release();
}

// CPUID's leaf 7; zeros from a processor that has none.
struct ExtendedFeatures {
  unsigned a = 0, b = 0, c = 0, d = 0;

  explicit ExtendedFeatures(unsigned subleaf) {
    __get_cpuid_count(7, subleaf, &a, &b, &c, &d);
  }
};

// Whether the processor has AMX for bytes and bfloat16, and the kernel lets
// this process use the state that it takes (Linux, x86/xstate).
bool HasTiles() {
  constexpr unsigned kFeatures = 1U << 22 | 1U << 24 | 1U << 25;
  constexpr int kRequestPermission = 0x1023;
  constexpr int kTileData = 18;
  return (ExtendedFeatures(0).d & kFeatures) == kFeatures &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// __builtin_cpu_supports("avxvnni"), which clang 14 does not know.
bool HasAvxVnni() {
  constexpr unsigned kFeature = 1U << 4;
  return __builtin_cpu_supports("avx2") &&
         (ExtendedFeatures(1).a & kFeature) != 0;
}

struct Loop {
  const char* name;
  void (*run)();
  int operations;  // of one instruction
  bool supported;
  int sums = kSums;
};

void BM_Peak(benchmark::State& bench, const Loop& loop) {
  for (auto _ : bench) loop.run();
  bench.SetItemsProcessed(bench.iterations() * kSteps * loop.sums *
                          loop.operations);
}

void RegisterAll() {
  const bool avx512 = __builtin_cpu_supports("avx512f");
  const bool tiles = HasTiles();
  const Loop loops[] = {
      {"float32/avx2", FloatsAvx2, 16, true},
      {"float32/avx512", FloatsAvx512, 32, avx512},
      {"int16/avx2", IntegersAvx2, 32, true},
      {"int16/avx512", IntegersAvx512, 64, avx512},
      {"int8/avx2", BytesAvx2, 64, HasAvxVnni()},
      {"int8/avx512", BytesAvx512, 128,
       avx512 && __builtin_cpu_supports("avx512vnni")},
      {"int8/amx", ByteTiles, 2 * 16 * 16 * 64, tiles, kTileSums},
      {"bfloat16/avx512", BfloatsAvx512, 64,
       avx512 && __builtin_cpu_supports("avx512bf16")},
      {"bfloat16/amx", BfloatTiles, 2 * 16 * 16 * 32, tiles, kTileSums},
  };
  for (const Loop& loop : loops) {
    if (!loop.supported) continue;
    benchmark::RegisterBenchmark(loop.name, BM_Peak, loop);
  }
}

}  // namespace
}  // namespace tara::nn

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  tara::nn::RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
