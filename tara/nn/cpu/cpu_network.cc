#include "tara/nn/cpu/cpu_network.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/instruction_set.h"
#include "tara/nn/cpu/cpu_kernel_templates.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/weights/fold_norms.h"

namespace tara::nn {
namespace {

// Lays out the weights of a folded network.
class Layout {
 public:
  explicit Layout(const Checkpoint& folded)
      : folded_(folded),
        channels_(folded.shape.channels),
        filled_(WholeVectors(channels_)) {}

  absl::StatusOr<CpuNetwork> Make() {
    CpuNetwork network;
    network.channels = filled_;
    network.stem = Convolution("stem_conv", "stem_norm", kNumPlanes,
                               /*filled_inputs=*/kNumPlanes);
    network.stem_globals =
        Linear("stem_globals", "", {channels_, kNumGlobals}, kNumGlobals);
    for (int i = 0; i < folded_.shape.blocks; ++i) {
      const std::string name = absl::StrCat("block", i);
      CpuNetwork::Block& block = network.blocks.emplace_back();
      block.first = Convolution(name + ".first.conv", name + ".first.norm",
                                channels_, filled_);
      block.second = Convolution(name + ".second.conv", name + ".second.norm",
                                 channels_, filled_);
      if (!BlockPools(i)) continue;
      block.pooled = OfPooled(name + ".pooled", channels_);
    }
    network.policy =
        OfSquares("policy_conv.conv", "policy_conv.norm", channels_);
    network.policy_pooled = Empty(2 * filled_, filled_ + 1);
    Add("policy_pooled", "", {channels_, 2 * channels_}, 0,
        network.policy_pooled);
    Add("policy_pass", "policy_pass", {1, 2 * channels_}, filled_,
        network.policy_pooled);
    network.policy_planes =
        OfSquares("policy_planes", "policy_planes", kNumPolicyPlanes);
    network.value = OfSquares("value_conv.conv", "value_conv.norm", channels_);
    network.value_hidden = OfPooled("value_hidden", kValueHidden);
    network.value_output =
        Linear("value_output", "value_output", {kNumValueOutputs, kValueHidden},
               kValueHidden);
    if (!status_.ok()) return status_;
    return network;
  }

 private:
  using Shape = std::vector<int64_t>;

  // Returns the values of a tensor until the next call; zeros, and an error in
  // status_, where it is missing or misshapen.
  const std::vector<float>& Values(const std::string& name,
                                   const Shape& shape) {
    const auto tensor = folded_.Find(name, shape);
    if (tensor.ok()) return (*tensor)->values;
    status_.Update(tensor.status());
    zeros_.assign(std::accumulate(shape.begin(), shape.end(), int64_t{1},
                                  std::multiplies<>()),
                  0.0f);
    return zeros_;
  }

  // The convolution of 3 x 3 `name` with the biases of `norm`.
  WinogradLayer Convolution(const std::string& name, const std::string& norm,
                            int in, int filled_inputs) {
    constexpr int kTaps = 9;
    CpuConvolutionWeights layer = {
        .in = filled_inputs,
        .out = filled_,
        .weight = std::vector<float>(size_t{kTaps} * filled_ * filled_inputs),
        .bias = Values(norm + ".bias", {channels_})};
    layer.bias.resize(filled_);
    const auto& values = Values(name + ".weight", {channels_, in, 3, 3});
    for (int o = 0; o < channels_; ++o) {
      std::copy_n(
          values.begin() + ptrdiff_t{1} * o * in * kTaps, in * kTaps,
          layer.weight.begin() + ptrdiff_t{1} * o * filled_inputs * kTaps);
    }
    return MakeWinogradLayer(layer);
  }

  static CpuLinearWeights Empty(int in, int64_t out) {
    const int filled = WholeVectors(static_cast<int>(out));
    return {.in = in,
            .out = filled,
            .weight = std::vector<float>(size_t{1} * in * filled),
            .bias = std::vector<float>(filled)};
  }

