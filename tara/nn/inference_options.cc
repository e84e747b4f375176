#include "tara/nn/inference_options.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/text.h"

namespace tara::nn {
namespace {

// LibTorch counts devices in eight bits.
constexpr int kMaxIndex = 127;

}  // namespace

absl::StatusOr<DeviceText> ParseDevice(absl::string_view text) {
  if (text == "cpu") return DeviceText();
  if (text == "cuda") return DeviceText{.is_cpu = false};
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "cuda:")) {
    if (rest == "all") return DeviceText{.is_cpu = false, .all = true};
    int index = 0;
    if (absl::SimpleAtoi(rest, &index) && index >= 0 && index <= kMaxIndex) {
      return DeviceText{.is_cpu = false, .index = index};
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no device is called '", Shown(text),
                   "'; expected cpu, cuda, cuda:N (N from 0) or cuda:all"));
}

namespace {

template <typename Value>
using Named = std::pair<absl::string_view, Value>;

constexpr Named<Precision> kPrecisions[] = {
    {"auto", Precision::kAuto},         {"float32", Precision::kFloat32},
    {"bfloat16", Precision::kBfloat16}, {"float16", Precision::kFloat16},
    {"int8", Precision::kInt8},
};

constexpr Named<InferenceBackend> kBackends[] = {
    {"auto", InferenceBackend::kAuto},
    {"torch", InferenceBackend::kTorch},
    {"tara", InferenceBackend::kTara},
};

template <typename Value>
absl::Status Set(absl::string_view name, absl::string_view text,
                 absl::Span<const Named<Value>> names, Value& value) {
  std::string expected;
  for (const auto& [each, its_value] : names) {
    if (each == text) {
      value = its_value;
      return absl::OkStatus();
    }
    absl::StrAppend(&expected, expected.empty() ? "" : ", ", each);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      name, " is '", Shown(text), "'; expected one of ", expected));
}

template <typename Value>
absl::string_view NameOf(absl::Span<const Named<Value>> names, Value value) {
  for (const auto& [name, each] : names) {
    if (each == value) return name;
  }
  TARA_CHECK(false, "every value has a name");
  return "";
}

}  // namespace

bool IsInferenceOption(absl::string_view name) {
  return name == "device" || name == "backend" || name == "precision";
}

absl::Status SetInferenceOption(absl::string_view name, absl::string_view value,
                                InferenceOptions& options) {
  if (name == "precision") {
    return Set<Precision>(name, value, kPrecisions, options.precision);
  }
  if (name == "backend") {
    // Runs, stores and scripts have its name before 0.3.0.
    if (value == "onednn") value = "tara";
    return Set<InferenceBackend>(name, value, kBackends, options.backend);
  }
  TARA_CHECK(name == "device", "no such option of inference");
  // The backend checks whether there is such a device.
  if (!ParseDevice(value).ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is '", Shown(value),
                     "'; expected cpu, cuda, cuda:N or cuda:all"));
  }
  options.device = std::string(value);
  return absl::OkStatus();
}

absl::string_view PrecisionName(Precision precision) {
  return NameOf<Precision>(kPrecisions, precision);
}

absl::string_view BackendName(InferenceBackend backend) {
  return NameOf<InferenceBackend>(kBackends, backend);
}

}  // namespace tara::nn
