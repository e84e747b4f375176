#include "tara/core/game_batch.h"

#include <algorithm>
#include <cstdint>

#include "tara/base/check.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/playout_sums.h"
#include "tara/core/playouts.h"

namespace tara {
namespace {

const batch::KernelTable& KernelsFor(InstructionSet instruction_set) {
  switch (instruction_set) {
    case InstructionSet::kAvx512:
      return batch::Avx512Kernels();
    case InstructionSet::kAvx2:
      return batch::Avx2Kernels();
    case InstructionSet::kPortable:
      break;
  }
  return batch::PortableKernels();
}

PlayoutStatistics ToStatistics(const batch::PlayoutSums& sums) {
  PlayoutStatistics statistics;
  statistics.games = sums.games;
  statistics.plies = sums.plies;
  statistics.length_squares = sums.length_squares;
  statistics.max_length = sums.max_length;
  std::copy(std::begin(sums.lengths), std::end(sums.lengths),
            statistics.lengths.begin());
  statistics.legal_actions = sums.legal_actions;
  statistics.legal_squares = sums.legal_squares;
  statistics.legal_times_length = sums.legal_times_length;
  std::copy(std::begin(sums.margins), std::end(sums.margins),
            statistics.margins.begin());
  for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
    statistics.results[margin > 0 ? 0 : (margin == 0 ? 1 : 2)] +=
        sums.margins[margin + kMaxMargin];
  }
  std::copy(std::begin(sums.endings), std::end(sums.endings),
            statistics.endings.begin());
  statistics.captures = sums.captures;
  statistics.kings_captured = sums.kings_captured;
  std::copy(std::begin(sums.phase_plies), std::end(sums.phase_plies),
            statistics.phase_plies.begin());
  return statistics;
}

}  // namespace

PlayoutStatistics PlayRandomGames(Variant variant, const RuleOptions& options,
                                  uint64_t seed, int64_t first_game,
                                  int64_t games,
                                  InstructionSet instruction_set) {
  TARA_CHECK(games >= 0, "a negative number of games");
  const batch::PlayoutKernel kernel =
      KernelsFor(instruction_set).kernels[static_cast<int>(variant)];
  if (kernel == nullptr) {
    return PlayRandomGamesScalar(variant, options, seed, first_game, games);
  }
  batch::PlayoutSums sums;
  kernel({.options = options,
          .seed = seed,
          .first_game = first_game,
          .games = games},
         sums);
  return ToStatistics(sums);
}

}  // namespace tara
