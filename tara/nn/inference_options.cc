#include "tara/nn/inference_options.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

// By value.
constexpr absl::string_view kPrecisions[] = {"auto", "float32", "bfloat16",
                                             "float16", "int8"};
constexpr absl::string_view kBackends[] = {"auto", "torch", "tara"};

template <typename Value>
absl::Status Set(absl::string_view name, absl::string_view text,
                 absl::Span<const absl::string_view> names, Value& value) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    return absl::InvalidArgumentError(absl::StrCat(name, " is '", Shown(text),
                                                   "'; expected one of ",
                                                   absl::StrJoin(names, ", ")));
  }
  value = static_cast<Value>(found - names.begin());
  return absl::OkStatus();
}

}  // namespace

bool IsInferenceOption(absl::string_view name) {
  return name == "device" || name == "backend" || name == "precision";
}

absl::Status SetInferenceOption(absl::string_view name, absl::string_view value,
                                InferenceOptions& options) {
  if (name == "precision") {
    return Set(name, value, kPrecisions, options.precision);
  }
  if (name == "backend") {
    // Runs, stores and scripts have its name before 0.3.0.
    if (value == "onednn") value = "tara";
    return Set(name, value, kBackends, options.backend);
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
  return kPrecisions[static_cast<int>(precision)];
}

absl::string_view BackendName(InferenceBackend backend) {
  return kBackends[static_cast<int>(backend)];
}

}  // namespace tara::nn
