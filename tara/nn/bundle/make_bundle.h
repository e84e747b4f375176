#ifndef TARA_NN_BUNDLE_MAKE_BUNDLE_H_
#define TARA_NN_BUNDLE_MAKE_BUNDLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/nn/bundle/float16.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

struct BundleOptions {
  std::string made_by;  // program and version
  WeightType weights = WeightType::kFloat32;
  // Whether learning can go on from it: with norms and all heads, in float32.
  bool for_learning = false;
  std::vector<BundleVariant> variants;  // at least one
  BundleProvenance provenance;
};

// Returns the bytes of a bundle of the checkpoint's network
// (docs/reference/bundle.md). They depend on the arguments alone. Returns
// INVALID_ARGUMENT naming a tensor that is missing or misshapen, or an output
// that is not finite in a golden position; OUT_OF_RANGE naming a tensor that
// cannot be rounded.
absl::StatusOr<std::string> MakeBundle(const Checkpoint& checkpoint,
                                       const BundleOptions& options);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_MAKE_BUNDLE_H_
