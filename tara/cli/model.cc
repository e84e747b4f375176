#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/variant.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/report/report.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::cli {
namespace {

struct ModelOptions {
  std::string bundle;
  std::string format = "text";
};

using Json = nlohmann::ordered_json;

// Opens a bundle by its path, or the ready-made one by its name.
absl::StatusOr<nn::Bundle> OpenBundle(const std::string& name) {
  if (name != eval::kReadyMadeName) return nn::Bundle::Open(name);
  TARA_ASSIGN_OR_RETURN(const std::string path, eval::FindReadyMadeModel());
  return nn::Bundle::Open(path);
}

uint64_t TotalSize(const nn::Bundle& bundle) {
  uint64_t size = 0;
  for (const std::string& name : bundle.archive().Names()) {
    size += bundle.archive().CompressedSize(name);
  }
  return size;
}

void PrintOrigin(const nn::BundleProvenance& provenance, Console& console) {
  console.out << "from     ";
  if (!provenance.run.empty()) {
    console.out << "run " << Printable(provenance.run) << ", ";
  }
  console.out << Printable(provenance.checkpoint) << ": generation "
              << provenance.generation << ", " << provenance.steps
              << " steps on " << provenance.samples << " samples";
  if (provenance.games) console.out << ", " << *provenance.games << " games";
  console.out << "\n";
  const auto duration = [](double seconds) {
    return absl::FormatDuration(
        absl::Ceil(absl::Seconds(seconds), absl::Seconds(1)));
  };
  std::vector<std::string> cost;
  if (provenance.training_seconds) {
    cost.push_back(absl::StrCat("in ", duration(*provenance.training_seconds)));
  }
  if (provenance.processor_seconds) {
    cost.push_back(absl::StrCat(duration(*provenance.processor_seconds),
                                " of processor time"));
  }
  if (provenance.seed) cost.push_back(absl::StrCat("seed ", *provenance.seed));
  if (!cost.empty()) {
    console.out << "trained  " << absl::StrJoin(cost, ", ") << "\n";
  }
  if (!provenance.begun_with.empty()) {
    const std::string checksum = Printable(provenance.begun_with_crc32c);
    console.out << "begun    with " << Printable(provenance.begun_with)
                << (checksum.empty()
                        ? ""
                        : absl::StrCat(" (CRC-32C ", checksum, ")"))
                << ", whose training is not included\n";
  }
}

void PrintScores(const std::vector<nn::BundleScore>& scores, Console& console) {
  if (scores.empty()) return;
  std::vector<eval::ReportRow> rows;
  for (const nn::BundleScore& score : scores) {
    rows.push_back({eval::TextField("", "variant", score.variant),
                    eval::TextField("", "opponent", score.opponent),
                    eval::CountField("", "generation", score.generation),
                    eval::CountField("", "games", score.games),
                    eval::EstimateField("", "score %",
                                        {score.score, score.low, score.high},
                                        eval::kScore)});
  }
  console.out << "\nScores in the run's own evaluation:\n"
              << eval::TableText(rows);
}

void PrintEntries(const nn::Bundle& bundle, Console& console) {
  std::vector<eval::ReportRow> rows;
  for (const std::string& name : bundle.archive().Names()) {
    const auto bytes =
        static_cast<double>(bundle.archive().CompressedSize(name));
    rows.push_back({eval::TextField("", "entry", name),
                    eval::NumberField("", "packed kB", bytes,
                                      {.scale = 1e-3, .digits = 1})});
  }
  console.out << "\nEntries:\n" << eval::TableText(rows);
}

std::string VariantText(const nn::BundleVariant& variant) {
  const std::vector<std::string> usual =
      nn::LearnedOptionTexts(nn::BundleVariant{.variant = variant.variant});
  std::vector<std::string> options = nn::LearnedOptionTexts(variant);
  std::erase_if(options, [&](const std::string& text) {
    return std::find(usual.begin(), usual.end(), text) != usual.end();
  });
  return absl::StrCat(
      Info(variant.variant).id,
      options.empty() ? ""
                      : absl::StrCat(" (", absl::StrJoin(options, ","), ")"));
}

// By CheckResult.
constexpr absl::string_view kResultNames[] = {"agrees", "differs", "not_run"};

eval::ReportRow FieldsOf(const nn::FormCheck& check) {
  const bool compared = check.note.empty();
  const std::string result(kResultNames[static_cast<size_t>(check.result)]);
  return {eval::TextField("form", "form", check.name),
          eval::TextField("computed_by", "computed by", check.computed_by),
          eval::JsonField("result", "result",
                          absl::StrReplaceAll(result, {{"_", " "}}), result),
          compared ? eval::JsonField("difference", "difference",
                                     absl::StrFormat("%.1e", check.difference),
                                     check.difference)
                   : eval::NoField("difference", "difference"),
          eval::JsonField("tolerance", "tolerance",
                          check.tolerance == 0
                              ? "none"
                              : absl::StrFormat("%.0e", check.tolerance),
                          check.tolerance),
          compared ? eval::NoField("note", "")
                   : eval::TextField("note", "", check.note)};
}

void PrintChecks(const nn::Bundle& bundle,
                 const std::vector<nn::FormCheck>& checks, Console& console) {
  console.out << bundle.path() << ": " << bundle.manifest().golden_positions()
              << " golden positions\n\n";
  std::vector<eval::ReportRow> rows;
  for (const nn::FormCheck& check : checks) {
    rows.push_back(FieldsOf(check));
    if (check.result != nn::CheckResult::kDiffers) continue;
    rows.back()[2].text = "DIFFERS";
  }
  console.out << eval::TableText(rows);
  for (const nn::FormCheck& check : checks) {
    if (check.note.empty()) continue;
    console.out << "\n"
                << Wrap(absl::StrCat(check.name, ": ", check.note), 0) << "\n";
  }
}

Json ChecksToJson(const nn::Bundle& bundle,
                  const std::vector<nn::FormCheck>& checks) {
  Json forms = Json::array();
  for (const nn::FormCheck& check : checks) {
    forms.push_back(eval::RowJson(FieldsOf(check)));
  }
  return {{"bundle", bundle.path()},
          {"positions", bundle.manifest().golden_positions()},
          {"forms", std::move(forms)}};
}

absl::StatusOr<int> RunModelShow(const ModelOptions& options,
                                 Console& console) {
  if (options.bundle.empty()) {
    return UsageError("FILE is required, or the command verify");
  }
  TARA_ASSIGN_OR_RETURN(const nn::Bundle bundle, OpenBundle(options.bundle));
  if (options.format == "json") {
    TARA_ASSIGN_OR_RETURN(const std::string manifest,
                          bundle.Read(nn::kManifestEntry));
    console.out << manifest;
    return kExitOk;
  }
  const nn::BundleManifest& manifest = bundle.manifest();
  const bool light = manifest.shape.kind == nn::NetworkKind::kLight;
  console.out << bundle.path() << ": " << (light ? "a light network of " : "")
              << manifest.shape.channels << " channels x "
              << manifest.shape.blocks << (light ? " layers, " : " blocks, ")
              << manifest.parameters << " parameters, weights of "
              << nn::WeightTypeName(manifest.weights) << "; "
              << absl::StrFormat("%.1f kB",
                                 static_cast<double>(TotalSize(bundle)) / 1e3)
              << ", made by " << Printable(manifest.made_by) << "\n\n";
  std::vector<std::string> outputs;
  for (const auto& info : nn::NetworkOutputInfos(manifest.has_owner)) {
    outputs.push_back(info.name);
  }
  std::vector<std::string> variants;
  for (const nn::BundleVariant& variant : manifest.variants) {
    variants.push_back(VariantText(variant));
  }
  console.out << "plays    " << Wrap(absl::StrJoin(variants, ", "), 9)
              << "\noutputs  " << absl::StrJoin(outputs, ", ") << "\n";
  PrintOrigin(manifest.provenance, console);
  PrintScores(manifest.provenance.scores, console);
  PrintEntries(bundle, console);
  return kExitOk;
}

absl::StatusOr<int> RunModelVerify(const ModelOptions& options,
                                   Console& console) {
  TARA_ASSIGN_OR_RETURN(const nn::Bundle bundle, OpenBundle(options.bundle));
  TARA_ASSIGN_OR_RETURN(const auto checks, nn::VerifyBundle(bundle));
  if (options.format == "json") {
    console.out << JsonText(ChecksToJson(bundle, checks), 2) << "\n";
  } else {
    PrintChecks(bundle, checks, console);
  }
  for (const nn::FormCheck& check : checks) {
    if (check.result == nn::CheckResult::kDiffers) return kExitFailure;
  }
  return kExitOk;
}

}  // namespace

