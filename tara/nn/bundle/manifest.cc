#include "tara/nn/bundle/manifest.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_integers.h"
#include "third_party/crc32c/crc32c.h"

namespace tara::nn {
namespace {

// Returns "compensation=-3..3/5": values next to each other are a range.
std::string OptionText(const RuleOptionInfo& option,
                       const std::set<int>& values) {
  std::vector<std::string> ranges;
  for (auto from = values.begin(); from != values.end();) {
    auto to = from;
    while (std::next(to) != values.end() && *std::next(to) == *to + 1) ++to;
    const std::string first = FormatRuleOptionValue(option, *from);
    const std::string last = FormatRuleOptionValue(option, *to);
    const bool is_range = !option.is_switch() && *to > *from + 1;
    ranges.push_back(is_range     ? absl::StrCat(first, "..", last)
                     : from == to ? first
                                  : absl::StrCat(first, "/", last));
    from = std::next(to);
  }
  return absl::StrCat(option.name, "=", absl::StrJoin(ranges, "/"));
}

// Returns the values of an option that were learned with the variant.
std::set<int> ValuesOf(absl::Span<const BundleVariant> learned, Variant variant,
                       const RuleOptionInfo& option) {
  std::set<int> values;
  for (const BundleVariant& each : learned) {
    if (each.variant != variant) continue;
    values.insert(option.get(each.options));
    for (const auto& [drawn, of_drawn] : each.drawn) {
      if (drawn == &option) values.insert(of_drawn.begin(), of_drawn.end());
    }
  }
  return values;
}

bool HasVariant(absl::Span<const BundleVariant> learned, Variant variant) {
  return std::any_of(
      learned.begin(), learned.end(),
      [&](const BundleVariant& each) { return each.variant == variant; });
}

// Whether games with and without the option can both reach the position: for
// the pie rule, once nobody can swap.
bool HasBeenSettled(const RuleOptionInfo& option, const State& state) {
  if (option.name != "pie_rule" || state.options.pie_rule) return false;
  const int ringforts = std::popcount(state.ringforts[0] | state.ringforts[1]);
  return ringforts > 1 || (ringforts == 1 && state.seat == 0);
}

// The rules of a position that a network has not learned, and the ones that it
// has learned instead: variants, or options of the variant, "a=1,b=2".
struct Unlearned {
  std::string asked;
  std::string learned;
};

Unlearned FindUnlearned(absl::Span<const BundleVariant> learned,
                        const State& state) {
  std::vector<std::string> asked, instead;
  if (!HasVariant(learned, state.variant)) {
    for (const VariantInfo& info : kVariants) {
      if (HasVariant(learned, info.variant)) instead.emplace_back(info.id);
    }
    return {std::string(Info(state.variant).id), absl::StrJoin(instead, ", ")};
  }
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(Info(state.variant))) continue;
    const std::set<int> values = ValuesOf(learned, state.variant, option);
    const int value = option.get(state.options);
    if (values.contains(value) || HasBeenSettled(option, state)) continue;
    asked.push_back(OptionText(option, {value}));
    instead.push_back(OptionText(option, values));
  }
  return {absl::StrJoin(asked, ","), absl::StrJoin(instead, ",")};
}

}  // namespace

std::vector<std::string> LearnedOptionTexts(const BundleVariant& variant) {
  std::vector<std::string> texts;
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(Info(variant.variant))) continue;
    texts.push_back(OptionText(
        option,
        ValuesOf(absl::MakeConstSpan(&variant, 1), variant.variant, option)));
  }
  return texts;
}

std::string NotLearned(absl::Span<const BundleVariant> learned,
                       const State& state) {
  return FindUnlearned(learned, state).asked;
}

absl::Status CheckNetworkLearned(const std::string& name,
                                 absl::Span<const BundleVariant> learned,
                                 const State& state) {
  const Unlearned unlearned = FindUnlearned(learned, state);
  if (unlearned.asked.empty()) return absl::OkStatus();
  const absl::string_view variant = Info(state.variant).id;
  return absl::FailedPreconditionError(absl::StrCat(
      name, " has not learned ", unlearned.asked,
      unlearned.asked == variant ? "" : absl::StrCat(" of ", variant),
      "; its run learned ", unlearned.learned));
}

