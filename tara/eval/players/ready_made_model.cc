#include "tara/eval/players/ready_made_model.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tara::eval {

absl::StatusOr<std::string> FindReadyMadeModel() {
  const char* const root = std::getenv("TARA_ROOT");
  if (root == nullptr || *root == '\0') {
    return absl::NotFoundError(
        "the ready-made model is in the project's folder, which TARA_ROOT does "
        "not name; expected to be started as bin/tara, which sets it, or a "
        "player net:PATH");
  }
  const std::string path =
      (std::filesystem::path(root) / "models" / "tara.tara").string();
  std::error_code error;  // an unreadable path is not there
  if (std::filesystem::is_regular_file(path, error)) return path;
  return absl::NotFoundError(absl::StrCat(
      "there is no ready-made model ", path,
      "; expected it there, or a player net:PATH of another network"));
}

}  // namespace tara::eval
