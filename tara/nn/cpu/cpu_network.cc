#include "tara/nn/cpu/cpu_network.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

#include "tara/base/check.h"
#include "tara/nn/cpu/winograd.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

// Planes are multiples of 1/4, at most 1: exact as integers of this unit.
constexpr float kPlaneUnits = 252;
constexpr float kLargestByte = 255;

// How far beyond a layer's range integers of 16 bits reach: where bytes are
// better off with the few values above cut, these have units to spare.
constexpr float kIntegerReach = 2;

size_t SizeOf(CpuNumberType type) {
  switch (type) {
    case CpuNumberType::kByte:
      return sizeof(uint8_t);
    case CpuNumberType::kBfloat16:
      return sizeof(Bfloat16);
    case CpuNumberType::kFloat32:
      break;
  }
  return sizeof(float);
}

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

CpuNetwork::CpuNetwork(CpuWeights weights, Precision precision,
                       const CpuRanges& ranges, MakeConvolutions* narrow)
    : weights_(std::move(weights)),
      precision_(precision),
      numbers_(LayerNumbers(ranges)),
      kernels_(BestCpuKernels()) {
  if (is_narrow()) {
    TARA_CHECK(narrow != nullptr, "somebody convolves narrow numbers");
    narrow_ = narrow(weights_, numbers_);
  } else {
    PrepareOwn(ranges);
  }
}

CpuNumbers CpuNetwork::Narrow(const std::vector<float>& ranges) const {
  if (!is_narrow()) return {};
  if (precision_ == Precision::kBfloat16) {
    return {.type = CpuNumberType::kBfloat16};
  }
  CpuNumbers numbers = {.type = CpuNumberType::kByte};
  for (const float range : ranges) {
    numbers.scales.push_back(range / kLargestByte);
    numbers.inverse_scales.push_back(kLargestByte / range);
  }
  return numbers;
}

CpuLayerNumbers CpuNetwork::LayerNumbers(const CpuRanges& ranges) const {
  const bool int8 = precision_ == Precision::kInt8;
  const std::vector<float> none;
  CpuLayerNumbers numbers;
  numbers.planes =
      Narrow(std::vector<float>(weights_.stem.in, kLargestByte / kPlaneUnits));
  for (int i = 0; i <= num_blocks(); ++i) {
    numbers.tower.push_back(Narrow(int8 ? ranges.tower[i] : none));
  }
  for (int i = 0; i < num_blocks(); ++i) {
    numbers.inner.push_back(Narrow(int8 ? ranges.inner[i] : none));
  }
  return numbers;
}

void CpuNetwork::PrepareOwn(const CpuRanges& ranges) {
  const auto add = [&](const CpuConvolutionWeights& weights, float range) {
    winograd_.push_back(precision_ == Precision::kInt16
                            ? IntegerWinogradLayer(weights, range)
                            : FloatWinogradLayer(weights));
  };
  const auto reach = [&](const std::vector<std::vector<float>>& layers, int i) {
    if (precision_ != Precision::kInt16) return 0.0f;
    return kIntegerReach *
           *std::max_element(layers[i].begin(), layers[i].end());
  };
  add(weights_.stem, 1);
  for (int i = 0; i < num_blocks(); ++i) {
    add(weights_.blocks[i].first, reach(ranges.tower, i));
    add(weights_.blocks[i].second, reach(ranges.inner, i));
  }
  policy_ = OfSquares(weights_.policy);
  policy_planes_ = OfSquares(weights_.policy_planes);
  value_ = OfSquares(weights_.value);
}

struct CpuContext::Buffers {
  TensorBuffer planes;        // [tile, 49, planes], narrow
  TensorBuffer tower;         // [tile, 49, channels], float32
  TensorBuffer narrow_tower;  // the same, narrow; unused with float32
  TensorBuffer inner;         // [tile, 49, channels], narrow
  TensorBuffer pooled;        // [tile, 2 channels]
  TensorBuffer bias;          // [tile, channels]
  TensorBuffer policy;        // [tile, 49, channels], float32
  TensorBuffer policy_bias;   // [tile, channels, then the logit of passing]
  TensorBuffer policy_rows;   // [tile, 49, policy planes, filled up]
  TensorBuffer value;         // [tile, 49, channels], float32
  TensorBuffer hidden;        // [tile, hidden]
  TensorBuffer value_output;  // [tile, outputs, filled up]
  TensorBuffer scratch;
};

