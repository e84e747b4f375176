#ifndef TARA_TRAIN_CONFIG_CONFIG_FIELDS_H_
#define TARA_TRAIN_CONFIG_CONFIG_FIELDS_H_

// The fields of a config, as proto/config.proto declares them, and their values
// by path, such as "self_play.search.simulations".

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/config.pb.h"

namespace tara::train {

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

// Returns the names of a message's fields, separated by ", ".
std::string FieldNames(const google::protobuf::Descriptor& type);

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

// Whether a field is set or, if it is repeated, has elements.
bool IsGiven(const ProtoField& field);

// Sets a field from text. Strings need no quotes. A repeated field is replaced
// by the values between commas ("\," is a comma in a value); none if empty.
// Returns INVALID_ARGUMENT, naming the type, for a value of another type.
absl::Status SetField(const ProtoField& field, absl::string_view text);

// Returns the value as SetField reads it; numbers are read back exactly.
std::string FieldToText(const ProtoField& field);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_CONFIG_FIELDS_H_
