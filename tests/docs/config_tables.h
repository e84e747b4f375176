#ifndef TESTS_DOCS_CONFIG_TABLES_H_
#define TESTS_DOCS_CONFIG_TABLES_H_

// The tables of docs/reference/config.md, made of those of the code: the fields
// of a config (proto/config.proto), the options of the search and of players.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tara {

// Returns the page with its tables renewed: a row for each field and option, in
// the order of the code. A cell stays as it is where it means the same, with
// its links and accents, and so do the meanings of options, which the page
// states at greater length, and what follows a semicolon in a default.
// Returns NOT_FOUND for a field or a table that has no place in the page.
absl::StatusOr<std::string> RenewConfigPage(absl::string_view page);

}  // namespace tara

#endif  // TESTS_DOCS_CONFIG_TABLES_H_