CpuContext::CpuContext(const CpuNetwork& network)
    : network_(network), buffers_(std::make_unique<Buffers>()) {
  const CpuWeights& weights = network.weights_;
  Buffers& buffers = *buffers_;
  const size_t tower = TowerSize(kMaxCpuTile);
  const auto of_tile = [](int width) { return size_t{kMaxCpuTile} * width; };
  buffers.planes.Resize(of_tile(kNumSquares * weights.stem.in));
  for (TensorBuffer* const buffer :
       {&buffers.tower, &buffers.inner, &buffers.policy, &buffers.value}) {
    buffer->Resize(tower);
  }
  buffers.pooled.Resize(of_tile(2 * weights.channels));
  buffers.bias.Resize(of_tile(weights.channels));
  buffers.policy_bias.Resize(of_tile(weights.policy_pooled.out));
  buffers.policy_rows.Resize(of_tile(kNumSquares * weights.policy_planes.out));
  buffers.hidden.Resize(of_tile(weights.value_hidden.out));
  buffers.value_output.Resize(of_tile(weights.value_output.out));
  if (network.narrow_ == nullptr) {
    const int widest = std::max(weights.stem.in, weights.channels);
    buffers.scratch.Resize(WinogradScratchFloats(widest));
    winograd_jobs_ = BindWinograd();
    return;
  }
  buffers.narrow_tower.Resize(tower);
  buffers.scratch.Resize(network.narrow_->scratch_bytes() / sizeof(float) + 1);
  narrow_ = network.narrow_->Bind({.planes = buffers.planes.data(),
                                   .narrow_tower = buffers.narrow_tower.data(),
                                   .inner = buffers.inner.data(),
                                   .tower = buffers.tower.data(),
                                   .policy = buffers.policy.data(),
                                   .policy_rows = buffers.policy_rows.data(),
                                   .value = buffers.value.data(),
                                   .scratch = buffers.scratch.data()});
}

CpuContext::~CpuContext() = default;

std::vector<WinogradJob> CpuContext::BindWinograd() const {
  const Buffers& buffers = *buffers_;
  std::vector<WinogradJob> jobs;
  for (const WinogradLayer& layer : network_.winograd_) {
    const int place = static_cast<int>(jobs.size());
    // The first convolutions of blocks are the odd ones.
    const bool first = place % 2 == 1;
    const TensorBuffer& source = place == 0 ? buffers.planes
                                 : first    ? buffers.tower
                                            : buffers.inner;
    jobs.push_back(
        {.layer = &layer,
         .source = source.data(),
         .destination = first ? buffers.inner.data() : buffers.tower.data(),
         .add_to_destination = !first,
         .scratch = buffers.scratch.data()});
  }
  return jobs;
}

int CpuContext::TowerSize(int tile) const {
  return tile * kNumSquares * network_.weights_.channels;
}

void CpuContext::Convolve(int convolution) const {
  if (narrow_ != nullptr) {
    narrow_->Run(tile_index_, convolution);
    return;
  }
  WinogradJob job = winograd_jobs_[convolution];
  job.positions = tile_;
  const CpuKernels& kernels = network_.kernels_;
  if (network_.precision_ == Precision::kInt16) {
    kernels.convolve_integers(job);
  } else {
    kernels.convolve_floats(job);
  }
}

void CpuContext::NarrowTower(const CpuNumbers& numbers) const {
  const float* const tower = buffers_->tower.data();
  void* const narrow = buffers_->narrow_tower.data();
  if (numbers.type == CpuNumberType::kByte) {
    network_.kernels_.rows_to_bytes(
        tower, tile_ * kNumSquares, network_.weights_.channels,
        numbers.inverse_scales.data(), static_cast<uint8_t*>(narrow));
  } else if (numbers.type == CpuNumberType::kBfloat16) {
    network_.kernels_.to_bfloats(tower, TowerSize(tile_),
                                 static_cast<Bfloat16*>(narrow));
  }
}

void CpuContext::Pool(const void* rows, const CpuNumbers& numbers) const {
  const int channels = network_.weights_.channels;
  const CpuKernels& kernels = network_.kernels_;
  const size_t bytes = TowerSize(1) * SizeOf(numbers.type);
  for (int i = 0; i < tile_; ++i) {
    const void* const from = static_cast<const char*>(rows) + i * bytes;
    float* const pooled = buffers_->pooled.data() + i * 2 * channels;
    if (numbers.type == CpuNumberType::kByte) {
      kernels.pool_bytes(static_cast<const uint8_t*>(from), channels,
                         numbers.scales.data(), pooled);
    } else if (numbers.type == CpuNumberType::kBfloat16) {
      kernels.pool_bfloats(static_cast<const Bfloat16*>(from), channels,
                           pooled);
    } else {
      kernels.pool_floats(static_cast<const float*>(from), channels, pooled);
    }
  }
}

void CpuContext::Run(const EncodedBatch& batch, const Visitor& visit,
                     const Observer* observer) {
  int first = 0;
  for (tile_index_ = 0; first < batch.size();) {
    tile_ = kCpuTiles[tile_index_];
    if (batch.size() - first < tile_) {
      ++tile_index_;
      continue;
    }
    visit(first, tile_,
          RunTile(batch.planes() + size_t{1} * first * kNumSquares * kNumPlanes,
                  batch.globals() + size_t{1} * first * kNumGlobals, observer));
    first += tile_;
  }
}

