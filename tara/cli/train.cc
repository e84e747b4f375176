#include "tara/cli/train.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "proto/fleet.pb.h"
#include "tara/base/json.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/report/report.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/train/config/config.h"
#include "tara/train/config/config_options.h"
#include "tara/train/play/game_plan.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/generation_player.h"
#include "tara/train/run/run_log.h"

namespace tara::cli {
namespace {

// Returns the name of a checkpoint, for people.
std::string NameOf(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

// Returns the player of a checkpoint. Its text has all that decides its games
// next to the file, and the name of that, not the folder.
absl::StatusOr<eval::PlayerSpec> CheckpointPlayer(
    const std::string& path, const proto::InferenceConfig& inference,
    uint32_t simulations) {
  eval::PlayerSpec player =
      eval::NetworkPlayer(std::filesystem::path(path).filename().string(),
                          static_cast<int>(simulations));
  player.file = path;
  const std::pair<const char*, const std::string&> options[] = {
      {"device", inference.device()},
      {"backend", inference.backend()},
      {"precision", inference.precision()}};
  for (const auto& [name, value] : options) {
    TARA_ASSIGN_OR_RETURN(player, eval::WithOption(player, name, value));
  }
  return player;
}

// A match of a checkpoint.
struct Match {
  eval::ArenaOptions options;
  eval::PlayerSpec player;
  eval::PlayerSpec opponent;
  std::string name;  // of the opponent, for people
};

// Returns the results of matches, in their order. A fleet, which may be null,
// plays them all concurrently, except those whose games would differ on other
// machines.
absl::StatusOr<std::vector<train::StrengthResult>> PlayMatches(
    const proto::TrainConfig& config, const std::vector<Match>& matches,
    const train::StrengthRequest& request, fleet::Fleet* fleet,
    const StopCheck& stop) {
  int games_wanted = 0;
  std::vector<size_t> elsewhere, here;  // places
  for (size_t i = 0; i < matches.size(); ++i) {
    games_wanted += matches[i].options.games;
    const bool by_fleet =
        fleet != nullptr && eval::CheckSameEverywhere(matches[i].opponent).ok();
    (by_fleet ? elsewhere : here).push_back(i);
  }
  std::vector<std::atomic<int>> games(matches.size());
  std::vector<train::StrengthResult> results(matches.size());
  const auto play = [&](size_t i, fleet::Fleet* by,
                        const StopCheck& is_over) -> absl::Status {
    const Match& match = matches[i];
    eval::ArenaOptions arena = match.options;
    arena.stop = is_over;
    const auto show = [&](const eval::ArenaProgress& progress) {
      games[i] = progress.games_done;
      if (request.on_progress) {
        request.on_progress(
            {.opponent = match.name,
             .games = std::accumulate(games.begin(), games.end(), 0),
             .games_wanted = games_wanted});
      }
      return true;
    };
    TARA_ASSIGN_OR_RETURN(
        const eval::ArenaResult result,
        by != nullptr
            ? eval::PlayArenaOnFleet(arena, eval::MakeTeam({match.player}),
                                     eval::MakeTeam({match.opponent}), *by,
                                     show)
            : eval::PlayArena(arena, eval::NewPlayerFactory(match.player),
                              eval::NewPlayerFactory(match.opponent),
                              static_cast<int>(config.self_play().threads()),
                              show));
    games[i] = match.options.games;  // a sequential test may end earlier
    results[i] = {.variant = std::string(Info(arena.variant).id),
                  .opponent = match.name,
                  .games = result.games,
                  .wins = result.wins,
                  .draws = result.draws,
                  .losses = result.losses,
                  .score = result.score.mean,
                  .score_low = result.score.low,
                  .score_high = result.score.high,
                  .forfeits = result.faults_b,
                  .weaker = eval::IsWeaker(result)};
    return absl::OkStatus();
  };
  const auto play_all = [&](const std::vector<size_t>& places,
                            fleet::Fleet* by) {
    return fleet::PlayAll(by, places.size(), stop,
                          [&](size_t i, const StopCheck& is_over) {
                            return play(places[i], by, is_over);
                          });
  };
  TARA_RETURN_IF_ERROR(play_all(elsewhere, fleet));
  TARA_RETURN_IF_ERROR(play_all(here, /*by=*/nullptr));
  if (stop()) return absl::CancelledError("the matches were interrupted");
  return results;
}

}  // namespace

absl::StatusOr<std::vector<train::StrengthResult>> EvaluateCheckpoint(
    const proto::TrainConfig& config, const train::StrengthRequest& request,
    fleet::Fleet* fleet, const StopCheck& stop) {
  const proto::EvaluationConfig& evaluation = config.evaluation();
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        train::StartPositions(config));
  TARA_ASSIGN_OR_RETURN(
      const eval::PlayerSpec player,
      CheckpointPlayer(request.checkpoint_path, request.inference,
                       evaluation.simulations()));
  eval::ArenaOptions options;
  options.games = static_cast<int>(request.is_final ? evaluation.final_games()
                                                    : evaluation.games());
  // Other openings for each checkpoint, so that their luck does not add up; and
  // for each gate (tara/eval/arena/arena.h).
  options.seed =
      DeriveSeed(config.seed(), request.generation, StreamPurpose::kArena);
  std::vector<Match> matches;
  const auto add = [&](const eval::PlayerSpec& opponent,
                       const std::string& name) {
    options.concurrent_games =
        eval::GamesAtATime(opponent, eval::ArenaOptions().concurrent_games);
    for (const State& start : starts) {
      options.variant = start.variant;
      options.rule_options = start.options;
      matches.push_back({options, player, opponent, name});
    }
  };
  for (const std::string& spec : evaluation.opponent()) {
    TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec opponent,
                          eval::ParsePlayerSpec(spec));
    TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec chosen,
                          eval::WithPrecision(opponent));
    add(chosen, spec);
  }
  if (!request.opponent_path.empty() &&
      request.opponent_path != request.checkpoint_path) {
    TARA_ASSIGN_OR_RETURN(
        const eval::PlayerSpec first,
        CheckpointPlayer(request.opponent_path, request.inference,
                         evaluation.simulations()));
    add(first, NameOf(request.opponent_path));
  }
  return PlayMatches(config, matches, request, fleet, stop);
}

