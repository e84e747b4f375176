#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/base/random.h"
#include "tests/base/temporary_folder.h"

namespace tara {
namespace {

using ::testing::HasSubstr;

// System calls fail by tests/base/failing_calls.cc while there is one of these.
class Failing {
 public:
  Failing(const char* call, int error) : call_(call) {
    setenv(call, std::to_string(error).c_str(), 1);
  }
  ~Failing() { unsetenv(call_); }

 private:
  const char* const call_;
};

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
  const absl::Status status = [&] {
    const Failing failing("FAIL_FSYNC_FOLDER", EIO);
    return WriteFileAtomically(path_, "new");
  }();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot sync the folder " + folder_.path()));
  EXPECT_EQ(*ReadWholeFile(path_), "new");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
}

TEST_F(AtomicFileTest, AFileSystemThatCannotSyncFoldersIsNoError) {
  for (const int error : {EINVAL, ENOTSUP, EOPNOTSUPP, ENOSYS}) {
    const Failing failing("FAIL_FSYNC_FOLDER", error);
    EXPECT_TRUE(WriteFileAtomically(path_, "new").ok()) << error;
  }
}

TEST_F(AtomicFileTest, CallsThatSignalsInterruptAreRepeated) {
  const Failing failing("FAIL_OFTEN", EINTR);
  for (const std::string text : {"one", "two", "three"}) {
    ASSERT_TRUE(WriteFileAtomically(path_, text).ok());
    EXPECT_EQ(*ReadWholeFile(path_), text);
    EXPECT_TRUE(LockFile(path_, O_RDWR).ok());
  }
}

TEST_F(AtomicFileTest, AFileKeepsItsPermissions) {
  ASSERT_TRUE(WriteFileAtomically(path_, "old").ok());
  for (const mode_t mode : {0600, 0666, 0640}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    ASSERT_TRUE(WriteFileAtomically(path_, "new").ok());
    struct stat found = {};
    ASSERT_EQ(stat(path_.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, mode);
  }
}

TEST_F(AtomicFileTest, WithoutItsCommitAFileLeavesNothing) {
  ASSERT_TRUE(WriteFileAtomically(path_, "old").ok());
  {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(path_);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE(file->Append("new").ok());
  }
  EXPECT_EQ(*ReadWholeFile(path_), "old");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
}

TEST_F(AtomicFileTest, ALinkToItselfAndAZeroByteAreRefused) {
  std::filesystem::create_symlink(path_, path_);
  EXPECT_FALSE(WriteFileAtomically(path_, "x").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  const std::string zero = folder_.At("a") + std::string(1, '\0') + "b";
  for (const absl::Status& status :
       {WriteFileAtomically(zero, "x"), ReadWholeFile(zero).status(),
        LockFile(zero, O_RDWR | O_CREAT).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.At("a")));
}

TEST_F(AtomicFileTest, OneProcessAtATimeHasALock) {
  absl::StatusOr<FileLock> lock = LockFile(path_, O_RDWR | O_CREAT);
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_EQ(lock->warning, "");
  EXPECT_EQ(LockFile(path_, O_RDONLY).status().code(),
            absl::StatusCode::kUnavailable);
  *lock = {};
  EXPECT_TRUE(LockFile(path_, O_RDONLY).ok());
}

TEST_F(AtomicFileTest, WhereThereAreNoLocksThereIsAWarning) {
  for (const int error : {ENOSYS, ENOLCK, ENOTSUP}) {
    const Failing failing("FAIL_FLOCK", error);
    const absl::StatusOr<FileLock> lock = LockFile(path_, O_RDWR | O_CREAT);
    ASSERT_TRUE(lock.ok()) << lock.status();
    EXPECT_THAT(lock->warning, HasSubstr(path_ + " cannot be locked"));
  }
  const Failing failing("FAIL_FLOCK", EIO);
  EXPECT_FALSE(LockFile(path_, O_RDWR | O_CREAT).ok());
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
