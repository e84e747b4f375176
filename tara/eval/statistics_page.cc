#include "tara/eval/statistics_page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tara/eval/statistics_page_template.h"
#include "tara/eval/variant_statistics_report.h"
#include "third_party/chart_js/chart_js.h"

namespace tara {

std::string StatisticsPage(absl::Span<const VariantStatistics> variants,
                           uint64_t seed) {
  // Within <script>, "</" could end the element; in JSON "<" stands only in
  // strings, where it may be written so.
  const std::string json =
      absl::StrReplaceAll(VariantStatisticsJson(variants), {{"<", "\\u003c"}});
  return absl::StrReplaceAll(StatisticsPageTemplate(),
                             {{"{{chart.js}}", ChartJs()},
                              {"{{seed}}", absl::StrCat(seed)},
                              {"{{statistics.json}}", json}});
}

}  // namespace tara
