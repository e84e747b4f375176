#include "tara/nn/torch/device_evaluator.h"

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/nn/cpu/cpu_evaluator.h"
#include "tara/nn/cpu/cpu_network.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/torch/device_graph_torch.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/torch/torch_runtime.h"
#include "tara/nn/weights/fold_norms.h"

namespace tara::nn {
namespace {

// bfloat16 has the range of float32 and cannot overflow: another type must be
// faster by this factor to be preferred.
constexpr double kPreference = 1.25;

// The largest difference allowed of a logit in 16 bits, as a share of the
// largest logit: eight bits of mantissa lose 0.4 % an operation, and errors add
// up like a random walk over the layers. The check finds overflow and broken
// kernels, not rounding.
constexpr double kMaxDifference = 0.25;

// Measures networks on inputs similar to positions: planes mostly of zeros and
// ones. They are enough for a GPU to work in earnest, and few for a CPU.
class Trials {
 public:
  Trials(const Checkpoint& network, const c10::Device& device)
      : network_(network), device_(device) {
    const int64_t batch = device.is_cpu() ? 2 : 256;
    // Numbers without any pattern of the planes; a generator is not needed.
    const at::Tensor steps =
        at::arange(batch * kNumPlanes * kNumSquares, at::kFloat).mul(0.618034f);
    planes_ = (steps - steps.floor())
                  .lt(0.3)
                  .to(device, at::kFloat)
                  .view({batch, kBoardSize, kBoardSize, kNumPlanes})
                  .permute({0, 3, 1, 2});
    globals_ = at::full({batch, kNumGlobals}, 0.25).to(device);
    expected_ = Outputs(at::kFloat, float32_time_);
  }

  absl::Duration float32_time() const { return float32_time_; }

  // Tries a type of 16 bits; returns its time, or why it cannot be used.
  absl::StatusOr<absl::Duration> Try(at::ScalarType type) {
    try {
      absl::Duration time;
      const at::Tensor outputs = Outputs(type, time);
      const double scale = expected_.abs().max().item<double>();
      const double difference =
          (outputs - expected_).abs().max().item<double>();
      // Not the other way round: a NaN is not less.
      if (difference <= kMaxDifference * scale) return time;
      return absl::UnimplementedError(
          absl::StrCat("logits differ by ", difference,
                       " from those in float32, which are up to ", scale));
    } catch (const c10::OutOfMemoryError&) {
      throw;
    } catch (const std::exception& error) {
      return absl::UnimplementedError(error.what());
    }
  }

 private:
  // Computes some times, and sets the least time.
  at::Tensor Outputs(at::ScalarType type, absl::Duration& time) const {
    constexpr int kRounds = 5;
    const FoldedNetwork network(network_, device_, type);
    const c10::Stream stream =
        c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
    at::Tensor outputs;
    time = absl::InfiniteDuration();
    for (int round = 0; round < kRounds; ++round) {
      stream.synchronize();
      const absl::Time start = SteadyTime();
      outputs = network.Forward(planes_, globals_);
      stream.synchronize();
      time = std::min(time, SteadyTime() - start);
    }
    return outputs;
  }

