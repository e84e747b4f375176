#ifndef TARA_EVAL_PLAYERS_READY_MADE_MODEL_H_
#define TARA_EVAL_PLAYERS_READY_MADE_MODEL_H_

#include <string>

#include "absl/status/statusor.h"

namespace tara::eval {

// What it is called wherever a network is asked for; a file of that name is
// ./best.
inline constexpr char kReadyMadeName[] = "best";

// Returns the path of the model bundle that comes with the project,
// models/tara.tara in the folder that the environment variable TARA_ROOT names
// (bin/tara sets it). NOT_FOUND where there is none, naming the path, or where
// the variable names no folder: the working directory may be anybody's.
absl::StatusOr<std::string> FindReadyMadeModel();

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_READY_MADE_MODEL_H_
