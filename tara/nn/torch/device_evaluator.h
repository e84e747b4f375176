#ifndef TARA_NN_TORCH_DEVICE_EVALUATOR_H_
#define TARA_NN_TORCH_DEVICE_EVALUATOR_H_

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <torch/torch.h>

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/torch/device_graph_torch.h"
#include "tara/nn/torch/folded_network_torch.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Returns the type of LibTorch. REQUIRES: neither kAuto nor kInt8.
at::ScalarType TypeOf(Precision precision);

// Returns the precision in which the network should compute on the device. It
// is tried out first: kAuto on a GPU takes the fastest of three. Returns
// UNIMPLEMENTED when LibTorch cannot compute in that precision there, or its
// answers are far from those in float32, saying which. REQUIRES: in inference
// mode.
absl::StatusOr<Precision> ChoosePrecision(const Network& network,
                                          const c10::Device& device,
                                          Precision precision);

// The number of positions that a device computes for `size` of them: the next
// power of two, at most `capacity`. So few sizes that each can have a graph,
// and that the device's allocator and libraries meet nothing new.
int PaddedBatch(int size, int capacity);

// Takes one batch at a time through a device, without waiting for it:
//
//   this thread   encode -> enqueue copy, network, copy ... wait -> softmax
//   the device                copy -> network -> copy
//
// With two of them a thread encodes one batch while the device computes the
// other. Each has a stream and buffers of its own, those on the host pinned,
// so that copies neither block the thread nor wait for others' work. On the
// CPU streams do nothing, and Begin computes; the code is the same.
//
// All outputs come back, 4 KB a position, instead of the legal actions' alone
// (some tens of 932): that is less than the planes that go there, the other
// way along a bus that carries both ways at once, and at a million positions a
// second 4 GB/s of the 25 or more that a bus of 16 lanes has. Gathering would
// send an index for every legal action, and give every batch another shape,
// which graphs cannot have.
//
// Not thread-safe. The functions throw what LibTorch throws.
// REQUIRES, of all: in inference mode.
class DevicePart {
 public:
  // The network must live as long. `capacity`: the largest batch.
  DevicePart(const FoldedNetwork* network, const c10::Device& device,
             int capacity);
  // Waits for what is underway: the device must not write to freed memory.
  ~DevicePart();
  DevicePart(const DevicePart&) = delete;
  DevicePart& operator=(const DevicePart&) = delete;

  // Encodes the states and enqueues their evaluation; `results` are filled by
  // Finish. REQUIRES: not busy; spans of one size, 1 to the capacity.
  void Begin(absl::Span<const State> states,
             absl::Span<mcts::Evaluation> results);
  // Waits until the batch is done, and fills its results. REQUIRES: busy.
  void Finish();
  bool busy() const { return !results_.empty(); }

 private:
  // Enqueues the network on the first `size` rows of the device's buffers.
  void Compute(int size);
  // The graph of a batch size, recorded when first asked for, or null.
  DeviceGraph* GraphOf(int size);

  const FoldedNetwork* const network_;
  const int capacity_;
  const c10::Stream stream_;
  // Graphs are recorded on streams that no part computes on: of those that
  // LibTorch hands out in turns, 32 to a device, some may be shared.
  const c10::Stream recording_stream_;
  EncodedBatch batch_;
  at::Tensor host_planes_;   // [capacity, 7, 7, P]
  at::Tensor host_globals_;  // [capacity, G]
  at::Tensor host_outputs_;  // [capacity, kNumNetworkOutputs]
  // On the device; rows beyond the batch hold what was there, or zeros.
  at::Tensor planes_;  // [capacity, P, 7, 7], channels-last
  at::Tensor globals_;
  at::Tensor outputs_;
  std::map<int, std::unique_ptr<DeviceGraph>> graphs_;  // by batch size
  absl::Span<mcts::Evaluation> results_;                // of the batch underway
};

struct DeviceEvaluatorOptions {
  // As ParseDevice (tara/nn/inference_options.h) reads it. Several devices share the
  // calls: each takes turns, and large calls are spread over all.
  std::string device = "cpu";
  // kAuto: on the CPU float32; on a GPU the fastest of bfloat16, float16 and
  // float32 by a short measurement, bfloat16 if it is nearly so.
  Precision precision = Precision::kAuto;
  // A call is split into equal parts of up to so many positions, and one from
  // twice the least on into at least two, so that one is encoded while the
  // device computes another. Memory of a GPU: some 15 KB a position for each
  // 128 channels in 16 bits, for each part underway.
  int max_part = 512;
  int least_part = 128;
};

struct DeviceEvaluator {
  std::unique_ptr<mcts::Evaluator> evaluator;
  Precision precision = Precision::kFloat32;  // never kAuto
};

// Makes an evaluator that computes with LibTorch on any of its devices. The
// evaluator is thread-safe; the calls of several threads are underway at once,
// each with streams and buffers of its own (device_part_torch.h). The one lock
// is held for the moment that it takes to hand these out.
//
// An answer depends a little, within rounding, on the size of its batch.
//
// Returns INVALID_ARGUMENT for a device that cannot be meant, or a tensor that
// is missing or misshapen, naming it; FAILED_PRECONDITION where there is no
// such device; UNIMPLEMENTED for a precision that it does not have;
// RESOURCE_EXHAUSTED, as do its calls, when memory does not suffice.
absl::StatusOr<DeviceEvaluator> NewDeviceEvaluator(
    const Checkpoint& checkpoint, const DeviceEvaluatorOptions& options);

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_DEVICE_EVALUATOR_H_