  // Adds the layer `name`, of a shape that begins with outputs and inputs, and
  // the biases of `bias`, if any, to `layer`, as its outputs from `first` on.
  // Of inputs that are means and maxima the layer has the two halves.
  void Add(const std::string& name, const std::string& bias, const Shape& shape,
           int first, CpuLinearWeights& layer) {
    const std::vector<float>& weight = Values(name + ".weight", shape);
    const int out = static_cast<int>(shape[0]);
    const int in = static_cast<int>(shape[1]);
    const bool in_halves = in == 2 * channels_ && layer.in == 2 * filled_;
    for (int o = 0; o < out; ++o) {
      for (int i = 0; i < in; ++i) {
        const int input =
            in_halves && i >= channels_ ? i - channels_ + filled_ : i;
        layer.weight[size_t{1} * input * layer.out + first + o] =
            weight[size_t{1} * o * in + i];
      }
    }
    if (bias.empty()) return;
    const std::vector<float>& biases = Values(bias + ".bias", {out});
    std::copy(biases.begin(), biases.end(), layer.bias.begin() + first);
  }

  CpuLinearWeights Linear(const std::string& name, const std::string& bias,
                          const Shape& shape, int in) {
    CpuLinearWeights layer = Empty(in, shape[0]);
    Add(name, bias, shape, 0, layer);
    return layer;
  }
  // A convolution of 1 x 1, of the tower's channels.
  CpuLinearWeights OfSquares(const std::string& name, const std::string& bias,
                             int out) {
    return Linear(name, bias, {out, channels_, 1, 1}, filled_);
  }
  CpuLinearWeights OfPooled(const std::string& name, int out) {
    return Linear(name, name, {out, 2 * channels_}, 2 * filled_);
  }