  const Checkpoint& network_;
  const c10::Device device_;
  at::Tensor planes_, globals_;
  at::Tensor expected_;  // outputs in float32
  absl::Duration float32_time_;
};

// Returns the type of LibTorch. REQUIRES: neither kAuto nor kInt8.
at::ScalarType TypeOf(Precision precision) {
  return precision == Precision::kBfloat16  ? at::kBFloat16
         : precision == Precision::kFloat16 ? at::kHalf
                                            : at::kFloat;
}

// Returns the precision in which the network should compute on the device. It
// is tried out first: kAuto on a GPU takes the fastest of three. Returns
// UNIMPLEMENTED when LibTorch cannot compute in that precision there, or its
// answers are far from those in float32, saying which. REQUIRES: in inference
// mode.
absl::StatusOr<Precision> ChoosePrecision(const Checkpoint& network,
                                          const c10::Device& device,
                                          Precision precision) {
  if (precision == Precision::kInt8) {
    return absl::UnimplementedError(absl::StrCat(
        "LibTorch's networks do not compute in ", PrecisionName(precision),
        "; expected auto, float32, bfloat16 or float16"));
  }
  if (precision == Precision::kFloat32 ||
      (precision == Precision::kAuto && device.is_cpu())) {
    return Precision::kFloat32;
  }
  Trials trials(network, device);
  if (precision != Precision::kAuto) {
    const auto time = trials.Try(TypeOf(precision));
    if (time.ok()) return precision;
    return absl::UnimplementedError(absl::StrCat(
        "LibTorch cannot compute this network in ", PrecisionName(precision),
        " on ", device.str(), ": ", time.status().message()));
  }
  Precision best = Precision::kFloat32;
  absl::Duration least = trials.float32_time();
  for (const Precision type : {Precision::kFloat16, Precision::kBfloat16}) {
    const auto time = trials.Try(TypeOf(type));
    if (!time.ok()) continue;
    if (*time < least * (type == Precision::kBfloat16 ? kPreference : 1.0)) {
      best = type;
      least = *time;
    }
  }
  return best;
}

// A stream of the device next to its default one. Streams of high priority are
// reserved for recording.
c10::Stream NewStream(const c10::Device& device, bool for_recording) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  return device.is_cpu()
             ? guard.getStream(device)
             : guard.getStreamFromGlobalPool(device,
                                             /*isHighPriority=*/for_recording);
}

at::Tensor Rows(const at::Tensor& tensor, int count) {
  return tensor.narrow(0, 0, count);
}

absl::Span<float> RowSpan(const at::Tensor& tensor, int count) {
  return absl::MakeSpan(tensor.data_ptr<float>(),
                        static_cast<size_t>(count * tensor.stride(0)));
}

// The number of positions that a device computes for `size` of them: the next
// power of two, at most `capacity`. With so few sizes, each can have a graph,
// and the device's allocator and libraries meet no new ones.
int PaddedBatch(int size, int capacity) {
  return std::min(static_cast<int>(std::bit_ceil(static_cast<unsigned>(size))),
                  capacity);
}

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
// All outputs come back, 4 KB a position, instead of the legal actions' alone:
// less than the planes that go there. Gathering would give every batch another
// shape, which graphs cannot have.
//
// Not thread-safe. The functions throw what LibTorch throws.
// REQUIRES, of all: in inference mode.
class DevicePart {
 public:
  // The network must live as long. `capacity`: the largest batch.
  DevicePart(const FoldedNetwork* network, const c10::Device& device,
             int capacity)
      : network_(network),
        capacity_(capacity),
        stream_(NewStream(device, /*for_recording=*/false)),
        recording_stream_(NewStream(device, /*for_recording=*/true)) {
    const c10::StreamGuard guard(stream_);
    const auto make = [&](at::IntArrayRef shape, at::Tensor& host,
                          at::Tensor& on_device) {
      host = at::zeros(
          shape, at::TensorOptions(at::kFloat).pinned_memory(!device.is_cpu()));
      on_device = at::zeros(shape, at::TensorOptions(device));
    };
    make({capacity, kBoardSize, kBoardSize, kNumPlanes}, host_planes_, planes_);
    make({capacity, kNumGlobals}, host_globals_, globals_);
    make({capacity, kNumNetworkOutputs}, host_outputs_, outputs_);
    planes_ = planes_.permute({0, 3, 1, 2});
    // Recording reads these on another stream.
    stream_.synchronize();
  }
  // Waits for what is underway: the device must not write to freed memory.
  ~DevicePart() {
    try {
      stream_.synchronize();
    } catch (const std::exception&) {
      // The device is lost, and nothing is underway on it.
    }
  }
  DevicePart(const DevicePart&) = delete;
  DevicePart& operator=(const DevicePart&) = delete;

