// The code that only machines with CUDA compile, against a stub of the one
// header that it needs: it compiles, and calls things in their order.

#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/torch/device_graph_torch.h"

namespace tara::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Streams of a device that is not there, for the guard that sets them.
const c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA> kNoDevice;
const c10::impl::DeviceGuardImplRegistrar kRegistered(c10::DeviceType::CUDA,
                                                      &kNoDevice);

c10::Stream StreamOf(c10::DeviceType type) {
  return c10::Stream(c10::Stream::DEFAULT, c10::Device(type, 0));
}

class DeviceGraphTest : public ::testing::Test {
 protected:
  DeviceGraphTest() { calls().clear(); }
  static std::vector<std::string>& calls() { return at::cuda::stub_calls; }
};

TEST_F(DeviceGraphTest, WorkIsRecordedOnceAndReplayedAsOften) {
  const auto graph = RecordDeviceGraph(StreamOf(c10::DeviceType::CUDA),
                                       [] { calls().emplace_back("work"); });
  ASSERT_NE(graph, nullptr);
  // Other threads go on meanwhile.
  EXPECT_THAT(calls(), ElementsAre("begin of this thread", "work", "end"));
  calls().clear();
  graph->Replay();
  graph->Replay();
  EXPECT_THAT(calls(), ElementsAre("replay", "replay"));
}

TEST_F(DeviceGraphTest, OtherDevicesHaveNoGraphs) {
  EXPECT_EQ(RecordDeviceGraph(StreamOf(c10::DeviceType::CPU),
                              [] { calls().emplace_back("work"); }),
            nullptr);
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(DeviceGraphTest, ARecordingThatFailsIsEnded) {
  EXPECT_THROW(RecordDeviceGraph(StreamOf(c10::DeviceType::CUDA),
                                 [] { throw std::runtime_error("no kernel"); }),
               std::runtime_error);
  EXPECT_THAT(calls(), ElementsAre("begin of this thread", "end"));
}

}  // namespace
}  // namespace tara::nn
