#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dnnl.hpp>
#include <vector>

#include "absl/strings/match.h"
#include "tara/core/board.h"
#include "tara/nn/cpu/cpu_network.h"

namespace tara::nn {
namespace {

using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

dnnl::memory::desc GridDesc(int batch, int channels, Type type) {
  return {{batch, channels, kBoardSize, kBoardSize}, type, Tag::nhwc};
}

Type TypeOf(const CpuNumbers& numbers) {
  switch (numbers.type) {
    case CpuNumberType::kByte:
      return Type::u8;
    case CpuNumberType::kBfloat16:
      return Type::bf16;
    case CpuNumberType::kFloat32:
      break;
  }
  return Type::f32;
}

bool IsByte(const CpuNumbers& numbers) {
  return numbers.type == CpuNumberType::kByte;
}

// A convolution of `batch` positions, channels last, computes
//   destination = ReLU(convolution(source) + bias [+ destination])
struct Spec {
  int batch = 1;
  CpuNumbers source = {};
  CpuNumbers destination = {};
  bool add_to_destination = false;
  bool relu = true;
};

// How many weights an output channel has.
size_t OutputSize(const CpuConvolutionWeights& weights) {
  return weights.weight.size() / weights.out;
}

// Returns the weights of inputs in units of `numbers`.
CpuConvolutionWeights InUnitsOf(const CpuNumbers& numbers,
                                CpuConvolutionWeights weights) {
  if (numbers.scales.empty()) return weights;
  const int taps = weights.kernel * weights.kernel;
  for (size_t i = 0; i < weights.weight.size(); ++i) {
    weights.weight[i] *= numbers.scales[i / taps % weights.in];
  }
  return weights;
}

// Returns the unit of each output channel's integer weights: 127 of them are
// the largest.
std::vector<float> WeightScales(const CpuConvolutionWeights& weights) {
  const size_t size = OutputSize(weights);
  std::vector<float> scales;
  for (int o = 0; o < weights.out; ++o) {
    float largest = 0;
    for (size_t k = 0; k < size; ++k) {
      largest = std::max(largest, std::abs(weights.weight[o * size + k]));
    }
    scales.push_back(largest > 0 ? largest / 127 : 1);
  }
  return scales;
}

// Returns by what the sum of each output channel of integers is multiplied.
std::vector<float> OutputScales(const CpuConvolutionWeights& weights,
                                const CpuNumbers& destination) {
  std::vector<float> scales = WeightScales(weights);
  for (size_t o = 0; o < destination.scales.size(); ++o) {
    scales[o] /= destination.scales[o];
  }
  return scales;
}

// Where oneDNN 2 and 3 differ. Of integers they compute
//   2:  destination = ReLU(scale * (sum + bias) [+ destination])
//   3:  destination = ReLU(scale * sum + bias [+ destination])
// where 2 has the scales in the attributes, and 3 as an argument of each call.
using Description = dnnl::convolution_forward::primitive_desc;
#if DNNL_VERSION_MAJOR >= 3
constexpr bool kScalesBias = false;
constexpr int kScalesArgument = DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS;

void SetOutputScales(const std::vector<float>&,
                     dnnl::primitive_attr& attributes) {
  constexpr int kByOutput = 1 << 0;  // axis 0 of the weights
  attributes.set_scales_mask(DNNL_ARG_WEIGHTS, kByOutput);
}

void AppendRelu(dnnl::post_ops& after) {
  after.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
}

template <typename... Operation>
Description Describe(const dnnl::engine& engine,
                     const dnnl::primitive_attr& attributes,
                     const Operation&... operation) {
  return Description(engine, operation..., attributes);
}
#else
constexpr bool kScalesBias = true;
constexpr int kScalesArgument = 0;  // none

void SetOutputScales(const std::vector<float>& scales,
                     dnnl::primitive_attr& attributes) {
  constexpr int kByOutput = 1 << 1;  // axis 1 of the destination
  attributes.set_output_scales(kByOutput, scales);
}

void AppendRelu(dnnl::post_ops& after) {
  after.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0, 0);
}

template <typename... Operation>
Description Describe(const dnnl::engine& engine,
                     const dnnl::primitive_attr& attributes,
                     const Operation&... operation) {
  return Description(dnnl::convolution_forward::desc(operation...), attributes,
                     engine);
}
#endif

dnnl::primitive_attr Attributes(const CpuConvolutionWeights& weights,
                                const Spec& spec) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (IsByte(spec.source)) {
    SetOutputScales(OutputScales(weights, spec.destination), attributes);
  }
  dnnl::post_ops after;
  if (spec.add_to_destination) after.append_sum(1.0f);
  if (spec.relu) AppendRelu(after);
  attributes.set_post_ops(after);
  return attributes;
}

dnnl::memory Floats(const dnnl::engine& engine,
                    const std::vector<float>& values) {
  dnnl::memory memory(
      {{static_cast<dnnl::memory::dim>(values.size())}, Type::f32, Tag::x},
      engine);
  std::memcpy(memory.get_data_handle(), values.data(),
              values.size() * sizeof(float));
  return memory;
}

