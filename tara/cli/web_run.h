#ifndef TARA_CLI_WEB_RUN_H_
#define TARA_CLI_WEB_RUN_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tara::cli {

struct WebFile {
  std::string type;  // of its contents: "application/json"
  std::string contents;
};

// Returns what the page that watches a run (web/src/run/run.ts) asks for, a
// file of the folder `run/` and what follows its question mark:
//   about.json                   `name` of the run, `config`: its text,
//                                `quiet`: seconds since it wrote its metrics,
//                                or null
//   metrics.jsonl?from=BYTE      what the run has written from there on
//   games.json?limit=N           as `tara games list --format=json --limit N`
//   game.json?index=N            a game: `index`, `variant`, `generation`,
//                                `model`, `text` as ParseGameText reads it,
//                                `end`, and of each action `actions`: `seat`,
//                                `action`, `drawn` (it opens the game),
//                                `proved` and `red`, Red's chances by its
//                                search, or null
//   position.svg?index=N&ply=P   a picture of a position of it, with the visits
//                                of its search
// NOT_FOUND for a missing file, INVALID_ARGUMENT for a wrong number.
// Errors of the run's store. `run` is an absolute path.
absl::StatusOr<WebFile> RunFile(const std::string& run, absl::string_view name,
                                absl::string_view query);

}  // namespace tara::cli

#endif  // TARA_CLI_WEB_RUN_H_
