#include "tara/nn/bundle/torchscript.h"

#include <torch/script.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <sstream>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/torch/torch_runtime.h"
#include "tara/nn/weights/fold_norms.h"

namespace tara::nn {
namespace {

// The name of a tensor as an attribute: "block0.first.conv.weight" has dots.
std::string AttributeName(const std::string& name) {
  return absl::StrReplaceAll(name, {{".", "_"}});
}

at::Tensor Integers(const std::vector<int64_t>& values) {
  return at::tensor(values, at::kLong);
}

// Writes the method `forward` of the folded network.
class ForwardWriter {
 public:
  ForwardWriter(const Checkpoint& network, WeightType weights)
      : network_(network), cast_(weights == WeightType::kFloat16) {}

  std::string Write() {
    absl::StrAppend(&text_, "def forward(self, planes, globals):\n");
    Line("x = torch.relu(", Convolution("stem_conv", "stem_norm", 1, "planes"),
         " + ", OfChannels(Linear("stem_globals", "globals")), ")");
    for (int i = 0; i < network_.shape.blocks; ++i) WriteBlock(i);
    Line("pooled = self.pool(x)");
    Line("p = torch.relu(",
         Convolution("policy_conv.conv", "policy_conv.norm", 0, "x"), " + ",
         OfChannels(Linear("policy_pooled", "pooled")), ")");
    Line("policy = torch.cat([",
         Convolution("policy_planes", "policy_planes", 0, "p"), ".flatten(1), ",
         Linear("policy_pass", "pooled"), "], 1)");
    Line("v = torch.relu(",
         Convolution("value_conv.conv", "value_conv.norm", 0, "x"), ")");
    Line("hidden = torch.relu(", Linear("value_hidden", "self.pool(v)"), ")");
    Line("values = ", Linear("value_output", "hidden"));
    std::string outputs =
        "policy.index_select(1, self.outputs_of_actions), values[:, :3], "
        "values[:, 3:]";
    if (network_.Has("owner_planes.weight")) {
      Line("o = ", Convolution("owner_planes", "owner_planes", 0, "v"));
      outputs += ", o.flatten(2).index_select(2, self.squares)";
    }
    Line("return ", outputs);
    return text_;
  }

 private:
  template <typename... Parts>
  void Line(const Parts&... parts) {
    absl::StrAppend(&text_, "  ", parts..., "\n");
  }

  std::string Weights(const std::string& name) const {
    return absl::StrCat("self.", AttributeName(name), cast_ ? ".float()" : "");
  }

  std::string Convolution(const std::string& layer, const std::string& biased,
                          int padding, const std::string& input) const {
    return absl::StrCat(
        "torch.conv2d(", input, ", ", Weights(layer + ".weight"), ", ",
        Weights(biased + ".bias"), ", [1, 1], [", padding, ", ", padding, "])");
  }

  std::string Linear(const std::string& layer, const std::string& input) const {
    const bool has_bias = network_.Has(layer + ".bias");
    return absl::StrCat("torch.linear(", input, ", ",
                        Weights(layer + ".weight"), ", ",
                        has_bias ? Weights(layer + ".bias") : "None", ")");
  }

  static std::string OfChannels(const std::string& values) {
    return absl::StrCat(values, ".unsqueeze(2).unsqueeze(3)");
  }

  void WriteBlock(int i) {
    const std::string name = absl::StrCat("block", i);
    const auto convolution = [&](const std::string& layer,
                                 const std::string& input) {
      return Convolution(layer + ".conv", layer + ".norm", 1, input);
    };
    Line("y = torch.relu(", convolution(name + ".first", "x"), ")");
    Line("x = ", convolution(name + ".second", "y"), " + x");
    if (network_.Has(name + ".pooled.weight")) {
      Line("x = x + ", OfChannels(Linear(name + ".pooled", "self.pool(y)")));
    }
    Line("x = torch.relu(x)");
  }