// Selects oneDNN's kernels for whole convolutions of bytes, if available: on
// grids this small they are 10 to 40 % faster than its first choice, which
// consists of many small matrix products. Not with AMX, which is several times
// as fast as both.
void PreferDirectKernel(Description& description) {
  if (absl::StrContains(description.impl_info_str(), "amx")) return;
  Description next = description;
  do {
    if (absl::StartsWith(next.impl_info_str(), "jit_int8:avx512")) {
      description = next;
      return;
    }
  } while (next.next_impl());
}

// A convolution with its weights in oneDNN's layout. Immutable: threads may
// share it.
class Convolution {
 public:
  // Weights are shared with `twin`, the same convolution for another batch,
  // where they lie in memory the same way; may be null.
  Convolution(const dnnl::engine& engine, const CpuConvolutionWeights& plain,
              const Spec& spec, const Convolution* twin);

  size_t scratch_bytes() const { return scratch_.get_size(); }

 private:
  friend class BoundConvolution;

  void PrepareWeights(const dnnl::engine& engine,
                      const CpuConvolutionWeights& weights, const Spec& spec,
                      const dnnl::memory::desc& desc);

  dnnl::memory::desc source_;
  dnnl::memory::desc destination_;
  dnnl::memory::desc scratch_;
  dnnl::memory weights_;
  dnnl::memory bias_;
  dnnl::memory scales_;  // of integers, where they are an argument; else empty
  dnnl::convolution_forward primitive_;
};

// A convolution between buffers of one thread. Not thread-safe.
class BoundConvolution {
 public:
  // The buffers, and the convolution, must outlive it.
  BoundConvolution(const dnnl::engine& engine, const Convolution& convolution,
                   void* source, void* destination, void* scratch);

  void Run(const dnnl::stream& stream) const;

 private:
  const Convolution* convolution_;
  // Memory objects are handles; the arguments point to their memory.
  dnnl::memory source_;
  dnnl::memory destination_;
  dnnl::memory scratch_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

Convolution::Convolution(const dnnl::engine& engine,
                         const CpuConvolutionWeights& plain, const Spec& spec,
                         const Convolution* twin)
    : source_(GridDesc(spec.batch, plain.in, TypeOf(spec.source))),
      destination_(GridDesc(spec.batch, plain.out, TypeOf(spec.destination))) {
  const CpuConvolutionWeights weights = InUnitsOf(spec.source, plain);
  const Type weight_type = IsByte(spec.source) ? Type::s8 : TypeOf(spec.source);
  const dnnl::memory::desc any_weights(
      {weights.out, weights.in, weights.kernel, weights.kernel}, weight_type,
      Tag::any);
  const dnnl::memory::desc bias({weights.out}, Type::f32, Tag::x);
  const dnnl::memory::dims strides = {1, 1};
  const dnnl::memory::dims padding = {weights.kernel / 2, weights.kernel / 2};
  Description description = Describe(
      engine, Attributes(weights, spec), dnnl::prop_kind::forward_inference,
      dnnl::algorithm::convolution_direct, source_, any_weights, bias,
      destination_, strides, padding, padding);
  if (IsByte(spec.source)) PreferDirectKernel(description);
  scratch_ = description.scratchpad_desc();
  primitive_ = dnnl::convolution_forward(description);
  if (twin != nullptr &&
      twin->weights_.get_desc() == description.weights_desc()) {
    weights_ = twin->weights_;
    bias_ = twin->bias_;
    scales_ = twin->scales_;
  } else {
    PrepareWeights(engine, weights, spec, description.weights_desc());
  }
}

void Convolution::PrepareWeights(const dnnl::engine& engine,
                                 const CpuConvolutionWeights& weights,
                                 const Spec& spec,
                                 const dnnl::memory::desc& desc) {
  std::vector<float> bias = weights.bias;
  std::vector<int8_t> integers;
  const void* plain = weights.weight.data();
  Type type = Type::f32;
  if (IsByte(spec.source)) {
    const std::vector<float> scales = WeightScales(weights);
    const size_t size = OutputSize(weights);
    for (size_t i = 0; i < weights.weight.size(); ++i) {
      integers.push_back(static_cast<int8_t>(
          std::lround(weights.weight[i] / scales[i / size])));
    }
    const std::vector<float> output_scales =
        OutputScales(weights, spec.destination);
    for (int o = 0; o < weights.out; ++o) {
      bias[o] /= scales[o];
      if (!kScalesBias) bias[o] *= output_scales[o];
    }
    if (!kScalesBias) scales_ = Floats(engine, output_scales);
    plain = integers.data();
    type = Type::s8;
  }
  dnnl::memory from({{weights.out, weights.in, weights.kernel, weights.kernel},
                     type,
                     Tag::oihw},
                    engine, const_cast<void*>(plain));
  weights_ = dnnl::memory(desc, engine);
  dnnl::stream stream(engine);
  dnnl::reorder(from, weights_).execute(stream, from, weights_);
  stream.wait();
  bias_ = Floats(engine, bias);
}

BoundConvolution::BoundConvolution(const dnnl::engine& engine,
                                   const Convolution& convolution, void* source,
                                   void* destination, void* scratch)
    : convolution_(&convolution),
      source_(convolution.source_, engine, source),
      destination_(convolution.destination_, engine, destination),
      scratch_(convolution.scratch_, engine, scratch),
      arguments_{{DNNL_ARG_SRC, source_.get()},
                 {DNNL_ARG_WEIGHTS, convolution.weights_.get()},
                 {DNNL_ARG_BIAS, convolution.bias_.get()},
                 {DNNL_ARG_DST, destination_.get()},
                 {DNNL_ARG_SCRATCHPAD, scratch_.get()}} {
  if (convolution.scales_) {
    arguments_.push_back({kScalesArgument, convolution.scales_.get()});
  }
}

void BoundConvolution::Run(const dnnl::stream& stream) const {
  // The C interface: its C++ twin copies the arguments into a map each time.
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(convolution_->primitive_.get(), stream.get(),
                             static_cast<int>(arguments_.size()),
                             arguments_.data()),
      "a convolution failed");
}

