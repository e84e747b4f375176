#ifndef TARA_CLI_TRAIN_REPORT_H_
#define TARA_CLI_TRAIN_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "tara/train/run/pipeline.h"

namespace tara::cli {

// Returns the table at the end of a run: the learned player against each
// opponent, with score, 95 % interval and difference in Elo.
std::string StrengthReport(const train::TrainSummary& summary,
                           const proto::TrainConfig& config);

// Returns the scores over the generations of a run, a small curve for each
// opponent and variant, from the run's metrics; nothing if fewer than two
// generations were evaluated. Lines that are no events, or lack a field, are
// left out, and said to be. Errors as ReadMetricsLines.
absl::StatusOr<std::string> StrengthCurves(const std::string& metrics_path);

}  // namespace tara::cli

#endif  // TARA_CLI_TRAIN_REPORT_H_
