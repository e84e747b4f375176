#include "tests/layering/layering.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace tara {
namespace {

using Names = std::vector<absl::string_view>;

// A folder of a layer, and which other rooms of the layer it may use. Files of
// the layer that are in no room are for all rooms, and use none.
struct Room {
  absl::string_view name;
  Names uses;
};

// A folder under tara/, and what it may use of ours: other folders under tara/,
// and "proto" for the generated messages. Without rooms, nothing is asked of
// the folders in it.
struct Layer {
  absl::string_view name;
  Names uses;
  std::vector<Room> rooms = {};
};

// Layers and rooms are in an order in which each uses only earlier ones.
const std::vector<Layer>& Layers() {
  static const auto* const layers = new std::vector<Layer>{
      {"base", {}},
      {"core", {"base"}},
      {"record", {"base", "core", "proto"}},
      {"fleet", {"base", "core", "record", "proto"}},
      {"mcts",
       {"base", "core"},
       {{"choice", {}},
        {"options", {"choice"}},
        {"tree", {"choice", "options"}},
        {"time", {"choice"}},
        {"solver", {"options"}},
        {"levels", {"choice", "options", "tree"}},
        {"evaluators", {}},
        {"search",
         {"options", "tree", "time", "solver", "levels", "evaluators"}}}},
      {"nn",
       {"base", "core", "mcts", "proto"},
       {{"encode", {}},
        {"weights", {"encode"}},
        {"cpu", {"encode", "weights"}},
        {"torch", {"encode", "weights", "cpu"}},
        {"training", {"encode", "weights", "cpu", "torch"}},
        {"light", {"encode", "weights", "cpu", "torch", "training"}},
        {"bundle", {"encode", "weights", "cpu", "light"}},
        {"inference",
         {"encode", "weights", "cpu", "torch", "bundle", "light"}}}},
      {"train",
       {"base", "core", "record", "fleet", "mcts", "nn", "proto"},
       {{"play", {}},
        {"learn", {}},
        {"config", {"play", "learn"}},
        {"folder", {"play", "learn", "config"}},
        {"progress", {"play"}},
        {"run", {"play", "learn", "config", "folder", "progress"}}}},
      {"eval",
       {"base", "core", "record", "fleet", "mcts", "nn", "proto"},
       {{"statistics", {}},
        {"report", {"statistics"}},
        {"alpha_beta", {}},
        {"players", {"alpha_beta"}},
        {"arena", {"statistics", "report", "players"}},
        {"rating", {"statistics", "report", "players", "arena"}},
        {"balance", {"statistics", "report", "players", "arena"}},
        {"book", {"statistics", "report"}},
        {"playouts", {"statistics", "report"}},
        {"puzzles", {"players"}},
        {"review", {"report"}}}},
      {"engine", {"base", "core", "record", "mcts", "nn", "proto"}},
      {"python",
       {"base", "core", "record", "fleet", "mcts", "nn", "train", "eval",
        "proto"}},
      {"cli",
       {"base", "core", "record", "fleet", "mcts", "nn", "train", "eval",
        "engine", "proto"}},
  };
  return *layers;
}

// Headers of others that only some files may include.
struct Restriction {
  absl::string_view library;
  Names prefixes;  // of the included path
  Names folders;   // that may include it: layers, or rooms such as "nn/cpu"
  // Within them, headers may too, or else only sources and *_torch.h.
  bool in_any_header;
};

const std::vector<Restriction>& Restrictions() {
  static const auto* const restrictions = new std::vector<Restriction>{
      // 10-20 s and 1 GB for each file that sees it.
      {"LibTorch",
       {"torch/", "ATen/", "c10/"},
       {"nn/torch", "nn/training", "nn/light", "nn/inference"},
       false},
      {"ONNX", {"onnx/"}, {"nn/bundle"}, true},
      {"libzip", {"zip.h"}, {"nn/bundle"}, true},
      {"SQLite", {"sqlite3.h"}, {"base"}, true},
      {"Eigen", {"Eigen/", "unsupported/Eigen/"}, {"eval/rating"}, true},
      {"Protobuf",
       {"google/protobuf/"},
       {"record", "nn", "train", "eval", "engine", "python", "cli"},
       true},
      // The core has neither threads nor files.
      {"a thread or file header",
       {"absl/synchronization/", "condition_variable", "filesystem", "fstream",
        "future", "mutex", "shared_mutex", "thread"},
       {"base", "record", "fleet", "mcts", "nn", "train", "eval", "engine",
        "python", "cli"},
       true},
      {"pybind11", {"pybind11/"}, {"python"}, true},
  };
  return *restrictions;
}

bool Contains(const Names& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns "core" for "tara/core/board.h", "" for a path not under tara/.
absl::string_view LayerOf(absl::string_view path) {
  if (!absl::ConsumePrefix(&path, "tara/")) return "";
  return path.substr(0, path.find('/'));
}

// Returns "tree" for "tara/mcts/tree/node.h", "" for "tara/mcts/evaluator.h",
// "" for a path not under tara/.
absl::string_view RoomOf(absl::string_view path) {
  if (!absl::ConsumePrefix(&path, "tara/")) return "";
  const size_t layer_end = path.find('/');
  const size_t room_end = path.rfind('/');
  if (layer_end == room_end) return "";
  return path.substr(layer_end + 1, room_end - layer_end - 1);
}

// Returns the entry of that name, or nullptr.
template <typename Entry>
const Entry* Find(const std::vector<Entry>& entries, absl::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(),
                   [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

// Appends to `sentences` which entries may use what is not listed before them.
template <typename Entry>
void AppendForwardUses(absl::string_view folder,
                       const std::vector<Entry>& entries,
                       std::vector<std::string>& sentences) {
  Names earlier = {"proto"};
  for (const Entry& entry : entries) {
    for (const absl::string_view used : entry.uses) {
      if (Contains(earlier, used)) continue;
      sentences.push_back(absl::StrCat(folder, entry.name, " may use ", folder,
                                       used,
                                       ", which is not listed before it"));
    }
    earlier.push_back(entry.name);
  }
}

// Returns the path between <> or "" of an #include line, "" of any other line.
absl::string_view IncludedPath(absl::string_view line) {
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "#")) return "";
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "include")) return "";
  line = absl::StripLeadingAsciiWhitespace(line);
  if (line.empty() || (line[0] != '<' && line[0] != '"')) return "";
  const char close = line[0] == '<' ? '>' : '"';
  line.remove_prefix(1);
  return line.substr(0, line.find(close));
}

