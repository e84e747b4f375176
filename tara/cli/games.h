#ifndef TARA_CLI_GAMES_H_
#define TARA_CLI_GAMES_H_

#include <string>

#include "absl/types/span.h"
#include "tara/record/game_store.h"

namespace tara::cli {

// Returns the rows as `tara games list --format=json` prints them, without the
// last line's end.
std::string GameRowsJson(absl::Span<const record::GameRow> rows);

}  // namespace tara::cli

#endif  // TARA_CLI_GAMES_H_
