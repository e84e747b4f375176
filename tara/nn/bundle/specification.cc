#include "tara/nn/bundle/specification.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "tara/base/json.h"
#include "tara/base/text.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rule_options.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/specification_page_template.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

using Json = nlohmann::ordered_json;

Json Text(absl::string_view text) { return std::string(text); }

Json HillsToJson() {
  Json hills = Json::array();
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    hills.push_back({{"name", HillToText(hill)},
                     {"file", FileOf(hill)},
                     {"rank", RankOf(hill)}});
  }
  return hills;
}

template <typename Features>
Json FeaturesToJson(const Features& features) {
  Json json = Json::array();
  for (const FeatureInfo& feature : features) {
    json.push_back(
        {{"name", Text(feature.name)}, {"meaning", Text(feature.meaning)}});
  }
  return json;
}

Json ActionsToJson() {
  Json actions = Json::array();
  for (int i = 0; i < kNumActions; ++i) {
    const auto action = static_cast<Action>(i);
    const ActionParts parts = Parts(action);
    const auto hill = [](int h) { return h < 0 ? Json() : Json(h); };
    actions.push_back({{"notation", ActionToText(action)},
                       {"kind", Text(ActionKindName(parts.kind))},
                       {"from", hill(parts.from)},
                       {"to", hill(parts.to)}});
  }
  return actions;
}

Json OutputsToJson(bool has_owner) {
  Json outputs = Json::array();
  const auto infos = NetworkOutputInfos(has_owner);
  for (size_t i = 0; i < infos.size(); ++i) {
    Json shape = Json::array({"batch"});
    for (const int64_t axis : infos[i].axes) shape.push_back(axis);
    outputs.push_back({{"name", Text(kOutputTexts[i].name)},
                       {"shape", std::move(shape)},
                       {"meaning", Text(kOutputTexts[i].meaning)},
                       {"normalisation", Text(kOutputTexts[i].normalisation)},
                       {"perspective", Text(kOutputTexts[i].perspective)}});
  }
  return outputs;
}

Json ToFirstSeat(Variant variant) {
  const int seats = Info(variant).seats;
  Json by_seat = Json::array();
  for (int seat = 0; seat < seats; ++seat) {
    Json symmetries = Json::array();
    for (const Symmetry& symmetry : PositionSymmetries(variant)) {
      if ((seat + symmetry.seat_shift) % seats != 0) continue;
      symmetries.push_back(
          {{"board", symmetry.board}, {"seat_shift", symmetry.seat_shift}});
    }
    by_seat.push_back(std::move(symmetries));
  }
  return by_seat;
}

void AddSymmetries(Json& json) {
  for (int board = 0; board < kNumBoardTransforms; ++board) {
    json["hill_transforms"].push_back(kHillTransforms[board]);
    json["action_transforms"].push_back(kActionTransforms[board]);
  }
  for (const VariantInfo& info : kVariants) {
    json["to_first_seat"][std::string(info.id)] = ToFirstSeat(info.variant);
  }
}

Json SpecificationOf(const BundleManifest& manifest) {
  Json json;
  json["perspective"] = Text(kPerspectiveText);
  json["normalisation"] = Text(kNormalisationText);
  json["symmetry"] = Text(kSymmetryText);
  json["hills"] = HillsToJson();
  json["planes"] = FeaturesToJson(kPlanes);
  json["globals"] = FeaturesToJson(kGlobals);
  json["actions"] = ActionsToJson();
  json["outputs"] = OutputsToJson(manifest.has_owner);
  AddSymmetries(json);
  return json;
}

// Returns a list of a specification without its sentences, and as long as
// `size` at most.
Json WithoutSentences(const Json& list, size_t size) {
  Json rest = Json::array();
  for (size_t i = 0; i < std::min(list.size(), size); ++i) {
    Json entry = list[i];
    if (entry.is_object()) {
      for (const char* const name :
           {"meaning", "normalisation", "perspective"}) {
        entry.erase(name);
      }
    }
    rest.push_back(std::move(entry));
  }
  return rest;
}

}  // namespace