  const Checkpoint& network_;
  const bool cast_;
  std::string text_;
};

constexpr char kPool[] = R"(
def pool(self, x):
  masked = x * self.hills
  return torch.cat([masked.sum([2, 3]) / 45.0, masked.amax([2, 3])], 1)
)";
static_assert(kNumHills == 45, "kPool says so");

torch::jit::Module MakeModule(const Checkpoint& folded, WeightType weights) {
  torch::jit::Module module("TaraNetwork");
  for (const NamedTensor& tensor : folded.tensors) {
    if (IsNeutralNorm(tensor.name)) continue;
    at::Tensor values = at::empty(tensor.shape);
    std::copy(tensor.values.begin(), tensor.values.end(),
              values.data_ptr<float>());
    if (weights == WeightType::kFloat16) values = values.to(at::kHalf);
    module.register_parameter(AttributeName(tensor.name), values,
                              /*is_buffer=*/false);
  }
  std::vector<int64_t> outputs, squares;
  for (int i = 0; i < kNumActions; ++i) {
    outputs.push_back(PolicyOutput(static_cast<Action>(i)));
  }
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    squares.push_back(SquareOf(hill));
  }
  module.register_buffer("hills", MakeHillMask());
  module.register_buffer("outputs_of_actions", Integers(outputs));
  module.register_buffer("squares", Integers(squares));
  module.define(kPool);
  module.define(ForwardWriter(folded, weights).Write());
  module.eval();
  return module;
}

// Takes the output `info` out of what a module returned.
absl::Status TakeOutput(const c10::IValue& got, const NetworkOutputInfo& info,
                        int64_t size, NetworkOutputs& outputs) {
  std::vector<int64_t> shape = {size};
  shape.insert(shape.end(), info.axes.begin(), info.axes.end());
  if (!got.isTensor() || got.toTensor().sizes() != shape ||
      got.toTensor().scalar_type() != at::kFloat) {
    return absl::DataLossError(
        absl::StrCat("its output ", info.name, " has another shape or type"));
  }
  const at::Tensor whole = got.toTensor().contiguous();
  const float* const begin = whole.data_ptr<float>();
  (outputs.*info.values).assign(begin, begin + whole.numel());
  return absl::OkStatus();
}

absl::StatusOr<NetworkOutputs> Run(const std::string& bytes,
                                   const NetworkInputs& inputs,
                                   bool with_owner) {
  const c10::InferenceMode inference_mode;
  std::istringstream stream(bytes);
  torch::jit::Module module = torch::jit::load(stream, at::kCPU);
  std::vector<c10::IValue> arguments;
  for (const NetworkInputInfo& info : NetworkInputInfos(inputs.counts)) {
    std::vector<int64_t> shape = {inputs.size};
    shape.insert(shape.end(), info.axes.begin(), info.axes.end());
    arguments.emplace_back(
        at::from_blob(const_cast<float*>((inputs.*info.values).data()), shape));
  }
  const c10::IValue got = module.forward(arguments);
  const auto infos = NetworkOutputInfos(with_owner);
  if (!got.isTuple() || got.toTuple()->elements().size() != infos.size()) {
    return absl::DataLossError(
        absl::StrCat("it returns no tuple of ", infos.size(), " tensors"));
  }
  NetworkOutputs outputs;
  for (size_t i = 0; i < infos.size(); ++i) {
    TARA_RETURN_IF_ERROR(TakeOutput(got.toTuple()->elements()[i], infos[i],
                                    inputs.size, outputs));
  }
  return outputs;
}

// LibTorch's messages end with a stack trace.
std::string FirstLine(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

}  // namespace

absl::StatusOr<std::string> MakeTorchScript(const Checkpoint& folded,
                                            WeightType weights) {
  try {
    std::ostringstream stream;
    MakeModule(folded, weights).save(stream);
    return std::move(stream).str();
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("TorchScript cannot be made: ", FirstLine(error)));
  }
}

absl::StatusOr<NetworkOutputs> RunTorchScript(const std::string& module,
                                              const NetworkInputs& inputs,
                                              bool with_owner) {
  SetTorchThreads(1);
  try {
    return Run(module, inputs, with_owner);
  } catch (const std::exception& error) {
    return absl::DataLossError(
        absl::StrCat("is no TorchScript that runs: ", FirstLine(error)));
  }
}

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