absl::StatusOr<std::vector<train::StrengthResult>> PlayGate(
    const proto::TrainConfig& config, const train::StrengthRequest& request,
    fleet::Fleet* fleet, const StopCheck& stop) {
  const uint32_t simulations = config.gate().simulations();
  TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec candidate,
                        CheckpointPlayer(request.checkpoint_path,
                                         request.inference, simulations));
  TARA_ASSIGN_OR_RETURN(
      const eval::PlayerSpec best,
      CheckpointPlayer(request.opponent_path, request.inference, simulations));
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        train::StartPositions(config));
  std::vector<Match> matches;
  for (const eval::ArenaOptions& options : eval::GateMatches(
           {.starts = starts,
            .games = static_cast<int>(config.gate().games()),
            .max_drop_elo = config.gate().max_drop_elo(),
            .run_seed = config.seed(),
            .candidate = static_cast<uint64_t>(request.generation)})) {
    matches.push_back(
        {options, candidate, best, NameOf(request.opponent_path)});
  }
  return PlayMatches(config, matches, request, fleet, stop);
}

std::string StrengthReport(const train::TrainSummary& summary,
                           const proto::TrainConfig& config) {
  std::string text = "\n";
  if (summary.time_is_up) {
    const std::string minutes = absl::StrFormat("%g minutes", config.minutes());
    const std::string cpu_minutes =
        absl::StrFormat("%g minutes of processor time", config.cpu_minutes());
    absl::StrAppendFormat(
        &text, "The %s of the run were up after generation %d of %d.\n",
        config.minutes() <= 0       ? cpu_minutes
        : config.cpu_minutes() <= 0 ? minutes
                                    : minutes + " or " + cpu_minutes,
        summary.generation, config.generations());
  }
  if (config.gate().games() > 0) {
    absl::StrAppendFormat(&text,
                          "The gate let %d checkpoints through, and %d not.\n",
                          summary.promoted, summary.rejected);
  }
  absl::StrAppendFormat(&text, "%s at %d simulations per action:\n\n",
                        NameOf(summary.checkpoint_path),
                        config.evaluation().simulations());
  std::vector<eval::ReportRow> rows;
  for (const train::StrengthResult& result : summary.strength) {
    const eval::Interval score = {result.score, result.score_low,
                                  result.score_high};
    rows.push_back(
        {eval::TextField("", "variant", result.variant),
         eval::TextField("", "opponent", result.opponent),
         eval::CountField("", "games", result.games),
         eval::CountField("", "wins", result.wins),
         eval::CountField("", "draws", result.draws),
         eval::CountField("", "losses", result.losses),
         eval::EstimateField("", "score %", score, eval::kScore),
         eval::NumberField("", "Elo", eval::EloDifference(result.score),
                           eval::kElo)});
  }
  if (!rows.empty()) text += eval::TableText(rows);
  for (const train::StrengthResult& result : summary.strength) {
    if (result.forfeits == 0) continue;
    absl::StrAppendFormat(
        &text, "Of the wins in %s, %d are games that %s forfeited.\n",
        result.variant, result.forfeits, result.opponent);
  }
  return text;
}

