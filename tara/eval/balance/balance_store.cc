#include "tara/eval/balance/balance_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/players/player_spec.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

absl::Status SystemError(absl::string_view path, absl::string_view what) {
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": ", what));
}

// In thousandths, as the file has them.
Json Thousandths(float value) {
  if (std::isnan(value)) return nullptr;
  return static_cast<int>(std::lround(1000 * value));
}

float FromThousandths(const Json& value) {
  return value.is_null() ? std::numeric_limits<float>::quiet_NaN()
                         : static_cast<float>(value.get<int>()) / 1000;
}

Json ToJson(const std::vector<float>& values) {
  Json array = Json::array();
  for (const float value : values) array.push_back(Thousandths(value));
  return array;
}

std::vector<float> FloatsOf(const Json& array) {
  std::vector<float> values;
  for (const Json& value : array) values.push_back(FromThousandths(value));
  return values;
}

std::string ActionsToText(const std::vector<Action>& actions) {
  return absl::StrJoin(actions, " ", [](std::string* text, Action action) {
    text->append(ActionToText(action));
  });
}

absl::StatusOr<std::vector<Action>> ActionsOf(const std::string& text) {
  std::vector<Action> actions;
  for (const absl::string_view part :
       absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    TARA_ASSIGN_OR_RETURN(actions.emplace_back(), ParseAction(part));
  }
  return actions;
}

Json ToJson(const BalanceStudyKey& key, int number) {
  const BalanceGameOptions& options = key.options;
  Json object;
  object["study"] = number;
  object["variant"] = std::string(Info(options.variant).id);
  object["rule_options"] = FormatRuleOptions(options.rule_options);
  object["player"] = key.player;
  object["network"] = key.network;
  object["seed"] = options.seed;
  object["opening_plies"] = options.opening_plies;
  object["drawn_plies"] = options.drawn_plies;
  object["temperature"] = options.temperature;
  return object;
}

absl::StatusOr<BalanceStudyKey> StudyKeyOf(const Json& object) {
  BalanceStudyKey key = {.options = {},
                         .player = object.at("player"),
                         .network = object.at("network")};
  BalanceGameOptions& options = key.options;
  TARA_ASSIGN_OR_RETURN(options.variant,
                        ParseVariant(object.at("variant").get<std::string>()));
  TARA_ASSIGN_OR_RETURN(
      options.rule_options,
      ParseRuleOptions(options.variant,
                       object.at("rule_options").get<std::string>()));
  options.seed = object.at("seed");
  options.opening_plies = object.at("opening_plies");
  options.drawn_plies = object.at("drawn_plies");
  options.temperature = object.at("temperature");
  return key;
}

Json ToJson(const BalanceGame& game, int study) {
  Json object;
  object["game"] = game.id.index;
  object["study"] = study;
  if (game.id.first.has_value()) object["first"] = ActionToText(*game.id.first);
  object["actions"] = ActionsToText(game.actions);
  object["red"] = ToJson(game.red_values);
  object["nats"] = ToJson(game.entropies);
  return object;
}

absl::StatusOr<BalanceGame> GameOf(const Json& object) {
  BalanceGame game;
  game.id.index = object.at("game");
  if (object.contains("first")) {
    TARA_ASSIGN_OR_RETURN(game.id.first,
                          ParseAction(object.at("first").get<std::string>()));
  }
  TARA_ASSIGN_OR_RETURN(game.actions,
                        ActionsOf(object.at("actions").get<std::string>()));
  game.red_values = FloatsOf(object.at("red"));
  game.entropies = FloatsOf(object.at("nats"));
  if (game.red_values.size() != game.actions.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"red\" has ", game.red_values.size(),
                     " values; expected one for each of the ",
                     game.actions.size(), " actions"));
  }
  return game;
}

Json ToJson(const StartReport& start, int study) {
  Json object;
  object["start"] = study;
  object["value"] =
      start.value.has_value() ? Thousandths(*start.value) : Json(nullptr);
  object["actions"] = ActionsToText(start.actions);
  object["policy"] = ToJson(start.policy);
  object["red"] = ToJson(start.values);
  return object;
}

absl::StatusOr<StartReport> StartOf(const Json& object) {
  StartReport start;
  if (!object.at("value").is_null()) {
    start.value = FromThousandths(object.at("value"));
  }
  TARA_ASSIGN_OR_RETURN(start.actions,
                        ActionsOf(object.at("actions").get<std::string>()));
  start.policy = FloatsOf(object.at("policy"));
  start.values = FloatsOf(object.at("red"));
  if (start.policy.size() != start.actions.size() ||
      start.values.size() != start.actions.size()) {
    return absl::InvalidArgumentError(
        "\"actions\", \"policy\" and \"red\" differ in length");
  }
  return start;
}

bool SameStudy(const BalanceStudyKey& x, const BalanceStudyKey& y) {
  return ToJson(x, 0) == ToJson(y, 0);
}

}  // namespace

struct BalanceStore::Study {
  BalanceStudyKey key;
  std::map<BalanceGameId, BalanceGame> games = {};
  std::optional<StartReport> start = {};
};