  // Encodes the states and enqueues their evaluation; `results` are filled by
  // Finish. REQUIRES: not busy; spans of one size, 1 to the capacity.
  void Begin(absl::Span<const State> states,
             absl::Span<mcts::Evaluation> results) {
    const int size = static_cast<int>(states.size());
    TARA_CHECK(!busy() && size > 0 && size <= capacity_,
               "no room for the batch");
    batch_.EncodeCanonical(states, RowSpan(host_planes_, size),
                           RowSpan(host_globals_, size));
    const int padded = PaddedBatch(size, capacity_);
    DeviceGraph* const graph = GraphOf(padded);
    const c10::StreamGuard guard(stream_);
    results_ = results;
    Rows(planes_, size)
        .copy_(Rows(host_planes_, size).permute({0, 3, 1, 2}),
               /*non_blocking=*/true);
    Rows(globals_, size)
        .copy_(Rows(host_globals_, size), /*non_blocking=*/true);
    graph != nullptr ? graph->Replay() : Compute(padded);
    Rows(host_outputs_, size)
        .copy_(Rows(outputs_, size), /*non_blocking=*/true);
  }

  // Waits until the batch is done, and fills its results. REQUIRES: busy.
  void Finish() {
    TARA_CHECK(busy(), "nothing was begun");
    stream_.synchronize();
    const float* row = host_outputs_.data_ptr<float>();
    for (int i = 0; i < batch_.size(); ++i, row += kNumNetworkOutputs) {
      const float* const result = row + kNumPolicyOutputs;
      FillEvaluation(
          batch_.OutputsOf(i),
          {.policy = row, .result = result, .margins = result + kNumResults},
          results_[i]);
    }
    results_ = {};
  }

 private:
  bool busy() const { return !results_.empty(); }

  // Enqueues the network on the first `size` rows of the device's buffers.
  void Compute(int size) {
    Rows(outputs_, size)
        .copy_(network_->Forward(Rows(planes_, size), Rows(globals_, size)));
  }

  // The graph of a batch size, recorded when first asked for, or null.
  DeviceGraph* GraphOf(int size) {
    if (!stream_.device().is_cuda()) return nullptr;
    const auto found = graphs_.find(size);
    if (found != graphs_.end()) return found->second.get();
    const auto compute = [this, size] { Compute(size); };
    {
      // Kernels are chosen and loaded here, where threads do not take turns.
      const c10::StreamGuard guard(stream_);
      compute();
      stream_.synchronize();
    }
    const auto prepare = [&] {
      compute();
      recording_stream_.synchronize();
    };
    DeviceGraph* const neighbor =
        graphs_.empty() ? nullptr : graphs_.begin()->second.get();
    return (graphs_[size] = RecordDeviceGraph(recording_stream_, prepare,
                                              compute, neighbor))
        .get();
  }

  const FoldedNetwork* const network_;
  const int capacity_;
  const c10::Stream stream_;
  // Graphs are recorded on streams that no part computes on: LibTorch hands out
  // 32 streams of a kind per device in turn, so parts may share them.
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

// One device: the weights on it, and the parts that no call uses.
struct Replica {
  Replica(const Checkpoint& network, const c10::Device& device,
          at::ScalarType type)
      : network(network, device, type), device(device) {
    // The weights were copied on the default stream; others compute with them.
    c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
  }

  const FoldedNetwork network;
  const c10::Device device;
  CpuContextPool<DevicePart> idle;
};

class EvaluatorInParts : public mcts::Evaluator {
 public:
  EvaluatorInParts(const Checkpoint& network,
                   const std::vector<std::string>& devices, at::ScalarType type,
                   const DeviceEvaluatorOptions& options)
      : devices_(absl::StrJoin(devices, ",")), options_(options) {
    for (const std::string& device : devices) {
      replicas_.push_back(
          std::make_unique<Replica>(network, c10::Device(device), type));
    }
  }

