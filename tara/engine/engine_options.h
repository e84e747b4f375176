#ifndef TARA_ENGINE_ENGINE_OPTIONS_H_
#define TARA_ENGINE_ENGINE_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/mcts/options/search_options.h"

namespace tara::engine {

inline constexpr char kEngineName[] = "Tara";
// Version of the line protocol: that of the Go Text Protocol, which it follows.
inline constexpr int kLineProtocolVersion = 2;
// Version of the JSON protocol; raised by changes that clients would notice.
inline constexpr int kJsonProtocolVersion = 1;

// How the engine searches.
struct EngineOptions {
  mcts::SearchOptions search =
      mcts::ForPlay({.simulations = 1000, .max_bytes = int64_t{1} << 30});
  // Thinking time of an action by the clock, in place of search.simulations;
  // zero: none.
  absl::Duration time = absl::ZeroDuration();
  // Leaves of one position in a batch, at most. More fills the batches of a
  // single position, but chooses leaves knowing less.
  int leaves = 1;
  // Line protocol: threads that search a position together. JSON: threads that
  // search positions.
  int threads = 1;
  // JSON: concurrent positions per thread, whose leaves make a batch.
  int positions = 64;
  // Line protocol: whether to reuse the tree of the previous position.
  bool reuse = true;
  // 0: play the most visited action. Above 0: play the one with the highest
  // lower confidence bound, this many standard errors below its mean.
  float confidence_z = mcts::kPlayConfidenceZ;
  // Actions are drawn from visits^(1/temperature); 0 plays the best.
  float temperature = 0;
  // Above 0, in their place: ChooseWithinMargin (tara/mcts/levels/levels.h).
  float value_margin = 0;
  // The level of strength that was set last, from 1; 0: none. Setting it sets
  // the options that it stands for, which may be changed afterwards.
  int level = 0;
  // Seed of everything that is drawn at random.
  uint64_t seed = 1;
};

// Sets an option by its name, such as "sims" to "400": one of the engine's own
// or of the search (tara/mcts/options/search_options.h). Returns
// INVALID_ARGUMENT naming the value and what was expected, or the options that
// exclude each other; the options are then as before.
absl::Status SetEngineOption(absl::string_view name, absl::string_view value,
                             EngineOptions& options);

// Sets options given as "name=value,name=value"; empty: none.
absl::Status SetEngineOptions(absl::string_view text, EngineOptions& options);

// Returns the options of the engine and of the search that differ from their
// defaults, a line "name value" each.
std::string ListEngineOptions(EngineOptions options);

// Returns all options for --help, a line each.
std::string EngineOptionsHelp();

}  // namespace tara::engine

#endif  // TARA_ENGINE_ENGINE_OPTIONS_H_
