#include "tara/cli/html_flag.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace tara::cli {

void AddHtmlFlag(Command& command, std::string* path) {
  command.AddText({.names = "--html",
                   .placeholder = "FILE",
                   .help = "also write a page with plots, for any browser; it "
                           "needs no network",
                   .default_text = "none"},
                  path);
}

absl::Status CheckHtmlFlag(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(
      errno, absl::StrCat("--html ", path, ": cannot write into ", folder));
}

}  // namespace tara::cli