std::string SpecificationToJson(const BundleManifest& manifest) {
  const Json json = SpecificationOf(manifest);
  // An entry a line: readable, and small.
  std::string text = "{\n";
  for (const auto& [name, value] : json.items()) {
    absl::StrAppend(&text, text.size() > 2 ? ",\n" : "", "\"", name, "\": ");
    if (!value.is_array()) {
      text += value.dump();
      continue;
    }
    const char* separator = "[\n";
    for (const Json& entry : value) {
      absl::StrAppend(&text, separator, entry.dump());
      separator = ",\n";
    }
    text += "]";
  }
  return text + "\n}\n";
}

absl::Status CheckSpecification(const BundleManifest& manifest,
                                absl::string_view text) {
  const absl::StatusOr<Json> found = ParseJson<Json>(text);
  if (!found.ok()) {
    return absl::DataLossError(
        absl::StrCat("specification.json: ", found.status().message()));
  }
  const Json specification = SpecificationOf(manifest);
  for (const auto& [name, expected] : specification.items()) {
    if (expected.is_string()) continue;  // a sentence
    size_t size = std::string::npos;
    if (name == "planes") size = static_cast<size_t>(manifest.inputs.planes);
    if (name == "globals") size = static_cast<size_t>(manifest.inputs.globals);
    const auto part = found->is_object() ? found->find(name) : found->end();
    if (part != found->end() &&
        (expected.is_array()
             ? part->is_array() && WithoutSentences(*part, size) ==
                                       WithoutSentences(expected, size)
             : *part == expected)) {
      continue;
    }
    return absl::DataLossError(
        absl::StrCat("specification.json: '", name,
                     "' is missing or is not what this "
                     "program's networks of these versions have"));
  }
  return absl::OkStatus();
}

