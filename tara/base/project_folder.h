#ifndef TARA_BASE_PROJECT_FOLDER_H_
#define TARA_BASE_PROJECT_FOLDER_H_

#include <filesystem>
#include <optional>

namespace tara {

// Returns the folder with models/ and web/: the value of the environment
// variable TARA_ROOT, which bin/tara sets, or the folder of the running program
// or of the library with this code if it contains models/, as in a release and
// in the Python package. Other folders, such as the current one, do not count,
// because anybody may own them.
std::optional<std::filesystem::path> ProjectFolder();

}  // namespace tara

#endif  // TARA_BASE_PROJECT_FOLDER_H_
