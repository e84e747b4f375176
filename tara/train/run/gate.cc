#include "tara/train/run/gate.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tara/train/folder/run_folder.h"

namespace tara::train {

std::string GateText(const GateReport& report, int promoted, int rejected) {
  std::string text;
  if (report.promoted) {
    text = absl::StrCat(CheckpointName(report.candidate), " plays");
  } else {
    std::vector<std::string> weaker;
    for (const GateResult& of : report.results) {
      if (!of.weaker) continue;
      weaker.push_back(absl::StrFormat(
          "%s, %.0f %% [%.0f, %.0f]", of.result.variant, 100 * of.result.score,
          100 * of.result.score_low, 100 * of.result.score_high));
    }
    text = absl::StrCat(CheckpointName(report.best),
                        " still plays: ", CheckpointName(report.candidate),
                        " is weaker in ", absl::StrJoin(weaker, ", "));
  }
  absl::StrAppend(&text, " (let through ", promoted, ", not ", rejected, ")");
  return text;
}

}  // namespace tara::train
