#include "tara/nn/torch/device_graph_torch.h"

#include <c10/core/StreamGuard.h>

// Defined by the repository of LibTorch where it has CUDA and the toolkit's
// headers are found: Debian's LibTorch has this header without its
// dependencies.
#if defined(TARA_TORCH_CUDA)
#include <ATen/cuda/CUDAGraph.h>
#define TARA_CUDA_GRAPHS 1
#else
#define TARA_CUDA_GRAPHS 0
#endif

namespace tara::nn {

#if TARA_CUDA_GRAPHS
namespace {

// Begins to record the work that only this thread enqueues, or returns false if
// LibTorch records all threads or none. It is a template because only there the
// branch that is not taken is not compiled.
template <typename Graph>
bool BeginRecording(Graph& graph) {
  using Pool = decltype(graph.pool());
  if constexpr (requires {
                  graph.capture_begin(Pool{0, 0},
                                      cudaStreamCaptureModeThreadLocal);
                }) {
    graph.capture_begin(Pool{0, 0}, cudaStreamCaptureModeThreadLocal);
    return true;
  } else {
    return false;
  }
}

class CudaGraph : public DeviceGraph {
 public:
  // Returns whether it recorded the work.
  bool Record(const std::function<void()>& work) {
    if (!BeginRecording(graph_)) return false;
    try {
      work();
    } catch (...) {
      // A stream left recording is of no more use to anyone.
      graph_.capture_end();
      throw;
    }
    graph_.capture_end();
    return true;
  }
  void Replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
};

}  // namespace

std::unique_ptr<DeviceGraph> RecordDeviceGraph(
    const c10::Stream& stream, const std::function<void()>& work) {
  if (stream.device_type() != c10::DeviceType::CUDA) return nullptr;
  const c10::StreamGuard guard(stream);
  auto graph = std::make_unique<CudaGraph>();
  if (!graph->Record(work)) return nullptr;
  return graph;
}

#else

std::unique_ptr<DeviceGraph> RecordDeviceGraph(
    const c10::Stream& /*stream*/, const std::function<void()>& /*work*/) {
  return nullptr;
}

#endif

}  // namespace tara::nn
