#include "tara/train/config/config.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tara/base/check.h"
#include "tara/base/files.h"
#include "tara/base/option_table.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/core/variant.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/utility.h"
#include "tara/nn/inference_options.h"
#include "tara/train/config/config_options.h"
#include "tara/train/learn/sampler.h"
#include "tara/train/play/game_plan.h"

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

// Sets a singular field, or adds to a repeated one. The types are those that
// configs have: text, truth values, floats and numbers without a sign.
absl::Status AssignText(const ProtoField& field, absl::string_view text) {
  std::string value(text);  // in text format
  std::string expected;
  bool is_good = true;
  const FieldDescriptor::CppType type = field.field->cpp_type();
  if (type == FieldDescriptor::CPPTYPE_STRING) {
    value = absl::StrCat("\"", absl::CEscape(text), "\"");
  } else if (type == FieldDescriptor::CPPTYPE_BOOL) {
    expected = "true or false";
    is_good = text == "true" || text == "false";
  } else if (type == FieldDescriptor::CPPTYPE_FLOAT) {
    expected = "a number";
    float number = 0;
    is_good = ParseDecimal(text, &number);
    value = absl::StrFormat("%.9g", number);
  } else {
    const uint64_t max = type == FieldDescriptor::CPPTYPE_UINT32
                             ? std::numeric_limits<uint32_t>::max()
                             : std::numeric_limits<uint64_t>::max();
    expected = absl::StrCat("a whole number from 0 to ", max);
    uint64_t number = 0;
    is_good = absl::SimpleAtoi(text, &number) && number <= max;
    value = absl::StrCat(number);
  }
  if (!is_good) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", Shown(text), "' is not ", expected));
  }
  TARA_CHECK(google::protobuf::TextFormat::ParseFieldValueFromString(
                 value, field.field, field.message),
             "a value of a config is not in text format");
  return absl::OkStatus();
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

// Sets a field from text. Strings need no quotes. A repeated field is replaced
// by the values between commas; none if empty. Returns INVALID_ARGUMENT, naming
// the type, for a value of another type.
absl::Status SetField(const ProtoField& field, absl::string_view text) {
  if (!field.field->is_repeated()) return AssignText(field, text);
  field.message->GetReflection()->ClearField(field.message, field.field);
  for (const std::string& value : SplitValues(text)) {
    TARA_RETURN_IF_ERROR(AssignText(field, value));
  }
  return absl::OkStatus();
}

// Whether a field is set or, if it is repeated, has elements.
bool IsGiven(const ProtoField& field) {
  const Reflection& reflection = *field.message->GetReflection();
  return field.field->is_repeated()
             ? reflection.FieldSize(*field.message, field.field) > 0
             : reflection.HasField(*field.message, field.field);
}

// Returns the names of a message's fields, separated by ", ".
std::string FieldNames(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::Status Prefixed(absl::string_view prefix, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
}

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

namespace {

// Keeps the first error of the text-format parser.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  FirstError(std::string path, absl::string_view kind, const Descriptor* root)
      : path_(std::move(path)), kind_(kind), root_(root) {}

  // Lines and columns from 0; line -1: the text as a whole.
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    const std::string place =
        line < 0 ? path_ : absl::StrCat(path_, ":", line + 1, ":", column + 1);
    text_ = absl::StrCat(place, ": ", InOwnWords(message));
  }

  const std::string& text() const { return text_; }

 private:
  // Returns a message of the parser for readers who do not know protocol
  // buffers. 'Message type "tara.proto.TrainConfig" has no field named "sed".'
  std::string InOwnWords(const std::string& message) const {
    const std::vector<std::string> words = absl::StrSplit(message, '"');
    if (words.size() != 5 || words[2] != " has no field named ") {
      return Shown(message, 200);
    }
    const Descriptor* const type =
        google::protobuf::DescriptorPool::generated_pool()
            ->FindMessageTypeByName(words[1]);
    if (type == nullptr) return Shown(message, 200);
    return absl::StrCat(type == root_ ? kind_ : "this group", " has no field '",
                        Shown(words[3]), "'; it has: ", FieldNames(*type));
  }

  const std::string path_;
  const absl::string_view kind_;
  const Descriptor* const root_;
  std::string text_;
};

absl::Status ApplyOverride(const std::string& text,
                           proto::TrainConfig& config) {
  const std::vector<std::string> parts =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  if (parts.size() != 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "bad override '", Shown(text), "'; expected path.to.field=value"));
  }
  const absl::StatusOr<ProtoField> field = FindField(config, parts[0]);
  return Prefixed(absl::StrCat("bad override '", Shown(text), "': "),
                  field.ok() ? SetField(*field, parts[1]) : field.status());
}

