#ifndef TARA_BASE_FILE_KIND_H_
#define TARA_BASE_FILE_KIND_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tara {

// What there may be in a file that took hours to make, or that others need.
inline constexpr absl::string_view kDatabaseFile = "a store of games or a book";
inline constexpr absl::string_view kBundleFile = "a bundle";
inline constexpr absl::string_view kGamesFile = "a file of games";

// Returns the kind of this program's file at a path for messages, such as
// kBundleFile or "a checkpoint"; empty for any other or missing file. Decides
// by the beginning of the file, the suffix of configs, and the location in the
// folder of a run.
absl::string_view KindOfFile(const std::string& path);

}  // namespace tara

#endif  // TARA_BASE_FILE_KIND_H_
