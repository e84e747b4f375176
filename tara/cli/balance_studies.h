#ifndef TARA_CLI_BALANCE_STUDIES_H_
#define TARA_CLI_BALANCE_STUDIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/cli/balance.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance_store.h"

namespace tara::cli {

// A study that `tara balance` is asked for.
struct WantedStudy {
  eval::BalanceStudyKey key;
  // The study, by its place among all, with which this one is compared: the
  // same player with the rules without the change; -1: it is not a what-if.
  int compare_with = -1;
};

// Returns the studies of the command, players outermost, so that each player is
// made once. Usage errors: unknown variants, options and players, changes that
// apply to no variant, or that change nothing; and the errors of a player's
// network that is not there.
absl::StatusOr<std::vector<WantedStudy>> WantedStudies(
    const BalanceCommandOptions& options);

// Returns the spec with so many simulations in place of its own.
// "mcts:sims=9,graph=on" and 50: "mcts:graph=on,sims=50".
std::string WithSimulations(absl::string_view spec,
                            absl::string_view simulations);

}  // namespace tara::cli

#endif  // TARA_CLI_BALANCE_STUDIES_H_