// A prefix that ends in "/" is a folder, any other a whole header.
bool Matches(absl::string_view included, absl::string_view prefix) {
  return absl::EndsWith(prefix, "/") ? absl::StartsWith(included, prefix)
                                     : included == prefix;
}

// Returns why a file of `layer`, in `room` of it or in none (nullptr), may not
// include a header of the layer, or "".
std::string RoomObjection(const Layer& layer, const Room* room,
                          absl::string_view included) {
  const absl::string_view used = RoomOf(included);
  if (layer.rooms.empty() || used.empty()) return "";
  if (room == nullptr) {
    return absl::StrCat("which files of tara/", layer.name,
                        " that are in no room may not use");
  }
  if (used == room->name || Contains(room->uses, used)) return "";
  return absl::StrCat("which tara/", layer.name, "/", room->name,
                      " may not use");
}

// Returns why a file at `path` of `layer` may not include `included`, or "".
std::string Objection(absl::string_view path, const Layer& layer,
                      absl::string_view included) {
  if (LayerOf(included) == layer.name) {
    return RoomObjection(layer, Find(layer.rooms, RoomOf(path)), included);
  }
  const absl::string_view used = absl::StartsWith(included, "proto/")
                                     ? absl::string_view("proto")
                                     : LayerOf(included);
  if (!used.empty() && !Contains(layer.uses, used)) {
    return absl::StrCat("which tara/", layer.name, " may not use");
  }
  const absl::string_view room = RoomOf(path);
  const std::string folder =
      absl::StrCat(layer.name, room.empty() ? "" : "/", room);
  for (const Restriction& restriction : Restrictions()) {
    const bool applies = std::any_of(
        restriction.prefixes.begin(), restriction.prefixes.end(),
        [&](absl::string_view prefix) { return Matches(included, prefix); });
    if (!applies) continue;
    if (!Contains(restriction.folders, layer.name) &&
        !Contains(restriction.folders, folder)) {
      return absl::StrCat("which is ", restriction.library, ": not for tara/",
                          folder);
    }
    const bool private_header =
        layer.name == "nn" && absl::EndsWith(path, "_torch.h");
    if (!restriction.in_any_header && absl::EndsWith(path, ".h") &&
        !private_header) {
      return absl::StrCat("which is ", restriction.library,
                          ": only for sources and nn's *_torch.h");
    }
  }
  return "";
}