  ~EvaluatorInParts() override {
    replicas_.clear();
    try {
      if (devices_ != "cpu") FreeGraphMemory();
    } catch (const std::exception&) {
      // The device is lost, and its memory with it.
    }
  }

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    TARA_CHECK(states.size() == results.size(), "one result for each state");
    if (states.empty()) return absl::OkStatus();
    SetTorchThreads(1);
    try {
      const c10::InferenceMode inference_mode;
      EvaluateInParts(states, results);
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return TorchError(absl::StrCat("evaluating ", states.size(),
                                     " positions on ", devices_),
                        "use smaller batches, fewer threads or a smaller "
                        "network",
                        error);
    }
  }

 private:
  // A part in use, and the replica that it belongs to.
  struct Taken {
    Replica* replica;
    std::unique_ptr<DevicePart> part;
  };

  size_t NumParts(size_t size) const {
    const auto max_part = static_cast<size_t>(options_.max_part);
    const auto least_part = static_cast<size_t>(options_.least_part);
    const size_t devices = replicas_.size();
    const size_t wanted = std::min(size / least_part, 2 * devices);
    return std::max({size_t{1}, wanted, (size + max_part - 1) / max_part});
  }

  // Begins one part after the other, waiting for the oldest when there are two
  // to a device. Parts of a call that throws are dropped with their
  // unfinished work, not given back.
  void EvaluateInParts(absl::Span<const State> states,
                       absl::Span<mcts::Evaluation> results) {
    const size_t parts = NumParts(states.size());
    const size_t first_device = turns_.fetch_add(1, std::memory_order_relaxed);
    std::deque<Taken> underway;  // the oldest first
    size_t begin = 0;
    for (size_t i = 0; i < parts; ++i) {
      Taken next;
      if (underway.size() == 2 * replicas_.size()) {
        next = FinishOldest(underway);
      } else {
        Replica& replica = *replicas_[(first_device + i) % replicas_.size()];
        next = {&replica, replica.idle.Take([&] {
                  return std::make_unique<DevicePart>(
                      &replica.network, replica.device, options_.max_part);
                })};
      }
      const size_t end = states.size() * (i + 1) / parts;
      next.part->Begin(states.subspan(begin, end - begin),
                       results.subspan(begin, end - begin));
      underway.push_back(std::move(next));
      begin = end;
    }
    while (!underway.empty()) {
      Taken done = FinishOldest(underway);
      done.replica->idle.Return(std::move(done.part));
    }
  }

  static Taken FinishOldest(std::deque<Taken>& underway) {
    underway.front().part->Finish();
    Taken done = std::move(underway.front());
    underway.pop_front();
    return done;
  }

  const std::string devices_;
  const DeviceEvaluatorOptions options_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::atomic<size_t> turns_ = 0;
};

}  // namespace

absl::StatusOr<DeviceEvaluator> NewDeviceEvaluator(
    const Checkpoint& checkpoint, const DeviceEvaluatorOptions& options) {
  TARA_CHECK(options.least_part > 0 && options.max_part > 0,
             "parts need positions");
  TARA_ASSIGN_OR_RETURN(const std::vector<std::string> devices,
                        FindTorchDevices(options.device));
  // Finds tensors that are missing or misshapen.
  TARA_RETURN_IF_ERROR(MakeCpuNetwork(checkpoint).status());
  TARA_ASSIGN_OR_RETURN(const Checkpoint network, FoldNorms(checkpoint));
  try {
    const c10::InferenceMode inference_mode;
    TARA_ASSIGN_OR_RETURN(const Precision precision,
                          ChoosePrecision(network, c10::Device(devices.front()),
                                          options.precision));
    return DeviceEvaluator{.evaluator = std::make_unique<EvaluatorInParts>(
                               network, devices, TypeOf(precision), options),
                           .precision = precision};
  } catch (const std::exception& error) {
    return TorchError(
        absl::StrCat("loading a network of ", checkpoint.shape.channels,
                     " channels and ", checkpoint.shape.blocks, " blocks on ",
                     absl::StrJoin(devices, ",")),
        "free some memory of the device", error);
  }
}

}  // namespace tara::nn
