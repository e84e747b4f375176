#include "tara/eval/report/report_page.h"

#include "absl/strings/str_replace.h"
#include "tara/eval/report/page_script.h"
#include "tara/eval/report/page_style.h"
#include "third_party/chart_js/chart_js.h"

namespace tara::eval {

std::string JsonInPage(absl::string_view json) {
  return absl::StrReplaceAll(json, {{"<", "\\u003c"}});
}

std::string ReportPage(
    absl::string_view page_template,
    std::vector<std::pair<absl::string_view, std::string>> texts) {
  texts.insert(texts.end(), {{"{{page.css}}", std::string(PageStyle())},
                             {"{{page.js}}", std::string(PageScript())},
                             {"{{chart.js}}", std::string(ChartJs())}});
  return absl::StrReplaceAll(page_template, texts);
}

}  // namespace tara::eval