absl::Status CheckGoldenVariants(absl::Span<const GoldenPosition> positions,
                                 absl::Span<const BundleVariant> learned) {
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::string not_learned = NotLearned(learned, positions[i].state);
    if (not_learned.empty()) continue;
    return absl::DataLossError(
        absl::StrCat("golden.json: position ", i, " is of ", not_learned,
                     ", which the manifest does not list as learned"));
  }
  for (const VariantInfo& info : kVariants) {
    const auto found = std::count_if(
        positions.begin(), positions.end(), [&](const GoldenPosition& each) {
          return each.state.variant == info.variant;
        });
    const auto expected = kGoldenPositionsPerVariant *
                          std::count_if(learned.begin(), learned.end(),
                                        [&](const BundleVariant& each) {
                                          return each.variant == info.variant;
                                        });
    if (found == expected) continue;
    return absl::DataLossError(absl::StrCat("golden.json has ", found,
                                            " positions of ", info.id,
                                            "; expected ", expected));
  }
  return absl::OkStatus();
}

namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "tara-bundle";

template <typename... Parts>
absl::Status Damage(const Parts&... parts) {
  return absl::DataLossError(absl::StrCat("manifest.json: ", parts...));
}

struct VersionInfo {
  const char* name;
  const char* meaning;
  int64_t version;
};
constexpr VersionInfo kVersions[] = {
    {"features", "input planes and globals", kFeatureVersion},
    {"policy", "actions and policy outputs", kPolicyVersion},
    {"values", "value outputs", kValueVersion},
    {"rules", "rules of the games", kRulesVersion}};

Json ToJson(const BundleVariant& variant) {
  const VariantInfo& info = Info(variant.variant);
  Json options = Json::object();
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(info)) continue;
    options[std::string(option.name)] = *ParseJson<Json>(
        FormatRuleOptionValue(option, option.get(variant.options)));
  }
  Json json = {{"id", std::string(info.id)},
               {"name", std::string(info.name)},
               {"options", options}};
  for (const auto& [option, values] : variant.drawn) {
    Json& list = json["drawn"][std::string(option->name)] = Json::array();
    for (const int value : values) {
      list.push_back(*ParseJson<Json>(FormatRuleOptionValue(*option, value)));
    }
  }
  return json;
}

Json ToJson(const BundleProvenance& provenance) {
  Json json;
  const auto add = [&json](const char* name, const std::string& value) {
    if (!value.empty()) json[name] = value;
  };
  const auto add_known = [&json](const char* name, const auto& value) {
    if (value) json[name] = *value;
  };
  add("run", provenance.run);
  json["checkpoint"] = provenance.checkpoint;
  add("begun_with", provenance.begun_with);
  add("begun_with_crc32c", provenance.begun_with_crc32c);
  json["generation"] = provenance.generation;
  json["steps"] = provenance.steps;
  json["samples"] = provenance.samples;
  add_known("games", provenance.games);
  add_known("seed", provenance.seed);
  add_known("training_seconds", provenance.training_seconds);
  add_known("processor_seconds", provenance.processor_seconds);
  if (!provenance.config.empty()) {
    json["config_crc32c"] = absl::StrFormat(
        "%08x",
        crc32c::Crc32c(provenance.config.data(), provenance.config.size()));
    json["config"] = provenance.config;
  }
  json["scores"] = Json::array();
  for (const BundleScore& score : provenance.scores) {
    json["scores"].push_back({{"variant", score.variant},
                              {"opponent", score.opponent},
                              {"generation", score.generation},
                              {"games", score.games},
                              {"score", score.score},
                              {"low", score.low},
                              {"high", score.high}});
  }
  return json;
}

// Describes tensors, and adds the files of their golden values.
void DescribeTensors(const std::vector<TensorInfo>& infos, Json& described,
                     Json& files) {
  described = Json::array();
  for (const TensorInfo& info : infos) {
    Json shape = info.axes;
    shape.insert(shape.begin(), "batch");
    described.push_back(
        {{"name", info.name}, {"type", "float32"}, {"shape", shape}});
    files[info.name] = GoldenTensorEntry(info.name);
  }
}

