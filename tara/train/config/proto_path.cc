#include "tara/train/config/proto_path.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"

namespace tara::train {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

absl::Status WrongType(const ProtoField& field, absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("bad value '", text, "'; expected a ",
                   field.field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL
                       ? "switch: true or false"
                       : field.field->type_name()));
}

// Sets a singular field, or adds to a repeated one, by the two methods of
// Reflection.
template <typename Setter, typename Adder, typename Value>
absl::Status Assign(const ProtoField& field, Setter set, Adder add,
                    const Value& value) {
  const Reflection& reflection = *field.message->GetReflection();
  if (field.field->is_repeated()) {
    (reflection.*add)(field.message, field.field, value);
  } else {
    (reflection.*set)(field.message, field.field, value);
  }
  return absl::OkStatus();
}

// As Assign, of a number that is parsed from text.
template <typename Value, typename Setter, typename Adder, typename Parser>
absl::Status AssignParsed(const ProtoField& field, absl::string_view text,
                          Setter set, Adder add, Parser parse) {
  Value value{};
  if (!parse(text, &value)) return WrongType(field, text);
  return Assign(field, set, add, value);
}

bool ParseSwitch(absl::string_view text, bool* value) {
  *value = text == "true";
  return text == "true" || text == "false";
}

// Sets a singular field or adds an element to a repeated one.
absl::Status AssignText(const ProtoField& field, absl::string_view text) {
  switch (field.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return Assign(field, &Reflection::SetString, &Reflection::AddString,
                    std::string(text));
    case FieldDescriptor::CPPTYPE_BOOL:
      return AssignParsed<bool>(field, text, &Reflection::SetBool,
                                &Reflection::AddBool, ParseSwitch);
    case FieldDescriptor::CPPTYPE_INT32:
      return AssignParsed<int32_t>(field, text, &Reflection::SetInt32,
                                   &Reflection::AddInt32,
                                   absl::SimpleAtoi<int32_t>);
    case FieldDescriptor::CPPTYPE_INT64:
      return AssignParsed<int64_t>(field, text, &Reflection::SetInt64,
                                   &Reflection::AddInt64,
                                   absl::SimpleAtoi<int64_t>);
    case FieldDescriptor::CPPTYPE_UINT32:
      return AssignParsed<uint32_t>(field, text, &Reflection::SetUInt32,
                                    &Reflection::AddUInt32,
                                    absl::SimpleAtoi<uint32_t>);
    case FieldDescriptor::CPPTYPE_UINT64:
      return AssignParsed<uint64_t>(field, text, &Reflection::SetUInt64,
                                    &Reflection::AddUInt64,
                                    absl::SimpleAtoi<uint64_t>);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return AssignParsed<float>(field, text, &Reflection::SetFloat,
                                 &Reflection::AddFloat, absl::SimpleAtof);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return AssignParsed<double>(field, text, &Reflection::SetDouble,
                                  &Reflection::AddDouble, absl::SimpleAtod);
    case FieldDescriptor::CPPTYPE_ENUM:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return WrongType(field, text);
}

// Splits at commas without a backslash before them.
std::vector<std::string> SplitValues(absl::string_view text) {
  std::vector<std::string> values;
  if (text.empty()) return values;
  values.emplace_back();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      values.back() += text[++i];
    } else if (text[i] == ',') {
      values.emplace_back();
    } else {
      values.back() += text[i];
    }
  }
  return values;
}

std::string ElementsToText(const ProtoField& field) {
  const Reflection& reflection = *field.message->GetReflection();
  std::vector<std::string> values;
  for (int i = 0; i < reflection.FieldSize(*field.message, field.field); ++i) {
    switch (field.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        values.push_back(absl::StrReplaceAll(
            reflection.GetRepeatedString(*field.message, field.field, i),
            {{",", "\\,"}}));
        break;
      case FieldDescriptor::CPPTYPE_FLOAT:
        values.push_back(absl::StrCat(
            reflection.GetRepeatedFloat(*field.message, field.field, i)));
        break;
      default:
        TARA_CHECK(false, "repeated fields of other types are not needed yet");
    }
  }
  return absl::StrJoin(values, ",");
}

}  // namespace

std::string FieldNames(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
  }
  return absl::StrJoin(names, ", ");
}

absl::StatusOr<ProtoField> FindField(Message& root, absl::string_view path) {
  Message* message = &root;
  std::string parent = "the config";
  const std::vector<std::string> names = absl::StrSplit(path, '.');
  for (size_t i = 0; i < names.size(); ++i) {
    const Descriptor& type = *message->GetDescriptor();
    const FieldDescriptor* const field = type.FindFieldByName(names[i]);
    if (field == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(parent, " has no field '", names[i],
                       "'; it has: ", FieldNames(type)));
    }
    const bool last = i + 1 == names.size();
    const bool is_message =
        field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    parent = absl::StrJoin(names.begin(), names.begin() + i + 1, ".");
    if (last && !is_message) return ProtoField{message, field};
    if (last || (is_message && field->is_repeated())) {
      return absl::InvalidArgumentError(
          absl::StrCat(parent, " is a group of fields; set one of: ",
                       FieldNames(*field->message_type())));
    }
    if (!is_message) {
      return absl::InvalidArgumentError(
          absl::StrCat(parent, " is a ", field->type_name(),
                       " and has no field '", names[i + 1], "'"));
    }
    message = message->GetReflection()->MutableMessage(message, field);
  }
  return absl::InternalError("a path has at least one name");
}

bool IsGiven(const ProtoField& field) {
  const Reflection& reflection = *field.message->GetReflection();
  return field.field->is_repeated()
             ? reflection.FieldSize(*field.message, field.field) > 0
             : reflection.HasField(*field.message, field.field);
}

absl::Status SetField(const ProtoField& field, absl::string_view text) {
  if (!field.field->is_repeated()) return AssignText(field, text);
  field.message->GetReflection()->ClearField(field.message, field.field);
  for (const std::string& value : SplitValues(text)) {
    TARA_RETURN_IF_ERROR(AssignText(field, value));
  }
  return absl::OkStatus();
}

std::string FieldToText(const ProtoField& field) {
  const Reflection& reflection = *field.message->GetReflection();
  if (field.field->is_repeated()) return ElementsToText(field);
  switch (field.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetString(*field.message, field.field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(*field.message, field.field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_UINT64:
      // Not through a double, which holds 53 bits.
      return absl::StrCat(reflection.GetUInt64(*field.message, field.field));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(reflection.GetInt64(*field.message, field.field));
    default:
      return absl::StrCat(FieldToNumber(field));
  }
}

bool IsNumber(const ProtoField& field) {
  switch (field.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_BOOL:
    case FieldDescriptor::CPPTYPE_ENUM:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return false;
    default:
      return !field.field->is_repeated();
  }
}

double FieldToNumber(const ProtoField& field) {
  const Reflection& reflection = *field.message->GetReflection();
  const Message& message = *field.message;
  switch (field.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(message, field.field);
    case FieldDescriptor::CPPTYPE_INT64:
      return static_cast<double>(reflection.GetInt64(message, field.field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.GetUInt32(message, field.field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return static_cast<double>(reflection.GetUInt64(message, field.field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection.GetFloat(message, field.field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.GetDouble(message, field.field);
    default:
      TARA_CHECK(false, "the field is not a number");
      return 0;
  }
}

std::string FieldType(const ProtoField& field) {
  return absl::StrCat(field.field->type_name(),
                      field.field->is_repeated() ? ", repeated" : "");
}

}  // namespace tara::train
