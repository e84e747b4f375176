#ifndef TARA_EVAL_BALANCE_BALANCE_REPORT_TEXT_H_
#define TARA_EVAL_BALANCE_BALANCE_REPORT_TEXT_H_

#include <string>

#include "tara/eval/balance/balance_report.h"

namespace tara::eval {

// Returns the report as tables for a terminal. Ends with a newline.
std::string BalanceReportText(const BalanceReport& report);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_BALANCE_REPORT_TEXT_H_