absl::Status CheckVersions(const Json& json) {
  const auto format_version = json.at("format_version").get<int64_t>();
  if (format_version < 1 || format_version > kBundleFormatVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "has format version ", format_version,
        "; this program reads versions 1 to ", kBundleFormatVersion));
  }
  for (const VersionInfo& info : kVersions) {
    const auto version = json.at("versions").at(info.name).get<int64_t>();
    if (version != info.version) {
      return absl::FailedPreconditionError(absl::StrCat(
          "has ", info.name, " version ", version, " (", info.meaning,
          "); this program has version ", info.version));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<BundleVariant> VariantFromJson(const Json& json) {
  BundleVariant variant;
  TARA_ASSIGN_OR_RETURN(variant.variant,
                        ParseVariant(json.at("id").get<std::string>()));
  for (const auto& [name, value] : json.at("options").items()) {
    TARA_RETURN_IF_ERROR(
        SetRuleOption(variant.variant, name, value.dump(), variant.options));
  }
  const Json drawn = json.value("drawn", Json::object());
  for (const auto& [name, values] : drawn.items()) {
    if (values.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("drawn: ", Shown(name), " has no values"));
    }
    OptionValues& of = variant.drawn.emplace_back();
    for (const Json& value : values) {
      RuleOptions options;
      TARA_RETURN_IF_ERROR(
          SetRuleOption(variant.variant, name, value.dump(), options));
      of.option = FindRuleOption(name);
      of.values.push_back(of.option->get(options));
    }
  }
  return variant;
}

BundleProvenance ProvenanceFromJson(const Json& json) {
  const auto read_known = [&json]<typename T>(const char* name,
                                              std::optional<T>& value) {
    if (json.contains(name)) value = json[name].get<T>();
  };
  BundleProvenance provenance;
  provenance.run = json.value("run", "");
  provenance.checkpoint = json.at("checkpoint").get<std::string>();
  provenance.begun_with = json.value("begun_with", "");
  provenance.begun_with_crc32c = json.value("begun_with_crc32c", "");
  provenance.generation = json.at("generation");
  provenance.steps = json.at("steps");
  provenance.samples = json.at("samples");
  provenance.config = json.value("config", "");
  read_known("games", provenance.games);
  read_known("seed", provenance.seed);
  read_known("training_seconds", provenance.training_seconds);
  read_known("processor_seconds", provenance.processor_seconds);
  for (const Json& score : json.value("scores", Json::array())) {
    provenance.scores.push_back({.variant = score.at("variant"),
                                 .opponent = score.at("opponent"),
                                 .generation = score.at("generation"),
                                 .games = score.at("games"),
                                 .score = score.at("score"),
                                 .low = score.at("low"),
                                 .high = score.at("high")});
  }
  return provenance;
}

// Reads how many planes or globals the network has, an input by name.
absl::Status ReadInputCount(const Json& input, int& count) {
  const auto name = input.at("name").get<std::string>();
  const auto read = input.at("shape").at(1).get<int64_t>();
  if (read < 1) {
    return Damage("input ", name, " of ", read, " is impossible");
  }
  if (read > count) {
    return absl::FailedPreconditionError(
        absl::StrCat("has ", read, " ", name, "; this program has the first ",
                     count, " of them"));
  }
  count = static_cast<int>(read);
  return absl::OkStatus();
}

absl::Status ReadNetwork(const Json& json, BundleManifest& manifest) {
  const Json& network = json.at("network");
  manifest.shape = {.channels = network.at("channels").get<int>(),
                    .blocks = network.at("blocks").get<int>()};
  const std::string kind = network.value("kind", "tower");
  if (kind == NetworkKindName(NetworkKind::kLight)) {
    manifest.shape.kind = NetworkKind::kLight;
    const absl::Status shape = CheckLightShape(manifest.shape);
    if (!shape.ok()) return Damage(shape.message());
  } else if (kind != NetworkKindName(NetworkKind::kTower)) {
    return absl::FailedPreconditionError(
        absl::StrCat("has a network of kind ", Shown(kind),
                     "; this program has the kinds tower and light"));
  }
  if (manifest.shape.channels < 1 || manifest.shape.channels > 1024 ||
      manifest.shape.blocks < 1 || manifest.shape.blocks > 100) {
    return Damage("a network of ", manifest.shape.channels, " channels and ",
                  manifest.shape.blocks, " blocks is impossible");
  }
  manifest.parameters = network.at("parameters").get<int64_t>();
  manifest.weights = network.at("weights") == "float16" ? WeightType::kFloat16
                                                        : WeightType::kFloat32;
  for (const Json& input : json.at("inputs")) {
    if (input.at("name") == "planes") {
      TARA_RETURN_IF_ERROR(ReadInputCount(input, manifest.inputs.planes));
    }
    if (input.at("name") == "globals") {
      TARA_RETURN_IF_ERROR(ReadInputCount(input, manifest.inputs.globals));
    }
  }
  for (const Json& output : json.at("outputs")) {
    if (output.at("name") == "owner") manifest.has_owner = true;
  }
  return absl::OkStatus();
}

absl::StatusOr<BundleManifest> FromJson(const Json& json) {
  if (!json.is_object() || json.value("format", "") != kFormat) {
    return absl::DataLossError(absl::StrCat(
        "manifest.json does not have the format \"", kFormat, "\""));
  }
  TARA_RETURN_IF_ERROR(CheckVersions(json));
  BundleManifest manifest;
  manifest.made_by = json.value("made_by", "");
  TARA_RETURN_IF_ERROR(ReadNetwork(json, manifest));
  for (const Json& entry : json.at("variants")) {
    absl::StatusOr<BundleVariant> variant = VariantFromJson(entry);
    if (!variant.ok()) return Damage("variants: ", variant.status().message());
    manifest.variants.push_back(*variant);
  }
  if (manifest.variants.empty()) return Damage("variants is empty");
  manifest.provenance = ProvenanceFromJson(json.at("provenance"));
  return manifest;
}

}  // namespace

