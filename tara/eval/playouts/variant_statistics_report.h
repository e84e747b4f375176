#ifndef TARA_EVAL_PLAYOUTS_VARIANT_STATISTICS_REPORT_H_
#define TARA_EVAL_PLAYOUTS_VARIANT_STATISTICS_REPORT_H_

#include <string>

#include "absl/types/span.h"
#include "tara/eval/playouts/variant_statistics.h"

namespace tara::eval {

// Returns tables for terminals, a line a variant, of at most 110 columns.
// Ends with a newline.
std::string VariantStatisticsText(absl::Span<const VariantStatistics> variants);

// Returns a JSON object: by variant's identifier an object with the numbers of
// VariantStatistics; intervals as NAME, NAME_low and NAME_high, distributions
// ("length_counts", "margin_counts") as objects of counts by value, "ended_by"
// and "phase_lengths" by name. Infinite numbers are null.
std::string VariantStatisticsJson(absl::Span<const VariantStatistics> variants);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYOUTS_VARIANT_STATISTICS_REPORT_H_
