#include "tara/nn/bundle/make_bundle.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/license.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/bundle/specification.h"
#include "tara/nn/bundle/torchscript.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/nn/heads.h"
#include "tara/nn/weights/fold_norms.h"

namespace tara::nn {
namespace {

int64_t CountParameters(const Checkpoint& folded) {
  int64_t count = 0;
  for (const NamedTensor& tensor : folded.tensors) {
    if (IsNeutralNorm(tensor.name)) continue;
    count += static_cast<int64_t>(tensor.values.size());
  }
  return count;
}

// Adds the network in each form.
absl::Status AddForms(const Checkpoint& network, WeightType weights,
                      std::vector<ZipEntry>& entries) {
  for (const BundleForm& form : FormsOf(weights)) {
    absl::StatusOr<std::string> bytes =
        form.file == kTorchScriptEntry ? MakeTorchScript(network, form.weights)
                                       : MakeOnnxModel(network, form.weights);
    if (!bytes.ok()) return bytes.status();
    entries.push_back({form.file, *std::move(bytes)});
  }
  return absl::OkStatus();
}

template <typename Values, typename Infos>
void AddTensors(const Values& values, int64_t size, const Infos& infos,
                std::vector<ZipEntry>& entries) {
  for (const auto& info : infos) {
    std::vector<int64_t> shape = {size};
    shape.insert(shape.end(), info.axes.begin(), info.axes.end());
    entries.push_back(
        {GoldenTensorEntry(info.name), ToNpy(shape, values.*info.values)});
  }
}

absl::Status AddGolden(const Checkpoint& network,
                       const BundleManifest& manifest,
                       std::vector<ZipEntry>& entries) {
  const std::vector<GoldenPosition> positions =
      MakeGoldenPositions(manifest.variants);
  const NetworkInputs inputs = EncodeGoldenPositions(positions);
  TARA_ASSIGN_OR_RETURN(NetworkOutputs outputs,
                        ComputeTorchOutputs(network, inputs));
  const absl::Status finite =
      CheckFinite(positions, outputs, manifest.has_owner, /*hidden=*/false);
  if (!finite.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the network's answers to golden positions are no numbers: ",
        finite.message()));
  }
  entries.push_back({kGoldenEntry, GoldenToJson(positions, outputs)});
  HideIllegalActions(positions, outputs);
  AddTensors(inputs, inputs.size, NetworkInputInfos(inputs.counts), entries);
  AddTensors(outputs, inputs.size, NetworkOutputInfos(manifest.has_owner),
             entries);
  return absl::OkStatus();
}

// Returns the checkpoint without its optimizer, and without the weights that
// its published ones are the average of.
Checkpoint WithoutOptimizer(const Checkpoint& checkpoint) {
  Checkpoint network = checkpoint;
  network.optimizer_steps = 0;
  std::erase_if(network.tensors, [](const NamedTensor& tensor) {
    return IsOfOptimizer(tensor.name);
  });
  return network;
}

}  // namespace

absl::StatusOr<std::string> MakeBundle(const Checkpoint& checkpoint,
                                       const BundleOptions& options) {
  TARA_ASSIGN_OR_RETURN(Checkpoint network, FoldNorms(checkpoint));
  if (options.weights == WeightType::kFloat16) {
    TARA_RETURN_IF_ERROR(RoundToFloat16(network));
  }
  const BundleManifest manifest = {
      .made_by = options.made_by,
      .shape = network.shape,
      .parameters = CountParameters(network),
      .weights = options.weights,
      .has_owner = HasLearned(network, Head::kOwner),
      .variants = options.variants,
      .provenance = options.provenance};
  std::vector<ZipEntry> entries = {
      {kManifestEntry, ManifestToJson(manifest)},
      {kPageEntry, SpecificationToPage(manifest)},
      {kSpecificationEntry, SpecificationToJson(manifest)},
      {kLicenseEntry, std::string(LicenseText())}};
  TARA_RETURN_IF_ERROR(AddForms(network, options.weights, entries));
  if (options.for_learning) {
    entries.push_back(
        {kCheckpointEntry, EncodeCheckpoint(WithoutOptimizer(checkpoint))});
  }
  TARA_RETURN_IF_ERROR(AddGolden(network, manifest, entries));
  TARA_RETURN_IF_ERROR(CheckFloat16(network));
  return MakeZip(entries);
}

}  // namespace tara::nn
