#ifndef TARA_ENGINE_ANALYZE_ARGUMENTS_H_
#define TARA_ENGINE_ANALYZE_ARGUMENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/engine/analysis_text.h"
#include "tara/engine/thinker.h"

namespace tara::engine {

// What the command `analyze` of the line protocol is told.
struct AnalyzeArguments {
  AnalysisLimits limits;
  AnalysisTextOptions text;
};

// Reads [INTERVAL] [interval INTERVAL] [simulations N] [actions N]; intervals
// are in hundredths of a second. Returns INVALID_ARGUMENT saying what was
// expected.
absl::StatusOr<AnalyzeArguments> ParseAnalyzeArguments(
    const std::vector<std::string>& words);

}  // namespace tara::engine

#endif  // TARA_ENGINE_ANALYZE_ARGUMENTS_H_
