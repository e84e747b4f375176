#include "tara/cli/engine.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/cli/commands.h"
#include "tara/cli/usage.h"
#include "tara/core/state.h"
#include "tara/engine/engine_model.h"
#include "tara/engine/engine_options.h"
#include "tara/engine/json_engine.h"
#include "tara/engine/line_engine.h"
#include "tara/eval/players/make_player.h"
#include "tara/nn/inference_options.h"

namespace tara {
namespace {

absl::StatusOr<std::unique_ptr<EngineModel>> LoadModel(
    const EngineCommandOptions& options, uint64_t seed) {
  if (options.model.empty()) {
    return EngineModel::OfPlayouts(seed, options.cache);
  }
  TARA_ASSIGN_OR_RETURN(const InferenceOptions inference,
                        InferenceOf(options.inference));
  TARA_ASSIGN_OR_RETURN(const std::string path, FindCheckpoint(options.model));
  return EngineModel::OfNetwork(path, inference, options.cache);
}

}  // namespace

absl::StatusOr<int> RunEngine(const EngineCommandOptions& options,
                              Console& console) {
  // What is wrong with the arguments is said before a network is loaded.
  EngineOptions given;
  const absl::Status status = SetEngineOptions(options.search, given);
  if (!status.ok()) {
    return UsageError(absl::StrCat("--search: ", status.message()));
  }
  TARA_ASSIGN_OR_RETURN(const State start, StartOf(options.game));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<EngineModel> model,
                        LoadModel(options, given.seed));
  EngineOptions engine = model->default_options();
  if (options.threads >= 0 || options.json) {
    engine.threads = ThreadsOr(std::max<int64_t>(options.threads, 0));
  }
  TARA_RETURN_IF_ERROR(AsUsageError(SetEngineOptions(options.search, engine)));
  if (options.json) {
    RunJsonEngine(*model, engine, console.in, console.out);
  } else {
    RunLineEngine(*model, engine, start, console.in, console.out);
  }
  return kExitOk;
}

void RegisterEngine(Command& root) {
  Command& command =
      root.AddCommand(kEngineCommand.name, kEngineCommand.summary);
  const auto options = std::make_shared<EngineCommandOptions>();
  command.AddText(
      {.names = "--model",
       .placeholder = "FILE",
       .help = "a bundle, a checkpoint, or the folder of a run: its newest "
               "one; or best, the ready-made one. Without it positions are "
               "judged by random games"},
      &options->model);
  command.AddSwitch(
      {.names = "--json", .help = "speak JSON lines: many positions at once"},
      &options->json);
  AddGameFlags(command, &options->game, kVariantHelp, /*required=*/false);
  command.AddText({.names = "--search",
                   .placeholder = "NAME=VALUE,...",
                   .help = "options of the search, as listed below"},
                  &options->search);
  command.AddInteger({.names = "--threads",
                      .placeholder = "N",
                      .help = "threads; 0: one a core",
                      .default_text = "1; JSON: one a core"},
                     0, 1024, &options->threads);
  command.AddInteger({.names = "--cache",
                      .placeholder = "N",
                      .help = "positions that the evaluation cache keeps"},
                     0, 1 << 28, &options->cache);
  AddInferenceFlags(command, &options->inference);
  command.SetNotes(absl::StrCat(
      "docs/protocol.md says what to write and what comes back; `help` within "
      "the line\nprotocol lists its commands.\n\nOptions of --search, and of "
      "set_option (without --model: leaves 8, c_puct 3):\n",
      EngineOptionsHelp()));
  command.SetExamples({"engine --variant high_kings_l1",
                       "engine --model runs/kings --search sims=400,graph=on",
                       "engine --json --model runs/kings < requests.jsonl"});
  command.SetRun(
      [options](Console& console) { return RunEngine(*options, console); });
}

}  // namespace tara