CpuContext::Outputs CpuContext::RunTile(const float* planes,
                                        const float* globals,
                                        const Observer* observer) {
  const int num_blocks = network_.num_blocks();
  RunStem(planes, globals);
  for (int block = 0; block < num_blocks; ++block) RunBlock(block, observer);
  if (observer != nullptr) {
    (*observer)(num_blocks,
                absl::MakeConstSpan(buffers_->tower.data(), TowerSize(tile_)));
  }
  NarrowTower(network_.numbers_.tower.back());
  RunPolicy();
  RunValue();
  const CpuWeights& weights = network_.weights_;
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
  const CpuKernels& kernels = network_.kernels_;
  const int size = tile_ * kNumSquares * weights.stem.in;
  void* const narrow = buffers_->planes.data();
  switch (network_.precision_) {
    case Precision::kInt8:
      kernels.to_bytes(planes, size, kPlaneUnits,
                       static_cast<uint8_t*>(narrow));
      break;
    case Precision::kBfloat16:
      kernels.to_bfloats(planes, size, static_cast<Bfloat16*>(narrow));
      break;
    default:
      std::memcpy(narrow, planes, size * sizeof(float));
  }
  float* const bias = buffers_->bias.data();
  Linear(weights.stem_globals, /*relu=*/false, globals, bias);
  for (int i = 0; i < tile_; ++i) {
    kernels.fill_rows(bias + i * weights.channels, weights.channels,
                      buffers_->tower.data() + TowerSize(i));
  }
  Convolve(0);
}

void CpuContext::RunBlock(int block, const Observer* observer) const {
  const CpuWeights& weights = network_.weights_;
  const CpuKernels& kernels = network_.kernels_;
  float* const tower = buffers_->tower.data();
  const int size = TowerSize(tile_);
  NarrowTower(network_.numbers_.tower[block]);
  if (observer != nullptr) {
    (*observer)(block, absl::MakeConstSpan(tower, size));
  }
  Convolve(network_.First(block));
  if (observer != nullptr) {
    (*observer)(network_.num_blocks() + 1 + block,
                absl::MakeConstSpan(buffers_->inner.data(), size));
  }
  if (weights.blocks[block].pooled) {
    Pool(buffers_->inner.data(), network_.numbers_.inner[block]);
    // Pooled values enter the sum through the tensor that the convolution adds
    // to.
    float* const bias = buffers_->bias.data();
    Linear(*weights.blocks[block].pooled, /*relu=*/false,
           buffers_->pooled.data(), bias);
    for (int i = 0; i < tile_; ++i) {
      kernels.add_to_rows(bias + i * weights.channels, weights.channels,
                          tower + TowerSize(i));
    }
  }
  Convolve(network_.Second(block));
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
  const CpuKernels& kernels = network_.kernels_;
  Pool(buffers_->tower.data(), CpuNumbers());
  float* const pooled = buffers_->policy_bias.data();
  Linear(weights.policy_pooled, /*relu=*/false, buffers_->pooled.data(),
         pooled);
  const int stride = weights.policy_pooled.out;
  if (narrow_ != nullptr) {
    for (int i = 0; i < tile_; ++i) {
      kernels.fill_rows(pooled + i * stride, weights.channels,
                        buffers_->policy.data() + TowerSize(i));
    }
    Convolve(network_.Policy());
    Convolve(network_.PolicyPlanes());
    return;
  }
  const CpuLinearWeights& layer = network_.policy_;
  float* const bias = buffers_->bias.data();
  for (int i = 0; i < tile_; ++i) {
    std::transform(layer.bias.begin(), layer.bias.end(), pooled + i * stride,
                   bias, std::plus<float>());
    kernels.linear(layer, bias, kNumSquares, /*relu=*/true,
                   buffers_->tower.data() + TowerSize(i),
                   buffers_->policy.data() + TowerSize(i));
  }
  LinearOfSquares(network_.policy_planes_, /*relu=*/false, buffers_->policy,
                  buffers_->policy_rows);
}

void CpuContext::RunValue() const {
  const CpuWeights& weights = network_.weights_;
  if (narrow_ != nullptr) {
    Convolve(network_.Value());
  } else {
    LinearOfSquares(network_.value_, /*relu=*/true, buffers_->tower,
                    buffers_->value);
  }
  Pool(buffers_->value.data(), CpuNumbers());
  Linear(weights.value_hidden, /*relu=*/true, buffers_->pooled.data(),
         buffers_->hidden.data());
  Linear(weights.value_output, /*relu=*/false, buffers_->hidden.data(),
         buffers_->value_output.data());
}

}  // namespace tara::nn