absl::StatusOr<std::string> StrengthCurves(const std::string& metrics_path) {
  TARA_ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                        train::ReadMetricsLines(metrics_path));
  using Json = nlohmann::json;
  // Scores by generation, of each variant and opponent.
  std::map<std::pair<std::string, std::string>, std::map<int, double>> curves;
  std::vector<size_t> damaged;  // numbers of lines
  for (size_t i = 0; i < lines.size(); ++i) {
    try {
      // Malformed JSON becomes null, which has no fields.
      const Json line = ParseJson<Json>(lines[i]).value_or(Json());
      if (line.at("event") != "strength") continue;
      const double score = line.at("score");
      curves[{line.at("variant"), line.at("opponent")}][line.at("generation")] =
          score;
    } catch (const Json::exception&) {
      damaged.push_back(i + 1);
    }
  }
  std::string text;
  for (const auto& [key, curve] : curves) {
    if (curve.size() < 2) continue;
    std::string bars;
    for (const auto& [generation, score] : curve) {
      absl::StrAppend(&bars, eval::BarOf(score));
    }
    absl::StrAppendFormat(
        &text, "%-22s  %-14s  %s  %.0f to %.0f %%\n", key.first, key.second,
        bars, 100 * curve.begin()->second, 100 * curve.rbegin()->second);
  }
  if (!text.empty()) {
    text = absl::StrCat("\nScore over the generations:\n\n", text);
  }
  if (!damaged.empty()) {
    absl::StrAppend(&text, "\nLeft out: ", damaged.size(),
                    damaged.size() == 1 ? " line" : " lines", " of ",
                    metrics_path, " that cannot be read, such as line ",
                    damaged.front(), ".\n");
  }
  return text;
}

namespace {

struct TrainFlags {
  std::string config;
  std::vector<std::string> overrides;  // each "path.to.field=value"
  std::string minutes;                 // an override of this field, if given
  bool untrained = false;
  std::string format = "text";
  std::string fleet = "none";
};

// A wrong value in a config is a usage error.
absl::Status AsUsage(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? AsUsageError(status) : status;
}

absl::StatusOr<proto::TrainConfig> LoadConfig(const TrainFlags& options) {
  std::vector<std::string> overrides = options.overrides;
  if (!options.minutes.empty()) {
    overrides.push_back(absl::StrCat("minutes=", options.minutes));
  }
  absl::StatusOr<proto::TrainConfig> config =
      train::LoadTrainConfig(options.config, overrides);
  TARA_RETURN_IF_ERROR(AsUsage(config.status()));
  return config;
}

// Returns the opponents of the config once they can play: loads networks, and
// starts engines with each of its variants. Errors name the field and the
// opponent.
absl::StatusOr<std::vector<eval::PlayerSpec>> CheckOpponents(
    const proto::TrainConfig& config, const std::vector<State>& starts) {
  std::vector<eval::PlayerSpec> opponents;
  for (const std::string& text : config.evaluation().opponent()) {
    const absl::StatusOr<eval::PlayerSpec> spec = eval::ParsePlayerSpec(text);
    absl::Status status = spec.status();
    if (status.ok()) {
      opponents.push_back(*spec);
      status = spec->kind == eval::PlayerKind::kEngine
                   ? eval::CheckEngine(spec->engine, starts)
                   : eval::NewPlayerFactory(*spec)().status();
    }
    TARA_RETURN_IF_ERROR(train::Prefixed(
        absl::StrCat("evaluation.opponent: ", text, ": "), status));
  }
  return opponents;
}

// Checks before anything is written that the run can start or resume and that
// its opponents can play.
absl::Status Preflight(const proto::TrainConfig& config, bool untrained,
                       Console& console) {
  TARA_RETURN_IF_ERROR(AsUsage(train::CheckRun(config)));
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        train::StartPositions(config));
  const auto opponents = CheckOpponents(config, starts);
  TARA_RETURN_IF_ERROR(AsUsage(opponents.status()));
  const absl::Status status =
      CheckLearned(*opponents, starts, untrained, console);
  if (status.ok()) return status;
  return UsageError("evaluation.opponent: ", status.message());
}

