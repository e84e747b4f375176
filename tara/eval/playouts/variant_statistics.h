#ifndef TARA_EVAL_PLAYOUTS_VARIANT_STATISTICS_H_
#define TARA_EVAL_PLAYOUTS_VARIANT_STATISTICS_H_

#include <cstdint>
#include <functional>

#include "absl/types/span.h"
#include "tara/core/playouts.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tara/eval/report/report.h"

namespace tara::eval {

// Plays games first_game ... first_game + games - 1 of an infinite sequence.
// The result depends on nothing else. Thread-safe.
using PlayChunk =
    std::function<PlayoutStatistics(int64_t first_game, int64_t games)>;

// Receives the number of finished games, on any thread and possibly on several
// at once; returns whether to continue.
using MassProgressCallback = std::function<bool(int64_t games_done)>;

// Plays games 0 ... games - 1, in chunks that `threads` threads share, and
// returns their statistics. These do not depend on the number of threads.
// When on_progress returns false, chunks in progress are completed, so that
// long games are as likely to count as short ones; `games` of the result is the
// number of games played. REQUIRES: games >= 0; threads > 0.
PlayoutStatistics PlayRandomGames(int64_t games, int threads,
                                  const PlayChunk& play_chunk,
                                  const MassProgressCallback& on_progress = {});

// Statistics of random games of a variant. The first side is Red.
struct VariantStatistics {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions options = {};
  PlayoutStatistics sums = {};
};

// Returns a report: tables of at most 110 columns with a line a variant, and
// plots. Its JSON is an object: by variant's identifier an object with the
// numbers of games and actions, means and shares of games. Intervals are NAME,
// NAME_low and NAME_high: those of shares are Wilson's, that of the score is
// ScoreInterval's, that of the branching RatioInterval's, the others are
// Student's. Distributions ("length_counts", "margin_counts") as objects of
// counts by value, "ended_by" and "phase_lengths" by name. Infinite numbers are
// null. REQUIRES: games of each variant.
Report ReportStatistics(absl::Span<const VariantStatistics> variants,
                        uint64_t seed);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYOUTS_VARIANT_STATISTICS_H_
