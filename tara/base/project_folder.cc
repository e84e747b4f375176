#include "tara/base/project_folder.h"

#include <dlfcn.h>

#include <cstdlib>
#include <system_error>

namespace tara {

std::optional<std::filesystem::path> ProjectFolder() {
  const char* const root = std::getenv("TARA_ROOT");
  if (root != nullptr && *root != '\0') return root;
  std::error_code error;  // what cannot be read is not there
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (!error && std::filesystem::is_directory(folder / "models", error)) {
    return folder;
  }
  Dl_info library;  // that has this function
  if (dladdr(reinterpret_cast<const void*>(&ProjectFolder), &library) != 0) {
    const std::filesystem::path beside =
        std::filesystem::path(library.dli_fname).parent_path();
    if (beside.is_absolute() &&
        std::filesystem::is_directory(beside / "models", error)) {
      return beside;
    }
  }
  return std::nullopt;
}

}  // namespace tara
