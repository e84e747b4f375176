#include "tara/eval/rating/rating_page.h"

#include "tara/eval/rating/rating_page_template.h"
#include "tara/eval/rating/rating_report.h"
#include "tara/eval/report/report_page.h"

namespace tara::eval {

std::string RatingPage(const RatingTable& table) {
  return ReportPage(RatingPageTemplate(),
                    {{"{{report.json}}",
                      JsonInPage(RatingReportJson(table, /*compact=*/true))}});
}

}  // namespace tara::eval
