#include "tara/nn/cpu_convolution.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tara/core/board.h"

namespace tara {
namespace {

using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

dnnl::memory::desc GridDesc(int batch, int channels, Type type) {
  return {{batch, channels, kBoardSize, kBoardSize}, type, Tag::nhwc};
}

bool IsByte(Type type) { return type == Type::u8; }

// The largest weight of each output channel stands for 127.
std::vector<float> WeightScales(const CpuConvolutionWeights& weights) {
  const size_t size = weights.weight.size() / weights.out;
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
    for (float& scale : scales) {
      scale *= spec.source.scale / spec.destination.scale;
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

}  // namespace

OneOpenMpThread::OneOpenMpThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}

OneOpenMpThread::~OneOpenMpThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

CpuConvolution::CpuConvolution(const dnnl::engine& engine,
                               const CpuConvolutionWeights& weights,
                               const CpuConvolutionSpec& spec,
                               const CpuConvolution* twin)
    : source_(GridDesc(spec.batch, weights.in, spec.source.type)),
      destination_(GridDesc(spec.batch, weights.out, spec.destination.type)) {
  const Type weight_type =
      IsByte(spec.source.type) ? Type::s8 : spec.source.type;
  const dnnl::memory::desc any_weights(
      {weights.out, weights.in, weights.kernel, weights.kernel}, weight_type,
      Tag::any);
  const dnnl::memory::desc bias({weights.out}, Type::f32, Tag::x);
  const int padding = weights.kernel / 2;
  const dnnl::convolution_forward::primitive_desc description(
      dnnl::convolution_forward::desc(
          dnnl::prop_kind::forward_inference,
          dnnl::algorithm::convolution_direct, source_, any_weights, bias,
          destination_, {1, 1}, {padding, padding}, {padding, padding}),
      Attributes(weights, spec), engine);
  scratch_ = description.scratchpad_desc();
  implementation_ = description.impl_info_str();
  primitive_ = dnnl::convolution_forward(description);
  if (twin != nullptr &&
      twin->weights_.get_desc() == description.weights_desc()) {
    weights_ = twin->weights_;
    bias_ = twin->bias_;
  } else {
    PrepareWeights(engine, weights, spec, description.weights_desc());
  }
}

void CpuConvolution::PrepareWeights(const dnnl::engine& engine,
                                    const CpuConvolutionWeights& weights,
                                    const CpuConvolutionSpec& spec,
                                    const dnnl::memory::desc& desc) {
  // oneDNN adds the bias before it scales.
  std::vector<float> bias = weights.bias;
  std::vector<int8_t> bytes;
  const void* plain = weights.weight.data();
  Type type = Type::f32;
  if (IsByte(spec.source.type)) {
    const std::vector<float> scales = WeightScales(weights);
    const size_t size = weights.weight.size() / weights.out;
    for (size_t i = 0; i < weights.weight.size(); ++i) {
      bytes.push_back(static_cast<int8_t>(
          std::lround(weights.weight[i] / scales[i / size])));
    }
    for (int o = 0; o < weights.out; ++o) {
      bias[o] /= scales[o] * spec.source.scale;
    }
    plain = bytes.data();
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

}  // namespace tara
