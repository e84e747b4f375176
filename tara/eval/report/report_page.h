#ifndef TARA_EVAL_REPORT_REPORT_PAGE_H_
#define TARA_EVAL_REPORT_REPORT_PAGE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace tara::eval {

// Returns JSON as it may stand within <script>: there "</" could end the
// element. In JSON "<" stands only in strings, where it may be written
// otherwise.
std::string JsonInPage(absl::string_view json);

// Returns a page from its template: {{page.css}}, {{page.js}} and {{chart.js}},
// which all pages have, and each further name by its text. The result is one
// file that needs no other.
std::string ReportPage(
    absl::string_view page_template,
    std::vector<std::pair<absl::string_view, std::string>> texts);

}  // namespace tara::eval

#endif  // TARA_EVAL_REPORT_REPORT_PAGE_H_
