#ifndef TARA_TRAIN_CONFIG_PROTO_PATH_H_
#define TARA_TRAIN_CONFIG_PROTO_PATH_H_

// Fields of Protobuf messages by path, such as "self_play.search.simulations".

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace tara::train {

// A field of a message, and the message, which is `root` or a part of it.
struct ProtoField {
  google::protobuf::Message* message;
  const google::protobuf::FieldDescriptor* field;
};

// Finds a field that is no message itself; creates the messages on the way.
// Returns INVALID_ARGUMENT naming the element of the path that is wrong and
// the fields that there are.
absl::StatusOr<ProtoField> FindField(google::protobuf::Message& root,
                                     absl::string_view path);

// Whether a field has been given: set, or with elements.
bool IsGiven(const ProtoField& field);

// Sets a field from text. Strings need no quotes. A repeated field is replaced
// by the values between commas ("\," is a comma in a value); none if empty.
// Returns INVALID_ARGUMENT, naming the type, for a value of another type.
absl::Status SetField(const ProtoField& field, absl::string_view text);

// Returns the value as SetField reads it.
std::string FieldToText(const ProtoField& field);

// Returns the value of a field of numbers. REQUIRES: IsNumber(field).
double FieldToNumber(const ProtoField& field);
bool IsNumber(const ProtoField& field);

// Returns the name of the type: "uint32", "string, repeated".
std::string FieldType(const ProtoField& field);

// Returns the names of a message's fields, separated by ", ".
std::string FieldNames(const google::protobuf::Descriptor& type);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_PROTO_PATH_H_
