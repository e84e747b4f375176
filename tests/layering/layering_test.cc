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
  ASSERT_TRUE(fs::exists(workspace / "tara"))
      << "the workspace cannot be seen from here";
  const std::set<std::string> checked = SourcesUnder(RunfilesRoot());
  for (const std::string& path : SourcesUnder(workspace)) {
    EXPECT_TRUE(checked.contains(path))
        << path << " is in no layering_sources of tests/layering/BUILD";
  }
}

TEST(FindForwardUsesTest, NoLayerOrRoomDependsOnItself) {
  EXPECT_THAT(FindForwardUses(), IsEmpty());
}

TEST(FindLayerViolationsTest, AcceptsLowerLayersAndOwnLayer) {
  EXPECT_THAT(FindLayerViolations("tara/mcts/tree/tree.h",
                                  "#include <vector>\n"
                                  "#include \"absl/types/span.h\"\n"
                                  "#include \"tara/base/check.h\"\n"
                                  "#include \"tara/core/state.h\"\n"
                                  "#include \"tara/mcts/evaluator.h\"\n"
                                  "#include \"tara/mcts/options/text.h\"\n"
                                  "#include \"tara/mcts/tree/node.h\"\n"),
              IsEmpty());
}

TEST(FindLayerViolationsTest, KeepsRoomsFromThoseTheyMayNotUse) {
  EXPECT_THAT(FindLayerViolations("tara/mcts/tree/tree.h",
                                  "#include \"tara/mcts/search/a.h\"\n"),
              ElementsAre("tara/mcts/tree/tree.h:1: includes "
                          "tara/mcts/search/a.h, which tara/mcts/tree may not "
                          "use"));
  EXPECT_THAT(FindLayerViolations("tara/mcts/evaluator.h",
                                  "#include \"tara/mcts/tree/tree.h\"\n"),
              ElementsAre(HasSubstr("in no room may not use")));
  // Layers above may use all rooms.
  EXPECT_THAT(FindLayerViolations("tara/eval/players/a.h",
                                  "#include \"tara/mcts/tree/tree.h\"\n"),
              IsEmpty());
}

TEST(FindLayerViolationsTest, NamesFileAndLineOfAnUpwardInclude) {
  EXPECT_THAT(FindLayerViolations("tara/core/state.h",
                                  "// A comment.\n"
                                  "#include \"tara/mcts/utility.h\"\n"),
              ElementsAre("tara/core/state.h:2: includes tara/mcts/utility.h, "
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

TEST(FindLayerViolationsTest, KeepsTorchInSourcesAndPrivateHeadersOfItsRooms) {
  const char* const source = "  # include <torch/torch.h>  // Slow.";
  for (const char* path :
       {"tara/nn/torch/net.cc", "tara/nn/torch/net_torch.h",
        "tara/nn/training/trainer.cc", "tara/nn/bundle/script.cc"}) {
    EXPECT_THAT(FindLayerViolations(path, source), IsEmpty());
  }
  for (const char* path :
       {"tara/nn/torch/net.h", "tara/nn/net.cc", "tara/nn/cpu/net_torch.h",
        "tara/train/learn/learner.cc", "tara/cli/main.cc"}) {
    EXPECT_THAT(FindLayerViolations(path, source),
                ElementsAre(HasSubstr("LibTorch")));
  }
}

TEST(FindLayerViolationsTest, KeepsSqliteInBaseAndEigenInRatings) {
  EXPECT_THAT(FindLayerViolations("tara/base/a.cc", "#include <sqlite3.h>"),
              IsEmpty());
  EXPECT_THAT(
      FindLayerViolations("tara/eval/arena/a.cc", "#include <sqlite3.h>"),
      ElementsAre(HasSubstr("SQLite")));
  EXPECT_THAT(
      FindLayerViolations("tara/eval/rating/a.cc", "#include <Eigen/Dense>"),
      IsEmpty());
  EXPECT_THAT(
      FindLayerViolations("tara/eval/arena/a.cc", "#include <Eigen/Dense>"),
      ElementsAre(HasSubstr("not for tara/eval/arena")));
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

TEST(FindLayerViolationsTest, RefusesAFolderThatIsNoRoomOfALayerWithRooms) {
  EXPECT_THAT(FindLayerViolations("tara/mcts/misc/a.h", ""),
              ElementsAre(HasSubstr("tara/mcts/misc is not a room")));
  EXPECT_THAT(FindLayerViolations("tara/core/misc/a.h", ""), IsEmpty());
}

}  // namespace
}  // namespace tara
