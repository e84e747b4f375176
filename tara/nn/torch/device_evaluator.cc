#include "tara/nn/torch/device_evaluator.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/nn/torch/device_part_torch.h"
#include "tara/nn/torch/device_precision_torch.h"
#include "tara/nn/torch/folded_network_torch.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/torch/torch_devices.h"
#include "tara/nn/torch/torch_runtime.h"

namespace tara::nn {
namespace {

// One device: the weights on it, and the parts that no call uses.
class Replica {
 public:
  Replica(const Network& network, const c10::Device& device,
          at::ScalarType type, int capacity)
      : network_(network, device, type), device_(device), capacity_(capacity) {
    // The weights were copied on the default stream; others compute with them.
    c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
  }

  std::unique_ptr<DevicePart> Take() ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      const absl::MutexLock lock(&mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<DevicePart> part = std::move(idle_.back());
        idle_.pop_back();
        return part;
      }
    }
    return std::make_unique<DevicePart>(&network_, device_, capacity_);
  }

  void GiveBack(std::unique_ptr<DevicePart> part) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    idle_.push_back(std::move(part));
  }

 private:
  const FoldedNetwork network_;
  const c10::Device device_;
  const int capacity_;
  absl::Mutex mutex_;
  // The last used first: its buffers are in the caches.
  std::vector<std::unique_ptr<DevicePart>> idle_ ABSL_GUARDED_BY(mutex_);
};

class EvaluatorInParts : public mcts::Evaluator {
 public:
  EvaluatorInParts(const Network& network,
                   const std::vector<std::string>& devices, at::ScalarType type,
                   const DeviceEvaluatorOptions& options)
      : devices_(absl::StrJoin(devices, ",")), options_(options) {
    for (const std::string& device : devices) {
      replicas_.push_back(std::make_unique<Replica>(
          network, c10::Device(device), type, options.max_part));
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
  // to a device. Parts of a call that throws are dropped with what they have
  // underway, not given back.
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
        next.replica = replicas_[(first_device + i) % replicas_.size()].get();
        next.part = next.replica->Take();
      }
      const size_t end = states.size() * (i + 1) / parts;
      next.part->Begin(states.subspan(begin, end - begin),
                       results.subspan(begin, end - begin));
      underway.push_back(std::move(next));
      begin = end;
    }
    while (!underway.empty()) {
      Taken done = FinishOldest(underway);
      done.replica->GiveBack(std::move(done.part));
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
  try {
    const c10::InferenceMode inference_mode;
    Network network(checkpoint.shape);
    TARA_RETURN_IF_ERROR(LoadWeights(checkpoint, network));
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
