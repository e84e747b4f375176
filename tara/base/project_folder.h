#ifndef TARA_BASE_PROJECT_FOLDER_H_
#define TARA_BASE_PROJECT_FOLDER_H_

#include <filesystem>
#include <optional>

namespace tara {

// Returns the folder with models/ and web/: the one that the environment
// variable TARA_ROOT names, as bin/tara sets it, or that of the running program
// or of the library with this code where models/ lies beside it, as in a
// release and in the Python package. Nothing elsewhere, least of all the
// current folder, which may be anybody's.
std::optional<std::filesystem::path> ProjectFolder();

}  // namespace tara

#endif  // TARA_BASE_PROJECT_FOLDER_H_
