#include "tara/nn/cpu/cpu_weights.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
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

}  // namespace tara::nn
