#include "tara/cli/games_store.h"

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "tara/base/status_macros.h"
#include "tara/cli/usage.h"
#include "tara/core/variant.h"

namespace tara::cli {

absl::StatusOr<std::unique_ptr<train::GameStore>> OpenStoreForReading(
    const std::string& path) {
  std::error_code ignored;
  // The name of the store in a run's folder: tara/train/folder/run_folder.h.
  const bool is_run = std::filesystem::is_directory(path, ignored);
  return train::OpenGameStore(is_run ? path + "/games.db" : path,
                              train::StoreMode::kReadOnly);
}

absl::StatusOr<train::GameQuery> QueryOf(const GamesQueryOptions& options) {
  if (!options.variant.empty()) {
    TARA_RETURN_IF_ERROR(AsUsageError(ParseVariant(options.variant).status()));
  }
  return train::GameQuery{.variant = options.variant,
                          .generation = options.generation,
                          .limit = options.limit == 0 ? -1 : options.limit,
                          .newest_first = true};
}

}  // namespace tara::cli
