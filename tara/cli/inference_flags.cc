#include "tara/cli/inference_flags.h"

#include <utility>

#include "tara/base/status_macros.h"
#include "tara/cli/usage.h"
#include "tara/nn/inference_option_text.h"

namespace tara::cli {

void AddInferenceFlags(Command& command, InferenceFlags* flags) {
  command.AddText(
      {.names = "--device", .placeholder = "D", .help = "cpu, cuda or cuda:N"},
      &flags->device);
  command.AddText({.names = "--precision",
                   .placeholder = "P",
                   .help = "auto, float32, bfloat16, float16, int16 or int8"},
                  &flags->precision);
  command.AddText({.names = "--backend",
                   .placeholder = "B",
                   .help = "what computes, as in player specs"},
                  &flags->backend);
}

absl::StatusOr<nn::InferenceOptions> InferenceOf(const InferenceFlags& flags) {
  nn::InferenceOptions inference;
  const std::pair<const char*, const std::string*> named[] = {
      {"device", &flags.device},
      {"precision", &flags.precision},
      {"backend", &flags.backend}};
  for (const auto& [name, value] : named) {
    TARA_RETURN_IF_ERROR(
        AsUsageError(nn::SetInferenceOption(name, *value, inference)));
  }
  return inference;
}

}  // namespace tara::cli
