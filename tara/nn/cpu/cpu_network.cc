#include "tara/nn/cpu/cpu_network.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
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
      : folded_(folded), channels_(folded.shape.channels) {}

  absl::StatusOr<CpuWeights> Make() const {
    CpuWeights weights;
    weights.channels = WholeVectors(channels_);
    TARA_RETURN_IF_ERROR(AddStem(weights));
    for (int i = 0; i < folded_.shape.blocks; ++i) {
      TARA_ASSIGN_OR_RETURN(CpuBlockWeights block, Block(i));
      weights.blocks.push_back(std::move(block));
    }
    TARA_RETURN_IF_ERROR(AddPolicy(weights));
    TARA_RETURN_IF_ERROR(AddValue(weights));
    return weights;
  }

 private:
  using Shape = std::vector<int64_t>;

  absl::StatusOr<const std::vector<float>*> Values(const std::string& name,
                                                   const Shape& shape) const {
    TARA_ASSIGN_OR_RETURN(const NamedTensor* const tensor,
                          folded_.Find(name, shape));
    return &tensor->values;
  }

  // The convolution `name` with the biases of `bias`, which may be a norm.
  // Input channels are filled up as well if `fill_inputs`.
  absl::StatusOr<CpuConvolutionWeights> Convolution(
      const std::string& name, const std::string& bias, const Shape& shape,
      bool fill_inputs = true) const {
    TARA_ASSIGN_OR_RETURN(const auto* const values,
                          Values(absl::StrCat(name, ".weight"), shape));
    TARA_ASSIGN_OR_RETURN(const auto* const biases,
                          Values(absl::StrCat(bias, ".bias"), {shape[0]}));
    const int out = static_cast<int>(shape[0]);
    const int in = static_cast<int>(shape[1]);
    const int taps = static_cast<int>(shape[2] * shape[3]);
    CpuConvolutionWeights layer = {.in = fill_inputs ? WholeVectors(in) : in,
                                   .out = WholeVectors(out),
                                   .kernel = static_cast<int>(shape[2]),
                                   .weight = {},
                                   .bias = {}};
    layer.weight.assign(size_t{1} * layer.out * layer.in * taps, 0);
    layer.bias.assign(layer.out, 0);
    for (int o = 0; o < out; ++o) {
      layer.bias[o] = (*biases)[o];
      for (int k = 0; k < in * taps; ++k) {
        layer.weight[size_t{1} * o * layer.in * taps + k] =
            (*values)[size_t{1} * o * in * taps + k];
      }
    }
    return layer;
  }

  absl::StatusOr<CpuConvolutionWeights> ConvolutionAndNorm(
      const std::string& name, int kernel) const {
    return Convolution(absl::StrCat(name, ".conv"), absl::StrCat(name, ".norm"),
                       {channels_, channels_, kernel, kernel});
  }

  static CpuLinearWeights EmptyLinear(int in, int out) {
    const int filled = WholeVectors(out);
    return {.in = in,
            .out = filled,
            .weight = std::vector<float>(size_t{1} * in * filled),
            .bias = std::vector<float>(filled)};
  }

  // Adds the layer `name`, whose inputs are the two halves of what is pooled,
  // to `layer`, as its outputs from `first` on.
  absl::Status AddPooled(const std::string& name, int out, bool has_bias,
                         int first, CpuLinearWeights& layer) const {
    TARA_ASSIGN_OR_RETURN(
        const auto* const weight,
        Values(absl::StrCat(name, ".weight"), {out, 2 * channels_}));
    const int filled = layer.in / 2;
    for (int o = 0; o < out; ++o) {
      for (int i = 0; i < 2 * channels_; ++i) {
        const int input = i < channels_ ? i : i - channels_ + filled;
        layer.weight[size_t{1} * input * layer.out + first + o] =
            (*weight)[size_t{2} * o * channels_ + i];
      }
    }
    if (!has_bias) return absl::OkStatus();
    TARA_ASSIGN_OR_RETURN(const auto* const bias,
                          Values(absl::StrCat(name, ".bias"), {out}));
    std::copy(bias->begin(), bias->end(), layer.bias.begin() + first);
    return absl::OkStatus();
  }

  absl::Status AddStem(CpuWeights& weights) const {
    TARA_ASSIGN_OR_RETURN(
        weights.stem,
        Convolution("stem_conv", "stem_norm", {channels_, kNumPlanes, 3, 3},
                    /*fill_inputs=*/false));
    TARA_ASSIGN_OR_RETURN(
        const auto* const globals,
        Values("stem_globals.weight", {channels_, kNumGlobals}));
    weights.stem_globals = EmptyLinear(kNumGlobals, channels_);
    for (int o = 0; o < channels_; ++o) {
      for (int i = 0; i < kNumGlobals; ++i) {
        weights.stem_globals
            .weight[size_t{1} * i * weights.stem_globals.out + o] =
            (*globals)[size_t{1} * o * kNumGlobals + i];
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<CpuBlockWeights> Block(int index) const {
    const std::string name = absl::StrCat("block", index);
    CpuBlockWeights block;
    TARA_ASSIGN_OR_RETURN(block.first,
                          ConvolutionAndNorm(absl::StrCat(name, ".first"), 3));
    TARA_ASSIGN_OR_RETURN(block.second,
                          ConvolutionAndNorm(absl::StrCat(name, ".second"), 3));
    if (BlockPools(index)) {
      block.pooled = EmptyLinear(2 * WholeVectors(channels_), channels_);
      TARA_RETURN_IF_ERROR(AddPooled(absl::StrCat(name, ".pooled"), channels_,
                                     /*has_bias=*/true, 0, *block.pooled));
    }
    return block;
  }

  absl::Status AddPolicy(CpuWeights& weights) const {
    TARA_ASSIGN_OR_RETURN(weights.policy, ConvolutionAndNorm("policy_conv", 1));
    CpuLinearWeights& pooled = weights.policy_pooled;
    pooled = EmptyLinear(2 * weights.channels, weights.channels + 1);
    TARA_RETURN_IF_ERROR(AddPooled("policy_pooled", channels_,
                                   /*has_bias=*/false, 0, pooled));
    TARA_RETURN_IF_ERROR(AddPooled("policy_pass", 1, /*has_bias=*/true,
                                   weights.channels, pooled));
    TARA_ASSIGN_OR_RETURN(weights.policy_planes,
                          Convolution("policy_planes", "policy_planes",
                                      {kNumPolicyPlanes, channels_, 1, 1}));
    return absl::OkStatus();
  }

  absl::Status AddValue(CpuWeights& weights) const {
    TARA_ASSIGN_OR_RETURN(weights.value, ConvolutionAndNorm("value_conv", 1));
    weights.value_hidden = EmptyLinear(2 * weights.channels, kValueHidden);
    TARA_RETURN_IF_ERROR(AddPooled("value_hidden", kValueHidden,
                                   /*has_bias=*/true, 0, weights.value_hidden));
    TARA_ASSIGN_OR_RETURN(
        const auto* const weight,
        Values("value_output.weight", {kNumValueOutputs, kValueHidden}));
    TARA_ASSIGN_OR_RETURN(const auto* const bias,
                          Values("value_output.bias", {kNumValueOutputs}));
    CpuLinearWeights& output = weights.value_output;
    output = EmptyLinear(kValueHidden, kNumValueOutputs);
    for (int o = 0; o < kNumValueOutputs; ++o) {
      output.bias[o] = (*bias)[o];
      for (int i = 0; i < kValueHidden; ++i) {
        output.weight[size_t{1} * i * output.out + o] =
            (*weight)[size_t{1} * o * kValueHidden + i];
      }
    }
    return absl::OkStatus();
  }

  const Checkpoint& folded_;
  const int channels_;
};

}  // namespace

absl::StatusOr<CpuWeights> FoldCpuWeights(const Checkpoint& checkpoint) {
  if (checkpoint.shape.kind != NetworkKind::kTower) {
    return absl::UnimplementedError(absl::StrCat(
        "its network is of kind ", NetworkKindName(checkpoint.shape.kind),
        ", which is not computed as a residual tower is; expected kind "
        "tower"));
  }
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

WinogradLayer MakeWinogradLayer(const CpuConvolutionWeights& weights) {
  TARA_CHECK(weights.kernel == kTaps, "a convolution of 3 x 3");
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