// An open file, which this process has for itself.
class BalanceStore::File {
 public:
  static absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path) {
    const int descriptor =
        open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0) return SystemError(path, "cannot open");
    auto file = std::unique_ptr<File>(new File(path, descriptor));
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, ": in use by another process; expected a file of its own"));
    }
    return file;
  }

  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }

  absl::StatusOr<std::string> ReadAll() const {
    std::ifstream stream(path_, std::ios::binary);
    std::stringstream contents;
    contents << stream.rdbuf();
    if (!stream) {
      errno = EIO;
      return SystemError(path_, "cannot read");
    }
    return contents.str();
  }

  absl::Status Truncate(size_t size) {
    if (ftruncate(descriptor_, static_cast<off_t>(size)) == 0) {
      return absl::OkStatus();
    }
    return SystemError(path_, "cannot cut off a line without its end");
  }

  absl::Status Append(absl::string_view text) {
    while (!text.empty()) {
      const ssize_t written = write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return SystemError(path_, "cannot write");
      text.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }

 private:
  File(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  const std::string path_;
  const int descriptor_;
};

BalanceStore::BalanceStore() = default;
BalanceStore::BalanceStore(BalanceStore&&) noexcept = default;
BalanceStore& BalanceStore::operator=(BalanceStore&&) noexcept = default;
BalanceStore::~BalanceStore() = default;

absl::StatusOr<BalanceStore> BalanceStore::Open(const std::string& path) {
  TARA_ASSIGN_OR_RETURN(std::unique_ptr<File> file, File::Open(path));
  TARA_ASSIGN_OR_RETURN(const std::string contents, file->ReadAll());
  const std::string header = Json({{"tara_balance", kVersion}}).dump();
  const size_t end = contents.rfind('\n');
  const size_t whole = end == std::string::npos ? 0 : end + 1;
  const absl::string_view lines = absl::string_view(contents).substr(0, whole);
  const absl::string_view first_line = lines.substr(0, lines.find('\n'));
  // A crash may have cut the first line short, too.
  if (whole == 0 ? !absl::StartsWith(header, contents) : first_line != header) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": not a file of balance games; expected the line '",
                     header, "' first, or no file"));
  }
  BalanceStore store;
  if (whole < contents.size()) TARA_RETURN_IF_ERROR(file->Truncate(whole));
  if (whole == 0) TARA_RETURN_IF_ERROR(file->Append(header + "\n"));
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(lines, '\n')) {
    if (++number == 1 || line.empty()) continue;
    const absl::Status status = store.ReadLine(std::string(line));
    if (status.ok()) continue;
    return absl::DataLossError(absl::StrCat(path, ": line ", number,
                                            " is damaged: ", status.message()));
  }
  store.file_ = std::move(file);
  return store;
}

absl::Status BalanceStore::ReadLine(const std::string& line) {
  try {
    const Json object = Json::parse(line);
    if (object.contains("variant")) {
      TARA_ASSIGN_OR_RETURN(BalanceStudyKey key, StudyKeyOf(object));
      if (object.at("study") != studies_.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("study ", object.at("study").dump(), "; expected ",
                         studies_.size()));
      }
      studies_.push_back({.key = std::move(key)});
      return absl::OkStatus();
    }
    const bool is_game = object.contains("game");
    const size_t number = object.at(is_game ? "study" : "start");
    if (number >= studies_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("study ", number, " was not described before"));
    }
    Study& study = studies_[number];
    if (!is_game) {
      TARA_ASSIGN_OR_RETURN(study.start, StartOf(object));
      return absl::OkStatus();
    }
    TARA_ASSIGN_OR_RETURN(BalanceGame game, GameOf(object));
    const BalanceGameOptions& options = study.key.options;
    TARA_RETURN_IF_ERROR(
        FactsOf(options.variant, options.rule_options, game).status());
    study.games.insert_or_assign(game.id, std::move(game));
    return absl::OkStatus();
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

absl::Status BalanceStore::Write(const std::string& line) {
  return file_ == nullptr ? absl::OkStatus() : file_->Append(line + "\n");
}

std::set<nn::Precision> BalanceStore::PrecisionsOf(
    const std::string& network) const {
  std::set<nn::Precision> precisions;
  for (const Study& study : studies_) {
    if (study.key.network != network || study.games.empty()) continue;
    const absl::StatusOr<PlayerSpec> spec = ParsePlayerSpec(study.key.player);
    precisions.insert(spec.ok() ? spec->inference.precision
                                : nn::Precision::kAuto);
  }
  return precisions;
}

absl::StatusOr<int> BalanceStore::StudyFor(const BalanceStudyKey& key) {
  for (size_t i = 0; i < studies_.size(); ++i) {
    if (SameStudy(studies_[i].key, key)) return static_cast<int>(i);
  }
  const auto number = static_cast<int>(studies_.size());
  TARA_RETURN_IF_ERROR(Write(ToJson(key, number).dump()));
  studies_.push_back({.key = key});
  return number;
}

absl::Status BalanceStore::AddGame(int study, const BalanceGame& game) {
  const Json object = ToJson(game, study);
  TARA_RETURN_IF_ERROR(Write(object.dump()));
  // As it will be read: a study gone on with is the same as one in one go.
  const absl::StatusOr<BalanceGame> kept = GameOf(object);
  TARA_CHECK(kept.ok(), "a game cannot be read back");
  studies_[study].games.insert_or_assign(kept->id, *kept);
  return absl::OkStatus();
}

absl::Status BalanceStore::SetStart(int study, const StartReport& start) {
  const Json object = ToJson(start, study);
  TARA_RETURN_IF_ERROR(Write(object.dump()));
  const absl::StatusOr<StartReport> kept = StartOf(object);
  TARA_CHECK(kept.ok(), "a report cannot be read back");
  studies_[study].start = *kept;
  return absl::OkStatus();
}

const std::map<BalanceGameId, BalanceGame>& BalanceStore::games(
    int study) const {
  return studies_[study].games;
}

const std::optional<StartReport>& BalanceStore::start(int study) const {
  return studies_[study].start;
}

}  // namespace tara::eval
