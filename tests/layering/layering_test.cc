// Enforces the layers on the sources of the project, and tests the enforcer.

#include "tests/layering/layering.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
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

// Returns the root of the workspace itself, where no new file can be missing.
fs::path Root() {
  return fs::canonical(fs::path(std::getenv("TEST_SRCDIR")) /
                       std::getenv("TEST_WORKSPACE") / "WORKSPACE")
      .parent_path();
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LayeringTest, NoSourceIncludesWhatItsLayerMayNot) {
  for (const std::string& path : SourcesUnder(Root())) {
    for (const std::string& violation :
         FindLayerViolations(path, ReadFile(Root() / path))) {
      ADD_FAILURE() << violation;
    }
  }
}

TEST(LayeringTest, EachLayerDefinesItsNamesInItsNamespace) {
  for (const std::string& path : SourcesUnder(Root())) {
    for (const std::string& violation :
         FindNamespaceViolations(path, ReadFile(Root() / path))) {
      ADD_FAILURE() << violation;
    }
  }
}

// What is easily done wrong has one place: JSON from outside may nest too deep
// and have names twice; these functions take hexadecimal numbers.
TEST(LayeringTest, WhatParsesTextFromOutsideIsInOnePlace) {
  const std::map<std::string, std::string> places = {
      {"json::parse(", "tara/base/json.cc"},
      {"Json::parse(", "tara/base/json.cc"},
      {"json::accept(", "tara/base/json.cc"},
      {"SimpleAtod(", "tara/base/text.cc"},
      {"SimpleAtof(", "tara/base/text.cc"}};
  for (const std::string& path : SourcesUnder(Root())) {
    const std::string source = ReadFile(Root() / path);
    for (const auto& [call, place] : places) {
      EXPECT_TRUE(path == place || source.find(call) == std::string::npos)
          << path << " calls " << call << "); expected what " << place
          << " defines";
    }
  }
}

// Two definitions of one name in one program are undefined behaviour that no
// linker reports (the one definition rule).
TEST(LayeringTest, NoTypeIsDefinedTwice) {
  std::map<std::string, std::string> defined_in;
  for (const std::string& path : SourcesUnder(Root())) {
    for (const std::string& type :
         FindTypeDefinitions(ReadFile(Root() / path))) {
      const auto [entry, is_new] = defined_in.emplace(type, path);
      EXPECT_TRUE(is_new) << type << " is defined in " << entry->second
                          << " and in " << path;
    }
  }
  EXPECT_TRUE(defined_in.contains("tara::State"));
  EXPECT_TRUE(defined_in.contains("tara::mcts::Tree"));
  EXPECT_TRUE(defined_in.contains("tara::train::Opening"));
  EXPECT_TRUE(defined_in.contains("tara::eval::Opening"));
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
        "tara/nn/training/trainer.cc", "tara/nn/inference/script.cc"}) {
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

TEST(FindNamespaceViolationsTest, DemandsTheNamespaceOfTheLayer) {
  EXPECT_THAT(FindNamespaceViolations("tara/core/a.h",
                                      "namespace tara {\n"
                                      "}  // namespace tara\n"
                                      "namespace tara::batch {\n"),
              IsEmpty());
  EXPECT_THAT(FindNamespaceViolations("tara/train/a.cc",
                                      "namespace tara::train {\n"
                                      "namespace {\n"
                                      "}  // namespace\n"
                                      "namespace internal {\n"
                                      "}  // namespace internal\n"
                                      "}  // namespace tara::train\n"
                                      "namespace tara::train::b {\n"),
              IsEmpty());
  EXPECT_THAT(FindNamespaceViolations(
                  "tara/train/a.cc", "// Comment.\nnamespace tara {\nint a;\n"),
              ElementsAre("tara/train/a.cc:2: namespace tara is not of "
                          "tara/train"));
  EXPECT_THAT(FindNamespaceViolations("tara/train/a.cc",
                                      "namespace tara::eval {\nint a;\n"),
              ElementsAre(HasSubstr("tara::eval is not of tara/train")));
  EXPECT_THAT(FindNamespaceViolations("tara/train/a.cc",
                                      "namespace tara::training {\nint a;\n"),
              ElementsAre(HasSubstr("tara::training is not of tara/train")));
  EXPECT_THAT(FindNamespaceViolations("tara/core/a.cc",
                                      "namespace tara::eval {\nint a;\n"),
              ElementsAre(HasSubstr("tara::eval is not of tara/core")));
}

TEST(FindNamespaceViolationsTest, AllowsPythonToTeachPybind11ItsTypes) {
  constexpr absl::string_view kSource =
      "namespace pybind11::detail {\n"
      "struct A {};\n"
      "}  // namespace pybind11::detail\n";
  EXPECT_THAT(FindNamespaceViolations("tara/python/a.h", kSource), IsEmpty());
  EXPECT_EQ(FindNamespaceViolations("tara/cli/a.h", kSource).size(), 1u);
}

TEST(FindNamespaceViolationsTest, AllowsForwardDeclarationsOfOthers) {
  EXPECT_THAT(FindNamespaceViolations(
                  "tara/nn/a.h",
                  "namespace tara {\n\nstruct State;  // state.h\n\n"
                  "}  // namespace tara\n"
                  "namespace google::protobuf {\n"
                  "class Message;\n"
                  "}  // namespace google::protobuf\n"),
              IsEmpty());
}

TEST(FindTypeDefinitionsTest, FindsTypesInNamedNamespaces) {
  EXPECT_THAT(FindTypeDefinitions("namespace tara::a {\n"
                                  "class Declared;\n"
                                  "struct A {\n"
                                  "  struct Nested {};\n"
                                  "};\n"
                                  "class LongName::Impl\n"
                                  "    : public Base {\n"
                                  "};\n"
                                  "enum class E : uint8_t { kA };\n"
                                  "template <typename T>\n"
                                  "struct alignas(64) B {};\n"
                                  "template <>\n"
                                  "struct B<int> {};\n"
                                  "namespace {\n"
                                  "struct Hidden {};\n"
                                  "}  // namespace\n"
                                  "namespace inner {\n"
                                  "struct C final : A {};\n"
                                  "}  // namespace inner\n"
                                  "}  // namespace tara::a\n"),
              ElementsAre("tara::a::A", "tara::a::LongName::Impl", "tara::a::E",
                          "tara::a::B", "tara::a::inner::C"));
}

}  // namespace
}  // namespace tara
