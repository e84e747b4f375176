#ifndef TARA_EVAL_PLAYOUTS_STATISTICS_PAGE_H_
#define TARA_EVAL_PLAYOUTS_STATISTICS_PAGE_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "tara/eval/playouts/variant_statistics.h"

namespace tara::eval {

// Returns an HTML page with the statistics as tables and plots. It holds all it
// needs (data, styles, Chart.js): one file, which works without a network.
std::string StatisticsPage(absl::Span<const VariantStatistics> variants,
                           uint64_t seed);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYOUTS_STATISTICS_PAGE_H_