std::string GoldenTensorEntry(absl::string_view name) {
  return absl::StrCat("golden/", name, ".npy");
}

std::vector<NamedTensor> LightRangeTensors(const NetworkShape& shape) {
  Checkpoint checkpoint;
  WriteLightRanges(LightRanges(shape.blocks), checkpoint);
  return checkpoint.tensors;
}

std::vector<BundleForm> FormsOf(WeightType weights) {
  return {{.name = "onnx",
           .file = kOnnxEntry,
           .weights = WeightType::kFloat32,
           .tolerance = kExactTolerance},
          {.name = "onnx_float16",
           .file = kOnnxFloat16Entry,
           .weights = WeightType::kFloat16,
           .tolerance = weights == WeightType::kFloat16 ? kExactTolerance
                                                        : kRoundedTolerance}};
}

std::string ManifestToJson(const BundleManifest& manifest) {
  Json json;
  json["format"] = kFormat;
  const bool is_tower = manifest.shape.kind == NetworkKind::kTower;
  json["format_version"] =
      is_tower ? kTowerFormatVersion : kBundleFormatVersion;
  json["made_by"] = manifest.made_by;
  for (const VersionInfo& info : kVersions) {
    json["versions"][info.name] = info.version;
  }
  Json& network = json["network"];
  if (!is_tower) {
    network["kind"] = std::string(NetworkKindName(manifest.shape.kind));
  }
  network["channels"] = manifest.shape.channels;
  network["blocks"] = manifest.shape.blocks;
  network["parameters"] = manifest.parameters;
  network["weights"] = WeightTypeName(manifest.weights);
  json["variants"] = Json::array();
  for (const BundleVariant& variant : manifest.variants) {
    json["variants"].push_back(ToJson(variant));
  }
  Json golden_files;
  DescribeTensors(NetworkInputInfos(manifest.inputs), json["inputs"],
                  golden_files);
  DescribeTensors(NetworkOutputInfos(manifest.has_owner), json["outputs"],
                  golden_files);
  json["forms"] = Json::array();
  for (const BundleForm& form : FormsOf(manifest.weights)) {
    json["forms"].push_back({{"name", form.name},
                             {"file", form.file},
                             {"opset", kOnnxOpset},
                             {"weights", WeightTypeName(form.weights)},
                             {"tolerance", form.tolerance}});
  }
  json["golden"] = {{"file", kGoldenEntry},
                    {"positions", manifest.golden_positions()},
                    {"tensors", golden_files}};
  json["license"] = "Apache-2.0";
  json["provenance"] = ToJson(manifest.provenance);
  return JsonText(json, 2) + "\n";
}

absl::StatusOr<BundleManifest> ManifestFromJson(absl::string_view text) {
  const absl::StatusOr<Json> json = ParseJson<Json>(text);
  if (!json.ok()) return Damage(json.status().message());
  try {
    return FromJson(*json);
  } catch (const Json::exception& error) {
    return Damage(JsonProblem(error));
  }
}

}  // namespace tara::nn