// Returns the name in "namespace NAME {" at the beginning of a line; "" for
// any other line, an alias and an anonymous namespace.
absl::string_view OpenedNamespace(absl::string_view line) {
  if (!absl::ConsumePrefix(&line, "namespace ") ||
      !absl::ConsumeSuffix(&line, " {")) {
    return "";
  }
  return line;
}

// A comment may follow.
bool IsForwardDeclaration(absl::string_view line) {
  const absl::string_view code =
      absl::StripAsciiWhitespace(line.substr(0, line.find("//")));
  return (absl::StartsWith(code, "class ") ||
          absl::StartsWith(code, "struct ")) &&
         absl::EndsWith(code, ";") && !absl::StrContains(code, "{");
}

// Whether only forward declarations, blank lines and comments stand in the
// namespace that `lines[opened]` opens, up to the line that closes it.
bool OnlyDeclaresForward(const Names& lines, size_t opened) {
  for (size_t i = opened + 1; i < lines.size(); ++i) {
    if (absl::StartsWith(lines[i], "}")) return true;
    if (!lines[i].empty() && !absl::StartsWith(lines[i], "//") &&
        !IsForwardDeclaration(lines[i])) {
      return false;
    }
  }
  return true;
}

// Returns whether files of `layer` may define names in `name`.
bool IsNamespaceOf(const Layer& layer, absl::string_view name) {
  if (layer.name == "base" || layer.name == "core") {
    if (name == "tara") return true;
    if (!absl::ConsumePrefix(&name, "tara::")) return false;
    return Find(Layers(), name.substr(0, name.find("::"))) == nullptr;
  }
  return absl::ConsumePrefix(&name, "tara::") &&
         absl::ConsumePrefix(&name, layer.name) &&
         (name.empty() || absl::StartsWith(name, "::"));
}

// Returns the name of the class, struct or enum, such as "Tree" or
// "Tree::Impl", whose definition or declaration begins on `line`, or "".
absl::string_view TypeBegunOn(absl::string_view line) {
  if (!absl::ConsumePrefix(&line, "class ") &&
      !absl::ConsumePrefix(&line, "struct ") &&
      !absl::ConsumePrefix(&line, "enum class ") &&
      !absl::ConsumePrefix(&line, "enum ")) {
    return "";
  }
  absl::ConsumePrefix(&line, "alignas(");  // alignas(64) Name
  const size_t closed = line.find(") ");
  if (closed != absl::string_view::npos &&
      absl::ascii_isdigit(static_cast<unsigned char>(line.front()))) {
    line.remove_prefix(closed + 2);
  }
  size_t length = 0;
  while (length < line.size() &&
         (absl::ascii_isalnum(static_cast<unsigned char>(line[length])) ||
          line[length] == '_' || line[length] == ':')) {
    ++length;
  }
  // A specialization defines no name.
  return line.substr(length, 1) == "<" ? "" : line.substr(0, length);
}

}  // namespace