void RegisterModel(Command& root) {
  constexpr absl::string_view kBundleHelp =
      "a bundle (`tara export`), or best: the ready-made one";
  const auto [model, shown] =
      root.AddCommand("model", "show and verify model bundles", RunModelShow);
  model.Add({
      {"FILE", &shown->bundle, kBundleHelp},
      FormatOption(&shown->format),
  });
  model.SetNotes(
      "--format=json prints the bundle's manifest.\n"
      "docs/reference/bundle.md describes bundles.");
  model.SetExamples({"model hill.tara", "model hill.tara --format=json",
                     "model verify best"});

  const auto [verify, verified] = model.AddCommand(
      "verify", "check a bundle against its golden positions", RunModelVerify);
  verify.Add({
      {"FILE", &verified->bundle, kBundleHelp, kRequired},
      FormatOption(&verified->format),
  });
  verify.SetNotes(
      "LibTorch and Tara evaluate the network; a light network is evaluated "
      "in float32 and in the integers that players use. An output o agrees "
      "with its golden value g if |o - g| <= tolerance * max(1, |g|); integers "
      "agree if values and priors do on average. Inputs must be the same bit "
      "for bit; golden outputs must be finite numbers. Both ONNX models must "
      "equal what `tara export` writes for these weights; they are not run.\n\n"
      "The exit status is 1 if anything differs, else 0.");
  verify.SetExamples(
      {"model verify hill.tara", "model verify hill.tara --format=json"});
}

}  // namespace tara::cli
