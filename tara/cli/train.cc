#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/config.pb.h"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/checkpoint_evaluation.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/cli/match_flags.h"
#include "tara/cli/train_report.h"
#include "tara/core/state.h"
#include "tara/eval/players/player_spec.h"
#include "tara/fleet/fleet.h"
#include "tara/train/config/config.h"
#include "tara/train/config/config_fields.h"
#include "tara/train/play/game_plan.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/pipeline.h"
#include "tara/train/strength.h"

namespace tara::cli {
namespace {

struct TrainFlags {
  std::string config;
  std::vector<std::string> overrides;  // each "path.to.field=value"
  std::string minutes;                 // an override of this field, if given
  bool untrained = false;
  std::string format = "text";
  std::string fleet = "none";
};

// Returns the resolved config. A wrong value in a config is a usage error, a
// file that cannot be read a failure.
absl::StatusOr<proto::TrainConfig> LoadConfig(const TrainFlags& options) {
  std::vector<std::string> overrides = options.overrides;
  if (!options.minutes.empty()) {
    overrides.push_back(absl::StrCat("minutes=", options.minutes));
  }
  absl::StatusOr<proto::TrainConfig> config =
      train::LoadTrainConfig(options.config, overrides);
  if (absl::IsInvalidArgument(config.status())) {
    return AsUsageError(config.status());
  }
  return config;
}

// Checks before anything is written that the run can start or resume and that
// its opponents can play. A wrong value in the config is a usage error.
absl::Status Preflight(const proto::TrainConfig& config, bool untrained,
                       Console& console) {
  absl::Status status = train::CheckRun(config);
  if (status.ok()) status = CheckOpponents(config);
  if (absl::IsInvalidArgument(status)) return AsUsageError(status);
  TARA_RETURN_IF_ERROR(status);
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        train::StartPositions(config));
  std::vector<eval::PlayerSpec> opponents;
  for (const std::string& text : config.evaluation().opponent()) {
    TARA_ASSIGN_OR_RETURN(opponents.emplace_back(),
                          eval::ParsePlayerSpec(text));
  }
  status = CheckLearned(opponents, starts, untrained, console);
  if (status.ok()) return status;
  return UsageError(absl::StrCat("evaluation.opponent: ", status.message()));
}

// Adds to an error of training what to do about it.
absl::Status WithAdvice(const absl::Status& status) {
  absl::string_view advice;
  switch (status.code()) {
    case absl::StatusCode::kResourceExhausted:
      advice =
          "finished work is kept: free some space, then run the same command "
          "to resume";
      break;
    case absl::StatusCode::kUnavailable:
      advice =
          "finished work is kept: end the other process, then run the same "
          "command to resume";
      break;
    case absl::StatusCode::kInternal:  // such as a device that was lost
      advice = "finished work is kept: run the same command to resume";
      break;
    default:
      return status;
  }
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), " (", advice, ")"));
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
            [&](const train::GateRequest& request) {
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
  command.SetNotes(
      absl::StrCat("The same command resumes a run that was stopped, by Ctrl-C "
                   "or otherwise. The\n"
                   "run's folder contains the games (see tara games), "
                   "checkpoints, metrics.jsonl and\n"
                   "TensorBoard event files.\n\n"
                   "Fields of a config:\n",
                   FieldsHelp()));
  command.SetExamples(
      {"train configs/quickstart.textproto",
       "train configs/quickstart.textproto --set variant=high_kings_l1",
       "train configs/quickstart.textproto --set generations=20 --set seed=2",
       "train configs/variant_10min.textproto --minutes 5"});
}

}  // namespace tara::cli
