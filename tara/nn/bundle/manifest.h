#ifndef TARA_NN_BUNDLE_MANIFEST_H_
#define TARA_NN_BUNDLE_MANIFEST_H_

// Which rules a network has learned: asked about others it answers nonsense,
// and its results look like any others.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Returns the options of a variant with the values that were learned, in the
// order of kRuleOptions: {"compensation=-3..3", "pie_rule=false/true"}.
std::vector<std::string> LearnedOptionTexts(const BundleVariant& variant);

// Returns what of a position's rules is in none of the variants that a network
// has learned: "high_kings_l1", or the rule options whose values it has not
// learned with the variant,
// "no_progress_limit=20,placement_captures_kings=true"; empty where it has
// learned all.
std::string NotLearned(absl::Span<const BundleVariant> learned,
                       const State& state);

// Returns OK where NotLearned is empty, else FAILED_PRECONDITION: "NAME has not
// learned no_progress_limit=20 of high_kings_l1; its run learned
// no_progress_limit=40".
absl::Status CheckNetworkLearned(const std::string& name,
                                 absl::Span<const BundleVariant> learned,
                                 const State& state);

// Returns DATA_LOSS unless each variant has its kGoldenPositionsPerVariant
// golden positions, and none is of rules that were not learned.
absl::Status CheckGoldenVariants(absl::Span<const GoldenPosition> positions,
                                 absl::Span<const BundleVariant> learned);

// The manifest of a bundle: manifest.json of docs/reference/bundle.md.

// The newest version, of light networks. Towers are written as version 2.
// Version 1, which is read as well, has more entries: specification.json,
// specification.html and model.torchscript.pt.
inline constexpr int kBundleFormatVersion = 3;
inline constexpr int kTowerFormatVersion = 2;

// Names of the entries.
inline constexpr char kManifestEntry[] = "manifest.json";
inline constexpr char kOnnxEntry[] = "model.onnx";
inline constexpr char kOnnxFloat16Entry[] = "model_float16.onnx";
// Only in bundles that learning can continue from.
inline constexpr char kCheckpointEntry[] = "checkpoint.pt";
inline constexpr char kGoldenEntry[] = "golden.json";
inline constexpr char kLicenseEntry[] = "LICENSE";

// Returns "golden/NAME.npy".
std::string GoldenTensorEntry(absl::string_view name);
// The tensors of a light network that only its integers need: names and shapes,
// values of zero. The entry of NAME is "NAME.npy".
std::vector<NamedTensor> LightRangeTensors(const NetworkShape& shape);

// Tolerances: an output o agrees with the golden output g if
//   |o - g| <= tolerance * max(1, |g|)
// Of a form with the same weights: the difference of sums in another order. (At
// most 8e-6 was seen.)
inline constexpr double kExactTolerance = 1e-4;
// For a form with weights rounded to float16, if the bundle's weights are not.
// (The largest difference seen was 0.01.)
inline constexpr double kRoundedTolerance = 0.05;

// A form of the network.
struct BundleForm {
  std::string name;
  std::string file;
  WeightType weights = WeightType::kFloat32;
  double tolerance = kExactTolerance;
};

// A result of the run's own evaluations: of this checkpoint or, where it was
// not evaluated, of the newest before it that was.
struct BundleScore {
  std::string variant;
  std::string opponent;
  int64_t generation = 0;  // of the checkpoint that was evaluated
  int64_t games = 0;
  double score = 0;  // mean of win 1, draw 1/2, loss 0
  double low = 0;    // of its 95 % interval
  double high = 0;
};

// The origin of a network; empty or nullopt: not known.
struct BundleProvenance {
  std::string run;  // name of its folder
  std::string checkpoint;
  // Name of the file that the run started from (init_from), if any; its
  // training is not included in the following fields.
  std::string begun_with = {};
  // CRC-32C of that file, eight hexadecimal digits.
  std::string begun_with_crc32c = {};
  int64_t generation = 0;
  int64_t steps = 0;
  int64_t samples = 0;
  std::optional<int64_t> games;
  std::optional<uint64_t> seed;
  std::optional<double> training_seconds;   // wall time of the run
  std::optional<double> processor_seconds;  // processor time of the run
  std::string config;                       // text proto, all fields
  std::vector<BundleScore> scores;
};

struct BundleManifest {
  std::string made_by;
  NetworkShape shape;
  int64_t parameters = 0;
  WeightType weights = WeightType::kFloat32;
  InputCounts inputs = {};
  bool has_owner = false;
  std::vector<BundleVariant> variants;
  BundleProvenance provenance;

  int golden_positions() const {
    return kGoldenPositionsPerVariant * static_cast<int>(variants.size());
  }
};

// Returns the forms of a network with these weights.
std::vector<BundleForm> FormsOf(WeightType weights);

std::string ManifestToJson(const BundleManifest& manifest);

// Returns DATA_LOSS, with the reason, if it is not a manifest, and
// FAILED_PRECONDITION for one of another format, of features, actions, values
// or rules of another version than this program's, or with inputs that this
// program does not have, saying which.
absl::StatusOr<BundleManifest> ManifestFromJson(absl::string_view text);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_MANIFEST_H_
