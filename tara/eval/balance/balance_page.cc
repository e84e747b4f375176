#include "tara/eval/balance/balance_page.h"

#include "tara/eval/balance/balance_page_template.h"
#include "tara/eval/report/report_page.h"

namespace tara::eval {

std::string BalancePage(const BalanceReport& report) {
  return ReportPage(
      BalancePageTemplate(),
      {{"{{report.json}}", JsonInPage(BalanceReportJson(report))}});
}

}  // namespace tara::eval
