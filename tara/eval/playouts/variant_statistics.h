#ifndef TARA_EVAL_PLAYOUTS_VARIANT_STATISTICS_H_
#define TARA_EVAL_PLAYOUTS_VARIANT_STATISTICS_H_

#include <array>
#include <cstdint>
#include <functional>

#include "absl/types/span.h"
#include "tara/core/playouts.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tara/eval/report/report.h"
#include "tara/eval/statistics/statistics.h"

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

// A mean over games with its 95 % interval, and how the games deviate from it.
struct Spread {
  Interval mean;
  double deviation = 0;  // standard deviation of a single game
};

// Statistics of random games of a variant. The first side is Red.
struct VariantStatistics {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions options;
  PlayoutStatistics sums;  // everything else is computed from them

  Spread length;       // actions a game
  Interval branching;  // legal actions an action
  // Shares of the games, in [0, 1].
  Interval first_side_win_rate;
  Interval draw_rate;
  Interval second_side_win_rate;
  Interval first_side_score;  // a draw counts one half
  Spread margin;              // the first side's points minus the other's
  double captures = 0;        // of ringforts, a game
  double kings_captured = 0;  // a game
  std::array<double, 5> phase_lengths = {};  // actions a game, by Phase
};

// Computes the statistics of games of one variant. Intervals of shares are
// Wilson's, that of the score is ScoreInterval's, that of the branching
// RatioInterval's, the others are Student's.
// REQUIRES: sums.games > 0.
VariantStatistics Summarize(Variant variant, const RuleOptions& options,
                            const PlayoutStatistics& sums);

// Returns a report: tables of at most 110 columns with a line a variant, and
// plots. Its JSON is an object: by variant's identifier an object with the
// numbers of VariantStatistics; intervals as NAME, NAME_low and NAME_high,
// distributions ("length_counts", "margin_counts") as objects of counts by
// value, "ended_by" and "phase_lengths" by name. Infinite numbers are null.
Report ReportStatistics(absl::Span<const VariantStatistics> variants,
                        uint64_t seed);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYOUTS_VARIANT_STATISTICS_H_
