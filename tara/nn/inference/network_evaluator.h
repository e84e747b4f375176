#ifndef TARA_NN_INFERENCE_NETWORK_EVALUATOR_H_
#define TARA_NN_INFERENCE_NETWORK_EVALUATOR_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

struct LoadedNetwork {
  std::unique_ptr<mcts::Evaluator> evaluator;
  InferenceInfo info;
};

// Returns an identifier of the contents of a network's file: checksum and size,
// "1c2d3e4f-102400". Returns the error of reading it.
absl::StatusOr<std::string> NetworkFileId(const std::string& path);

// Loads networks of LibTorch, each in one number type: where Precision::kAuto
// leaves the choice, the first load of a file's contents on a device makes it,
// and all later loads follow. (Tara's kernels have no choice.) Thread-safe;
// loads that may choose are made one at a time.
class NetworkLoader {
 public:
  // Loads a network, and chooses its precision where that is kAuto; the backend
  // is never kAuto. Thread-safe.
  using Load = std::function<absl::StatusOr<LoadedNetwork>(
      const Checkpoint&, const InferenceOptions&)>;

  explicit NetworkLoader(Load load) : load_(std::move(load)) {}

  // As LoadNetwork.
  absl::StatusOr<LoadedNetwork> FromFile(const std::string& path,
                                         InferenceOptions options);

 private:
  const Load load_;
  absl::Mutex mutex_;
  // By file and device.
  std::map<std::string, Precision> choices_ ABSL_GUARDED_BY(mutex_);
};

// Loads the network of a checkpoint, or of a bundle, for inference. The
// evaluator is thread-safe; on the CPU it takes no locks, and each call
// computes on its own thread. With Tara's kernels, the answer for a position is
// the same, bit for bit, in any batch. Within a process, Precision::kAuto is
// one number type for all loads of a file's contents (NetworkLoader).
//
// Returns NOT_FOUND, DATA_LOSS or FAILED_PRECONDITION as ReadNetworkFile;
// DATA_LOSS when a tensor is missing or misshapen, naming file and cause;
// INVALID_ARGUMENT for an invalid device; FAILED_PRECONDITION where
// LibTorch lacks the device, listing the devices it has; UNIMPLEMENTED when the
// backend has no such device or precision; RESOURCE_EXHAUSTED when memory does
// not suffice. The evaluator returns DATA_LOSS, naming the file, for a position
// with outputs that are not finite.
absl::StatusOr<LoadedNetwork> LoadNetwork(const std::string& path,
                                          const InferenceOptions& options = {});

// The same of a checkpoint that is read already; errors call it `name`.
absl::StatusOr<LoadedNetwork> MakeNetwork(const std::string& name,
                                          const Checkpoint& checkpoint,
                                          const InferenceOptions& options);

// Returns a checksum of the network's answers about positions of random games
// from these: processes that play the same games have the same.
absl::StatusOr<std::string> NumericClassOf(const LoadedNetwork& network,
                                           absl::Span<const State> starts);

// LoadNetwork, without what was chosen.
absl::StatusOr<std::unique_ptr<mcts::Evaluator>> LoadNetworkEvaluator(
    const std::string& path, const InferenceOptions& options = {});

// LibTorch's part in inference. Two libraries define these functions, and
// ComputeTorchOutputs of tara/nn/bundle/golden.h; a program links one of them:
//
//   //tara/nn/inference:with_torch      computes by LibTorch
//   //tara/nn/inference:without_torch   refuses: for programs that load fast
//                                       and run without its 500 MB of libraries

// Returns OK if networks can be computed on the device: always for "cpu".
// INVALID_ARGUMENT if the text names no device; FAILED_PRECONDITION if this
// program, its LibTorch or the machine lacks it.
absl::Status CheckInferenceDevice(absl::string_view device);

// Loads a network into LibTorch. REQUIRES: options.backend is kTorch. Errors as
// of LoadNetwork; FAILED_PRECONDITION in a program without LibTorch.
absl::StatusOr<LoadedNetwork> LoadTorchNetwork(const Checkpoint& checkpoint,
                                               const InferenceOptions& options);

}  // namespace tara::nn

#endif  // TARA_NN_INFERENCE_NETWORK_EVALUATOR_H_
