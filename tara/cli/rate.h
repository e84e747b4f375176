#ifndef TARA_CLI_RATE_H_
#define TARA_CLI_RATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"

namespace tara::cli {

struct RateCommandOptions {
  std::vector<std::string> players;  // runs, checkpoints, player specs
  GameFlags game;          // no variant: what all the networks have learned
  bool untrained = false;  // what a network has not learned, too
  // Of runs: "all", "every:K", or generations parted by commas.
  std::string checkpoints = "all";
  int64_t simulations = 100;  // of checkpoints
  int64_t games = 40;         // of a player in a variant, on average
  int64_t opening_plies = 2;
  std::vector<std::string> anchors;  // "NAME=ELO"
  std::string store;                 // empty: RUN/ratings.db, or none
  int64_t threads = 0;               // 0: as many as the cores allow
  int64_t seed = 1;
  std::string format = "text";
  std::string html;  // file of a page; empty: none
};

// Rates checkpoints and other players in one variant or in all. An interrupt
// (Ctrl-C) ends it with the ratings by the games that are finished.
absl::StatusOr<int> RunRate(const RateCommandOptions& options,
                            Console& console);

// Adds `rate` to the program.
void RegisterRate(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_RATE_H_
