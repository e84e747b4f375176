#include "tara/nn/torch/device_part_torch.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <bit>
#include <exception>

#include "tara/base/check.h"
#include "tara/core/board.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

enum class StreamUse { kCompute, kRecord };

// A stream of the device that computes beside its default one. Those of high
// priority are kept for recording.
c10::Stream NewStream(const c10::Device& device, StreamUse use) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  if (device.is_cpu()) return guard.getStream(device);
  return guard.getStreamFromGlobalPool(
      device, /*isHighPriority=*/use == StreamUse::kRecord);
}

at::Tensor NewHostBuffer(at::IntArrayRef shape, bool pinned) {
  return at::zeros(shape, at::TensorOptions(at::kFloat).pinned_memory(pinned));
}

at::Tensor Rows(const at::Tensor& tensor, int count) {
  return tensor.narrow(0, 0, count);
}

absl::Span<float> RowSpan(const at::Tensor& tensor, int count) {
  return absl::MakeSpan(tensor.data_ptr<float>(),
                        static_cast<size_t>(count * tensor.stride(0)));
}

}  // namespace

int PaddedBatch(int size, int capacity) {
  return std::min(static_cast<int>(std::bit_ceil(static_cast<unsigned>(size))),
                  capacity);
}

DevicePart::DevicePart(const FoldedNetwork* network, const c10::Device& device,
                       int capacity)
    : network_(network),
      capacity_(capacity),
      stream_(NewStream(device, StreamUse::kCompute)),
      recording_stream_(NewStream(device, StreamUse::kRecord)) {
  const bool pinned = !device.is_cpu();
  host_planes_ =
      NewHostBuffer({capacity, kBoardSize, kBoardSize, kNumPlanes}, pinned);
  host_globals_ = NewHostBuffer({capacity, kNumGlobals}, pinned);
  host_outputs_ = NewHostBuffer({capacity, kNumNetworkOutputs}, pinned);
  const c10::StreamGuard guard(stream_);
  const at::TensorOptions options(device);
  planes_ = at::zeros({capacity, kBoardSize, kBoardSize, kNumPlanes}, options)
                .permute({0, 3, 1, 2});
  globals_ = at::zeros({capacity, kNumGlobals}, options);
  outputs_ = at::zeros({capacity, kNumNetworkOutputs}, options);
  // Recording reads these on another stream.
  stream_.synchronize();
}

DevicePart::~DevicePart() {
  try {
    stream_.synchronize();
  } catch (const std::exception&) {
    // The device is lost, and nothing is underway on it.
  }
}

void DevicePart::Compute(int size) {
  Rows(outputs_, size)
      .copy_(network_->Forward(Rows(planes_, size), Rows(globals_, size)));
}

DeviceGraph* DevicePart::GraphOf(int size) {
  if (!stream_.device().is_cuda()) return nullptr;
  const auto found = graphs_.find(size);
  if (found != graphs_.end()) return found->second.get();
  const auto compute = [this, size] { Compute(size); };
  {
    // Libraries choose their kernels and take their workspaces.
    const c10::StreamGuard guard(recording_stream_);
    compute();
    compute();
    recording_stream_.synchronize();
  }
  return graphs_.emplace(size, RecordDeviceGraph(recording_stream_, compute))
      .first->second.get();
}

void DevicePart::Begin(absl::Span<const State> states,
                       absl::Span<mcts::Evaluation> results) {
  const int size = static_cast<int>(states.size());
  TARA_CHECK(!busy() && size > 0 && size <= capacity_, "no room for the batch");
  batch_.EncodeCanonical(states, RowSpan(host_planes_, size),
                         RowSpan(host_globals_, size));
  const int padded = PaddedBatch(size, capacity_);
  DeviceGraph* const graph = GraphOf(padded);
  const c10::StreamGuard guard(stream_);
  results_ = results;
  Rows(planes_, size)
      .copy_(Rows(host_planes_, size).permute({0, 3, 1, 2}),
             /*non_blocking=*/true);
  Rows(globals_, size).copy_(Rows(host_globals_, size), /*non_blocking=*/true);
  if (graph != nullptr) {
    graph->Replay();
  } else {
    Compute(padded);
  }
  Rows(host_outputs_, size).copy_(Rows(outputs_, size), /*non_blocking=*/true);
}

void DevicePart::Finish() {
  TARA_CHECK(busy(), "nothing was begun");
  stream_.synchronize();
  const float* const outputs = host_outputs_.data_ptr<float>();
  for (int i = 0; i < batch_.size(); ++i) {
    FillEvaluation(batch_, i, RowOfOutputs(outputs, i), results_[i]);
  }
  results_ = {};
}

}  // namespace tara::nn