// The convolutions of a network, for each size of tile.
class OfNetwork : public NarrowConvolutions {
 public:
  OfNetwork(const CpuWeights& weights, const CpuLayerNumbers& numbers)
      : num_blocks_(weights.blocks.size()),
        engine_(dnnl::engine::kind::cpu, 0) {
    const OneOpenMpThread one_thread;
    for (size_t i = 0; i < kCpuTiles.size(); ++i) {
      Make(weights, numbers, kCpuTiles[i], i > 0 ? &plans_[0] : nullptr,
           plans_[i]);
    }
  }

  size_t scratch_bytes() const override {
    size_t bytes = 0;
    for (const Plan& plan : plans_) {
      for (const Convolution& convolution : plan) {
        bytes = std::max(bytes, convolution.scratch_bytes());
      }
    }
    return bytes;
  }

  std::unique_ptr<const Bound> Bind(const Memory& memory) const override {
    auto bound = std::make_unique<BoundToMemory>(engine_);
    for (size_t i = 0; i < plans_.size(); ++i) {
      const auto bind = [&](void* source, void* destination) {
        std::vector<BoundConvolution>& convolutions = bound->convolutions[i];
        convolutions.emplace_back(engine_, plans_[i][convolutions.size()],
                                  source, destination, memory.scratch);
      };
      bind(memory.planes, memory.tower);
      for (size_t block = 0; block < num_blocks_; ++block) {
        bind(memory.narrow_tower, memory.inner);
        bind(memory.inner, memory.tower);
      }
      bind(memory.narrow_tower, memory.policy);
      bind(memory.policy, memory.policy_rows);
      bind(memory.narrow_tower, memory.value);
    }
    return bound;
  }

 private:
  // In the order of CpuNetwork.
  using Plan = std::vector<Convolution>;

  struct BoundToMemory : public Bound {
    explicit BoundToMemory(const dnnl::engine& engine) : stream(engine) {}
    void Run(int tile_index, int convolution) const override {
      convolutions[tile_index][convolution].Run(stream);
    }

    const dnnl::stream stream;
    std::array<std::vector<BoundConvolution>, kCpuTiles.size()> convolutions;
  };

  void Make(const CpuWeights& weights, const CpuLayerNumbers& numbers, int tile,
            const Plan* twin, Plan& plan) const {
    const auto add = [&](const CpuConvolutionWeights& layer, Spec spec) {
      spec.batch = tile;
      plan.emplace_back(engine_, layer, spec,
                        twin ? &(*twin)[plan.size()] : nullptr);
    };
    add(weights.stem, {.source = numbers.planes, .add_to_destination = true});
    for (size_t i = 0; i < weights.blocks.size(); ++i) {
      const CpuNumbers& inner = numbers.inner[i];
      add(weights.blocks[i].first,
          {.source = numbers.tower[i], .destination = inner});
      add(weights.blocks[i].second,
          {.source = inner, .add_to_destination = true});
    }
    const CpuNumbers& tower = numbers.tower.back();
    add(weights.policy, {.source = tower, .add_to_destination = true});
    add(weights.policy_planes, {.relu = false});
    add(weights.value, {.source = tower});
  }

  const size_t num_blocks_;
  const dnnl::engine engine_;
  std::array<Plan, kCpuTiles.size()> plans_;
};

}  // namespace

OneOpenMpThread::OneOpenMpThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}

OneOpenMpThread::~OneOpenMpThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

std::unique_ptr<const NarrowConvolutions> OneDnnConvolutions(
    const CpuWeights& weights, const CpuLayerNumbers& numbers) {
  return std::make_unique<OfNetwork>(weights, numbers);
}

}  // namespace tara::nn
