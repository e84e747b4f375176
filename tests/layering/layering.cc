#include "tests/layering/layering.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace tara {
namespace {

using Names = std::vector<absl::string_view>;

// A folder under tara/, and what it may use of ours: other folders under tara/,
// and "proto" for the generated messages.
struct Layer {
  absl::string_view name;
  Names uses;
};

const std::vector<Layer>& Layers() {
  static const auto* const layers = new std::vector<Layer>{
      {"base", {}},
      {"core", {"base"}},
      {"record", {"base", "core", "proto"}},
      {"mcts", {"base", "core"}},
      {"nn", {"base", "core", "mcts", "proto"}},
      {"train", {"base", "core", "record", "mcts", "nn", "proto"}},
      {"eval", {"base", "core", "record", "mcts", "nn", "proto"}},
      {"engine", {"base", "core", "record", "mcts", "nn", "proto"}},
      {"cli",
       {"base", "core", "record", "mcts", "nn", "train", "eval", "engine",
        "proto"}},
  };
  return *layers;
}

// Headers of others that only some files may include.
struct Restriction {
  absl::string_view library;
  Names prefixes;  // of the included path
  Names layers;    // that may include it
  // Within them, headers may too, or else only sources and *_torch.h.
  bool in_any_header;
};

const std::vector<Restriction>& Restrictions() {
  static const auto* const restrictions = new std::vector<Restriction>{
      // 10-20 s and 1 GB for each file that sees it.
      {"LibTorch", {"torch/", "ATen/", "c10/"}, {"nn", "train"}, false},
      {"oneDNN", {"dnnl.h", "dnnl.hpp", "oneapi/"}, {"nn"}, true},
      {"ONNX", {"onnx/"}, {"nn"}, true},
      {"libzip", {"zip.h"}, {"nn"}, true},
      {"SQLite", {"sqlite3.h"}, {"base"}, true},
      {"Eigen", {"Eigen/", "unsupported/Eigen/"}, {"eval"}, true},
      {"Protobuf",
       {"google/protobuf/"},
       {"record", "nn", "train", "eval", "engine", "cli"},
       true},
      // The core has neither threads nor files.
      {"a thread or file header",
       {"absl/synchronization/", "condition_variable", "filesystem", "fstream",
        "future", "mutex", "shared_mutex", "thread"},
       {"base", "record", "mcts", "nn", "train", "eval", "engine", "cli"},
       true},
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

// Returns why a file at `path` of `layer` may not include `included`, or "".
std::string Objection(absl::string_view path, const Layer& layer,
                      absl::string_view included) {
  const absl::string_view used = absl::StartsWith(included, "proto/")
                                     ? absl::string_view("proto")
                                     : LayerOf(included);
  if (!used.empty() && used != layer.name && !Contains(layer.uses, used)) {
    return absl::StrCat("which tara/", layer.name, " may not use");
  }
  for (const Restriction& restriction : Restrictions()) {
    const bool applies = std::any_of(
        restriction.prefixes.begin(), restriction.prefixes.end(),
        [&](absl::string_view prefix) { return Matches(included, prefix); });
    if (!applies) continue;
    if (!Contains(restriction.layers, layer.name)) {
      return absl::StrCat("which is ", restriction.library, ": not for tara/",
                          layer.name);
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

}  // namespace

std::vector<std::string> FindLayerViolations(absl::string_view path,
                                             absl::string_view source) {
  const absl::string_view name = LayerOf(path);
  const auto layer =
      std::find_if(Layers().begin(), Layers().end(),
                   [&](const Layer& other) { return other.name == name; });
  if (layer == Layers().end()) {
    return {absl::StrCat(path, ": tara/", name,
                         " is not a layer of tests/layering/layering.cc")};
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

}  // namespace tara
