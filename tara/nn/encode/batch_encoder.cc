#include "tara/nn/encode/batch_encoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/encode/encoder_block.h"
#include "tara/nn/encode/encoder_pipeline.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

constexpr size_t kPlaneFloats = size_t{kNumPlanes} * kNumSquares;

// Planes of more bytes than this do not stay in the caches until they are
// read, and writing them around the caches saves reading them first.
constexpr size_t kMostCachedBytes = size_t{32} << 20;

// [board transform]: the hills that it takes to the south of the board.
constexpr auto MakeSouths() {
  constexpr Board south =
      RankBoard(0) | RankBoard(1) | RankBoard(2) | RankBoard(3);
  std::array<Board, kNumBoardTransforms> souths{};
  for (int transform = 0; transform < kNumBoardTransforms; ++transform) {
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      if ((south & BoardOf(TransformHill(transform, hill))) != 0) {
        souths[transform] |= BoardOf(hill);
      }
    }
  }
  return souths;
}
constexpr auto kSouths = MakeSouths();

// The layout of states and legal sets that the AVX-512 path reads as words.
static_assert(offsetof(State, ringforts) == 0 && offsetof(State, kings) == 16);
static_assert(offsetof(State, links_east) == 32);
static_assert(offsetof(State, links_north) == 40);
static_assert(offsetof(State, variant) == 48 && offsetof(State, phase) == 49);
static_assert(offsetof(State, seat) == 50 && offsetof(State, ending) == 51);
static_assert(offsetof(State, turns_left) == 52);
static_assert(offsetof(State, no_progress) == 53);
static_assert(offsetof(State, kings_captured) == 54);
static_assert(offsetof(State, options) == 56);
static_assert(offsetof(RuleOptions, no_progress_limit) == 0);
static_assert(offsetof(RuleOptions, proximity_bound) == 1);
static_assert(offsetof(RuleOptions, placement_captures_kings) == 2);
static_assert(offsetof(RuleOptions, link_all_at_end) == 3);
static_assert(offsetof(RuleOptions, shared_row_opening) == 4);
static_assert(sizeof(LegalSet) == 104 && offsetof(LegalSet, hills) == 0);
static_assert(offsetof(LegalSet, kings) == 8);
static_assert(sizeof(LegalSet::KingMoves) == 24);
static_assert(offsetof(LegalSet::KingMoves, origin) == 0);
static_assert(offsetof(LegalSet::KingMoves, moves) == 8);
static_assert(offsetof(LegalSet::KingMoves, sacrifices) == 16);
static_assert(offsetof(LegalSet, links_east) == 80);
static_assert(offsetof(LegalSet, links_north) == 88);
static_assert(offsetof(LegalSet, pass) == 96);
static_assert(sizeof(Symmetry) == 2 && offsetof(Symmetry, board) == 0);
static_assert(Ending{1} == Ending::kOut && Ending{3} == Ending::kPassed &&
              Ending{4} == Ending::kBoardFull);

constexpr EncoderTables MakeTables() {
  EncoderTables tables{};
  for (int i = 0; i < kNumBoardTransforms; ++i) tables.souths[i] = kSouths[i];
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    tables.bits[hill] = static_cast<uint8_t>(std::countr_zero(BoardOf(hill)));
  }
  for (int i = 0; i < kNumVariants; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    const Family family = kVariants[i].family;
    if (kVariants[i].seats == 4) tables.doubles |= bit;
    if (family == Family::kStoneOfDestiny) tables.by_links |= bit;
    if (family == Family::kHighKings) tables.by_kings |= bit;
    if (family == Family::kFourTreasures) tables.by_bridges |= bit;
  }
  return tables;
}
constexpr EncoderTables kTables = MakeTables();

// In Stone of Destiny the kingdoms are not the components.
void CountKingdomsByLinks(const BlockInput& input, EncoderBlock& block) {
  for (int i = 0; i < input.count; ++i) {
    const State& state = input.states[i];
    if (Info(state.variant).family != Family::kStoneOfDestiny) continue;
    block.kingdoms[0][i] =
        static_cast<uint64_t>(CountKingdoms(state, state.side()));
    block.kingdoms[1][i] =
        static_cast<uint64_t>(CountKingdoms(state, Opponent(state.side())));
  }
}

BlockInput BlockFrom(const EncoderJob& job, size_t first) {
  return {.states = job.states + first,
          .symmetries = job.symmetries + first,
          .legal = job.legal + first,
          .count =
              static_cast<int>(std::min(job.size - first, size_t{kBlockSize}))};
}

}  // namespace

void EncodeBatch(const EncoderInput& input, const EncoderOutput& output) {
  static const InstructionSet best = SupportedInstructionSets().back();
  EncodeBatchOn(best, input, output);
}

void EncodeBatchOn(InstructionSet instruction_set, const EncoderInput& input,
                   const EncoderOutput& output) {
  const size_t size = input.states.size();
  TARA_CHECK(input.symmetries.size() == size, "symmetries: size");
  TARA_CHECK(input.legal.size() == size, "legal: size");
  TARA_CHECK(output.planes.size() == size * kPlaneFloats, "planes: size");
  TARA_CHECK(output.globals.size() == size * kNumGlobals, "globals: size");
  const EncoderJob job = {
      .states = input.states.data(),
      .symmetries = input.symmetries.data(),
      .legal = input.legal.data(),
      .size = size,
      .planes = output.planes.data(),
      .globals = output.globals.data(),
      .channels_last = output.layout == PlaneLayout::kChannelsLast,
      .around_caches =
          output.planes.size() * sizeof(float) > kMostCachedBytes &&
          reinterpret_cast<uintptr_t>(output.planes.data()) % 32 == 0,
      .block_from = BlockFrom,
      .count_kingdoms_by_links = CountKingdomsByLinks};
  const bool ok = instruction_set == InstructionSet::kAvx512
                      ? EncodeOnAvx512(kTables, job)
                      : EncodeOnPortable(kTables, job);
  TARA_CHECK(ok, "the symmetry must bring the seat to seat 0");
}

}  // namespace tara::nn
