#include "tara/cli/flags.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tara/base/files.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/core/rules.h"
#include "tara/eval/players/make_player.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/record/game_record.h"

namespace tara::cli {
namespace {

absl::StatusOr<Variant> VariantOf(const GameFlags& flags) {
  return AsUsageError(ParseVariant(flags.variant));
}

std::vector<std::string> ActionWords(absl::string_view actions) {
  return absl::StrSplit(PlainText(actions), absl::ByAnyChar(" ,\t\n"),
                        absl::SkipEmpty());
}

// Returns the game to whose end the actions are added.
absl::StatusOr<record::GameLine> FirstGame(const PositionFlags& flags) {
  if (flags.position.empty()) {
    if (flags.game.variant.empty()) {
      return UsageError("--variant is required (or --position)");
    }
    TARA_ASSIGN_OR_RETURN(const State start, StartOf(flags.game));
    return record::GameLine{.initial = start, .actions = {}};
  }
  if (!flags.game.options.empty()) {
    return UsageError(
        "--option and --position exclude each other: a position names its "
        "rule options itself");
  }
  absl::StatusOr<record::GameLine> game = record::ParseGameText(flags.position);
  if (!game.ok()) {
    return absl::Status(game.status().code(),
                        absl::StrCat("--position: ", game.status().message()));
  }
  if (flags.game.variant.empty()) return game;
  TARA_ASSIGN_OR_RETURN(const Variant variant, VariantOf(flags.game));
  if (game->initial.variant != variant) {
    return UsageError("--position is of ", Info(game->initial.variant).id,
                      ", but --variant is ", Info(variant).id);
  }
  return game;
}

std::function<bool(absl::string_view)> SetterOf(const char* name,
                                                nn::InferenceOptions* options) {
  return [options, name](absl::string_view value) {
    return nn::SetInferenceOption(name, value, *options).ok();
  };
}

// The player for rules that the ready-made network has not learned.
constexpr char kSearchWithoutNetwork[] = "mcts:sims=1000";

// Returns the files of the players' networks, by the players' specs, without
// those that are missing, which the loader reports.
std::map<std::string, std::string> NetworkFiles(
    absl::Span<const eval::PlayerSpec> players) {
  std::map<std::string, std::string> files;
  for (const eval::PlayerSpec& player : players) {
    if (player.kind != eval::PlayerKind::kNet) continue;
    const absl::StatusOr<std::string> file = eval::NetworkFileOf(player);
    if (file.ok()) files[player.text] = *file;
  }
  return files;
}

}  // namespace

void AddGameFlags(Command& command, GameFlags* flags,
                  absl::string_view variant_help, bool required) {
  command.Add({
      {"--variant V", &flags->variant, variant_help,
       required ? kRequired : Presence()},
      {"--option NAME=VALUE", &flags->options,
       "rule option, as listed by `tara variants`; repeatable"},
  });
}

Option FormatOption(std::string* format) {
  return {"--format text|json", format, "output format"};
}

Option ThreadsOption(int* threads) {
  return {"--threads N",          threads, 1, 1024, "number of threads",
          Default("one per core")};
}

Option SeedOption(uint64_t* seed, absl::string_view help) {
  return {"--seed N", seed, 0, 0x1p63, help};
}

Option FleetOption(std::string* fleet) {
  return {"--fleet IN,OUT", fleet,
          "file descriptors of `tara fleet`, which plays the games on other "
          "machines",
          kHidden};
}

Option AsciiOption(bool* ascii) {
  return {"--ascii", ascii, "drawings in ASCII, without Unicode"};
}

Option ColourOption(std::string* colour) {
  return {"--colour auto|always|never", colour,
          "colours; auto: if the terminal has them and NO_COLOR is not set"};
}

Option UntrainedOption(bool* untrained) {
  return {"--untrained", untrained,
          "allow networks to play variants and rule options that they have not "
          "learned; reports mark it"};
}

int ResolveThreads(int threads) {
  return threads > 0 ? threads : UsableProcessors();
}

absl::StatusOr<std::unique_ptr<fleet::Fleet>> ConnectFleet(
    const std::string& text) {
  if (text == "none") return nullptr;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  int in = -1, out = -1;
  if (parts.size() == 2 && absl::SimpleAtoi(parts[0], &in) &&
      absl::SimpleAtoi(parts[1], &out) && fcntl(in, F_GETFD) >= 0 &&
      fcntl(out, F_GETFD) >= 0) {
    return std::make_unique<fleet::Fleet>(in, out);
  }
  return UsageError("--fleet: '", text,
                    "'; expected two open file descriptors, such "
                    "as 3,4");
}

std::string FleetText(const fleet::Fleet* fleet) {
  const std::string status = fleet == nullptr ? "" : fleet->status();
  return status.empty() ? "" : absl::StrCat("; ", status);
}

absl::StatusOr<std::vector<Variant>> VariantsOf(const GameFlags& flags) {
  std::vector<Variant> variants;
  if (flags.variant == "all") {
    for (const VariantInfo& info : kVariants) variants.push_back(info.variant);
    return variants;
  }
  TARA_ASSIGN_OR_RETURN(const Variant variant, VariantOf(flags));
  variants.push_back(variant);
  return variants;
}

absl::StatusOr<RuleOptions> RuleOptionsOf(const GameFlags& flags,
                                          Variant variant, bool skip_others) {
  RuleOptions options;
  TARA_RETURN_IF_ERROR(
      SetRuleOptions("--option", flags.options, variant, skip_others, options));
  return options;
}

absl::Status SetRuleOptions(absl::string_view flag,
                            absl::Span<const std::string> texts,
                            Variant variant, bool skip_others,
                            RuleOptions& options) {
  const absl::StatusOr<std::vector<OptionText>> list = ParseOptionList(
      std::vector<absl::string_view>(texts.begin(), texts.end()));
  if (!list.ok()) {
    return UsageError(flag, ": ", list.status().message());
  }
  for (const OptionText& option : *list) {
    if (!option.has_value) {
      return UsageError(flag, ": '", Shown(option.text),
                        "'; expected NAME=VALUE");
    }
    const RuleOptionInfo* const known = FindRuleOption(option.name);
    if (skip_others && known != nullptr && !known->applies_to(Info(variant))) {
      continue;
    }
    TARA_RETURN_IF_ERROR(AsUsageError(
        SetRuleOption(variant, option.name, option.value, options)));
  }
  return absl::OkStatus();
}

absl::StatusOr<State> StartOf(const GameFlags& flags) {
  TARA_ASSIGN_OR_RETURN(const Variant variant, VariantOf(flags));
  TARA_ASSIGN_OR_RETURN(const auto options, RuleOptionsOf(flags, variant));
  return InitialState(variant, options);
}

absl::StatusOr<std::vector<State>> StartsOf(const GameFlags& flags) {
  TARA_ASSIGN_OR_RETURN(const std::vector<Variant> variants, VariantsOf(flags));
  std::vector<State> starts;
  for (const Variant variant : variants) {
    TARA_ASSIGN_OR_RETURN(const RuleOptions options,
                          RuleOptionsOf(flags, variant, variants.size() > 1));
    starts.push_back(InitialState(variant, options));
  }
  return starts;
}

absl::Status PlayActions(absl::string_view actions, absl::string_view source,
                         State& state) {
  int number = 0;
  for (const std::string& text : ActionWords(actions)) {
    ++number;
    const absl::Status status = PlayAction(text, state);
    if (status.ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(source, ": action ", number, ": ", status.message()));
  }
  return absl::OkStatus();
}

void AddPositionFlags(Command& command, PositionFlags* flags) {
  AddGameFlags(
      command, &flags->game,
      "variant, by its identifier in `tara variants` (required without "
      "--position)",
      /*required=*/false);
  command.Add({
      {"--actions ACTIONS", MayBeEmpty{&flags->actions},
       "actions to play first, as in \"D4 E6\"", Default("none")},
      {"--position TEXT", &flags->position,
       "position to begin with, as `tara show` prints it, or a game as text, "
       "for its last position",
       Default("the start of the game")},
  });
}

absl::StatusOr<ShownPosition> PositionOf(const PositionFlags& flags) {
  TARA_ASSIGN_OR_RETURN(const record::GameLine game, FirstGame(flags));
  ShownPosition shown = {.state = game.initial, .last = std::nullopt};
  for (const Action action : game.actions) {
    const bool swap = action == kPass && MaySwap(shown.state);
    shown.last = swap ? std::nullopt : std::optional<Action>(action);
    ApplyAction(action, shown.state);
  }
  TARA_RETURN_IF_ERROR(PlayActions(flags.actions, "--actions", shown.state));
  if (!flags.actions.empty()) {
    // A swap has no place on the board, and is not read without a position.
    const std::vector<std::string> words = ActionWords(flags.actions);
    const absl::StatusOr<Action> last =
        ParseAction(words.empty() ? "" : words.back());
    shown.last = last.ok() ? std::optional<Action>(*last) : std::nullopt;
  }
  return shown;
}

absl::Status CheckOutput(absl::string_view flag, const std::string& path,
                         std::initializer_list<NamedPath> others,
                         absl::string_view own_kind) {
  if (path.empty()) return absl::OkStatus();
  TARA_RETURN_IF_ERROR(CheckPath(path));
  std::error_code ignored;
  const auto whole = [&ignored](const std::string& name) {
    return std::filesystem::weakly_canonical(
        std::filesystem::absolute(name, ignored), ignored);
  };
  for (const NamedPath& other : others) {
    if (other.path.empty() || whole(path) != whole(other.path)) continue;
    return UsageError(flag, " ", path, ": is also the file of ", other.name,
                      "; expected another file");
  }
  absl::string_view is;
  const std::filesystem::file_status found =
      std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(found)) {
    is = "a folder";
  } else if (std::filesystem::exists(found) &&
             !std::filesystem::is_regular_file(found)) {
    is = "a device or a pipe";
  } else {
    is = KindOfFile(path);
  }
  if (!is.empty() && is != own_kind) {
    return absl::FailedPreconditionError(
        absl::StrCat(flag, " ", path, ": is ", is, "; expected a new file"));
  }
  std::string folder =
      std::filesystem::path(BehindLinks(path)).parent_path().string();
  if (folder.empty()) folder = ".";
  if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(
      errno, absl::StrCat(flag, " ", path, ": cannot write into ", folder));
}

