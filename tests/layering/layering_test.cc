// Enforces the layers on the sources of the project, and tests the enforcer.

#include "tests/layering/layering.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
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

struct Case {
  const char* path;
  const char* source;
  const char* violation;  // a part of the only one; "": none
};

using FindFunction = std::vector<std::string> (*)(absl::string_view,
                                                  absl::string_view);

void ExpectViolations(FindFunction find, const std::vector<Case>& cases) {
  for (const auto& [path, source, violation] : cases) {
    SCOPED_TRACE(std::string(path) + ": " + source);
    if (*violation == '\0') {
      EXPECT_THAT(find(path, source), IsEmpty());
    } else {
      EXPECT_THAT(find(path, source), ElementsAre(HasSubstr(violation)));
    }
  }
}

TEST(FindLayerViolationsTest, FindsWhatALayerOrRoomMayNotInclude) {
  const char* const kTorch = "  # include <torch/torch.h>  // Slow.";
  const char* const kTree = "#include \"tara/mcts/tree/tree.h\"\n";
  ExpectViolations(
      FindLayerViolations,
      {
          // Lower layers, the own one and those without rooms.
          {"tara/mcts/tree/tree.h",
           "#include <vector>\n"
           "#include \"absl/types/span.h\"\n"
           "#include \"tara/base/check.h\"\n"
           "#include \"tara/core/state.h\"\n"
           "#include \"tara/mcts/evaluator.h\"\n"
           "#include \"tara/mcts/options/text.h\"\n"
           "#include \"tara/mcts/tree/node.h\"\n",
           ""},
          {"tara/core/state.h",
           "// A comment.\n#include \"tara/mcts/utility.h\"\n",
           "tara/core/state.h:2: includes tara/mcts/utility.h, which "
           "tara/core may not use"},
          // Rooms, and files in none. Layers above may use all rooms.
          {"tara/mcts/tree/tree.h", "#include \"tara/mcts/search/a.h\"\n",
           "which tara/mcts/tree may not use"},
          {"tara/mcts/evaluator.h", kTree, "in no room may not use"},
          {"tara/eval/players/a.h", kTree, ""},
          {"tara/misc/a.h", "", "tara/misc is not a layer"},
          {"tara/mcts/misc/a.h", "", "tara/mcts/misc is not a room"},
          {"tara/core/misc/a.h", "", ""},
          {"tara/eval/match.cc", "#include \"tara/train/loop.h\"",
           "may not use"},
          {"tara/train/loop.cc", "#include \"tara/eval/match.h\"",
           "may not use"},
          // Libraries.
          {"tara/core/a.cc", "#include \"proto/game.pb.h\"", "may not use"},
          {"tara/record/a.h", "#include \"proto/game.pb.h\"", ""},
          {"tara/mcts/a.cc", "#include <google/protobuf/message.h>",
           "Protobuf"},
          {"tara/nn/torch/net.cc", kTorch, ""},
          {"tara/nn/torch/net_torch.h", kTorch, ""},
          {"tara/nn/torch/net.h", kTorch, "LibTorch"},
          {"tara/nn/cpu/net_torch.h", kTorch, "LibTorch"},
          {"tara/cli/main.cc", kTorch, "LibTorch"},
          {"tara/base/a.cc", "#include <sqlite3.h>", ""},
          {"tara/eval/arena/a.cc", "#include <sqlite3.h>", "SQLite"},
          {"tara/eval/rating/a.cc", "#include <Eigen/Dense>", ""},
          {"tara/eval/arena/a.cc", "#include <Eigen/Dense>",
           "not for tara/eval/arena"},
          {"tara/mcts/a.cc", "#include <thread>", ""},
          {"tara/core/a.cc", "#include <thread>", "not for tara/core"},
      });
}

TEST(FindNamespaceViolationsTest, DemandsTheNamespaceOfTheLayer) {
  const char* const kPybind11 =
      "namespace pybind11::detail {\n"
      "struct A {};\n"
      "}  // namespace pybind11::detail\n";
  ExpectViolations(
      FindNamespaceViolations,
      {
          {"tara/core/a.h",
           "namespace tara {\n"
           "}  // namespace tara\n"
           "namespace tara::batch {\n",
           ""},
          {"tara/train/a.cc",
           "namespace tara::train {\n"
           "namespace {\n"
           "}  // namespace\n"
           "namespace internal {\n"
           "}  // namespace internal\n"
           "}  // namespace tara::train\n"
           "namespace tara::train::b {\n",
           ""},
          {"tara/train/a.cc", "// Comment.\nnamespace tara {\nint a;\n",
           "tara/train/a.cc:2: namespace tara is not of tara/train"},
          {"tara/train/a.cc", "namespace tara::training {\nint a;\n",
           "tara::training is not of tara/train"},
          {"tara/core/a.cc", "namespace tara::eval {\nint a;\n",
           "tara::eval is not of tara/core"},
          // Python teaches pybind11 its types.
          {"tara/python/a.h", kPybind11, ""},
          {"tara/cli/a.h", kPybind11, "pybind11::detail is not of tara/cli"},
          // Forward declarations of others.
          {"tara/nn/a.h",
           "namespace tara {\n\nstruct State;  // state.h\n\n"
           "}  // namespace tara\n"
           "namespace google::protobuf {\n"
           "class Message;\n"
           "}  // namespace google::protobuf\n",
           ""},
      });
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
