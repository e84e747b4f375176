#include "tara/nn/cpu/cpu_network.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "tara/nn/cpu/winograd.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

using Type = dnnl::memory::data_type;

// Planes are multiples of 1/4, at most 1: exact as integers of this unit.
constexpr float kPlaneUnits = 252;
constexpr float kLargestByte = 255;

// How far beyond a layer's range integers of 16 bits reach: where bytes are
// better off with the few values above cut, these have units to spare.
constexpr float kIntegerReach = 2;

size_t SizeOf(Type type) { return dnnl::memory::data_type_size(type); }

}  // namespace

CpuNetwork::CpuNetwork(CpuWeights weights, Precision precision,
                       const CpuRanges& ranges)
    : weights_(std::move(weights)),
      precision_(precision),
      kernels_(BestCpuKernels()),
      engine_(dnnl::engine::kind::cpu, 0) {
  const bool int8 = precision == Precision::kInt8;
  const std::vector<float> none;
  plane_numbers_ =
      Narrow(std::vector<float>(weights_.stem.in, kLargestByte / kPlaneUnits));
  for (int i = 0; i <= num_blocks(); ++i) {
    tower_numbers_.push_back(Narrow(int8 ? ranges.tower[i] : none));
  }
  for (int i = 0; i < num_blocks(); ++i) {
    inner_numbers_.push_back(Narrow(int8 ? ranges.inner[i] : none));
  }
  if (!is_narrow()) PrepareWinograd(ranges);
  const OneOpenMpThread one_thread;
  for (size_t i = 0; i < kCpuTiles.size(); ++i) {
    plans_[i] = MakePlan(kCpuTiles[i], i > 0 ? &plans_[0] : nullptr);
  }
}

CpuNumbers CpuNetwork::Narrow(const std::vector<float>& ranges) const {
  if (!is_narrow()) return {};
  if (precision_ == Precision::kBfloat16) return {.type = Type::bf16};
  CpuNumbers numbers = {.type = Type::u8};
  for (const float range : ranges) {
    numbers.scales.push_back(range / kLargestByte);
    numbers.inverse_scales.push_back(kLargestByte / range);
  }
  return numbers;
}

void CpuNetwork::PrepareWinograd(const CpuRanges& ranges) {
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
}

