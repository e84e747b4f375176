#ifndef TARA_CLI_BALANCE_H_
#define TARA_CLI_BALANCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"

namespace tara::cli {

struct BalanceCommandOptions {
  GameFlags game;
  std::vector<std::string> players;
  bool untrained = false;             // what a network has not learned, too
  std::string simulations;            // "50,200"; each of the players with each
  std::vector<std::string> what_ifs;  // each "name=value[,name=value]"
  int64_t games = 200;                // a study; with a precision, at most
  double precision = 0;               // 0: none
  int64_t first_games = 16;
  int64_t pie_games = 64;
  int64_t opening_plies = -1;  // 0, or 2 for players without a policy
  int64_t drawn_plies = 8;
  double temperature = 1;
  int64_t threads = 0;  // all cores
  int64_t seed = 1;
  std::string format = "text";
  std::string html;   // a file for the page; none if empty
  std::string store;  // a file that keeps the games; none if empty
};

// Lets players play themselves and says whether the variants are fair. An
// interrupt (Ctrl-C) ends it with a report of the games finished by then.
absl::StatusOr<int> RunBalance(const BalanceCommandOptions& options,
                               Console& console);

// Adds `balance` to the program.
void RegisterBalance(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_BALANCE_H_
