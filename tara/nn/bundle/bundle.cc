#include "tara/nn/bundle/bundle.h"

#include <cstdint>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tara/base/files.h"
#include "tara/base/status_macros.h"
#include "tara/nn/bundle/license.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_integers.h"
#include "tara/nn/weights/fold_norms.h"

namespace tara::nn {
namespace {

// How zip archives with entries begin, and checkpoints.
constexpr absl::string_view kZipMagic = "PK\x03\x04";
constexpr absl::string_view kCheckpointMagic = "TaraNet\n";

// Limit of JSON, which takes many times its size once it is parsed. Bundles of
// all variants have 0.12 MB.
constexpr uint64_t kMaxJsonSize = uint64_t{4} << 20;

constexpr char kNpyEnding[] = ".npy";

absl::Status Named(const std::string& path, const absl::Status& status,
                   absl::string_view separator = " ") {
  return absl::Status(status.code(), absl::StrCat("Bundle ", path, separator,
                                                  status.message()));
}

// The entries of a bundle; older bundles have more.
std::vector<std::string> EntriesOf(const BundleManifest& manifest) {
  std::vector<std::string> entries = {kGoldenEntry, kLicenseEntry};
  for (const BundleForm& form : FormsOf(manifest.weights)) {
    entries.push_back(form.file);
  }
  for (const TensorInfo& info :
       GoldenTensorInfos(manifest.inputs, manifest.has_owner)) {
    entries.push_back(GoldenTensorEntry(info.name));
  }
  if (manifest.shape.kind == NetworkKind::kLight) {
    for (const NamedTensor& tensor : LightRangeTensors(manifest.shape)) {
      entries.push_back(tensor.name + kNpyEnding);
    }
  }
  return entries;
}

}  // namespace

bool IsBundlePath(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(kCheckpointMagic.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (absl::StartsWith(begin, kZipMagic)) return true;
  return absl::EndsWith(path, kBundleEnding) && begin != kCheckpointMagic;
}

Bundle::Bundle(std::string path, BundleManifest manifest, ZipReader archive)
    : path_(std::move(path)),
      manifest_(std::move(manifest)),
      archive_(std::move(archive)) {}

absl::StatusOr<Bundle> Bundle::Open(const std::string& path) {
  TARA_ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(path));
  absl::StatusOr<ZipReader> archive = ZipReader::Open(std::move(bytes));
  if (!archive.ok()) return Named(path, archive.status());
  if (!archive->Has(kManifestEntry)) {
    return Named(path, absl::DataLossError(absl::StrCat(
                           "is a zip archive without ", kManifestEntry,
                           ": no model bundle of Tara")));
  }
  const absl::StatusOr<std::string> text =
      archive->Read(kManifestEntry, kMaxJsonSize);
  if (!text.ok()) return Named(path, text.status(), ": ");
  absl::StatusOr<BundleManifest> manifest = ManifestFromJson(*text);
  if (!manifest.ok()) {
    return Named(path, manifest.status(),
                 absl::IsFailedPrecondition(manifest.status()) ? " " : ": ");
  }
  for (const std::string& entry : EntriesOf(*manifest)) {
    if (archive->Has(entry)) continue;
    return Named(path,
                 absl::DataLossError(absl::StrCat("lacks its part ", entry)));
  }
  return Bundle(path, *std::move(manifest), *std::move(archive));
}

absl::Status Bundle::Damage(absl::string_view message) const {
  return Named(path_, absl::DataLossError(message), ": ");
}

absl::StatusOr<std::string> Bundle::Read(absl::string_view entry) const {
  return OrDamage(absl::EndsWith(entry, ".json")
                      ? archive_.Read(entry, kMaxJsonSize)
                      : archive_.Read(entry));
}

absl::StatusOr<GoldenFile> Bundle::ReadGolden() const {
  TARA_ASSIGN_OR_RETURN(const std::string text, Read(kGoldenEntry));
  TARA_ASSIGN_OR_RETURN(GoldenFile golden, OrDamage(GoldenFromJson(text)));
  TARA_RETURN_IF_ERROR(
      OrDamage(CheckGoldenVariants(golden.positions, manifest_.variants)));
  return golden;
}

absl::StatusOr<Checkpoint> Bundle::ReadNetwork() const {
  TARA_RETURN_IF_ERROR(ReadGolden().status());
  TARA_ASSIGN_OR_RETURN(const std::string model, Read(kOnnxEntry));
  absl::StatusOr<Checkpoint> network = ReadOnnxWeights(model, manifest_.shape);
  if (!network.ok()) {
    return Named(path_, network.status(), absl::StrCat(": ", kOnnxEntry, ": "));
  }
  TARA_RETURN_IF_ERROR(
      OrDamage(CheckFloat16(*network), absl::StrCat(kOnnxEntry, ": ")));
  if (manifest_.shape.kind == NetworkKind::kLight) {
    TARA_RETURN_IF_ERROR(ReadRanges(*network));
  }
  const BundleProvenance& provenance = manifest_.provenance;
  network->progress = {.step = provenance.steps,
                       .generation = static_cast<int>(provenance.generation),
                       .samples = provenance.samples};
  return network;
}

absl::Status Bundle::ReadRanges(Checkpoint& network) const {
  for (NamedTensor& tensor : LightRangeTensors(manifest_.shape)) {
    const std::string entry = tensor.name + kNpyEnding;
    TARA_ASSIGN_OR_RETURN(const std::string file, Read(entry));
    TARA_ASSIGN_OR_RETURN(tensor.values, OrDamage(FromNpy(file, tensor.shape),
                                                  absl::StrCat(entry, " ")));
    for (const float value : tensor.values) {
      if (value >= 0 && value <= kMaxFloat16) continue;
      return Damage(absl::StrCat(entry, " has the value ", value,
                                 "; expected 0 to ", kMaxFloat16));
    }
    network.tensors.push_back(std::move(tensor));
  }
  return absl::OkStatus();
}

absl::StatusOr<Checkpoint> Bundle::ReadCheckpointToLearnOn() const {
  if (!archive_.Has(kCheckpointEntry)) {
    return Named(path_, absl::FailedPreconditionError(
                            "was made for playing alone: its norms are folded "
                            "into its weights; expected one that was exported "
                            "with --for-learning"));
  }
  TARA_RETURN_IF_ERROR(ReadGolden().status());
  TARA_ASSIGN_OR_RETURN(const std::string bytes, Read(kCheckpointEntry));
  return DecodeCheckpoint(absl::StrCat(path_, "/", kCheckpointEntry), bytes);
}

absl::StatusOr<Checkpoint> ReadNetworkFile(const std::string& path) {
  if (!IsBundlePath(path)) return ReadCheckpoint(path);
  TARA_ASSIGN_OR_RETURN(const Bundle bundle, Bundle::Open(path));
  return bundle.ReadNetwork();
}

namespace {

int64_t CountParameters(const Checkpoint& folded) {
  int64_t count = 0;
  for (const NamedTensor& tensor : folded.tensors) {
    if (IsNeutralNorm(tensor.name)) continue;
    count += static_cast<int64_t>(tensor.values.size());
  }
  return count;
}

absl::Status AddGolden(const Checkpoint& network,
                       const BundleManifest& manifest,
                       std::vector<ZipEntry>& entries) {
  const std::vector<GoldenPosition> positions =
      MakeGoldenPositions(manifest.variants);
  GoldenTensors tensors = EncodeGoldenPositions(positions);
  TARA_RETURN_IF_ERROR(ComputeReferenceOutputs(network, tensors));
  HideIllegalActions(positions, tensors);
  const absl::Status finite =
      CheckFinite(positions, tensors, manifest.has_owner);
  if (!finite.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the network's outputs for golden positions are not finite: ",
        finite.message()));
  }
  entries.push_back({kGoldenEntry, GoldenToJson(positions, tensors)});
  for (const TensorInfo& info :
       GoldenTensorInfos(tensors.counts, manifest.has_owner)) {
    entries.push_back({GoldenTensorEntry(info.name),
                       ToNpy(info.Shape(tensors.size), tensors.*info.values)});
  }
  return absl::OkStatus();
}

