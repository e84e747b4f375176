#ifndef TARA_BASE_FILE_KIND_H_
#define TARA_BASE_FILE_KIND_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tara {

// What there may be in a file that took hours to make, or that others need.
inline constexpr absl::string_view kDatabaseFile = "a store of games or a book";
inline constexpr absl::string_view kBundleFile = "a bundle";
inline constexpr absl::string_view kGamesFile = "a file of games";

// Returns what of this program's is in the file behind a path, as messages have
// it, such as kBundleFile or "a checkpoint"; empty for any other file, and
// where there is none. Goes by the beginning of the file, by the ending of
// configs, and by the place of files in the folder of a run.
absl::string_view KindOfFile(const std::string& path);

}  // namespace tara

#endif  // TARA_BASE_FILE_KIND_H_
