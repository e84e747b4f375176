#include "tara/train/config/config_fields.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tara/base/check.h"
#include "tara/base/option_table.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/mcts/options/search_options.h"

namespace tara::train {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Adds what the table of search options declares of `info.search()`.
void CompleteFromSearch(proto::FieldInfo& info) {
  const std::vector<std::string> parts =
      absl::StrSplit(info.search(), absl::MaxSplits('=', 1));
  mcts::SearchOptions defaults;
  const OptionTable table = mcts::SearchOptionTable(defaults);
  const Option* const option = FindOption(table, parts[0]);
  TARA_CHECK(option != nullptr, "a field is not an option of the search");
  if (!info.has_default_()) {
    const std::string value = option->Get();
    info.set_default_(std::string(absl::StripPrefix(value, parts[1])));
  }
  if (!info.has_values()) info.set_values(option->Range());
  if (info.has_help()) return;
  info.set_help(std::string(option->help));
  info.mutable_help()->front() = absl::ascii_toupper(info.help().front());
}

void AppendFields(const Descriptor& type, const std::string& prefix,
                  std::vector<ConfigField>& fields) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string path = prefix + field.name();
    if (field.message_type() != nullptr) {
      AppendFields(*field.message_type(), path + ".", fields);
      continue;
    }
    proto::FieldInfo info = field.options().GetExtension(proto::info);
    if (info.has_search()) CompleteFromSearch(info);
    fields.push_back({path, &field, info});
  }
}

bool IsNumber(const FieldDescriptor& field) {
  return field.cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
         field.cpp_type() != FieldDescriptor::CPPTYPE_BOOL;
}

// Sets a singular field, or adds to a repeated one, what `parse` reads, by the
// two methods of Reflection.
template <typename Value, typename Parser, typename Setter, typename Adder>
absl::Status Assign(const ProtoField& field, absl::string_view text,
                    Parser parse, Setter set, Adder add) {
  Value value{};
  if (!parse(text, &value)) {
    std::string expected = "a number";
    if constexpr (std::is_same_v<Value, bool>) {
      expected = "true or false";
    } else if constexpr (std::is_integral_v<Value>) {
      expected = absl::StrCat("a whole number from 0 to ",
                              std::numeric_limits<Value>::max());
    }
    return absl::InvalidArgumentError(
        absl::StrCat("'", Shown(text), "' is not ", expected));
  }
  const Reflection& reflection = *field.message->GetReflection();
  if (field.field->is_repeated()) {
    (reflection.*add)(field.message, field.field, value);
  } else {
    (reflection.*set)(field.message, field.field, value);
  }
  return absl::OkStatus();
}

// The types that configs have.
absl::Status AssignText(const ProtoField& field, absl::string_view text) {
  switch (field.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return Assign<std::string>(
          field, text,
          [](absl::string_view from, std::string* to) {
            *to = std::string(from);
            return true;
          },
          &Reflection::SetString, &Reflection::AddString);
    case FieldDescriptor::CPPTYPE_BOOL:
      return Assign<bool>(
          field, text,
          [](absl::string_view from, bool* to) {
            *to = from == "true";
            return *to || from == "false";
          },
          &Reflection::SetBool, &Reflection::AddBool);
    case FieldDescriptor::CPPTYPE_UINT32:
      return Assign<uint32_t>(field, text, absl::SimpleAtoi<uint32_t>,
                              &Reflection::SetUInt32, &Reflection::AddUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return Assign<uint64_t>(field, text, absl::SimpleAtoi<uint64_t>,
                              &Reflection::SetUInt64, &Reflection::AddUInt64);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Assign<float>(
          field, text,
          [](absl::string_view from, float* to) {
            return ParseDecimal(from, to);
          },
          &Reflection::SetFloat, &Reflection::AddFloat);
    default:
      TARA_CHECK(false, "fields of other types are not needed yet");
      return absl::OkStatus();
  }
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

}  // namespace

absl::Span<const ConfigField> ConfigFields() {
  static const auto* const fields = [] {
    auto* const all = new std::vector<ConfigField>();
    AppendFields(*proto::TrainConfig::descriptor(), "", *all);
    return all;
  }();
  return *fields;
}

std::string FieldType(const FieldDescriptor& field) {
  return absl::StrCat(field.type_name(),
                      field.is_repeated() ? ", repeated" : "");
}

std::string FieldNames(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
  }
  return absl::StrJoin(names, ", ");
}

absl::Status CheckValue(const ConfigField& field, absl::string_view text) {
  const std::string& values = field.info.values();
  if (values.empty()) return absl::OkStatus();
  const bool is_number = IsNumber(*field.field);
  bool is_good;
  if (is_number) {
    const std::vector<std::string> bounds = absl::StrSplit(values, " to ");
    double low;
    double high;
    double value;
    TARA_CHECK(bounds.size() == 2 && ParseDecimal(bounds[0], &low) &&
                   ParseDecimal(bounds[1], &high),
               "expected 'LOW to HIGH'");
    is_good = ReadNumber(text, low, high, value);
  } else {
    const std::string names = absl::StrReplaceAll(values, {{" or ", ", "}});
    const std::vector<absl::string_view> list = absl::StrSplit(names, ", ");
    is_good = std::find(list.begin(), list.end(), text) != list.end();
  }
  if (is_good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field.path, ": ", Shown(text),
                   is_number ? " is out of range" : "", "; expected ", values));
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
          absl::StrCat(parent, " has no field '", Shown(names[i]),
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
                       " and has no field '", Shown(names[i + 1]), "'"));
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
  const bool is_repeated = field.field->is_repeated();
  const int size =
      is_repeated ? reflection.FieldSize(*field.message, field.field) : 1;
  std::vector<std::string> values;
  for (int i = 0; i < size; ++i) {
    std::string& value = values.emplace_back();
    if (field.field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
      google::protobuf::TextFormat::PrintFieldValueToString(
          *field.message, field.field, is_repeated ? i : -1, &value);
    } else if (is_repeated) {
      value = absl::StrReplaceAll(
          reflection.GetRepeatedString(*field.message, field.field, i),
          {{",", "\\,"}});
    } else {
      value = reflection.GetString(*field.message, field.field);
    }
  }
  return absl::StrJoin(values, ",");
}

}  // namespace tara::train
