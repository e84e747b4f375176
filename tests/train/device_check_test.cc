#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/torch/torch_runtime.h"
#include "tara/train/config/config.h"
#include "tara/train/config/learn_config.h"

namespace tara::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

proto::TrainConfig Load(const std::string& file,
                        const std::vector<std::string>& overrides = {}) {
  auto config = LoadTrainConfig("configs/" + file, overrides);
  EXPECT_TRUE(config.ok()) << config.status();
  return *std::move(config);
}

void ExpectLacking(const proto::TrainConfig& config, const char* field) {
  const absl::Status status = CheckDevices(config);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr(std::string(field) + ": device"), HasSubstr("CUDA")));
}

TEST(DeviceCheckTest, EveryMachineHasACpu) {
  EXPECT_TRUE(CheckDevices(Load("tiny.textproto")).ok());
}

TEST(DeviceCheckTest, DevicesThatAreLackingAreNamedWithTheirField) {
  // No machine has so many.
  ExpectLacking(Load("tiny.textproto", {"learner.device=cuda:127"}),
                "learner.device");
  ExpectLacking(Load("tiny.textproto", {"inference.device=cuda:127"}),
                "inference.device");
}

TEST(DeviceCheckTest, NumberTypesThatAreLackingAreNamedWithTheirFields) {
  // LibTorch's networks have no integers.
  const absl::Status status =
      CheckDevices(Load("tiny.textproto", {"inference.backend=torch",
                                           "inference.precision=int16"}));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("inference.precision: int16 with "
                              "inference.backend: torch"),
                    HasSubstr("expected auto")));
}

TEST(DeviceCheckTest, TheConfigForGpusSaysSoWhereThereIsNone) {
  const proto::TrainConfig config = Load("gpu.textproto");
  if (nn::FindTorchDevices("cuda").ok()) {
    EXPECT_TRUE(CheckDevices(config).ok());
  } else {
    ExpectLacking(config, "inference.device");
  }
}

}  // namespace
}  // namespace tara::train