void AddReportFlags(Command& command, ReportFlags* flags) {
  command.Add({
      FormatOption(&flags->format),
      {"--html FILE", &flags->html,
       "file for a page with plots, for any browser, offline", Default("none")},
  });
}

absl::Status WriteReport(const ReportFlags& flags, const eval::Report& report,
                         Console& console) {
  console.out << (flags.format == "json" ? report.json + "\n" : report.text);
  return flags.html.empty() ? absl::OkStatus()
                            : WriteFileAtomically(flags.html, report.page());
}

int EndOf(const StopCheck& stop, Console& console, absl::string_view done) {
  if (!stop()) return kExitOk;
  console.err << "tara: interrupted; " << done << " by then\n";
  return kExitInterrupted;
}

Option DeviceOption(nn::InferenceOptions* options) {
  static constexpr char kDevices[] = "cpu, cuda or cuda:N";
  return {"--device D",
          Custom{kDevices, SetterOf("device", options),
                 [=] { return options->device; }},
          kDevices};
}

void AddInferenceFlags(Command& command, nn::InferenceOptions* options) {
  static constexpr char kPrecisions[] =
      "auto, float32, bfloat16, float16 or int8";
  static constexpr char kBackends[] = "auto, torch or tara";
  command.Add({
      DeviceOption(options),
      {"--precision P",
       Custom{
           kPrecisions, SetterOf("precision", options),
           [=] { return std::string(nn::PrecisionName(options->precision)); }},
       kPrecisions},
      {"--backend B",
       Custom{kBackends, SetterOf("backend", options),
              [=] { return std::string(nn::BackendName(options->backend)); }},
       kBackends},
  });
}

