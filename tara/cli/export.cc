#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "tara/base/files.h"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/base/version.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/state.h"
#include "tara/eval/players/make_player.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/train/folder/run_folder.h"

namespace tara::cli {
namespace {

struct ExportOptions {
  std::string model;   // run, or checkpoint file
  std::string output;  // the bundle
  std::string weights = "float32";
  bool for_learning = false;  // init_from takes the bundle
  GameFlags game;             // empty variant: the run's variants, else all
  std::string format = "text";
};

using Json = nlohmann::ordered_json;

// Returns the variants of the bundle: from the flags, else the run's, else all.
absl::StatusOr<std::vector<nn::BundleVariant>> VariantsFor(
    const GameFlags& flags, const train::RunProvenance& origin) {
  if (flags.variant.empty()) {
    if (!flags.options.empty()) {
      return UsageError("--option is given without --variant");
    }
    if (!origin.variants.empty()) return origin.variants;
  }
  GameFlags wanted = flags;
  if (wanted.variant.empty()) wanted.variant = "all";
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts, StartsOf(wanted));
  std::vector<nn::BundleVariant> variants;
  for (const State& start : starts) {
    // A run records what it has learned; other checkpoints do not.
    if (!origin.variants.empty()) {
      TARA_RETURN_IF_ERROR(
          nn::CheckNetworkLearned("the network", origin.variants, start));
    }
    variants.push_back({.variant = start.variant, .options = start.options});
  }
  return variants;
}

absl::StatusOr<int> RunExport(const ExportOptions& options, Console& console) {
  TARA_RETURN_IF_ERROR(
      CheckOutput("--output", options.output, {}, kBundleFile));
  TARA_ASSIGN_OR_RETURN(const std::string path,
                        eval::FindCheckpoint(options.model));
  if (nn::IsBundlePath(path)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     " is already a bundle; expected a run's folder or a "
                     "checkpoint"));
  }
  TARA_ASSIGN_OR_RETURN(const auto checkpoint, nn::ReadCheckpoint(path));
  TARA_ASSIGN_OR_RETURN(auto origin, train::ProvenanceOf(path, checkpoint));
  nn::BundleOptions bundle = {.made_by = absl::StrCat("tara ", kVersion),
                              .weights = options.weights == "float16"
                                             ? nn::WeightType::kFloat16
                                             : nn::WeightType::kFloat32,
                              .for_learning = options.for_learning,
                              .variants = {},
                              .provenance = std::move(origin.provenance)};
  TARA_ASSIGN_OR_RETURN(bundle.variants, VariantsFor(options.game, origin));
  const absl::StatusOr<std::string> bytes = nn::MakeBundle(checkpoint, bundle);
  if (!bytes.ok()) {
    return absl::Status(bytes.status().code(),
                        absl::StrCat(path, ": ", bytes.status().message()));
  }
  TARA_RETURN_IF_ERROR(WriteFileAtomically(options.output, *bytes));
  if (options.format == "json") {
    console.out << JsonText(Json({{"checkpoint", bundle.provenance.checkpoint},
                                  {"bundle", options.output},
                                  {"bytes", bytes->size()},
                                  {"weights", options.weights},
                                  {"variants", bundle.variants.size()}}),
                            2)
                << "\n";
    return kExitOk;
  }
  console.out << absl::StrFormat(
      "%s: %.2f MB, %s after %d steps, %d variant%s, weights of %s\n",
      options.output, static_cast<double>(bytes->size()) / 1e6,
      bundle.provenance.checkpoint, bundle.provenance.steps,
      bundle.variants.size(), bundle.variants.size() == 1 ? "" : "s",
      options.weights);
  return kExitOk;
}

}  // namespace

void RegisterExport(Command& root) {
  const auto [command, options] =
      root.AddCommand(kExportCommand.name, kExportCommand.summary, RunExport);
  command.Add({
      {"RUN", &options->model,
       "folder of a run (its newest checkpoint), or a checkpoint file",
       kRequired},
      {"-o,--output FILE", &options->output,
       "file of the bundle, replaced if it exists. Player specs recognise "
       "bundles by the ending .tara",
       kRequired},
      {"--weights float32|float16", &options->weights,
       "number type of weights; float16: smaller, rounded in both forms"},
      {"--for-learning", &options->for_learning,
       "include weights to start a run from (init_from): 4 more bytes per "
       "parameter"},
      FormatOption(&options->format),
  });
  AddGameFlags(command, &options->game,
               "variant that the network has learned, or 'all' (default: the "
               "variants of the run)",
               /*required=*/false);
  command.SetNotes(
      "A bundle is one zip file: the network as ONNX, its rules and its "
      "origin, and golden positions to check it by. docs/reference/bundle.md "
      "describes it; `tara model` shows one.");
  command.SetExamples({"export runs/quickstart-sacred_hill_l1 -o hill.tara",
                       "export runs/everything -o small.tara --weights float16",
                       "export net.pt -o net.tara --variant four_treasures"});
}

}  // namespace tara::cli
