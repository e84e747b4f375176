#include "tara/nn/cpu/cpu_network.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "tara/base/check.h"

namespace tara::nn {
namespace {

// A convolution of 1 x 1 as a linear layer of the squares.
CpuLinearWeights OfSquares(const CpuConvolutionWeights& weights) {
  TARA_CHECK(weights.kernel == 1, "a convolution of 1 x 1");
  CpuLinearWeights layer = {.in = weights.in,
                            .out = weights.out,
                            .weight = std::vector<float>(weights.weight.size()),
                            .bias = weights.bias};
  for (int o = 0; o < layer.out; ++o) {
    for (int i = 0; i < layer.in; ++i) {
      layer.weight[size_t{1} * i * layer.out + o] =
          weights.weight[size_t{1} * o * layer.in + i];
    }
  }
  return layer;
}

}  // namespace

CpuNetwork::CpuNetwork(CpuWeights weights)
    : weights_(std::move(weights)),
      kernels_(BestCpuKernels()),
      policy_(OfSquares(weights_.policy)),
      policy_planes_(OfSquares(weights_.policy_planes)),
      value_(OfSquares(weights_.value)) {
  winograd_.push_back(MakeWinogradLayer(weights_.stem));
  for (const CpuBlockWeights& block : weights_.blocks) {
    winograd_.push_back(MakeWinogradLayer(block.first));
    winograd_.push_back(MakeWinogradLayer(block.second));
  }
}

struct CpuContext::Buffers {
  TensorBuffer tower;         // [tile, 49, channels]
  TensorBuffer inner;         // [tile, 49, channels]
  TensorBuffer pooled;        // [tile, 2 channels]
  TensorBuffer bias;          // [tile, channels]
  TensorBuffer policy;        // [tile, 49, channels]
  TensorBuffer policy_bias;   // [tile, channels, then the logit of passing]
  TensorBuffer policy_rows;   // [tile, 49, policy planes, filled up]
  TensorBuffer value;         // [tile, 49, channels]
  TensorBuffer hidden;        // [tile, hidden]
  TensorBuffer value_output;  // [tile, outputs, filled up]
  TensorBuffer scratch;
};

CpuContext::CpuContext(const CpuNetwork& network)
    : network_(network), buffers_(std::make_unique<Buffers>()) {
  const CpuWeights& weights = network.weights_;
  Buffers& buffers = *buffers_;
  const auto of_tile = [](int width) { return size_t{kMaxCpuTile} * width; };
  for (TensorBuffer* const buffer :
       {&buffers.tower, &buffers.inner, &buffers.policy, &buffers.value}) {
    buffer->Resize(TowerSize(kMaxCpuTile));
  }
  buffers.pooled.Resize(of_tile(2 * weights.channels));
  buffers.bias.Resize(of_tile(weights.channels));
  buffers.policy_bias.Resize(of_tile(weights.policy_pooled.out));
  buffers.policy_rows.Resize(of_tile(kNumSquares * weights.policy_planes.out));
  buffers.hidden.Resize(of_tile(weights.value_hidden.out));
  buffers.value_output.Resize(of_tile(weights.value_output.out));
  buffers.scratch.Resize(
      WinogradScratchFloats(std::max(weights.stem.in, weights.channels)));
}

CpuContext::~CpuContext() = default;

int CpuContext::TowerSize(int tile) const {
  return tile * kNumSquares * network_.weights_.channels;
}

void CpuContext::Convolve(int convolution, const float* source,
                          float* destination, bool add_to_destination) const {
  network_.kernels_.convolve({.layer = &network_.winograd_[convolution],
                              .positions = tile_,
                              .source = source,
                              .destination = destination,
                              .add_to_destination = add_to_destination,
                              .scratch = buffers_->scratch.data()});
}

void CpuContext::Pool(const TensorBuffer& rows) const {
  const int channels = network_.weights_.channels;
  for (int i = 0; i < tile_; ++i) {
    network_.kernels_.pool(rows.data() + TowerSize(i), channels,
                           buffers_->pooled.data() + i * 2 * channels);
  }
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
  const CpuWeights& weights = network_.weights_;
  RunStem(planes, globals);
  for (size_t block = 0; block < weights.blocks.size(); ++block) {
    RunBlock(static_cast<int>(block));
  }
  RunPolicy();
  RunValue();
  return {.policy_rows = buffers_->policy_rows.data(),
          .policy_channels = weights.policy_planes.out,
          .pass = buffers_->policy_bias.data() + weights.channels,
          .pass_stride = weights.policy_pooled.out,
          .value = buffers_->value_output.data(),
          .value_stride = weights.value_output.out,
          .value_rows = buffers_->value.data()};
}

void CpuContext::RunStem(const float* planes, const float* globals) const {
  const CpuWeights& weights = network_.weights_;
  float* const bias = buffers_->bias.data();
  Linear(weights.stem_globals, /*relu=*/false, globals, bias);
  for (int i = 0; i < tile_; ++i) {
    network_.kernels_.fill_rows(bias + i * weights.channels, weights.channels,
                                buffers_->tower.data() + TowerSize(i));
  }
  Convolve(0, planes, buffers_->tower.data(), /*add_to_destination=*/true);
}

void CpuContext::RunBlock(int block) const {
  const CpuWeights& weights = network_.weights_;
  float* const tower = buffers_->tower.data();
  float* const inner = buffers_->inner.data();
  Convolve(1 + 2 * block, tower, inner, /*add_to_destination=*/false);
  if (weights.blocks[block].pooled) {
    Pool(buffers_->inner);
    // Pooled values enter the sum through the tensor that the convolution adds
    // to.
    float* const bias = buffers_->bias.data();
    Linear(*weights.blocks[block].pooled, /*relu=*/false,
           buffers_->pooled.data(), bias);
    for (int i = 0; i < tile_; ++i) {
      network_.kernels_.add_to_rows(bias + i * weights.channels,
                                    weights.channels, tower + TowerSize(i));
    }
  }
  Convolve(2 + 2 * block, inner, tower, /*add_to_destination=*/true);
}

void CpuContext::Linear(const CpuLinearWeights& layer, bool relu,
                        const float* inputs, float* outputs) const {
  network_.kernels_.linear(layer, layer.bias.data(), tile_, relu, inputs,
                           outputs);
}

void CpuContext::LinearOfSquares(const CpuLinearWeights& layer, bool relu,
                                 const TensorBuffer& inputs,
                                 const TensorBuffer& outputs) const {
  network_.kernels_.linear(layer, layer.bias.data(), tile_ * kNumSquares, relu,
                           inputs.data(), outputs.data());
}

void CpuContext::RunPolicy() const {
  const CpuWeights& weights = network_.weights_;
  Pool(buffers_->tower);
  float* const pooled = buffers_->policy_bias.data();
  Linear(weights.policy_pooled, /*relu=*/false, buffers_->pooled.data(),
         pooled);
  const CpuLinearWeights& layer = network_.policy_;
  float* const bias = buffers_->bias.data();
  for (int i = 0; i < tile_; ++i) {
    std::transform(layer.bias.begin(), layer.bias.end(),
                   pooled + i * weights.policy_pooled.out, bias,
                   std::plus<float>());
    network_.kernels_.linear(layer, bias, kNumSquares, /*relu=*/true,
                             buffers_->tower.data() + TowerSize(i),
                             buffers_->policy.data() + TowerSize(i));
  }
  LinearOfSquares(network_.policy_planes_, /*relu=*/false, buffers_->policy,
                  buffers_->policy_rows);
}

void CpuContext::RunValue() const {
  const CpuWeights& weights = network_.weights_;
  LinearOfSquares(network_.value_, /*relu=*/true, buffers_->tower,
                  buffers_->value);
  Pool(buffers_->value);
  Linear(weights.value_hidden, /*relu=*/true, buffers_->pooled.data(),
         buffers_->hidden.data());
  Linear(weights.value_output, /*relu=*/false, buffers_->hidden.data(),
         buffers_->value_output.data());
}

}  // namespace tara::nn
