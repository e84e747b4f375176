#ifndef TARA_CLI_WEB_EXPORT_H_
#define TARA_CLI_WEB_EXPORT_H_

#include <filesystem>
#include <ostream>

#include "absl/status/status.h"

namespace tara::cli {

// Pages for any web space, as `web/build.sh site` makes them: folders of plain
// files whose list SHA256SUMS is (web/site/plugin.mjs).

// Returns whether a folder is such a page.
bool IsExportedPage(const std::filesystem::path& folder);

// Returns an error unless `folder` may become one: it does not exist, is empty,
// or holds an earlier export and nothing else.
absl::Status CheckExportFolder(const std::filesystem::path& folder);

// Copies the page to `folder`, in place of an earlier export, whole or not at
// all: also if it is interrupted. Prints the sizes of its parts, and how to
// serve it.
absl::Status ExportPage(const std::filesystem::path& page,
                        const std::filesystem::path& folder, std::ostream& out);

}  // namespace tara::cli

#endif  // TARA_CLI_WEB_EXPORT_H_