absl::StatusOr<std::unique_ptr<record::GameStore>> OpenStoreForReading(
    const std::string& path) {
  std::error_code ignored;
  // The name of the store in a run's folder: tara/train/folder/run_folder.h.
  const bool is_run = std::filesystem::is_directory(path, ignored);
  return record::OpenGameStore(is_run ? path + "/games.db" : path,
                               record::StoreMode::kReadOnly);
}

std::string DefaultPlayer(const State& start, Console& console) {
  const absl::StatusOr<std::string> path = eval::FindReadyMadeModel();
  if (!path.ok()) return kSearchWithoutNetwork;
  const absl::StatusOr<nn::Bundle> bundle = nn::Bundle::Open(*path);
  if (!bundle.ok()) {
    console.err << "tara: " << bundle.status().message() << "\n";
    return kSearchWithoutNetwork;
  }
  return nn::NotLearned(bundle->manifest().variants, start).empty()
             ? "best"
             : kSearchWithoutNetwork;
}

absl::Status CheckModelLearned(const std::string& name, const std::string& file,
                               const train::Learned& learned,
                               absl::Span<const State> starts, bool untrained,
                               Console& console) {
  if (!learned.has_value()) {
    // A damaged bundle: that is the loader's error.
    if (nn::IsBundlePath(file)) return absl::OkStatus();
    console.err << "tara: the variants that " << name
                << " has learned are unknown: it is neither a bundle nor in a "
                   "run's folder\n";
    return absl::OkStatus();
  }
  if (untrained) return absl::OkStatus();
  for (const State& start : starts) {
    const absl::Status status = nn::CheckNetworkLearned(name, *learned, start);
    if (status.ok()) continue;
    return UsageError(status.message(),
                      "; expected rules that it has learned, or --untrained");
  }
  return absl::OkStatus();
}

