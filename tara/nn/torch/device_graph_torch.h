#ifndef TARA_NN_TORCH_DEVICE_GRAPH_TORCH_H_
#define TARA_NN_TORCH_DEVICE_GRAPH_TORCH_H_

// The one seam to CUDA itself: everything else goes through LibTorch's generic
// devices and compiles without CUDA's headers.

#include <c10/core/Stream.h>

#include <functional>
#include <memory>

namespace tara::nn {

// Work of a device, recorded once and repeated at the cost of one launch. It
// reads and writes the memory that it did when it was recorded.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  // Enqueues the work on the current stream.
  virtual void Replay() = 0;
};

// Records what `work` enqueues, on `stream`, which becomes the current one
// meanwhile. `prepare` runs on it first: it does the same work and waits for
// it, so that libraries are ready. The graph keeps its temporaries in the
// memory of `neighbor`, unless that is null. Returns null where graphs are
// unsupported: on devices other than CUDA's, in builds without its headers
// (third_party/torch), and in LibTorch before 2.1, where recording forbids all
// other threads to allocate. Graphs are recorded one at a time, so threads may
// share the stream if they use it for nothing else. Throws what LibTorch
// throws. REQUIRES: graphs with the same memory are replayed on the same
// stream.
std::unique_ptr<DeviceGraph> RecordDeviceGraph(
    const c10::Stream& stream, const std::function<void()>& prepare,
    const std::function<void()>& work, DeviceGraph* neighbor);

// Gives unused memory back to the devices. LibTorch keeps the memory of graphs
// that are gone, but uses it for nothing else.
void FreeGraphMemory();

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_DEVICE_GRAPH_TORCH_H_