// Adds to an error of training what to do about it.
absl::Status WithAdvice(const absl::Status& status) {
  constexpr std::pair<absl::StatusCode, absl::string_view> kAdvice[] = {
      {absl::StatusCode::kResourceExhausted, "free some space, then "},
      {absl::StatusCode::kUnavailable, "end the other process, then "},
      {absl::StatusCode::kInternal, ""}};  // such as a device that was lost
  for (const auto& [code, advice] : kAdvice) {
    if (status.code() != code) continue;
    return absl::Status(code, absl::StrCat(status.message(),
                                           " (finished work is kept: ", advice,
                                           "run the same command to resume)"));
  }
  return status;
}

// Trains by a config, with progress on stderr, and ends with a table of the
// learned player's strength; or with all of it as events on stdout. Goes on
// where the run was stopped.
absl::StatusOr<int> RunTrain(const TrainFlags& options, Console& console) {
  TARA_ASSIGN_OR_RETURN(proto::TrainConfig config, LoadConfig(options));
  TARA_RETURN_IF_ERROR(Preflight(config, options.untrained, console));
  const StopCheck stop = StopOnSignals();
  const bool json = options.format == "json";
  train::TrainSummary summary;
  {
    // Its thread writes until the end of the scope.
    train::Progress progress(
        json ? train::ProgressOptions{.out = stdout,
                                      .form = train::ProgressForm::kJson,
                                      .interval = absl::Seconds(1)}
             : train::ProgressOptionsFor(stderr));
    TARA_ASSIGN_OR_RETURN(const std::unique_ptr<fleet::Fleet> fleet,
                          ConnectFleet(options.fleet));
    const StopCheck stop_evaluation = [&] {
      if (fleet != nullptr) progress.SetFleet(fleet->status());
      return stop();
    };
    train::TrainCallbacks callbacks = {
        .evaluate =
            [&](const train::StrengthRequest& request) {
              return EvaluateCheckpoint(config, request, fleet.get(),
                                        stop_evaluation);
            },
        .gate =
            [&](const train::StrengthRequest& request) {
              return PlayGate(config, request, fleet.get(), stop_evaluation);
            },
        .on_game_stored = {}};
    if (fleet != nullptr) {
      callbacks.play = [&](const train::SelfPlayJob& job,
                           const train::GamesSink& sink,
                           const StopCheck& until) {
        return train::PlayOnFleet(*fleet, job, sink, until, progress);
      };
    }
    absl::StatusOr<train::TrainSummary> trained =
        train::RunTraining(config, callbacks, stop, progress);
    if (!trained.ok()) return WithAdvice(trained.status());
    summary = *std::move(trained);
  }
  if (json) {
    console.out << JsonText(nlohmann::ordered_json(
                       {{"event", "end"},
                        {"run_dir", summary.run_dir},
                        {"generation", summary.generation},
                        {"generations", config.generations()},
                        {"checkpoint", summary.checkpoint_path},
                        {"stopped", summary.stopped}}))
                << "\n"
                << std::flush;
  }
  if (summary.stopped) {
    console.err << "tara: interrupted after generation " << summary.generation
                << " of " << config.generations()
                << "; the same command resumes there\n";
    return kExitInterrupted;
  }
  if (json) return kExitOk;
  // First print the last evaluation: the steps below may fail.
  console.out << StrengthReport(summary, config) << std::flush;
  TARA_ASSIGN_OR_RETURN(
      const std::string curves,
      StrengthCurves(absl::StrCat(summary.run_dir, "/metrics.jsonl")));
  console.out << curves;
  return kExitOk;
}

// Returns a table of all fields: type, values, default, help.
std::string FieldsHelp() {
  std::string text;
  for (const train::ConfigField& field : train::ConfigFields()) {
    const proto::FieldInfo& info = field.info;
    const std::string head = absl::StrCat(
        field.path, " (", train::FieldType(*field.field),
        info.values().empty() ? "" : ", ", info.values(), ", default ",
        info.has_default_() ? info.default_() : info.computed(), ")");
    absl::StrAppend(&text, "  ", Wrap(head, 6), "\n      ",
                    Wrap(info.help(), 6), "\n");
  }
  return text;
}

}  // namespace