absl::Status CheckLearned(absl::Span<const eval::PlayerSpec> players,
                          absl::Span<const State> starts, bool untrained,
                          Console& console) {
  for (const auto& [name, file] : NetworkFiles(players)) {
    TARA_RETURN_IF_ERROR(CheckModelLearned(
        name, file, train::LearnedByModel(file), starts, untrained, console));
  }
  return absl::OkStatus();
}

std::string NotLearnedBy(const eval::PlayerSpec& player, const State& start) {
  for (const auto& [name, file] : NetworkFiles({player})) {
    const train::Learned learned = train::LearnedByModel(file);
    if (learned.has_value()) return nn::NotLearned(*learned, start);
  }
  return "";
}

std::string NotLearnedByAny(absl::Span<const eval::PlayerSpec> players,
                            const State& start) {
  std::map<std::string, std::string> lines;  // by spec
  for (const eval::PlayerSpec& player : players) {
    const std::string rules = NotLearnedBy(player, start);
    if (rules.empty()) continue;
    lines[player.text] = absl::StrCat(player.text, ": ", rules);
  }
  return absl::StrJoin(lines, "; ", [](std::string* out, const auto& line) {
    absl::StrAppend(out, line.second);
  });
}

absl::StatusOr<std::vector<State>> StartsOfLearned(
    const GameFlags& flags, absl::Span<const eval::PlayerSpec> players,
    bool untrained, Console& console) {
  GameFlags wanted = flags;
  if (flags.variant.empty()) wanted.variant = "all";
  TARA_ASSIGN_OR_RETURN(std::vector<State> starts, StartsOf(wanted));
  if (flags.variant.empty() && !untrained) {
    for (const auto& [name, file] : NetworkFiles(players)) {
      const train::Learned learned = train::LearnedByModel(file);
      if (!learned.has_value()) continue;
      std::erase_if(starts, [&](const State& start) {
        return std::none_of(learned->begin(), learned->end(),
                            [&](const nn::BundleVariant& each) {
                              return each.variant == start.variant;
                            });
      });
    }
  }
  if (starts.empty()) {
    return UsageError(
        "these networks have learned no variant in common; expected --variant "
        "and --untrained");
  }
  TARA_RETURN_IF_ERROR(CheckLearned(players, starts, untrained, console));
  return starts;
}

}  // namespace tara::cli
