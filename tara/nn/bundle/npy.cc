#include "tara/nn/bundle/npy.h"

#include <cstddef>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tara/base/check.h"

namespace tara::nn {
namespace {

// "\x93NUMPY", version 1.0; then two bytes of the size of the description.
constexpr absl::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr size_t kAlignment = 64;  // of the values within the file

size_t SizeOf(const std::vector<int64_t>& shape) {
  size_t size = 1;
  for (const int64_t axis : shape) size *= static_cast<size_t>(axis);
  return size;
}

// All that comes before the values.
std::string HeaderOf(const std::vector<int64_t>& shape) {
  std::string description = absl::StrCat(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (",
      absl::StrJoin(shape, ", "), shape.size() == 1 ? ",)" : ")", ", }");
  const size_t bare = kMagic.size() + 2 + description.size() + 1;
  description.append((kAlignment - bare % kAlignment) % kAlignment, ' ');
  description += '\n';
  std::string header(kMagic);
  header += static_cast<char>(description.size() & 0xff);
  header += static_cast<char>(description.size() >> 8);
  return header + description;
}

}  // namespace

std::string ToNpy(const std::vector<int64_t>& shape,
                  absl::Span<const float> values) {
  TARA_CHECK(values.size() == SizeOf(shape), "one value for each element");
  std::string file = HeaderOf(shape);
  file.append(reinterpret_cast<const char*>(values.data()),
              values.size() * sizeof(float));
  return file;
}

absl::StatusOr<std::vector<float>> FromNpy(absl::string_view file,
                                           const std::vector<int64_t>& shape) {
  const std::string header = HeaderOf(shape);
  if (!absl::StartsWith(file, header)) {
    return absl::DataLossError(absl::StrCat("is no NumPy file of float32 [",
                                            absl::StrJoin(shape, ", "), "]"));
  }
  file.remove_prefix(header.size());
  const size_t bytes = SizeOf(shape) * sizeof(float);
  if (file.size() != bytes) {
    return absl::DataLossError(absl::StrCat(
        "has ", file.size(), " bytes of values; expected ", bytes));
  }
  std::vector<float> values(SizeOf(shape));
  if (!file.empty()) std::memcpy(values.data(), file.data(), file.size());
  return values;
}

}  // namespace tara::nn
