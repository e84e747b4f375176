#include "tara/train/config/config.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tara/base/atomic_file.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/core/variant.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/utility.h"
#include "tara/nn/inference_options.h"
#include "tara/train/config/config_fields.h"
#include "tara/train/config/config_options.h"
#include "tara/train/learn/sampler.h"
#include "tara/train/play/game_plan.h"

namespace tara::train {
namespace {

// Keeps the first error of the text-format parser.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  FirstError(std::string path, absl::string_view kind,
             const google::protobuf::Descriptor* root)
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
    const google::protobuf::Descriptor* const type =
        google::protobuf::DescriptorPool::generated_pool()
            ->FindMessageTypeByName(words[1]);
    if (type == nullptr) return Shown(message, 200);
    return absl::StrCat(type == root_ ? kind_ : "this group", " has no field '",
                        Shown(words[3]), "'; it has: ", FieldNames(*type));
  }

  const std::string path_;
  const absl::string_view kind_;
  const google::protobuf::Descriptor* const root_;
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
  const absl::Status status =
      field.ok() ? SetField(*field, parts[1]) : field.status();
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat("bad override '", Shown(text), "': ", status.message()));
}

ProtoField Find(const ConfigField& field, proto::TrainConfig& config) {
  const absl::StatusOr<ProtoField> found = FindField(config, field.path);
  TARA_CHECK(found.ok(), "a field is not found by its path");
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

// Fills in fields that are not set.
absl::Status Resolve(const std::string& path, proto::TrainConfig& config) {
  for (const ConfigField& field : ConfigFields()) {
    const ProtoField target = Find(field, config);
    if (IsGiven(target) || !field.info.has_default_()) continue;
    TARA_CHECK(SetField(target, field.info.default_()).ok(), "bad default");
  }
  proto::NetworkConfig& network = *config.mutable_network();
  const bool light = IsLight(config);
  if (!network.has_channels()) network.set_channels(light ? 64 : 32);
  if (!network.has_blocks()) network.set_blocks(light ? 3 : 4);
  TARA_RETURN_IF_ERROR(ResolveVariants(config));
  const auto cores = static_cast<uint32_t>(UsableProcessors());
  if (!config.self_play().has_threads()) {
    config.mutable_self_play()->set_threads(cores);
  }
  if (!config.learner().has_threads()) {
    config.mutable_learner()->set_threads(cores);
  }
  const bool on_cpu = config.learner().device() == "cpu";
  if (!config.learner().has_prepare_threads()) {
    config.mutable_learner()->set_prepare_threads(on_cpu ? 0 : 3);
  }
  if (!config.learner().has_steps_per_read()) {
    config.mutable_learner()->set_steps_per_read(on_cpu ? 1 : 16);
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
    TARA_RETURN_IF_ERROR(CheckValue(field, FieldToText(Find(field, config))));
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

absl::Status ParseText(absl::string_view text, const std::string& path,
                       absl::string_view kind,
                       google::protobuf::Message& message) {
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

absl::Status CheckResumable(const proto::TrainConfig& before,
                            const proto::TrainConfig& now) {
  // Copies, because finding a field needs a message that it may complete.
  proto::TrainConfig old_config = before;
  proto::TrainConfig new_config = now;
  for (const ConfigField& field : ConfigFields()) {
    if (!field.info.fixed()) continue;
    const std::string old_value = FieldToText(Find(field, old_config));
    const std::string new_value = FieldToText(Find(field, new_config));
    if (old_value == new_value) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(field.path, ": the run was started with ", old_value,
                     " and cannot resume with ", new_value,
                     "; restore the value or choose another run_dir"));
  }
  return absl::OkStatus();
}

namespace {

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

absl::Status CheckGumbel(const proto::SelfPlayConfig& config,
                         const mcts::SearchOptions& search) {
  constexpr absl::string_view kField = "self_play.search.option";
  const auto simulations = static_cast<int>(config.search().simulations());
  for (const absl::string_view name :
       {"gumbel_actions", "gumbel_c_visit", "gumbel_c_scale", "gumbel_noise"}) {
    if (!search.gumbel && HasOption(config.search(), name)) {
      return Bad(kField, name,
                 "gumbel=on as well: without it, this has no effect");
    }
  }
  if (!search.gumbel) return absl::OkStatus();
  if (search.forced_playouts > 0) {
    return Bad(kField, "forced_playouts together with gumbel=on",
               "only one of the two: both control how the root explores");
  }
  const int considered = search.gumbel_options.considered_actions;
  if (HasOption(config.search(), "gumbel_actions") &&
      considered > simulations) {
    return Bad(
        kField, absl::StrCat("gumbel_actions=", considered),
        absl::StrCat("at most self_play.search.simulations, ", simulations,
                     ": each action that is considered needs one"));
  }
  return absl::OkStatus();
}

absl::Status CheckSearch(const proto::SelfPlayConfig& config) {
  const absl::StatusOr<mcts::SearchOptions> search =
      ToSearchOptions(config.search());
  if (!search.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("self_play.search.", search.status().message()));
  }
  TARA_RETURN_IF_ERROR(CheckGumbel(config, *search));
  if (config.end_when_proved() && !search->proof) {
    return absl::InvalidArgumentError(
        "self_play.end_when_proved: true, but nothing is proved without "
        "self_play.search.option proof=on");
  }
  const proto::PlayoutCapConfig& cap = config.playout_cap();
  if (cap.full_share() < 1 &&
      cap.fast_simulations() >= config.search().simulations()) {
    return Bad("self_play.playout_cap.fast_simulations", cap.fast_simulations(),
               absl::StrCat("less than a full search has (self_play.search."
                            "simulations: ",
                            config.search().simulations(), ")"));
  }
  if (config.evaluation_groups() > config.games_per_thread()) {
    return Bad(
        "self_play.evaluation_groups", config.evaluation_groups(),
        absl::StrCat("at most self_play.games_per_thread, ",
                     config.games_per_thread(), ": each group needs a game"));
  }
  return absl::OkStatus();
}

absl::Status CheckMilestones(const proto::LearnerConfig& learner) {
  float last = 0;
  for (const float milestone : learner.milestones()) {
    // Written so that NaN fails too.
    if (!(milestone > last && milestone < 1)) {
      return Bad("learner.milestones", milestone,
                 "parts of the run, more than 0 and less than 1, each more "
                 "than the one before");
    }
    last = milestone;
  }
  return absl::OkStatus();
}

// One network learns, on one device.
absl::Status CheckLearnerDevice(const std::string& device) {
  const auto parsed = nn::ParseDevice(device);
  if (parsed.ok() && !parsed->all) return absl::OkStatus();
  return Bad("learner.device", absl::StrCat("'", device, "'"),
             "cpu, cuda or cuda:N (N from 0)");
}

absl::Status CheckTargets(const proto::TrainConfig& config) {
  // CheckSearch has seen to it that there are options.
  const mcts::UtilityKind utility =
      ToSearchOptions(config.self_play().search())->utility.kind;
  if (config.learner().value_search_share() > 0 &&
      utility != mcts::UtilityKind::kWinLoss) {
    return absl::InvalidArgumentError(absl::StrCat(
        "learner.value_search_share: ", config.learner().value_search_share(),
        ", but searches return utilities (self_play.search.option utility=",
        mcts::UtilityKindName(utility), "); expected 0, or utility=win"));
  }
  return absl::OkStatus();
}

absl::Status CheckWindow(const proto::TrainConfig& config) {
  if (!PlaysGames(config)) return absl::OkStatus();
  const proto::LearnerConfig& learner = config.learner();
  const int64_t in_all =
      int64_t{config.generations()} * config.self_play().games_per_generation();
  const int64_t games = std::min<int64_t>(in_all, learner.window_games());
  if (learner.batch_size() > games * kLongestGame) {
    return Bad("learner.batch_size", learner.batch_size(),
               absl::StrCat("less than a window can ever hold: ", games,
                            " games of at most some ", kLongestGame,
                            " positions (learner.window_games, and all games "
                            "of the run)"));
  }
  return absl::OkStatus();
}

absl::Status CheckHeldOut(const proto::TrainConfig& config) {
  if (!PlaysGames(config)) return absl::OkStatus();
  const float share = config.learner().held_out_share();
  const uint32_t games = config.self_play().games_per_generation();
  for (uint32_t index = 0; index < games; ++index) {
    if (!IsHeldOut(share, config.seed(), index)) return absl::OkStatus();
  }
  return Bad("learner.held_out_share", share,
             absl::StrCat("less: it leaves nothing to learn from among the ",
                          games, " games of the first generation"));
}

absl::Status CheckMixture(const proto::TrainConfig& config) {
  const uint32_t games = config.self_play().games_per_generation();
  if (games < static_cast<uint32_t>(config.variant_size())) {
    return Bad("self_play.games_per_generation", games,
               absl::StrCat("a game at least for each of the ",
                            config.variant_size(), " variants"));
  }
  TARA_RETURN_IF_ERROR(MixtureShares(config, {}).status());
  if (config.mixture().mode() == "adaptive" &&
      config.evaluation().every() == 0) {
    return Bad("mixture.mode", "adaptive",
               "evaluations during training, to see which variants are behind "
               "(evaluation.every: 0 has none)");
  }
  return absl::OkStatus();
}

absl::Status CheckRetention(const proto::TrainConfig& config) {
  const int64_t kept = config.retention().keep_games();
  if (kept > 0 && !PlaysGames(config)) {
    return Bad(
        "retention.keep_games", kept,
        "0 with games_from: the run does not remove games of another store");
  }
  const int64_t needed = int64_t{config.learner().window_games()} +
                         config.self_play().games_per_generation();
  if (kept == 0 || kept >= needed) return absl::OkStatus();
  return Bad("retention.keep_games", kept,
             absl::StrCat("0 (all), or at least ", needed,
                          ": a window (learner.window_games) and a "
                          "generation"));
}

}  // namespace

absl::Status CheckConfig(const proto::TrainConfig& config) {
  const absl::Status rules = RulesOf(config).status();
  if (!rules.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rule_options: ", rules.message()));
  }
  if (config.init_from().empty()) {
    return Bad("init_from", "empty", "a checkpoint, a run's folder, or -");
  }
  if (config.games_from().empty()) {
    return Bad("games_from", "empty", "a store of games, or -");
  }
  const absl::Status inference =
      ToInferenceOptions(config.inference()).status();
  if (!inference.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("inference.", inference.message()));
  }
  TARA_RETURN_IF_ERROR(CheckMilestones(config.learner()));
  TARA_RETURN_IF_ERROR(CheckLearnerDevice(config.learner().device()));
  TARA_RETURN_IF_ERROR(CheckSearch(config.self_play()));
  TARA_RETURN_IF_ERROR(CheckTargets(config));
  TARA_RETURN_IF_ERROR(CheckMixture(config));
  TARA_RETURN_IF_ERROR(CheckWindow(config));
  TARA_RETURN_IF_ERROR(CheckHeldOut(config));
  return CheckRetention(config);
}

}  // namespace tara::train
