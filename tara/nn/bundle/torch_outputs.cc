#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <vector>

#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/torch/torch_runtime.h"

namespace tara::nn {
namespace {

// Positions computed together.
constexpr int64_t kMaxBatch = 64;

at::Tensor RowsOf(const std::vector<float>& values,
                  const std::vector<int64_t>& axes, int64_t begin,
                  int64_t count) {
  std::vector<int64_t> shape = {count};
  shape.insert(shape.end(), axes.begin(), axes.end());
  int64_t size = 1;
  for (const int64_t axis : axes) size *= axis;
  return at::from_blob(const_cast<float*>(values.data()) + begin * size, shape);
}

void Append(const at::Tensor& tensor, std::vector<float>& values) {
  const at::Tensor whole = tensor.contiguous();
  const float* const begin = whole.data_ptr<float>();
  values.insert(values.end(), begin, begin + whole.numel());
}

at::Tensor Places(int count, int (*place)(int)) {
  const at::Tensor places = at::empty({count}, at::kLong);
  for (int i = 0; i < count; ++i) places.data_ptr<int64_t>()[i] = place(i);
  return places;
}

void Compute(Network& network, bool with_owner, const NetworkInputs& inputs,
             NetworkOutputs& outputs) {
  const c10::InferenceMode inference_mode;
  const auto infos = NetworkInputInfos({});
  const at::Tensor actions = Places(
      kNumActions, [](int i) { return PolicyOutput(static_cast<Action>(i)); });
  const at::Tensor squares =
      Places(kNumHills, [](int hill) { return SquareOf(hill); });
  for (int64_t begin = 0; begin < inputs.size; begin += kMaxBatch) {
    const int64_t count = std::min(kMaxBatch, inputs.size - begin);
    const NetworkOutput logits =
        network.forward(RowsOf(inputs.planes, infos[0].axes, begin, count),
                        RowsOf(inputs.globals, infos[1].axes, begin, count),
                        {{Head::kOwner, with_owner}});
    Append(logits[Head::kPolicy].index_select(1, actions), outputs.policy);
    Append(logits[Head::kValue], outputs.result);
    Append(logits[Head::kMargin], outputs.margins);
    if (with_owner) {
      Append(logits[Head::kOwner].flatten(2).index_select(2, squares),
             outputs.owner);
    }
  }
}

}  // namespace

absl::StatusOr<NetworkOutputs> ComputeTorchOutputs(
    const Checkpoint& checkpoint, const NetworkInputs& inputs) {
  SetTorchThreads(1);
  try {
    Network network(checkpoint.shape);
    network.eval();
    TARA_RETURN_IF_ERROR(LoadWeights(checkpoint, network));
    NetworkOutputs outputs;
    Compute(network, HasLearned(checkpoint, Head::kOwner), inputs, outputs);
    return outputs;
  } catch (const std::exception& error) {
    return TorchError("computing golden outputs", "use a smaller network",
                      error);
  }
}

}  // namespace tara::nn