ProtoField Find(absl::string_view path, proto::TrainConfig& config) {
  const absl::StatusOr<ProtoField> found = FindField(config, path);
  TARA_CHECK(found.ok(), "a field is not found by its path");
  return *found;
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
    if (const absl::Status status = ParseVariant(id).status(); !status.ok()) {
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

// Fills in fields that are not set.
absl::Status Resolve(const std::string& path, proto::TrainConfig& config) {
  for (const ConfigField& field : ConfigFields()) {
    const ProtoField target = Find(field.path, config);
    if (IsGiven(target) || !field.info.has_default_()) continue;
    TARA_CHECK(SetField(target, field.info.default_()).ok(), "bad default");
  }
  TARA_RETURN_IF_ERROR(ResolveVariants(config));
  const bool light = IsLight(config);
  const bool on_cpu = config.learner().device() == "cpu";
  const std::string cores = absl::StrCat(UsableProcessors());
  const std::pair<const char*, std::string> computed[] = {
      {"network.channels", light ? "64" : "32"},
      {"network.blocks", light ? "3" : "4"},
      {"self_play.threads", cores},
      {"learner.threads", cores},
      {"learner.prepare_threads", on_cpu ? "0" : "3"},
      {"learner.steps_per_read", on_cpu ? "1" : "16"},
      {"run_dir",
       absl::StrCat("runs/", std::filesystem::path(path).stem().string(), "-",
                    config.variant_size() == kNumVariants
                        ? "all"
                        : absl::StrJoin(config.variant(), "+"))}};
  for (const auto& [name, value] : computed) {
    const ProtoField field = Find(name, config);
    if (!IsGiven(field)) TARA_RETURN_IF_ERROR(SetField(field, value));
  }
  return absl::OkStatus();
}

// More actions than a game has; the longest variants have some 150.
constexpr int64_t kLongestGame = 1000;

// Returns the error of a field whose value does not go with others.
template <typename Value>
absl::Status Bad(absl::string_view field, const Value& value,
                 absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", value, "; expected ", expected));
}

// Whether the search has an option of this name in its list of options.
bool HasOption(const proto::SearchConfig& config, absl::string_view name) {
  return std::any_of(config.option().begin(), config.option().end(),
                     [&](absl::string_view option) {
                       return absl::StripAsciiWhitespace(
                                  option.substr(0, option.find('='))) == name;
                     });
}

absl::Status CheckSelfPlay(const proto::SelfPlayConfig& config) {
  constexpr absl::string_view kOption = "self_play.search.option";
  const uint32_t simulations = config.search().simulations();
  const absl::StatusOr<mcts::SearchOptions> search =
      ToSearchOptions(config.search());
  TARA_RETURN_IF_ERROR(Prefixed("self_play.search.", search.status()));
  for (const absl::string_view name :
       {"gumbel_actions", "gumbel_c_visit", "gumbel_c_scale", "gumbel_noise"}) {
    if (!search->gumbel && HasOption(config.search(), name)) {
      return Bad(kOption, name,
                 "gumbel=on as well: without it, this has no effect");
    }
  }
  if (search->gumbel && search->forced_playouts > 0) {
    return Bad(kOption, "forced_playouts together with gumbel=on",
               "only one of the two: both control how the root explores");
  }
  const int considered = search->gumbel_options.considered_actions;
  if (search->gumbel && HasOption(config.search(), "gumbel_actions") &&
      considered > static_cast<int>(simulations)) {
    return Bad(
        kOption, absl::StrCat("gumbel_actions=", considered),
        absl::StrCat("at most self_play.search.simulations, ", simulations,
                     ": each action that is considered needs one"));
  }
  const proto::PlayoutCapConfig& cap = config.playout_cap();
  if (cap.full_share() < 1 && cap.fast_simulations() >= simulations) {
    return Bad("self_play.playout_cap.fast_simulations", cap.fast_simulations(),
               absl::StrCat("less than a full search has (self_play.search."
                            "simulations: ",
                            simulations, ")"));
  }
  if (config.evaluation_groups() > config.games_per_thread()) {
    return Bad(
        "self_play.evaluation_groups", config.evaluation_groups(),
        absl::StrCat("at most self_play.games_per_thread, ",
                     config.games_per_thread(), ": each group needs a game"));
  }
  return absl::OkStatus();
}

// REQUIRES: CheckSelfPlay.
absl::Status CheckLearner(const proto::TrainConfig& config) {
  const proto::LearnerConfig& learner = config.learner();
  // One network learns, on one device.
  const auto device = nn::ParseDevice(learner.device());
  if (!device.ok() || device->all) {
    return Bad("learner.device", absl::StrCat("'", learner.device(), "'"),
               "cpu, cuda or cuda:N (N from 0)");
  }
  const mcts::UtilityKind utility =
      ToSearchOptions(config.self_play().search())->utility.kind;
  if (learner.value_search_share() > 0 &&
      utility != mcts::UtilityKind::kWinLoss) {
    return absl::InvalidArgumentError(absl::StrCat(
        "learner.value_search_share: ", learner.value_search_share(),
        ", but searches return utilities (self_play.search.option utility=",
        mcts::UtilityKindName(utility), "); expected 0, or utility=win"));
  }
  return absl::OkStatus();
}

// The numbers of games that are played, learned from and kept.
absl::Status CheckGames(const proto::TrainConfig& config) {
  const proto::LearnerConfig& learner = config.learner();
  const uint32_t games = config.self_play().games_per_generation();
  if (games < static_cast<uint32_t>(config.variant_size())) {
    return Bad("self_play.games_per_generation", games,
               absl::StrCat("a game at least for each of the ",
                            config.variant_size(), " variants"));
  }
  TARA_RETURN_IF_ERROR(MixtureShares(config).status());
  const int64_t kept = config.retention().keep_games();
  if (!PlaysGames(config)) {
    if (kept == 0) return absl::OkStatus();
    return Bad(
        "retention.keep_games", kept,
        "0 with games_from: the run does not remove games of another store");
  }
  const int64_t window = std::min<int64_t>(
      int64_t{config.generations()} * games, learner.window_games());
  if (learner.batch_size() > window * kLongestGame) {
    return Bad("learner.batch_size", learner.batch_size(),
               absl::StrCat("less than a window can ever hold: ", window,
                            " games of at most some ", kLongestGame,
                            " positions (learner.window_games, and all games "
                            "of the run)"));
  }
  uint32_t held_out = 0;
  while (held_out < games &&
         IsHeldOut(learner.held_out_share(), config.seed(), held_out)) {
    ++held_out;
  }
  if (held_out == games) {
    return Bad("learner.held_out_share", learner.held_out_share(),
               absl::StrCat("less: it leaves nothing to learn from among the ",
                            games, " games of the first generation"));
  }
  const int64_t needed = int64_t{learner.window_games()} + games;
  if (kept == 0 || kept >= needed) return absl::OkStatus();
  return Bad("retention.keep_games", kept,
             absl::StrCat("0 (all), or at least ", needed,
                          ": a window (learner.window_games) and a "
                          "generation"));
}

// Checks all values, each and with one another. Returns INVALID_ARGUMENT with
// the field, its value, the reason and what was expected.
absl::Status Validate(proto::TrainConfig& config) {
  for (const ConfigField& field : ConfigFields()) {
    TARA_RETURN_IF_ERROR(
        CheckValue(field, FieldToText(Find(field.path, config))));
  }
  for (const auto& [name, expected] :
       std::initializer_list<std::pair<const char*, const char*>>{
           {"run_dir", "a folder"},
           {"init_from", "a checkpoint, a run's folder, or -"},
           {"games_from", "a store of games, or -"}}) {
    if (FieldToText(Find(name, config)).empty()) {
      return Bad(name, "empty", expected);
    }
  }
  TARA_RETURN_IF_ERROR(Prefixed("rule_options: ", RulesOf(config).status()));
  TARA_RETURN_IF_ERROR(
      Prefixed("inference.", ToInferenceOptions(config.inference()).status()));
  TARA_RETURN_IF_ERROR(CheckSelfPlay(config.self_play()));
  TARA_RETURN_IF_ERROR(CheckLearner(config));
  return CheckGames(config);
}

}  // namespace

absl::StatusOr<proto::TrainConfig> LoadTrainConfig(
    const std::string& path, absl::Span<const std::string> overrides) {
  TARA_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  return ParseTrainConfig(text, path, overrides);
}

absl::Status ParseText(absl::string_view text, const std::string& path,
                       absl::string_view kind, Message& message) {
  FirstError error(path, kind, message.GetDescriptor());
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (parser.ParseFromString(PlainText(text), &message)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(error.text());
}

absl::StatusOr<proto::TrainConfig> ParseTrainConfig(
    absl::string_view text, const std::string& path,
    absl::Span<const std::string> overrides) {
  proto::TrainConfig config;
  TARA_RETURN_IF_ERROR(ParseText(text, path, "a training config", config));
  for (const std::string& one : overrides) {
    TARA_RETURN_IF_ERROR(ApplyOverride(one, config));
  }
  // Values come from the file and from overrides, so errors name neither.
  TARA_RETURN_IF_ERROR(Prefixed(path + ": ", Resolve(path, config)));
  TARA_RETURN_IF_ERROR(Prefixed(path + ": ", Validate(config)));
  return config;
}

std::string ConfigToText(const proto::TrainConfig& config) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(config, &text);
  return absl::StrCat("# The config of this run with every field filled in.\n",
                      text);
}

absl::Status CheckResumable(const proto::TrainConfig& before,
                            const proto::TrainConfig& now) {
  // Copies, because finding a field needs a message that it may complete.
  proto::TrainConfig old_config = before;
  proto::TrainConfig new_config = now;
  for (const ConfigField& field : ConfigFields()) {
    if (!field.info.fixed()) continue;
    const std::string old_value = FieldToText(Find(field.path, old_config));
    const std::string new_value = FieldToText(Find(field.path, new_config));
    if (old_value == new_value) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(field.path, ": the run was started with ", old_value,
                     " and cannot resume with ", new_value,
                     "; restore the value or choose another run_dir"));
  }
  return absl::OkStatus();
}

}  // namespace tara::train
