#include "tara/cli/web_export.h"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tara/base/status_macros.h"

namespace tara::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kList[] = "SHA256SUMS";
constexpr char kListTitle[] =
    "# The page of Tara, written by tara web --export";
// Of a line of the list before the file's name: the sum in hexadecimal digits,
// and two spaces.
constexpr size_t kSumLength = 64 + 2;
// Smaller files are summed up in what is printed.
constexpr uintmax_t kLargeBytes = 100'000;

absl::Status ExportError(const fs::path& folder, absl::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat("--export ", folder.string(), ": ", what));
}

// Returns the names in the list of an exported page, relative to its folder;
// nothing if it has none.
std::set<std::string> ListedFiles(const fs::path& folder) {
  std::ifstream list(folder / kList);
  std::string line;
  if (!std::getline(list, line) || line != kListTitle) return {};
  std::set<std::string> names = {kList};
  while (std::getline(list, line)) {
    if (line.size() > kSumLength) names.insert(line.substr(kSumLength));
  }
  return names;
}

// Returns the names of all files below a folder, relative to it.
std::set<std::string> FilesOf(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(folder)) {
    if (entry.is_symlink() || !entry.is_directory()) {
      names.insert(entry.path().lexically_relative(folder).generic_string());
    }
  }
  return names;
}

// Exchanges the folder `made` with `folder`, which need not exist. Afterwards
// `made` contains the earlier content, if any.
absl::Status PutInPlace(const fs::path& made, const fs::path& folder) {
  if (!fs::exists(folder)) {
    fs::rename(made, folder);
    return absl::OkStatus();
  }
  // At once, so that there is one or the other at any time.
  if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, folder.c_str(),
                RENAME_EXCHANGE) == 0) {
    return absl::OkStatus();
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return ExportError(
        folder, absl::StrCat("cannot be replaced: ", std::strerror(errno)));
  }
  // Some file systems cannot.
  const fs::path old = made.string() + "-old";
  fs::remove_all(old);
  fs::rename(folder, old);
  fs::rename(made, folder);
  fs::rename(old, made);
  return absl::OkStatus();
}

std::string Megabytes(uintmax_t bytes) {
  return absl::StrFormat("%.2f MB", static_cast<double>(bytes) / 1e6);
}

void PrintSizes(const fs::path& folder, std::ostream& out) {
  std::vector<std::pair<uintmax_t, std::string>> large;
  uintmax_t total = 0;
  uintmax_t rest = 0;
  int rest_count = 0;
  const std::set<std::string> names = FilesOf(folder);
  for (const std::string& name : names) {
    const uintmax_t bytes = fs::file_size(folder / name);
    total += bytes;
    if (bytes >= kLargeBytes) {
      large.emplace_back(bytes, name);
    } else {
      rest += bytes;
      ++rest_count;
    }
  }
  std::sort(large.rbegin(), large.rend());
  out << folder.string() << ": " << names.size() << " files, "
      << Megabytes(total) << "\n";
  for (const auto& [bytes, name] : large) {
    out << "  " << Megabytes(bytes) << "  " << name << "\n";
  }
  out << "  " << Megabytes(rest) << "  " << rest_count << " smaller files\n";
}

absl::Status Export(const fs::path& page, const fs::path& folder,
                    std::ostream& out) {
  if (!IsExportedPage(page)) {
    return absl::FailedPreconditionError(
        absl::StrCat(page.string(),
                     " is not an exported page; expected one that "
                     "`bin/tara web --export` made"));
  }
  TARA_RETURN_IF_ERROR(CheckExportFolder(folder));
  // Through links, and without a slash at the end.
  fs::path place = fs::weakly_canonical(fs::absolute(folder));
  if (!place.has_filename()) place = place.parent_path();
  fs::create_directories(place.parent_path());
  const fs::path made = place.string() + ".tara-export";
  fs::remove_all(made);  // of an export that was interrupted
  for (const std::string& name : FilesOf(page)) {
    fs::create_directories((made / name).parent_path());
    fs::copy_file(page / name, made / name);
  }
  const absl::Status status = PutInPlace(made, place);
  fs::remove_all(made);
  TARA_RETURN_IF_ERROR(status);
  PrintSizes(place, out);
  out << "Try it: python3 -m http.server -d " << place.string()
      << " 8000, and open http://localhost:8000/\n"
         "Any web space serves it as it is, from a folder of any name.\n";
  return absl::OkStatus();
}

}  // namespace

bool IsExportedPage(const fs::path& folder) {
  return !ListedFiles(folder).empty();
}

absl::Status CheckExportFolder(const fs::path& folder) {
  constexpr char kExpected[] =
      "; expected a new or empty folder, or an earlier export; nothing was "
      "changed";
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) {
    // The folders that are missing above it are made, too.
    fs::path above = fs::absolute(folder, error).parent_path();
    while (!fs::exists(above, error) && above.has_relative_path()) {
      above = above.parent_path();
    }
    if (fs::is_directory(above, error)) return absl::OkStatus();
    return ExportError(above, absl::StrCat("is not a folder", kExpected));
  }
  if (!fs::exists(status)) return ExportError(folder, error.message());
  if (!fs::is_directory(status)) {
    return ExportError(folder, absl::StrCat("is not a folder", kExpected));
  }
  try {
    const std::set<std::string> listed = ListedFiles(folder);
    for (const std::string& name : FilesOf(folder)) {
      if (listed.count(name) != 0) continue;
      return ExportError(
          folder,
          absl::StrCat("has ", name, ", which no export wrote", kExpected));
    }
  } catch (const fs::filesystem_error& failure) {
    return ExportError(folder, failure.code().message());
  }
  return absl::OkStatus();
}

absl::Status ExportPage(const fs::path& page, const fs::path& folder,
                        std::ostream& out) {
  try {
    return Export(page, folder, out);
  } catch (const fs::filesystem_error& failure) {
    return ExportError(folder, absl::StrCat(failure.path1().string(), ": ",
                                            failure.code().message()));
  }
}

}  // namespace tara::cli
