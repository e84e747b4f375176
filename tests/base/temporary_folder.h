#ifndef TESTS_BASE_TEMPORARY_FOLDER_H_
#define TESTS_BASE_TEMPORARY_FOLDER_H_

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace tara {

// Returns an empty folder for the running test.
inline std::string TestFolder(absl::string_view name) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

// A folder for the running test, and of its name: empty at first, and gone with
// this.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name =
        ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '.');  // of parameters
    path_ = TestFolder(name);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

  // Returns the path of what is called `name` in here.
  std::string At(absl::string_view name) const {
    return absl::StrCat(path_, "/", name);
  }

 private:
  std::string path_;
};

}  // namespace tara

#endif  // TESTS_BASE_TEMPORARY_FOLDER_H_