CpuNetwork::Plan CpuNetwork::MakePlan(int tile, const Plan* twin) const {
  Plan plan;
  const auto add = [&](const CpuConvolutionWeights& weights,
                       CpuConvolutionSpec spec) {
    spec.batch = tile;
    plan.convolutions.emplace_back(
        engine_, weights, spec,
        twin ? &twin->convolutions[plan.convolutions.size()] : nullptr);
    plan.scratch_bytes =
        std::max(plan.scratch_bytes, plan.convolutions.back().scratch_bytes());
  };
  if (is_narrow()) {
    add(weights_.stem, {.source = plane_numbers_, .add_to_destination = true});
    for (int i = 0; i < num_blocks(); ++i) {
      const CpuNumbers inner = inner_numbers_[i];
      add(weights_.blocks[i].first,
          {.source = tower_numbers_[i], .destination = inner});
      add(weights_.blocks[i].second,
          {.source = inner, .add_to_destination = true});
    }
  }
  const CpuNumbers tower = tower_numbers_.back();
  add(weights_.policy, {.source = tower, .add_to_destination = true});
  add(weights_.policy_planes, {.relu = false});
  add(weights_.value, {.source = tower});
  return plan;
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
    : network_(network),
      stream_(network.engine_),
      buffers_(std::make_unique<Buffers>()) {
  const CpuWeights& weights = network.weights_;
  Buffers& buffers = *buffers_;
  const size_t tower = TowerSize(kMaxCpuTile);
  const auto of_tile = [](int width) { return size_t{kMaxCpuTile} * width; };
  buffers.planes.Resize(of_tile(kNumSquares * weights.stem.in));
  for (TensorBuffer* const buffer :
       {&buffers.tower, &buffers.inner, &buffers.policy, &buffers.value}) {
    buffer->Resize(tower);
  }
  if (network.is_narrow()) buffers.narrow_tower.Resize(tower);
  buffers.pooled.Resize(of_tile(2 * weights.channels));
  buffers.bias.Resize(of_tile(weights.channels));
  buffers.policy_bias.Resize(of_tile(weights.policy_pooled.out));
  buffers.policy_rows.Resize(of_tile(kNumSquares * weights.policy_planes.out));
  buffers.hidden.Resize(of_tile(weights.value_hidden.out));
  buffers.value_output.Resize(of_tile(weights.value_output.out));
  size_t scratch_bytes = 0;
  for (const CpuNetwork::Plan& plan : network.plans_) {
    scratch_bytes = std::max(scratch_bytes, plan.scratch_bytes);
  }
  size_t scratch_floats = scratch_bytes / sizeof(float) + 1;
  if (network.num_winograd() > 0) {
    const int widest = std::max(weights.stem.in, weights.channels);
    scratch_floats =
        std::max<size_t>(scratch_floats, WinogradScratchFloats(widest));
  }
  buffers.scratch.Resize(scratch_floats);
  winograd_jobs_ = BindWinograd();
  for (size_t i = 0; i < kCpuTiles.size(); ++i) {
    bound_[i] = Bind(static_cast<int>(i));
  }
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

std::vector<BoundConvolution> CpuContext::Bind(int tile_index) {
  const Buffers& buffers = *buffers_;
  const auto& plan = network_.plans_[tile_index].convolutions;
  std::vector<BoundConvolution> bound;
  const auto bind = [&](const TensorBuffer& source,
                        const TensorBuffer& destination) {
    bound.emplace_back(network_.engine_, plan[bound.size()], source.data(),
                       destination.data(), buffers.scratch.data());
  };
  const bool is_narrow = network_.is_narrow();
  const TensorBuffer& tower = is_narrow ? buffers.narrow_tower : buffers.tower;
  if (is_narrow) {
    bind(buffers.planes, buffers.tower);
    for (int i = 0; i < network_.num_blocks(); ++i) {
      bind(tower, buffers.inner);
      bind(buffers.inner, buffers.tower);
    }
  }
  bind(tower, buffers.policy);
  bind(buffers.policy, buffers.policy_rows);
  bind(tower, buffers.value);
  return bound;
}

int CpuContext::TowerSize(int tile) const {
  return tile * kNumSquares * network_.weights_.channels;
}

void CpuContext::Convolve(int convolution) const {
  const int num_winograd = network_.num_winograd();
  if (convolution >= num_winograd) {
    bound_[tile_index_][convolution - num_winograd].Run(stream_);
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
  if (numbers.type == Type::u8) {
    network_.kernels_.rows_to_bytes(
        tower, tile_ * kNumSquares, network_.weights_.channels,
        numbers.inverse_scales.data(), static_cast<uint8_t*>(narrow));
  } else if (numbers.type == Type::bf16) {
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
    if (numbers.type == Type::u8) {
      kernels.pool_bytes(static_cast<const uint8_t*>(from), channels,
                         numbers.scales.data(), pooled);
    } else if (numbers.type == Type::bf16) {
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
  NarrowTower(network_.tower_numbers_.back());
  RunPolicy();
  RunValue();
  const CpuWeights& weights = network_.weights_;
  return {.policy_rows = buffers_->policy_rows.data(),
          .policy_channels = weights.policy_planes.out,
          .pass = buffers_->policy_bias.data() + weights.channels,
          .pass_stride = weights.policy_pooled.out,
          .value = buffers_->value_output.data(),
          .value_stride = weights.value_output.out,
          .value_rows = buffers_->value.data(),
          .hidden = buffers_->hidden.data(),
          .hidden_stride = weights.value_hidden.out};
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
  kernels.linear(weights.stem_globals, tile_, /*relu=*/false, globals, bias);
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
  NarrowTower(network_.tower_numbers_[block]);
  if (observer != nullptr) {
    (*observer)(block, absl::MakeConstSpan(tower, size));
  }
  Convolve(network_.First(block));
  if (observer != nullptr) {
    (*observer)(network_.num_blocks() + 1 + block,
                absl::MakeConstSpan(buffers_->inner.data(), size));
  }
  if (weights.blocks[block].pooled) {
    Pool(buffers_->inner.data(), network_.inner_numbers_[block]);
    // What is pooled joins the sum by way of what the convolution adds to.
    float* const bias = buffers_->bias.data();
    kernels.linear(*weights.blocks[block].pooled, tile_, /*relu=*/false,
                   buffers_->pooled.data(), bias);
    for (int i = 0; i < tile_; ++i) {
      kernels.add_to_rows(bias + i * weights.channels, weights.channels,
                          tower + TowerSize(i));
    }
  }
  Convolve(network_.Second(block));
}

void CpuContext::RunPolicy() const {
  const CpuWeights& weights = network_.weights_;
  Pool(buffers_->tower.data(), CpuNumbers());
  float* const bias = buffers_->policy_bias.data();
  network_.kernels_.linear(weights.policy_pooled, tile_, /*relu=*/false,
                           buffers_->pooled.data(), bias);
  for (int i = 0; i < tile_; ++i) {
    network_.kernels_.fill_rows(bias + i * weights.policy_pooled.out,
                                weights.channels,
                                buffers_->policy.data() + TowerSize(i));
  }
  Convolve(network_.Policy());
  Convolve(network_.PolicyPlanes());
}

void CpuContext::RunValue() const {
  const CpuWeights& weights = network_.weights_;
  Convolve(network_.Value());
  Pool(buffers_->value.data(), CpuNumbers());
  network_.kernels_.linear(weights.value_hidden, tile_, /*relu=*/true,
                           buffers_->pooled.data(), buffers_->hidden.data());
  network_.kernels_.linear(weights.value_output, tile_, /*relu=*/false,
                           buffers_->hidden.data(),
                           buffers_->value_output.data());
}

}  // namespace tara::nn
