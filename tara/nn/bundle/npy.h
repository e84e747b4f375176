#ifndef TARA_NN_BUNDLE_NPY_H_
#define TARA_NN_BUNDLE_NPY_H_

// NumPy's file of one array, format version 1.0, float32 in C order
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tara::nn {

std::string ToNpy(const std::vector<int64_t>& shape,
                  absl::Span<const float> values);

// Returns the values of a file of that shape and type, as ToNpy writes it, or
// DATA_LOSS, saying what there is instead.
absl::StatusOr<std::vector<float>> FromNpy(absl::string_view file,
                                           const std::vector<int64_t>& shape);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_NPY_H_
