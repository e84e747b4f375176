#ifndef TARA_EVAL_ARENA_H_
#define TARA_EVAL_ARENA_H_
// CONTRACT (to be completed by the eval engineer)
#include <cstdint>
#include <functional>
#include "absl/status/statusor.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tara/eval/player.h"

namespace tara {

struct ArenaOptions {
  Variant variant;
  RuleOptions rule_options;
  int games = 200;         // rounded up to whole pairs
  int opening_plies = 2;   // uniformly random, each opening played once from each side
  uint64_t seed = 1;
  int concurrent_games = 64;
};

struct ArenaProgress { int games_done; int games; double score; };

// Result of player A against player B in one variant.
struct ArenaResult {
  int games, wins, draws, losses;           // of A
  int wins_as_red, games_as_red;
  double score, score_low, score_high;      // mean of win 1, draw 1/2; 95 % interval over pairs
  double elo, elo_low, elo_high;            // may be infinite
  double mean_margin, mean_margin_low, mean_margin_high;  // points of A minus B
  double mean_length;
};

absl::StatusOr<ArenaResult> PlayArena(const ArenaOptions&, Player& a, Player& b,
                                      const std::function<bool(const ArenaProgress&)>& on_progress = {});  // false: stop early

}  // namespace tara
#endif
