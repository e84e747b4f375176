#ifndef TARA_CLI_GAMES_STORE_H_
#define TARA_CLI_GAMES_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/games.h"
#include "tara/train/store/game_store.h"

namespace tara::cli {

// Opens for reading a store named by its file or by the folder of its run.
absl::StatusOr<std::unique_ptr<train::GameStore>> OpenStoreForReading(
    const std::string& path);

// Returns the query that the options say, or a usage error for an unknown
// variant.
absl::StatusOr<train::GameQuery> QueryOf(const GamesQueryOptions& options);

}  // namespace tara::cli

#endif  // TARA_CLI_GAMES_STORE_H_
