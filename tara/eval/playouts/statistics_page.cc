#include "tara/eval/playouts/statistics_page.h"

#include "absl/strings/str_cat.h"
#include "tara/eval/playouts/statistics_page_template.h"
#include "tara/eval/playouts/variant_statistics_report.h"
#include "tara/eval/report/report_page.h"

namespace tara::eval {

std::string StatisticsPage(absl::Span<const VariantStatistics> variants,
                           uint64_t seed) {
  return ReportPage(
      StatisticsPageTemplate(),
      {{"{{seed}}", absl::StrCat(seed)},
       {"{{statistics.json}}", JsonInPage(VariantStatisticsJson(variants))}});
}

}  // namespace tara::eval
