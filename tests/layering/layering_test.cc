// Enforces the layers on the sources of the project, which reach this test as
// its data; and tests the enforcer.

#include "tests/layering/layering.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tara {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool IsSource(const fs::path& path) {
  return path.extension() == ".h" || path.extension() == ".cc";
}

// Returns the sources under `root`/tara, as paths from `root`.
std::set<std::string> SourcesUnder(const fs::path& root) {
  std::set<std::string> sources;
  for (const auto& entry : fs::recursive_directory_iterator(root / "tara")) {
    if (IsSource(entry.path())) {
      sources.insert(entry.path().lexically_relative(root).string());
    }
  }
  return sources;
}

fs::path RunfilesRoot() {
  return fs::path(std::getenv("TEST_SRCDIR")) / std::getenv("TEST_WORKSPACE");
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LayeringTest, NoSourceIncludesWhatItsLayerMayNot) {
  for (const std::string& path : SourcesUnder(RunfilesRoot())) {
    for (const std::string& violation :
         FindLayerViolations(path, ReadFile(RunfilesRoot() / path))) {
      ADD_FAILURE() << violation;
    }
  }
}

// A new package, or a folder that became one, is not in the data of this test
// until it is listed in tests/layering/BUILD.
TEST(LayeringTest, EverySourceOfTheWorkspaceIsChecked) {
  const fs::path workspace =
      fs::canonical(RunfilesRoot() / "WORKSPACE").parent_path();
  if (!fs::exists(workspace / "tara")) {
    GTEST_SKIP() << "the workspace cannot be seen from here";
  }
  const std::set<std::string> checked = SourcesUnder(RunfilesRoot());
  for (const std::string& path : SourcesUnder(workspace)) {
    EXPECT_TRUE(checked.contains(path))
        << path << " is in no layering_sources of tests/layering/BUILD";
  }
}

TEST(FindLayerViolationsTest, AcceptsLowerLayersAndOwnLayer) {
  EXPECT_THAT(FindLayerViolations("tara/mcts/tree.h",
                                  "#include <vector>\n"
                                  "#include \"absl/types/span.h\"\n"
                                  "#include \"tara/base/check.h\"\n"
                                  "#include \"tara/core/state.h\"\n"
                                  "#include \"tara/mcts/node.h\"\n"),
              IsEmpty());
}

TEST(FindLayerViolationsTest, NamesFileAndLineOfAnUpwardInclude) {
  EXPECT_THAT(FindLayerViolations("tara/core/state.h",
                                  "// A comment.\n"
                                  "#include \"tara/mcts/tree.h\"\n"),
              ElementsAre("tara/core/state.h:2: includes tara/mcts/tree.h, "
                          "which tara/core may not use"));
}

TEST(FindLayerViolationsTest, KeepsTrainAndEvalApart) {
  EXPECT_THAT(FindLayerViolations("tara/eval/match.cc",
                                  "#include \"tara/train/loop.h\""),
              ElementsAre(HasSubstr("may not use")));
  EXPECT_THAT(FindLayerViolations("tara/train/loop.cc",
                                  "#include \"tara/eval/match.h\""),
              ElementsAre(HasSubstr("may not use")));
}

TEST(FindLayerViolationsTest, KeepsProtobufOutOfCoreAndMcts) {
  for (const char* path : {"tara/core/a.cc", "tara/mcts/a.cc"}) {
    EXPECT_THAT(FindLayerViolations(path, "#include \"proto/game.pb.h\""),
                ElementsAre(HasSubstr("may not use")));
    EXPECT_THAT(
        FindLayerViolations(path, "#include <google/protobuf/message.h>"),
        ElementsAre(HasSubstr("Protobuf")));
  }
  EXPECT_THAT(
      FindLayerViolations("tara/record/a.h", "#include \"proto/game.pb.h\""),
      IsEmpty());
}

TEST(FindLayerViolationsTest, KeepsTorchInSourcesAndPrivateHeadersOfNn) {
  const char* const source = "  # include <torch/torch.h>  // Slow.";
  EXPECT_THAT(FindLayerViolations("tara/nn/net.cc", source), IsEmpty());
  EXPECT_THAT(FindLayerViolations("tara/nn/net_torch.h", source), IsEmpty());
  EXPECT_THAT(FindLayerViolations("tara/train/learner.cc", source), IsEmpty());
  EXPECT_THAT(FindLayerViolations("tara/nn/net.h", source),
              ElementsAre(HasSubstr("LibTorch")));
  EXPECT_THAT(FindLayerViolations("tara/train/learner_torch.h", source),
              ElementsAre(HasSubstr("LibTorch")));
  EXPECT_THAT(FindLayerViolations("tara/cli/main.cc", source),
              ElementsAre(HasSubstr("LibTorch")));
}

TEST(FindLayerViolationsTest, KeepsSqliteInBaseAndEigenInEval) {
  EXPECT_THAT(FindLayerViolations("tara/base/a.cc", "#include <sqlite3.h>"),
              IsEmpty());
  EXPECT_THAT(FindLayerViolations("tara/eval/a.cc", "#include <sqlite3.h>"),
              ElementsAre(HasSubstr("SQLite")));
  EXPECT_THAT(FindLayerViolations("tara/eval/a.cc", "#include <Eigen/Dense>"),
              IsEmpty());
  EXPECT_THAT(FindLayerViolations("tara/nn/a.cc", "#include <Eigen/Dense>"),
              ElementsAre(HasSubstr("Eigen")));
}

TEST(FindLayerViolationsTest, KeepsThreadsAndFilesOutOfCore) {
  EXPECT_THAT(FindLayerViolations("tara/core/a.cc", "#include <thread>"),
              ElementsAre(HasSubstr("not for tara/core")));
  EXPECT_THAT(FindLayerViolations("tara/mcts/a.cc", "#include <thread>"),
              IsEmpty());
}

TEST(FindLayerViolationsTest, RefusesAFolderThatIsNoLayer) {
  EXPECT_THAT(FindLayerViolations("tara/misc/a.h", ""),
              ElementsAre(HasSubstr("tara/misc is not a layer")));
}

}  // namespace
}  // namespace tara
