#ifndef TARA_CLI_HTML_FLAG_H_
#define TARA_CLI_HTML_FLAG_H_

#include <string>

#include "absl/status/status.h"
#include "tara/cli/command_line.h"

namespace tara::cli {

// Adds --html, the file of a page; empty: none.
void AddHtmlFlag(Command& command, std::string* path);

// An hour of games should not find at its end that the page has no place:
// returns an error, naming the flag, where it has none.
absl::Status CheckHtmlFlag(const std::string& path);

}  // namespace tara::cli

#endif  // TARA_CLI_HTML_FLAG_H_
