#ifndef TARA_EVAL_BALANCE_BALANCE_PAGE_H_
#define TARA_EVAL_BALANCE_BALANCE_PAGE_H_

#include <string>

#include "tara/eval/balance/balance_report.h"

namespace tara::eval {

// Returns one HTML file with tables, plots and boards of the report. It needs
// nothing else: no network, no other file.
std::string BalancePage(const BalanceReport& report);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_BALANCE_PAGE_H_
