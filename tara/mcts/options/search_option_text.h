#ifndef TARA_MCTS_OPTIONS_SEARCH_OPTION_TEXT_H_
#define TARA_MCTS_OPTIONS_SEARCH_OPTION_TEXT_H_

// The options of a search by name, as player specs, configs and protocols have
// them: one list for all.

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tara/mcts/options/search_options.h"

namespace tara::mcts {

// Whether a search has an option of this name.
bool IsSearchOption(absl::string_view name);

// Sets an option, such as "c_puct" to "1.5" or "graph" to "on". Returns
// INVALID_ARGUMENT naming the option, the value and what was expected, or
// NOT_FOUND listing the names there are; the options are then as before.
absl::Status SetSearchOption(absl::string_view name, absl::string_view value,
                             SearchOptions& options);

// Returns what differs from the defaults, as "name=value,...", in the order of
// the list; empty if nothing does. SetSearchOption reads it back.
std::string FormatSearchOptions(const SearchOptions& options);

// Returns the list for --help, a line an option: name, meaning, default.
std::string SearchOptionsHelp(const SearchOptions& defaults = {});

}  // namespace tara::mcts

#endif  // TARA_MCTS_OPTIONS_SEARCH_OPTION_TEXT_H_
