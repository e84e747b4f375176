#include "tara/base/project_folder.h"

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
  return std::nullopt;
}

}  // namespace tara