// Adds the ranges of a light network's activations, measured where the
// checkpoint has none.
absl::Status AddRanges(const Checkpoint& checkpoint,
                       std::vector<ZipEntry>& entries) {
  TARA_ASSIGN_OR_RETURN(const LightRanges ranges, LightRangesOf(checkpoint));
  Checkpoint written;
  WriteLightRanges(ranges, written);
  for (const NamedTensor& tensor : written.tensors) {
    entries.push_back(
        {tensor.name + kNpyEnding, ToNpy(tensor.shape, tensor.values)});
  }
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
  const bool is_light = checkpoint.shape.kind == NetworkKind::kLight;
  if (is_light) TARA_RETURN_IF_ERROR(CheckLightShape(checkpoint.shape));
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
  std::vector<ZipEntry> entries = {{kManifestEntry, ManifestToJson(manifest)},
                                   {kLicenseEntry, std::string(LicenseText())}};
  for (const BundleForm& form : FormsOf(options.weights)) {
    ZipEntry& entry = entries.emplace_back(ZipEntry{form.file, ""});
    TARA_ASSIGN_OR_RETURN(entry.contents, MakeOnnxModel(network, form.weights));
  }
  if (options.for_learning) {
    entries.push_back(
        {kCheckpointEntry, EncodeCheckpoint(WithoutOptimizer(checkpoint))});
  }
  if (is_light) TARA_RETURN_IF_ERROR(AddRanges(checkpoint, entries));
  TARA_RETURN_IF_ERROR(AddGolden(network, manifest, entries));
  TARA_RETURN_IF_ERROR(CheckFloat16(network));
  return MakeZip(entries);
}

}  // namespace tara::nn
