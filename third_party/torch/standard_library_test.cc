// A program that links LibTorch uses the std::filesystem of libstdc++.

#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using ::testing::HasSubstr;

// PyPI's LibTorch 2.11 exports these symbols too, and its own crash.
TEST(StandardLibraryTest, SymbolsComeFromTheSystemsLibrary) {
  void* const symbol = ::dlsym(
      RTLD_DEFAULT, "_ZNSt10filesystem10remove_allERKNS_7__cxx114pathE");
  ASSERT_NE(symbol, nullptr);
  Dl_info info;
  ASSERT_NE(::dladdr(symbol, &info), 0);
  EXPECT_THAT(info.dli_fname, HasSubstr("libstdc++.so"));
}

TEST(StandardLibraryTest, AFolderIsRemovedWithWhatIsInIt) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "standard_library_test";
  std::filesystem::create_directories(folder / "inner");
  EXPECT_EQ(std::filesystem::remove_all(folder), 2u);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
