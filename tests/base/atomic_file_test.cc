#include "tara/base/atomic_file.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tests/base/temporary_folder.h"

// Whether the disk under folders fails.
static bool folders_fail = false;

// Stands before the C library's.
extern "C" int fsync(int fd) {
  struct stat of = {};
  if (folders_fail && fstat(fd, &of) == 0 && S_ISDIR(of.st_mode)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fsync, fd));
}

namespace tara {
namespace {

using ::testing::HasSubstr;

class AtomicFileTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  std::string path_ = folder_.At("file");
};

TEST_F(AtomicFileTest, AFileIsReadAsItWasWritten) {
  // Zero bytes, and more than one buffer.
  std::string contents(200'000, '\0');
  contents += "end";
  ASSERT_TRUE(WriteFileAtomically(path_, contents).ok());
  EXPECT_EQ(*ReadWholeFile(path_), contents);
}

TEST_F(AtomicFileTest, AnExistingFileIsReplacedAndNothingElseStays) {
  ASSERT_TRUE(WriteFileAtomically(path_, "a longer old text").ok());
  ASSERT_TRUE(WriteFileAtomically(path_, "new").ok());
  EXPECT_EQ(*ReadWholeFile(path_), "new");
  EXPECT_EQ(
      std::distance(std::filesystem::directory_iterator(folder_.path()), {}),
      1);
}

TEST_F(AtomicFileTest, ALinkStaysAndItsFileIsReplaced) {
  const std::string link = path_ + ".link";
  std::filesystem::create_symlink(path_, link);
  for (const std::string text : {"new", "newer"}) {  // the first makes the file
    ASSERT_TRUE(WriteFileAtomically(link, text).ok());
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(*ReadWholeFile(path_), text);
  }
}

TEST_F(AtomicFileTest, ErrorsNameTheFile) {
  const absl::Status missing = ReadWholeFile(path_).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr(path_));
  const absl::Status folder = ReadWholeFile(folder_.path()).status();
  EXPECT_THAT(std::string(folder.message()), HasSubstr("directory"));
  const absl::Status no_folder = WriteFileAtomically(path_ + "/no/file", "x");
  EXPECT_EQ(no_folder.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(no_folder.message()), HasSubstr(path_));
}

TEST_F(AtomicFileTest, AFailedReplacementLeavesNoTemporaryFile) {
  // A folder that is not empty cannot be replaced by a file.
  std::filesystem::create_directories(folder_.At("file/full"));
  EXPECT_FALSE(WriteFileAtomically(path_, "x").ok());
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
}

TEST_F(AtomicFileTest, WhereOnlyTheFolderIsNotSyncedTheFileIsTheNewOne) {
  ASSERT_TRUE(WriteFileAtomically(path_, "old").ok());
  folders_fail = true;
  const absl::Status status = WriteFileAtomically(path_, "new");
  folders_fail = false;
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot sync the folder " + folder_.path()));
  EXPECT_EQ(*ReadWholeFile(path_), "new");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
}

TEST_F(AtomicFileTest, AKillLeavesTheOldContentsOrTheNew) {
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  const std::string a(1 << 20, 'a');
  const std::string b(1 << 20, 'b');
  ASSERT_TRUE(WriteFileAtomically(path_, a).ok());
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      while (WriteFileAtomically(path_, b).ok() &&
             WriteFileAtomically(path_, a).ok()) {
      }
      _exit(1);
    }
    absl::SleepFor(absl::Microseconds(random.Below(20'000)));
    kill(child, SIGKILL);
    int exit_status = 0;
    ASSERT_EQ(waitpid(child, &exit_status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(exit_status));
    const std::string contents = *ReadWholeFile(path_);
    EXPECT_TRUE(contents == a || contents == b);
  }
}

}  // namespace
}  // namespace tara