void RegisterTrain(Command& root) {
  Command& command = root.AddCommand(kTrainCommand.name, kTrainCommand.summary);
  TrainFlags* const options = command.SetRun(RunTrain);
  command.Add({
      {"CONFIG", &options->config,
       "config of the run, a text-format proto (proto/config.proto)",
       kRequired},
      {"--set FIELD=VALUE", &options->overrides,
       "field of the config to set, such as learner.batch_size=128; "
       "repeatable"},
      {"--minutes M", &options->minutes,
       "duration in minutes: the run ends with the last generation that fits; "
       "short for --set minutes=M"},
      {"--untrained", &options->untrained,
       "allow networks among the opponents (evaluation.opponent) to play "
       "variants that they have not learned"},
      FormatOption(&options->format),
      FleetOption(&options->fleet),
  });
  command.SetNotes(absl::StrCat(
      "The same command resumes a run that was stopped, by Ctrl-C or "
      "otherwise. The run's folder contains the games (see tara games), "
      "checkpoints and metrics.jsonl.\n\n"
      "Fields of a config:\n",
      FieldsHelp()));
  command.SetExamples(
      {"train configs/quickstart.textproto",
       "train configs/quickstart.textproto --set variant=high_kings_l1",
       "train configs/quickstart.textproto --set generations=20 --set seed=2",
       "train configs/variant_10min.textproto --minutes 5"});
}

namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers of messages are little-endian");

struct FleetWorkerOptions {
  std::string checkpoint;
  nn::InferenceOptions inference;
  int threads = 0;
  std::string node;
};

// Returns the next message; none: the input has ended.
absl::StatusOr<std::optional<std::string>> ReadMessage(std::istream& in) {
  uint32_t size = 0;
  if (!in.read(reinterpret_cast<char*>(&size), sizeof(size))) {
    return std::nullopt;
  }
  std::string message(size, '\0');
  if (in.read(message.data(), static_cast<std::streamsize>(message.size()))) {
    return message;
  }
  return absl::DataLossError("the input ends within a message");
}

void WriteMessage(const std::string& message, std::ostream& out) {
  const auto size = static_cast<uint32_t>(message.size());
  out.write(reinterpret_cast<const char*>(&size), sizeof(size));
  out << message << std::flush;
}

// Plays games for a worker of `tara fleet` (python/tara/fleet.py), on its
// device: what comes and goes are messages, each after its size, of four bytes,
// little-endian. First comes a FleetRequest, and the numeric class goes. Then
// come the indices of games, of eight bytes each, and PlayedGames go.
absl::StatusOr<int> RunFleetWorker(const FleetWorkerOptions& options,
                                   Console& console) {
  TARA_RETURN_IF_ERROR(nn::CheckInferenceDevice(options.inference.device));
  TARA_ASSIGN_OR_RETURN(std::optional<std::string> message,
                        ReadMessage(std::cin));
  proto::FleetRequest request;
  if (!message.has_value() || !request.ParseFromString(*message) ||
      !request.has_self_play()) {
    return absl::InvalidArgumentError(
        "the input does not begin with games of a run; `tara fleet` starts "
        "this command");
  }
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<train::GenerationPlayer> player,
      train::GenerationPlayer::Create(request.self_play(), options.checkpoint,
                                      ResolveThreads(options.threads),
                                      options.inference.device));
  TARA_ASSIGN_OR_RETURN(const std::string numeric_class,
                        player->NumericClass());
  WriteMessage(numeric_class, console.out);
  const StopCheck stop = StopOnSignals();
  while (!stop()) {
    TARA_ASSIGN_OR_RETURN(message, ReadMessage(std::cin));
    if (!message.has_value()) break;
    std::vector<uint64_t> games(message->size() / sizeof(uint64_t));
    std::memcpy(games.data(), message->data(), games.size() * sizeof(uint64_t));
    proto::PlayedGames played;
    played.set_node(options.node);
    TARA_RETURN_IF_ERROR(player->Play(games, stop, played));
    if (stop()) break;
    WriteMessage(played.SerializeAsString(), console.out);
  }
  return kExitOk;
}

}  // namespace

void RegisterFleetWorker(Command& root) {
  Command& command =
      root.AddCommand(kFleetWorkerCommand.name, kFleetWorkerCommand.summary);
  FleetWorkerOptions* const options = command.SetRun(RunFleetWorker);
  command.Add({
      {"CHECKPOINT", &options->checkpoint, "network of the games", kRequired},
      DeviceOption(&options->inference),
      ThreadsOption(&options->threads),
      {"--node NAME", &options->node, "name of the node in reports"},
  });
  command.SetNotes(
      "`tara fleet train --device` starts this command on nodes with a GPU. It "
      "reads messages from its input, and writes games as messages.");
}

}  // namespace tara::cli
