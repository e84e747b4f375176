#include "tara/nn/torch/device_graph_torch.h"

#include <c10/core/StreamGuard.h>

// Defined by the repository of LibTorch where it has CUDA and the toolkit's
// headers are found: Debian's LibTorch has this header without its
// dependencies.
#if defined(TARA_TORCH_CUDA)
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <optional>

#include "absl/base/const_init.h"
#include "absl/synchronization/mutex.h"
#define TARA_CUDA_GRAPHS 1
#else
#define TARA_CUDA_GRAPHS 0
#endif

namespace tara::nn {

#if TARA_CUDA_GRAPHS
namespace {

// Held while a graph is recorded or destroyed: LibTorch keeps a list of graphs
// without a lock (until 2.12), and can free no memory meanwhile.
ABSL_CONST_INIT absl::Mutex recording(absl::kConstInit);

// Begins to record the work that only this thread enqueues, or returns false if
// LibTorch records all threads or none. It is a template because only there the
// branch that is not taken is not compiled.
template <typename Graph, typename Pool>
bool BeginRecording(Graph& graph, Pool pool) {
  if constexpr (requires {
                  graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
                }) {
    graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
    return true;
  } else {
    return false;
  }
}

class CudaGraph : public DeviceGraph {
 public:
  CudaGraph() : graph_(std::in_place) {}
  ~CudaGraph() override {
    const absl::MutexLock lock(&recording);
    graph_.reset();
  }

  // Returns whether it recorded the work. `neighbor`: as in RecordDeviceGraph.
  bool Record(const std::function<void()>& prepare,
              const std::function<void()>& work, CudaGraph* neighbor) {
    const absl::MutexLock lock(&recording);
    prepare();
    using Pool = decltype(graph_->pool());
    if (!BeginRecording(*graph_, neighbor == nullptr
                                     ? Pool{0, 0}
                                     : neighbor->graph_->pool())) {
      return false;
    }
    try {
      work();
    } catch (...) {
      // A stream left recording is of no more use to anyone.
      graph_->capture_end();
      throw;
    }
    graph_->capture_end();
    return true;
  }
  void Replay() override { graph_->replay(); }

 private:
  std::optional<at::cuda::CUDAGraph> graph_;  // until destroyed
};

}  // namespace

std::unique_ptr<DeviceGraph> RecordDeviceGraph(
    const c10::Stream& stream, const std::function<void()>& prepare,
    const std::function<void()>& work, DeviceGraph* neighbor) {
  if (stream.device_type() != c10::DeviceType::CUDA) return nullptr;
  const c10::StreamGuard guard(stream);
  auto graph = std::make_unique<CudaGraph>();
  if (!graph->Record(prepare, work, static_cast<CudaGraph*>(neighbor))) {
    return nullptr;
  }
  return graph;
}

void FreeGraphMemory() {
  const absl::MutexLock lock(&recording);
  c10::cuda::CUDACachingAllocator::emptyCache();
}

#else

std::unique_ptr<DeviceGraph> RecordDeviceGraph(
    const c10::Stream& /*stream*/, const std::function<void()>& /*prepare*/,
    const std::function<void()>& /*work*/, DeviceGraph* /*neighbor*/) {
  return nullptr;
}

void FreeGraphMemory() {}

#endif

}  // namespace tara::nn
