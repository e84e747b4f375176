#include "tara/nn/bundle/bundle.h"

#include <cstdint>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tara/base/atomic_file.h"
#include "tara/base/status_macros.h"
#include "tara/nn/bundle/float16.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/bundle/specification.h"

namespace tara::nn {
namespace {

// How zip archives with entries begin, and checkpoints.
constexpr absl::string_view kZipMagic = "PK\x03\x04";
constexpr absl::string_view kCheckpointMagic = "TaraNet\n";

// Of the JSON that is read, which takes many times its size once it is parsed.
// Bundles of all variants have 0.12 MB.
constexpr uint64_t kMaxJsonSize = uint64_t{4} << 20;

absl::Status Named(const std::string& path, const absl::Status& status,
                   absl::string_view separator = " ") {
  return absl::Status(status.code(), absl::StrCat("Bundle ", path, separator,
                                                  status.message()));
}

std::vector<std::string> EntriesOf(const BundleManifest& manifest) {
  std::vector<std::string> entries = {kSpecificationEntry, kPageEntry,
                                      kGoldenEntry, kLicenseEntry};
  for (const BundleForm& form : FormsOf(manifest.weights)) {
    entries.push_back(form.file);
  }
  for (const NetworkInputInfo& info : NetworkInputInfos(manifest.inputs)) {
    entries.push_back(GoldenTensorEntry(info.name));
  }
  for (const NetworkOutputInfo& info : NetworkOutputInfos(manifest.has_owner)) {
    entries.push_back(GoldenTensorEntry(info.name));
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
  absl::StatusOr<std::string> bytes = ReadWholeFile(path);
  if (!bytes.ok()) {
    return absl::Status(
        bytes.status().code(),
        absl::StrCat("Cannot open bundle: ", bytes.status().message()));
  }
  absl::StatusOr<ZipReader> archive = ZipReader::Open(*std::move(bytes));
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

absl::StatusOr<std::string> Bundle::Read(absl::string_view entry) const {
  absl::StatusOr<std::string> contents =
      absl::EndsWith(entry, ".json") ? archive_.Read(entry, kMaxJsonSize)
                                     : archive_.Read(entry);
  if (!contents.ok()) {
    return Named(path_, absl::DataLossError(contents.status().message()), ": ");
  }
  return contents;
}

absl::Status Bundle::CheckParts() const {
  TARA_ASSIGN_OR_RETURN(const std::string specification,
                        Read(kSpecificationEntry));
  const absl::Status specified = CheckSpecification(manifest_, specification);
  if (!specified.ok()) return Named(path_, specified, ": ");
  TARA_ASSIGN_OR_RETURN(const std::string text, Read(kGoldenEntry));
  const absl::StatusOr<std::vector<GoldenPosition>> positions =
      GoldenFromJson(text);
  if (!positions.ok()) return Named(path_, positions.status(), ": ");
  const absl::Status learned =
      CheckGoldenVariants(*positions, manifest_.variants);
  return learned.ok() ? learned : Named(path_, learned, ": ");
}

absl::StatusOr<Checkpoint> Bundle::ReadNetwork() const {
  TARA_RETURN_IF_ERROR(CheckParts());
  TARA_ASSIGN_OR_RETURN(const std::string model, Read(kOnnxEntry));
  absl::StatusOr<Checkpoint> network = ReadOnnxWeights(model, manifest_.shape);
  if (!network.ok()) {
    return Named(path_, network.status(), absl::StrCat(": ", kOnnxEntry, ": "));
  }
  const absl::Status weights = CheckFloat16(*network);
  if (!weights.ok()) {
    return Named(path_, absl::DataLossError(weights.message()),
                 absl::StrCat(": ", kOnnxEntry, ": "));
  }
  const BundleProvenance& provenance = manifest_.provenance;
  network->progress = {.step = provenance.steps,
                       .generation = static_cast<int>(provenance.generation),
                       .samples = provenance.samples};
  return network;
}

absl::StatusOr<Checkpoint> Bundle::ReadCheckpointToLearnOn() const {
  if (!archive_.Has(kCheckpointEntry)) {
    return Named(path_, absl::FailedPreconditionError(
                            "was made for playing alone: its norms are folded "
                            "into its weights; expected one that was exported "
                            "with --for-learning"));
  }
  TARA_RETURN_IF_ERROR(CheckParts());
  TARA_ASSIGN_OR_RETURN(const std::string bytes, Read(kCheckpointEntry));
  return DecodeCheckpoint(absl::StrCat(path_, "/", kCheckpointEntry), bytes);
}

absl::StatusOr<Checkpoint> ReadNetworkFile(const std::string& path) {
  if (!IsBundlePath(path)) return ReadCheckpoint(path);
  TARA_ASSIGN_OR_RETURN(const Bundle bundle, Bundle::Open(path));
  return bundle.ReadNetwork();
}

}  // namespace tara::nn
