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

// Returns the scores over the generations of a run from its metrics, a small
// curve per opponent and variant; empty if fewer than two generations were
// evaluated. Skips lines that are not events or lack a field, and states their
// number. Errors of ReadMetricsLines.
absl::StatusOr<std::string> StrengthCurves(const std::string& metrics_path);

}  // namespace tara::cli

#endif  // TARA_CLI_TRAIN_REPORT_H_
