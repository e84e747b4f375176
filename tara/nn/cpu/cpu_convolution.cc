#include "tara/nn/cpu/cpu_convolution.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/match.h"
#include "tara/core/board.h"

namespace tara::nn {
namespace {

using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

dnnl::memory::desc GridDesc(int batch, int channels, Type type) {
  return {{batch, channels, kBoardSize, kBoardSize}, type, Tag::nhwc};
}

bool IsByte(Type type) { return type == Type::u8; }

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

dnnl::primitive_attr Attributes(const CpuConvolutionWeights& weights,
                                const CpuConvolutionSpec& spec) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (IsByte(spec.source.type)) {
    std::vector<float> scales = WeightScales(weights);
    if (!spec.destination.scales.empty()) {
      for (int o = 0; o < weights.out; ++o) {
        scales[o] /= spec.destination.scales[o];
      }
    }
    constexpr int kByOutput = 1 << 1;
    attributes.set_output_scales(kByOutput, scales);
  }
  dnnl::post_ops after;
  if (spec.add_to_destination) after.append_sum(1.0f);
  if (spec.relu) {
    after.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0, 0);
  }
  attributes.set_post_ops(after);
  return attributes;
}

// Moves on to oneDNN's kernels for whole convolutions of bytes, where there are
// some: on grids this small they are 10 to 40 % faster than those that come
// first, which make one of many small matrix products. Not where those use AMX,
// which is several times as fast as both.
void PreferDirectKernel(
    dnnl::convolution_forward::primitive_desc& description) {
  if (absl::StrContains(description.impl_info_str(), "amx")) return;
  dnnl::convolution_forward::primitive_desc next = description;
  do {
    if (absl::StartsWith(next.impl_info_str(), "jit_int8:avx512")) {
      description = next;
      return;
    }
  } while (next.next_impl());
}

}  // namespace

OneOpenMpThread::OneOpenMpThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}

OneOpenMpThread::~OneOpenMpThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

CpuConvolution::CpuConvolution(const dnnl::engine& engine,
                               const CpuConvolutionWeights& plain,
                               const CpuConvolutionSpec& spec,
                               const CpuConvolution* twin)
    : source_(GridDesc(spec.batch, plain.in, spec.source.type)),
      destination_(GridDesc(spec.batch, plain.out, spec.destination.type)) {
  const CpuConvolutionWeights weights = InUnitsOf(spec.source, plain);
  const Type weight_type =
      IsByte(spec.source.type) ? Type::s8 : spec.source.type;
  const dnnl::memory::desc any_weights(
      {weights.out, weights.in, weights.kernel, weights.kernel}, weight_type,
      Tag::any);
  const dnnl::memory::desc bias({weights.out}, Type::f32, Tag::x);
  const int padding = weights.kernel / 2;
  dnnl::convolution_forward::primitive_desc description(
      dnnl::convolution_forward::desc(
          dnnl::prop_kind::forward_inference,
          dnnl::algorithm::convolution_direct, source_, any_weights, bias,
          destination_, {1, 1}, {padding, padding}, {padding, padding}),
      Attributes(weights, spec), engine);
  if (IsByte(spec.source.type)) PreferDirectKernel(description);
  scratch_ = description.scratchpad_desc();
  implementation_ = description.impl_info_str();
  primitive_ = dnnl::convolution_forward(description);
  if (twin != nullptr &&
      twin->weights_.get_desc() == description.weights_desc()) {
    weights_ = twin->weights_;
    bias_ = twin->bias_;
  } else {
    PrepareWeights(engine, weights, IsByte(spec.source.type),
                   description.weights_desc());
  }
}

void CpuConvolution::PrepareWeights(const dnnl::engine& engine,
                                    const CpuConvolutionWeights& weights,
                                    bool bytes,
                                    const dnnl::memory::desc& desc) {
  std::vector<float> bias = weights.bias;
  std::vector<int8_t> integers;
  const void* plain = weights.weight.data();
  Type type = Type::f32;
  if (bytes) {
    const std::vector<float> scales = WeightScales(weights);
    const size_t size = OutputSize(weights);
    for (size_t i = 0; i < weights.weight.size(); ++i) {
      integers.push_back(static_cast<int8_t>(
          std::lround(weights.weight[i] / scales[i / size])));
    }
    // oneDNN adds the bias before it scales.
    for (int o = 0; o < weights.out; ++o) bias[o] /= scales[o];
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
  bias_ = dnnl::memory({{weights.out}, Type::f32, Tag::x}, engine);
  std::memcpy(bias_.get_data_handle(), bias.data(),
              bias.size() * sizeof(float));
}

BoundConvolution::BoundConvolution(const dnnl::engine& engine,
                                   const CpuConvolution& convolution,
                                   void* source, void* destination,
                                   void* scratch)
    : convolution_(&convolution),
      source_(convolution.source_, engine, source),
      destination_(convolution.destination_, engine, destination),
      scratch_(convolution.scratch_, engine, scratch),
      arguments_{{{DNNL_ARG_SRC, source_.get()},
                  {DNNL_ARG_WEIGHTS, convolution.weights_.get()},
                  {DNNL_ARG_BIAS, convolution.bias_.get()},
                  {DNNL_ARG_DST, destination_.get()},
                  {DNNL_ARG_SCRATCHPAD, scratch_.get()}}} {}

void BoundConvolution::Run(const dnnl::stream& stream) const {
  // The C interface: its C++ twin copies the arguments into a map each time.
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(convolution_->primitive_.get(), stream.get(),
                             static_cast<int>(arguments_.size()),
                             arguments_.data()),
      "a convolution failed");
}

}  // namespace tara::nn