std::vector<std::string> FindLayerViolations(absl::string_view path,
                                             absl::string_view source) {
  const absl::string_view name = LayerOf(path);
  const Layer* const layer = Find(Layers(), name);
  if (layer == nullptr) {
    return {absl::StrCat(path, ": tara/", name,
                         " is not a layer of tests/layering/layering.cc")};
  }
  const absl::string_view room = RoomOf(path);
  if (!layer->rooms.empty() && !room.empty() &&
      Find(layer->rooms, room) == nullptr) {
    return {absl::StrCat(path, ": tara/", name, "/", room,
                         " is not a room of tests/layering/layering.cc")};
  }
  std::vector<std::string> violations;
  int line_number = 0;
  for (const absl::string_view line : absl::StrSplit(source, '\n')) {
    ++line_number;
    const absl::string_view included = IncludedPath(line);
    if (included.empty()) continue;
    const std::string objection = Objection(path, *layer, included);
    if (objection.empty()) continue;
    violations.push_back(absl::StrCat(path, ":", line_number, ": includes ",
                                      included, ", ", objection));
  }
  return violations;
}

std::vector<std::string> FindNamespaceViolations(absl::string_view path,
                                                 absl::string_view source) {
  const Layer* const layer = Find(Layers(), LayerOf(path));
  std::vector<std::string> violations;
  if (layer == nullptr) return violations;
  const Names lines = absl::StrSplit(source, '\n');
  bool inside = false;  // a namespace of the layer, so that names are within
  for (size_t i = 0; i < lines.size(); ++i) {
    const absl::string_view name = OpenedNamespace(lines[i]);
    if (absl::StartsWith(lines[i], "}  // namespace tara")) inside = false;
    if (name.empty() || inside) continue;
    // Types become arguments of Python functions by specializations there.
    if (layer->name == "python" && name == "pybind11::detail") continue;
    inside = IsNamespaceOf(*layer, name);
    if (inside || OnlyDeclaresForward(lines, i)) continue;
    violations.push_back(absl::StrCat(path, ":", i + 1, ": namespace ", name,
                                      " is not of tara/", layer->name));
  }
  return violations;
}

std::vector<std::string> FindTypeDefinitions(absl::string_view source) {
  std::vector<std::string> types;
  std::vector<std::string> scopes;  // of namespaces; "" if anonymous
  const Names lines = absl::StrSplit(source, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] == "namespace {") scopes.push_back("");
    const absl::string_view opened = OpenedNamespace(lines[i]);
    if (!opened.empty()) scopes.emplace_back(opened);
    if (absl::StartsWith(lines[i], "}  // namespace") && !scopes.empty()) {
      scopes.pop_back();
    }
    const absl::string_view name = TypeBegunOn(lines[i]);
    if (name.empty() || Contains({scopes.begin(), scopes.end()}, "")) continue;
    for (size_t j = i; j < lines.size(); ++j) {
      const absl::string_view code = lines[j].substr(0, lines[j].find("//"));
      const size_t brace_or_end = code.find_first_of("{;");
      if (brace_or_end == absl::string_view::npos) continue;
      if (code[brace_or_end] == '{') {
        types.push_back(absl::StrCat(absl::StrJoin(scopes, "::"), "::", name));
      }
      break;
    }
  }
  return types;
}

std::vector<std::string> FindForwardUses() {
  std::vector<std::string> sentences;
  AppendForwardUses("tara/", Layers(), sentences);
  for (const Layer& layer : Layers()) {
    AppendForwardUses(absl::StrCat("tara/", layer.name, "/"), layer.rooms,
                      sentences);
  }
  return sentences;
}

}  // namespace tara