namespace {

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(
      ValidUtf8(text),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string Code(absl::string_view text) {
  return absl::StrCat("<code>", Escaped(text), "</code>");
}

std::string Row(const std::vector<std::string>& cells) {
  return absl::StrCat("<tr><td>", absl::StrJoin(cells, "</td><td>"),
                      "</td></tr>\n");
}

template <typename Features>
std::string FeatureRows(const Features& features) {
  std::string rows;
  for (size_t i = 0; i < features.size(); ++i) {
    absl::StrAppend(&rows, "<tr><td class=\"n\">", i, "</td><td>",
                    Code(features[i].name), "</td><td>",
                    Escaped(features[i].meaning), "</td></tr>\n");
  }
  return rows;
}

std::string OutputRows(bool has_owner) {
  std::string rows;
  const auto infos = NetworkOutputInfos(has_owner);
  for (size_t i = 0; i < infos.size(); ++i) {
    const OutputText& text = kOutputTexts[i];
    rows += Row({Code(text.name),
                 Code(absl::StrCat("[batch, ",
                                   absl::StrJoin(infos[i].axes, ", "), "]")),
                 Escaped(text.meaning), Escaped(text.normalisation),
                 Escaped(text.perspective)});
  }
  return rows;
}

// The hills with their names and indices, north up.
std::string BoardDrawing() {
  constexpr int kStep = 56;
  std::string svg = absl::StrFormat(
      "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"The 45 hills with "
      "their names and indices\">\n",
      kStep * kBoardSize, kStep * kBoardSize);
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    const int x = kStep * FileOf(hill) + kStep / 2;
    const int y = kStep * (kBoardSize - 1 - RankOf(hill)) + kStep / 2;
    absl::StrAppendFormat(
        &svg,
        "<circle cx=\"%d\" cy=\"%d\" r=\"24\"/><text x=\"%d\" y=\"%d\">%s"
        "</text><text class=\"n\" x=\"%d\" y=\"%d\">%d</text>\n",
        x, y, x, y + 2, HillToText(hill), x, y + 15, int{hill});
  }
  return svg + "</svg>";
}

std::string ActionLists() {
  struct Part {
    const char* title;
    int first;
    int end;
    bool open;
  };
  constexpr std::array kParts = {
      Part{"Hills", 0, kFirstKingMove, true},
      Part{"King moves", kFirstKingMove, kFirstSacrifice, false},
      Part{"King moves with sacrifice", kFirstSacrifice, kFirstLink, false},
      Part{"Links", kFirstLink, kPassIndex, false},
      Part{"Pass", kPassIndex, kNumActions, true}};
  std::string lists;
  for (const Part& part : kParts) {
    absl::StrAppend(
        &lists, "<details", part.open ? " open" : "", "><summary>", part.title,
        ": ", part.first,
        part.end - part.first > 1 ? absl::StrCat(" to ", part.end - 1) : "",
        "</summary><p class=\"actions\">\n");
    for (int i = part.first; i < part.end; ++i) {
      absl::StrAppend(&lists, "<i>", i, "</i>",
                      ActionToText(static_cast<Action>(i)), "<br>\n");
    }
    lists += "</p></details>\n";
  }
  return lists;
}

std::string VariantRows(const std::vector<BundleVariant>& variants) {
  std::string rows;
  for (const BundleVariant& variant : variants) {
    const VariantInfo& info = Info(variant.variant);
    std::vector<std::string> options = LearnedOptionTexts(variant);
    for (std::string& text : options) text = Code(text);
    rows +=
        Row({Code(info.id), Escaped(info.name), absl::StrJoin(options, ", ")});
  }
  return rows;
}

std::string ProvenanceRows(const BundleProvenance& provenance) {
  std::string rows;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) rows += Row({name, Escaped(value)});
  };
  add("run", provenance.run);
  add("checkpoint", provenance.checkpoint);
  add("begun with", provenance.begun_with);
  add("its CRC-32C", provenance.begun_with_crc32c);
  add("generation", absl::StrCat(provenance.generation));
  add("steps of learning", absl::StrCat(provenance.steps));
  add("samples", absl::StrCat(provenance.samples));
  if (provenance.games) add("games", absl::StrCat(*provenance.games));
  if (provenance.seed) add("seed", absl::StrCat(*provenance.seed));
  if (provenance.training_seconds) {
    add("training time",
        absl::StrFormat("%.0f s (wall time)", *provenance.training_seconds));
  }
  if (provenance.processor_seconds) {
    add("processor time",
        absl::StrFormat("%.0f s", *provenance.processor_seconds));
  }
  for (const BundleScore& score : provenance.scores) {
    add("score",
        absl::StrFormat(
            "%s against %s: %.1f %% of %d games (95 %% interval %.1f "
            "to %.1f) after generation %d",
            score.variant, score.opponent, 100 * score.score, score.games,
            100 * score.low, 100 * score.high, score.generation));
  }
  if (!provenance.config.empty()) {
    absl::StrAppend(&rows, "<tr><td>config</td><td><details><summary>text",
                    "</summary><pre>", Escaped(provenance.config),
                    "</pre></details></td></tr>\n");
  }
  return rows;
}

}  // namespace

std::string SpecificationToPage(const BundleManifest& manifest) {
  const std::string network = absl::StrFormat(
      "%d channels x %d blocks, %d parameters, weights of %s; made by %s",
      manifest.shape.channels, manifest.shape.blocks, manifest.parameters,
      WeightTypeName(manifest.weights), manifest.made_by);
  // Texts of a bundle may hold "{{": all are put in at once.
  return absl::StrReplaceAll(
      SpecificationPageTemplate(),
      {{"{{network}}", Escaped(network)},
       {"{{perspective}}", Escaped(kPerspectiveText)},
       {"{{symmetry}}", Escaped(kSymmetryText)},
       {"{{normalisation}}", Escaped(kNormalisationText)},
       {"{{board}}", BoardDrawing()},
       {"{{num_planes}}", absl::StrCat(kNumPlanes)},
       {"{{num_globals}}", absl::StrCat(kNumGlobals)},
       {"{{planes}}", FeatureRows(kPlanes)},
       {"{{globals}}", FeatureRows(kGlobals)},
       {"{{outputs}}", OutputRows(manifest.has_owner)},
       {"{{actions}}", ActionLists()},
       {"{{variants}}", VariantRows(manifest.variants)},
       {"{{provenance}}", ProvenanceRows(manifest.provenance)}});
}

}  // namespace tara::nn
