#include "tara/nn/device_text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

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
      absl::StrCat("no device is called '", text,
                   "'; expected cpu, cuda, cuda:N (N from 0) or cuda:all"));
}

}  // namespace tara::nn
