#ifndef TARA_TRAIN_CONFIG_CONFIG_H_
#define TARA_TRAIN_CONFIG_CONFIG_H_

// The configuration of a training run: read strictly, completed, checked.
// Fields, with their defaults and values: proto/config.proto.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/config.pb.h"

namespace tara::train {

// Returns the config of a text-format file, changed by overrides in the form
// "path.to.field=value" (FieldToText), with every field filled in:
// defaults, "all" written out, the number of cores, the run's folder. Returns
// NOT_FOUND or another system error for a file that cannot be read,
// INVALID_ARGUMENT for an unknown or ill-typed field (file:line:column and the
// fields there are), a bad override, or a value out of range (field, value,
// what was expected).
absl::StatusOr<proto::TrainConfig> LoadTrainConfig(
    const std::string& path, absl::Span<const std::string> overrides);

// Reads a message in text format. Returns INVALID_ARGUMENT with
// file:line:column and, for an unknown field, the fields there are. `kind` is
// what the file holds: "a training config".
absl::Status ParseText(absl::string_view text, const std::string& path,
                       absl::string_view kind,
                       google::protobuf::Message& message);

// As LoadTrainConfig, of a text; `path` is for messages and the folder's name.
absl::StatusOr<proto::TrainConfig> ParseTrainConfig(
    absl::string_view text, const std::string& path,
    absl::Span<const std::string> overrides);

// Returns a config as text that ParseTrainConfig reads, for the run's folder.
std::string ConfigToText(const proto::TrainConfig& config);

// Checks that a run that was started with the resolved config `before` may
// continue with `now`: the fields that determine its games and weights must be
// the same.
// Returns FAILED_PRECONDITION naming the field and both values.
absl::Status CheckResumable(const proto::TrainConfig& before,
                            const proto::TrainConfig& now);

// Returns an error with `prefix` before its message; OK is OK.
absl::Status Prefixed(absl::string_view prefix, const absl::Status& status);

// The fields of a config, as proto/config.proto declares them, and their values
// by path, such as "self_play.search.simulations".

struct ConfigField {
  std::string path;
  const google::protobuf::FieldDescriptor* field;
  // If the field is an option of the search, includes that option's
  // declaration.
  proto::FieldInfo info;
};

// Returns all fields of proto::TrainConfig except messages, in its order.
absl::Span<const ConfigField> ConfigFields();

// Returns the name of a field's type: "uint32", "string, repeated".
std::string FieldType(const google::protobuf::FieldDescriptor& field);

// Returns OK, or INVALID_ARGUMENT naming path, value and what was expected, if
// a value is not a declared one. Lists are not checked.
absl::Status CheckValue(const ConfigField& field, absl::string_view text);

// A field of a message, and the message, which is `root` or a part of it.
struct ProtoField {
  google::protobuf::Message* message;
  const google::protobuf::FieldDescriptor* field;
};

// Finds a field that is not a message; creates the messages that contain it.
// Returns INVALID_ARGUMENT naming the wrong element of the path and the
// existing fields.
absl::StatusOr<ProtoField> FindField(google::protobuf::Message& root,
                                     absl::string_view path);

// Returns the value as an override has it: strings without quotes, the values
// of a repeated field between commas ("\," is a comma in a value). Numbers are
// read back exactly.
std::string FieldToText(const ProtoField& field);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_CONFIG_H_