  const Checkpoint& folded_;
  const int channels_;
  const int filled_;  // whole vectors
  absl::Status status_;
  std::vector<float> zeros_;
};

}  // namespace

absl::StatusOr<CpuNetwork> MakeCpuNetwork(const Checkpoint& checkpoint) {
  TARA_ASSIGN_OR_RETURN(const Checkpoint folded, FoldNorms(checkpoint));
  return Layout(folded).Make();
}

const CpuKernels& PortableCpuKernels() {
  static constexpr CpuKernels kKernels =
      internal::CpuKernelCode<InstructionSet::kPortable>::Table();
  return kKernels;
}

const CpuKernels& BestCpuKernels() {
#if defined(__x86_64__)
  static const CpuKernels kernels =
      SupportedInstructionSets().back() == InstructionSet::kAvx512
          ? internal::Avx512CpuKernels()
          : PortableCpuKernels();
  return kernels;
#else
  return PortableCpuKernels();
#endif
}

namespace {

constexpr int kTaps = 3;

// G: the points are 0, 1, -1, 2, -2 and infinity.
constexpr double kFilter[kWinogradLine][kTaps] = {
    {1.0 / 4, 0, 0},
    {-1.0 / 6, -1.0 / 6, -1.0 / 6},
    {-1.0 / 6, 1.0 / 6, -1.0 / 6},
    {1.0 / 24, 1.0 / 12, 1.0 / 6},
    {1.0 / 24, -1.0 / 12, 1.0 / 6},
    {0, 0, 1}};

using Points = std::array<double, kWinogradPoints>;

// G g G^T of the filter of an output and an input channel.
Points TransformFilter(const CpuConvolutionWeights& weights, int output,
                       int input) {
  const float* const filter =
      weights.weight.data() +
      (size_t{1} * output * weights.in + input) * kTaps * kTaps;
  Points points = {};
  for (int i = 0; i < kWinogradLine; ++i) {
    for (int j = 0; j < kWinogradLine; ++j) {
      for (int y = 0; y < kTaps; ++y) {
        for (int x = 0; x < kTaps; ++x) {
          points[kWinogradLine * i + j] +=
              kFilter[i][y] * filter[kTaps * y + x] * kFilter[j][x];
        }
      }
    }
  }
  return points;
}

}  // namespace

WinogradLayer MakeWinogradLayer(const CpuConvolutionWeights& weights) {
  WinogradLayer layer = {
      .in = weights.in,
      .out = weights.out,
      .weights = std::vector<float>(size_t{1} * weights.out * kWinogradPoints *
                                    weights.in),
      .bias = weights.bias};
  for (int o = 0; o < layer.out; ++o) {
    const size_t block = o / kWinogradBlock;
    for (int i = 0; i < layer.in; ++i) {
      const Points points = TransformFilter(weights, o, i);
      for (int point = 0; point < kWinogradPoints; ++point) {
        const size_t row = (block * kWinogradPoints + point) * layer.in + i;
        layer.weights[row * kWinogradBlock + o % kWinogradBlock] =
            static_cast<float>(points[point]);
      }
    }
  }
  return layer;
}

CpuContext::CpuContext(const CpuNetwork& network) : network_(network) {
  const auto resize = [](TensorBuffer& buffer, int width) {
    buffer.Resize(size_t{kMaxCpuTile} * width);
  };
  for (TensorBuffer* const buffer : {&tower_, &inner_, &policy_, &value_}) {
    resize(*buffer, TowerSize(1));
  }
  resize(pooled_, 2 * network.channels);
  resize(bias_, network.channels);
  resize(policy_bias_, network.policy_pooled.out);
  resize(policy_rows_, kNumSquares * network.policy_planes.out);
  resize(hidden_, network.value_hidden.out);
  resize(value_output_, network.value_output.out);
  scratch_.Resize(
      WinogradScratchFloats(std::max(network.stem.in, network.channels)));
}

void CpuContext::Run(const EncodedBatch& batch, const Visitor& visit) {
  int first = 0;
  for (const int tile : kCpuTiles) {
    tile_ = tile;
    for (; batch.size() - first >= tile; first += tile) {
      visit(
          first, tile,
          RunTile(batch.planes() + size_t{1} * first * kNumSquares * kNumPlanes,
                  batch.globals() + size_t{1} * first * kNumGlobals));
    }
  }
}

CpuContext::Outputs CpuContext::RunTile(const float* planes,
                                        const float* globals) {
  // The stem: the globals are a bias of each square.
  Linear(network_.stem_globals, /*relu=*/false, globals, bias_);
  for (int row = 0; row < tile_ * kNumSquares; ++row) {
    std::copy_n(bias_.data() + row / kNumSquares * network_.channels,
                network_.channels, tower_.data() + row * network_.channels);
  }
  Convolve(network_.stem, planes, tower_, /*add_to_destination=*/true);
  for (const CpuNetwork::Block& block : network_.blocks) RunBlock(block);
  RunPolicy();
  RunValue();
  return {.policy_rows = policy_rows_.data(),
          .policy_channels = network_.policy_planes.out,
          .pass = policy_bias_.data() + network_.channels,
          .pass_stride = network_.policy_pooled.out,
          .value = value_output_.data(),
          .value_stride = network_.value_output.out,
          .value_rows = value_.data()};
}

void CpuContext::Convolve(const WinogradLayer& layer, const float* source,
                          const TensorBuffer& destination,
                          bool add_to_destination) const {
  kernels_.convolve({.layer = &layer,
                     .positions = tile_,
                     .source = source,
                     .destination = destination.data(),
                     .add_to_destination = add_to_destination,
                     .scratch = scratch_.data()});
}

void CpuContext::Pool(const TensorBuffer& rows) const {
  for (int i = 0; i < tile_; ++i) {
    kernels_.pool(rows.data() + TowerSize(i), network_.channels,
                  pooled_.data() + i * 2 * network_.channels);
  }
}

void CpuContext::RunBlock(const CpuNetwork::Block& block) const {
  Convolve(block.first, tower_.data(), inner_, /*add_to_destination=*/false);
  if (block.pooled) {
    Pool(inner_);
    // Pooled values enter the sum through the tensor that the convolution adds
    // to.
    Linear(*block.pooled, /*relu=*/false, pooled_.data(), bias_);
    for (int i = 0; i < tile_; ++i) {
      kernels_.add_to_rows(bias_.data() + i * network_.channels,
                           network_.channels, tower_.data() + TowerSize(i));
    }
  }
  Convolve(block.second, inner_.data(), tower_, /*add_to_destination=*/true);
}

void CpuContext::RunPolicy() const {
  Pool(tower_);
  Linear(network_.policy_pooled, /*relu=*/false, pooled_.data(), policy_bias_);
  const CpuLinearWeights& layer = network_.policy;
  for (int i = 0; i < tile_; ++i) {
    std::transform(layer.bias.begin(), layer.bias.end(),
                   policy_bias_.data() + i * network_.policy_pooled.out,
                   bias_.data(), std::plus<float>());
    kernels_.linear(layer, bias_.data(), kNumSquares, /*relu=*/true,
                    tower_.data() + TowerSize(i),
                    policy_.data() + TowerSize(i));
  }
  LinearOfSquares(network_.policy_planes, /*relu=*/false, policy_,
                  policy_rows_);
}

void CpuContext::RunValue() const {
  LinearOfSquares(network_.value, /*relu=*/true, tower_, value_);
  Pool(value_);
  Linear(network_.value_hidden, /*relu=*/true, pooled_.data(), hidden_);
  Linear(network_.value_output, /*relu=*/false, hidden_.data(), value_output_);
}

}  // namespace tara::nn
