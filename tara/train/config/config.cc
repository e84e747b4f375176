#include "tara/train/config/config.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tara/base/atomic_file.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/variant.h"
#include "tara/train/config/config_check.h"
#include "tara/train/config/config_fields.h"
#include "tara/train/config/proto_path.h"

namespace tara::train {
namespace {

// Keeps the first error of the text-format parser.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  explicit FirstError(std::string path) : path_(std::move(path)) {}

  // Lines and columns from 0; line -1: the text as a whole.
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    const std::string place =
        line < 0 ? path_ : absl::StrCat(path_, ":", line + 1, ":", column + 1);
    text_ = absl::StrCat(place, ": ", message, FieldsOfNamedType(message));
  }

  const std::string& text() const { return text_; }

 private:
  // The parser names the message type that lacks a field in quotes: returns
  // the fields that the type has, or "" if the error is another.
  static std::string FieldsOfNamedType(const std::string& message) {
    if (message.find("has no field named") == std::string::npos) return "";
    for (const std::string& word :
         std::vector<std::string>(absl::StrSplit(message, '"'))) {
      const google::protobuf::Descriptor* const type =
          google::protobuf::DescriptorPool::generated_pool()
              ->FindMessageTypeByName(word);
      if (type != nullptr) return absl::StrCat(" It has: ", FieldNames(*type));
    }
    return "";
  }

  const std::string path_;
  std::string text_;
};

absl::Status ApplyOverride(const std::string& text,
                           proto::TrainConfig& config) {
  const std::vector<std::string> parts =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  if (parts.size() != 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "bad override '", text, "'; expected path.to.field=value"));
  }
  const absl::StatusOr<ProtoField> field = FindField(config, parts[0]);
  const absl::Status status =
      field.ok() ? SetField(*field, parts[1]) : field.status();
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat("bad override '", text, "': ", status.message()));
}

std::string RangeText(const ConfigField& field) {
  // 15 digits: whole numbers of this size are not rounded.
  return absl::StrFormat("%.15g to %.15g", field.min_value, field.max_value);
}

// Finds a field of the table, which a test compares with the message.
ProtoField Find(const ConfigField& field, proto::TrainConfig& config) {
  const absl::StatusOr<ProtoField> found = FindField(config, field.path);
  TARA_CHECK(found.ok(), "the table of fields has a bad path");
  return *found;
}

// Returns what "runs/NAME-VARIANT" ends in.
std::string VariantsName(const proto::TrainConfig& config) {
  if (config.variant_size() == kNumVariants) return "all";
  return absl::StrJoin(config.variant(), "+");
}

absl::Status ResolveVariants(proto::TrainConfig& config) {
  if (config.variant_size() == 1 && config.variant(0) == "all") {
    config.clear_variant();
    for (const VariantInfo& info : kVariants) {
      config.add_variant(std::string(info.id));
    }
  }
  std::set<std::string> seen;
  for (const std::string& id : config.variant()) {
    const absl::Status status = ParseVariant(id).status();
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("variant: ", status.message(), ", or all (alone)"));
    }
    if (!seen.insert(id).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("variant: ", id, " is listed twice"));
    }
  }
  return absl::OkStatus();
}

// Fills in what was not given.
absl::Status Resolve(const std::string& path, proto::TrainConfig& config) {
  proto::SelfPlayConfig& self_play = *config.mutable_self_play();
  if (!self_play.has_autopilot()) {
    self_play.set_autopilot(!self_play.has_threads() &&
                            !self_play.has_games_per_thread());
  }
  for (const ConfigField& field : ConfigFields()) {
    const ProtoField target = Find(field, config);
    if (IsGiven(target) || field.default_value.empty()) continue;
    TARA_CHECK(SetField(target, field.default_value).ok(), "bad default");
  }
  TARA_RETURN_IF_ERROR(ResolveVariants(config));
  const uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
  if (!config.self_play().has_threads()) {
    config.mutable_self_play()->set_threads(cores);
  }
  if (!config.learner().has_threads()) {
    config.mutable_learner()->set_threads(cores);
  }
  if (!config.has_run_dir()) {
    config.set_run_dir(absl::StrCat("runs/",
                                    std::filesystem::path(path).stem().string(),
                                    "-", VariantsName(config)));
  }
  return absl::OkStatus();
}

absl::Status Validate(proto::TrainConfig& config) {
  for (const ConfigField& field : ConfigFields()) {
    const ProtoField target = Find(field, config);
    if (!IsNumber(target)) continue;
    const double value = FieldToNumber(target);
    // Written so that NaN fails too.
    if (value >= field.min_value && value <= field.max_value) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(field.path, ": ", FieldToText(target),
                     " is out of range; expected ", RangeText(field)));
  }
  if (config.run_dir().empty()) {
    return absl::InvalidArgumentError("run_dir: empty; expected a folder");
  }
  return CheckConfig(config);
}

}  // namespace

absl::StatusOr<proto::TrainConfig> LoadTrainConfig(
    const std::string& path, absl::Span<const std::string> overrides) {
  TARA_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  return ParseTrainConfig(text, path, overrides);
}

absl::StatusOr<proto::TrainConfig> ParseTrainConfig(
    absl::string_view text, const std::string& path,
    absl::Span<const std::string> overrides) {
  proto::TrainConfig config;
  FirstError error(path);
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(std::string(text), &config)) {
    return absl::InvalidArgumentError(error.text());
  }
  for (const std::string& one : overrides) {
    TARA_RETURN_IF_ERROR(ApplyOverride(one, config));
  }
  // Values come from the file and from overrides: neither alone is the place.
  absl::Status status = Resolve(path, config);
  if (status.ok()) status = Validate(config);
  if (status.ok()) return config;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", status.message()));
}

std::string ConfigToText(const proto::TrainConfig& config) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(config, &text);
  return absl::StrCat("# The config of this run with every field filled in.\n",
                      text);
}

std::string DescribeConfig() {
  proto::TrainConfig config;
  std::string text;
  for (const ConfigField& field : ConfigFields()) {
    const ProtoField target = Find(field, config);
    absl::StrAppendFormat(&text, "  %s (%s", field.path, FieldType(target));
    if (IsNumber(target)) absl::StrAppend(&text, ", ", RangeText(field));
    if (!field.default_value.empty()) {
      absl::StrAppend(&text, ", default ", field.default_value);
    }
    absl::StrAppend(&text, ")\n      ", field.help, "\n");
  }
  return text;
}

absl::Status CheckResumable(const proto::TrainConfig& before,
                            const proto::TrainConfig& now) {
  // Copies, because finding a field needs a message that it may complete.
  proto::TrainConfig old_config = before;
  proto::TrainConfig new_config = now;
  for (const ConfigField& field : ConfigFields()) {
    if (!field.is_fixed) continue;
    const std::string old_value = FieldToText(Find(field, old_config));
    const std::string new_value = FieldToText(Find(field, new_config));
    if (old_value == new_value) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(field.path, ": the run was started with ", old_value,
                     " and cannot go on with ", new_value,
                     "; restore the value or choose another run_dir"));
  }
  return absl::OkStatus();
}

}  // namespace tara::train
