// The code that only machines with CUDA compile, against stubs of the headers
// that it needs: it compiles, and calls things in their order.

#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/torch/device_graph_torch.h"

namespace tara::nn {
namespace {

using ::testing::Contains;
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
  static std::unique_ptr<DeviceGraph> Record(c10::DeviceType device,
                                             DeviceGraph* neighbor = nullptr) {
    return RecordDeviceGraph(
        StreamOf(device), [] { calls().emplace_back("prepare"); },
        [] { calls().emplace_back("work"); }, neighbor);
  }
};

TEST_F(DeviceGraphTest, WorkIsRecordedOnceAndReplayedAsOften) {
  const auto graph = Record(c10::DeviceType::CUDA);
  ASSERT_NE(graph, nullptr);
  // Other threads go on meanwhile.
  EXPECT_THAT(calls(), ElementsAre("prepare", "begin of this thread in pool 0",
                                   "work", "end"));
  calls().clear();
  graph->Replay();
  graph->Replay();
  EXPECT_THAT(calls(), ElementsAre("replay", "replay"));
}

TEST_F(DeviceGraphTest, OtherDevicesHaveNoGraphs) {
  EXPECT_EQ(Record(c10::DeviceType::CPU), nullptr);
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(DeviceGraphTest, NeighborsShareMemoryThatIsFreedAfterThem) {
  auto graph = Record(c10::DeviceType::CUDA);
  auto neighbor = Record(c10::DeviceType::CUDA, graph.get());
  EXPECT_THAT(calls(), Contains("begin of this thread in pool 7"));
  calls().clear();
  graph.reset();
  neighbor.reset();
  FreeGraphMemory();
  EXPECT_THAT(calls(), ElementsAre("destroy", "destroy", "free"));
}

TEST_F(DeviceGraphTest, ARecordingThatFailsIsEnded) {
  EXPECT_THROW(RecordDeviceGraph(
                   StreamOf(c10::DeviceType::CUDA), [] {},
                   [] { throw std::runtime_error("no kernel"); }, nullptr),
               std::runtime_error);
  EXPECT_THAT(calls(),
              ElementsAre("begin of this thread in pool 0", "end", "destroy"));
}

TEST_F(DeviceGraphTest, ThreadsRecordOneAfterTheOther) {
  constexpr int kThreads = 4;
  constexpr int kGraphs = 200;
  std::atomic<int> recordings = 0;  // underway
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kGraphs; ++k) {
        RecordDeviceGraph(
            StreamOf(c10::DeviceType::CUDA),
            [&] { EXPECT_EQ(recordings.fetch_add(1), 0); },
            [&] { EXPECT_EQ(recordings.fetch_sub(1), 1); }, nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tara::nn
