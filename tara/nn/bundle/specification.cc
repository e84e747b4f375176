#include "tara/nn/bundle/specification.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/bundle/network_outputs.h"
#include "tara/nn/bundle/specification_text.h"
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

}  // namespace

std::string SpecificationToJson(const BundleManifest& manifest) {
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

}  // namespace tara::nn
