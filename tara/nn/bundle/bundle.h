#ifndef TARA_NN_BUNDLE_BUNDLE_H_
#define TARA_NN_BUNDLE_BUNDLE_H_

// Model bundles, made and read: docs/reference/bundle.md.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// How names of bundles end.
inline constexpr char kBundleEnding[] = ".tara";

// Whether the path means a bundle: by how the file begins, or by its ending
// unless the file begins as a checkpoint does.
bool IsBundlePath(const std::string& path);

// Not thread-safe.
class Bundle {
 public:
  // Returns the bundle at `path`, all of whose parts are there and whose
  // versions are this program's, or, naming the file:
  //   NOT_FOUND            no such file
  //   DATA_LOSS            no zip archive, truncated, damaged, or without a
  //                        part: which
  //   FAILED_PRECONDITION  of another format, feature, policy, value or rules
  //                        version: which, and what was expected
  static absl::StatusOr<Bundle> Open(const std::string& path);

  const std::string& path() const { return path_; }
  const BundleManifest& manifest() const { return manifest_; }
  const ZipReader& archive() const { return archive_; }

  // Returns the contents of an entry; DATA_LOSS naming file and entry.
  absl::StatusOr<std::string> Read(absl::string_view entry) const;

  // Returns what golden.json holds. DATA_LOSS, naming the file, unless the
  // positions are of what the manifest says was learned.
  absl::StatusOr<GoldenFile> ReadGolden() const;

  // Returns the network as every reader of checkpoints takes it, with norms
  // folded: made for playing, not for learning on. DATA_LOSS as above, as
  // ReadGolden, and for weights that are not numbers of float16, as its form of
  // float16 has them.
  absl::StatusOr<Checkpoint> ReadNetwork() const;

  // Returns the network to continue learning from: with all heads, and without
  // an optimizer. FAILED_PRECONDITION if the bundle was made only for playing;
  // other errors as ReadCheckpoint and ReadNetwork.
  absl::StatusOr<Checkpoint> ReadCheckpointToLearnOn() const;

  // Returns DATA_LOSS, naming the file.
  absl::Status Damage(absl::string_view message) const;
  // Returns OK or the value, else Damage(what + message).
  absl::Status OrDamage(const absl::Status& status,
                        absl::string_view what = "") const {
    return status.ok() ? status : Damage(absl::StrCat(what, status.message()));
  }
  template <typename T>
  absl::StatusOr<T> OrDamage(absl::StatusOr<T> value,
                             absl::string_view what = "") const {
    if (value.ok()) return value;
    return OrDamage(value.status(), what);
  }

 private:
  Bundle(std::string path, BundleManifest manifest, ZipReader archive);

  // Adds the ranges of a light network's activations.
  absl::Status ReadRanges(Checkpoint& network) const;

  std::string path_;
  BundleManifest manifest_;
  ZipReader archive_;
};

// Returns the network of the bundle or checkpoint file at `path`. Errors as
// Bundle::Open and ReadCheckpoint.
absl::StatusOr<Checkpoint> ReadNetworkFile(const std::string& path);

struct BundleOptions {
  std::string made_by;  // program and version
  WeightType weights = WeightType::kFloat32;
  // Whether learning can continue from it: with norms and all heads, in
  // float32.
  bool for_learning = false;
  std::vector<BundleVariant> variants;  // at least one
  BundleProvenance provenance;
};

// Returns the bytes of a bundle of the checkpoint's network. They depend on the
// arguments alone. Returns INVALID_ARGUMENT naming a tensor that is missing or
// misshapen, or an output that is not finite in a golden position; OUT_OF_RANGE
// naming a tensor that cannot be rounded.
absl::StatusOr<std::string> MakeBundle(const Checkpoint& checkpoint,
                                       const BundleOptions& options);

// --- Verification ------------------------------------------------------------

enum class CheckResult { kAgrees, kDiffers, kNotRun };

// The comparison of one form of a network with the golden outputs, or of
// another part of a bundle with its origin.
struct FormCheck {
  // "inputs", "expected"; of towers "libtorch" and "tara", of light networks
  // "float32" and "int8"; or that of a form.
  std::string name;
  std::string computed_by;  // for people
  CheckResult result = CheckResult::kNotRun;
  // Largest |o - g| / max(1, |g|) of an output o and its golden value g. For
  // "int8", the larger of the mean differences of values and of priors.
  double difference = 0;
  double tolerance = 0;
  std::string note = {};  // why it was not run, or could not be
};

// Holds a bundle to its golden positions: this program's encoder to the inputs,
// bit for bit; what golden.json expects to the golden outputs; the weights of
// model.onnx, evaluated by LibTorch and by Tara's kernels; or a light
// network, evaluated by its own code in floats and in integers. Both ONNX
// models must be what this program writes for these weights (CheckOnnxModel),
// but are not run. Returns DATA_LOSS for parts that are damaged: golden
// positions that this program would describe otherwise, and golden outputs that
// are not finite or, for illegal actions, not NaN.
absl::StatusOr<std::vector<FormCheck>> VerifyBundle(const Bundle& bundle);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_BUNDLE_H_
