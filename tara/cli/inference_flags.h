#ifndef TARA_CLI_INFERENCE_FLAGS_H_
#define TARA_CLI_INFERENCE_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/nn/inference_options.h"

namespace tara::cli {

// How a network computes, as SetInferenceOption takes it.
struct InferenceFlags {
  std::string device = "cpu";
  std::string precision = "auto";
  std::string backend = "auto";
};

// Adds --device, --precision and --backend.
void AddInferenceFlags(Command& command, InferenceFlags* flags);

// Returns what the flags say, or a usage error.
absl::StatusOr<nn::InferenceOptions> InferenceOf(const InferenceFlags& flags);

}  // namespace tara::cli

#endif  // TARA_CLI_INFERENCE_FLAGS_H_
