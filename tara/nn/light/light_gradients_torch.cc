#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/core/board.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_learning.h"
#include "tara/nn/light/light_network.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/torch/torch_runtime.h"
#include "tara/nn/training/losses_torch.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr char kMemoryHint[] = "use a smaller learner.batch_size";

// The ReLU of kRaise.
struct LightRelu : torch::autograd::Function<LightRelu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    at::Tensor y = x.relu();
    context->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const at::Tensor y = context->get_saved_variables()[0];
    const at::Tensor& gradient = gradients[0];
    return {at::where(y > 0, gradient, kRaise * gradient.clamp_max(0))};
  }
};
at::Tensor Relu(const at::Tensor& x) { return LightRelu::apply(x); }

at::Tensor Indices(const std::vector<int64_t>& values) {
  return at::tensor(values, at::kLong);
}

// Where a policy output finds the terms that its logit is the sum of: in a row
// of what all hills and pairs of hills give.
struct Terms {
  static constexpr int64_t kOfHills = 0;
  static constexpr int64_t kOfMoves = kOfHills + kNumHills * kNumHillOutputs;
  static constexpr int64_t kOfLinks = kOfMoves + kNumHills * kNumHills;
  static constexpr int64_t kOfDirections = kOfLinks + kNumHills * kNumHills;
  static constexpr int64_t kOfPass = kOfDirections + 2 * 8;
  // A zero for each output.
  static constexpr int64_t kZeros = kOfPass + 1;
  static constexpr int kMost = 4;

  static int64_t OfHill(int hill, int output) {
    return kOfHills + hill * kNumHillOutputs + output;
  }

  // Returns [kMost * kNumPolicyOutputs].
  static at::Tensor All() {
    std::vector<int64_t> all;
    for (int term = 0; term < kMost; ++term) {
      for (int output = 0; output < kNumPolicyOutputs; ++output) {
        const std::vector<int64_t> terms = Of(kPolicyParts[output]);
        all.push_back(term < static_cast<int>(terms.size()) ? terms[term]
                                                            : kZeros + output);
      }
    }
    return Indices(all);
  }

  static std::vector<int64_t> Of(const PolicyPart& part) {
    if (part.kind == PolicyPart::kNone) return {};
    if (part.kind == PolicyPart::kPass) return {kOfPass};
    if (!part.has_pair()) return {OfHill(part.to, part.destination)};
    std::vector<int64_t> terms = {OfHill(part.from, part.origin),
                                  OfHill(part.to, part.destination)};
    if (part.direction >= 0) terms.push_back(kOfDirections + part.direction);
    terms.push_back(part.from * kNumHills + part.to +
                    (part.direction < 0 ? kOfLinks : kOfMoves));
    return terms;
  }
};

// What is the same in all networks, on a device.
struct Geometry {
  explicit Geometry(const c10::Device& device)
      : terms(Terms::All().to(device)) {
    std::vector<int64_t> square_hills(kNumSquares, kNumHills);
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      square_hills[SquareOf(hill)] = hill;
    }
    squares = Indices({kHillSquares.begin(), kHillSquares.end()}).to(device);
    hills = Indices(square_hills).to(device);
    for (int table = 0; table < kNumLightTables; ++table) {
      std::vector<int64_t> pattern;
      for (const auto& of_hill : kLightPatterns[table]) {
        pattern.insert(pattern.end(), of_hill.begin(), of_hill.end());
      }
      patterns[table] = Indices(pattern).to(device);
    }
    off_board = at::zeros({1, kNumLightOwners});
    off_board[0][kOffBoard] = 1;
    off_board = off_board.to(device);

    const at::Tensor all = at::zeros({kNumTaps + 2, kNumHills, kNumHills});
    auto shares = all.accessor<float, 3>();
    for (Hill to = 0; to < kNumHills; ++to) {
      for (Hill from = 0; from < kNumHills; ++from) {
        for (int tap = 0; tap < kNumTaps; ++tap) {
          shares[tap][to][from] =
              FileOf(from) - FileOf(to) == kLightTaps[tap].file &&
              RankOf(from) - RankOf(to) == kLightTaps[tap].rank;
        }
        if (RankOf(from) == RankOf(to)) {
          shares[kNumTaps][to][from] =
              1.0f / static_cast<float>(LineSize(RankOf(to)));
        }
        if (FileOf(from) == FileOf(to)) {
          shares[kNumTaps + 1][to][from] =
              1.0f / static_cast<float>(LineSize(FileOf(to)));
        }
      }
    }
    spread = all.flatten(1).to(device);
  }

  at::Tensor squares;  // [kNumHills]: the square of each hill
  at::Tensor hills;    // [kNumSquares]: the hill of each, or kNumHills
  // [kNumHills * kPatternHills]: the hills of a pattern, or kNumHills.
  std::array<at::Tensor, kNumLightTables> patterns;
  at::Tensor off_board;  // [1, kNumLightOwners]
  // [kNumTaps + 2, kNumHills * kNumHills]: which share of a hill goes to which
  // other: by tap, then of the means of ranks and files.
  at::Tensor spread;
  at::Tensor terms;  // [Terms::kMost * kNumPolicyOutputs]
};

// Returns the means, then the maxima, of values [B, kNumHills, C]: [B, 2C].
at::Tensor Pool(const at::Tensor& values) {
  return at::cat({values.mean(1), std::get<0>(values.max(1))}, 1);
}

// The forward pass of light_network.h, for a batch.
class LightForward {
 public:
  // parameters: [tensors.size()].
  LightForward(const LightTensors& tensors, const at::Tensor& parameters,
               const Geometry& geometry)
      : tensors_(tensors), geometry_(geometry) {
    std::vector<int64_t> sizes;
    for (const LightTensor* const tensor : tensors.all()) {
      sizes.push_back(static_cast<int64_t>(tensor->size()));
    }
    const std::vector<at::Tensor> parts = parameters.split_with_sizes(sizes);
    for (size_t i = 0; i < parts.size(); ++i) {
      const LightTensor& tensor = *tensors.all()[i];
      values_[&tensor] = parts[i]
                             .view({tensor.rows, tensor.stride})
                             .narrow(1, 0, tensor.columns);
    }
  }

  // planes: [B, kNumPlanes, 7, 7]; flags: [B, kNumHills, kNumLightFlags];
  // globals: [B, kNumGlobals]. Computes the owners if `owners` is set.
  NetworkOutput Run(const at::Tensor& planes, const at::Tensor& flags,
                    const at::Tensor& globals, bool owners) const {
    const LightTensors& t = tensors_;
    at::Tensor hills = Input(planes, flags, globals);
    at::Tensor pooled = Pool(hills);
    for (const LightLayer& layer : t.layers) {
      hills = Layer(layer, hills, pooled);
      pooled = Pool(hills);
    }
    const at::Tensor context = at::cat({pooled, globals}, 1);
    const at::Tensor hidden =
        Relu(Linear(t.value2, t.value2_bias,
                    Relu(Linear(t.value1, t.value1_bias, context))));
    const at::Tensor value = Linear(t.value, t.value_bias, hidden);
    NetworkOutput output;
    output[Head::kPolicy] = Policy(hills, context);
    output[Head::kValue] = value.narrow(1, 0, kNumResults);
    output[Head::kMargin] = value.narrow(1, kNumResults, kNumMargins);
    if (owners) output[Head::kOwner] = Owners(hills);
    return output;
  }

 private:
  const at::Tensor& Of(const LightTensor& tensor) const {
    return values_.at(&tensor);
  }
  // in: [..., rows of the matrix].
  at::Tensor Linear(const LightTensor& matrix, const LightTensor& bias,
                    const at::Tensor& in) const {
    return at::matmul(in, Of(matrix)) + Of(bias);
  }

  at::Tensor Input(const at::Tensor& planes, const at::Tensor& flags,
                   const at::Tensor& globals) const {
    const LightTensors& t = tensors_;
    // [B, kNumHills, kNumPlanes]
    const at::Tensor of_hills =
        planes.flatten(2).index_select(2, geometry_.squares).transpose(1, 2);
    at::Tensor sums = at::matmul(at::cat({of_hills, flags}, 2),
                                 at::cat({Of(t.planes), Of(t.flags)})) +
                      Of(t.hills) +
                      Linear(t.globals, t.bias, globals).unsqueeze(1);
    constexpr int kOwn = PlaneIndex("own_ringfort");
    constexpr int kEnemy = PlaneIndex("enemy_ringfort");
    const at::Tensor own = of_hills.select(2, kOwn);
    const at::Tensor enemy = of_hills.select(2, kEnemy);
    // [B, kNumHills + 1, kNumLightOwners]
    const at::Tensor owner = at::cat(
        {at::stack({1 - own - enemy, own, enemy, at::zeros_like(own)}, 2),
         geometry_.off_board.expand({own.size(0), 1, -1})},
        1);
    for (int i = 0; i < kNumLightTables; ++i) {
      const LightTableNetwork& table = t.tables[i];
      const at::Tensor pattern = owner.index_select(1, geometry_.patterns[i])
                                     .view({-1, kNumHills, kPatternInputs});
      const at::Tensor hidden =
          Relu(Linear(table.hidden2, table.bias2,
                      Relu(Linear(table.hidden1, table.bias1, pattern))));
      sums = sums + at::matmul(hidden, Of(table.out));
    }
    return Relu(sums);
  }

  at::Tensor Layer(const LightLayer& layer, const at::Tensor& hills,
                   const at::Tensor& pooled) const {
    // What each hill gets of each other one, by channel: [C, to, from].
    const at::Tensor weights =
        at::cat({Of(layer.taps), Of(layer.rank), Of(layer.file)});
    const at::Tensor spread = at::matmul(weights.t(), geometry_.spread)
                                  .view({-1, kNumHills, kNumHills});
    const at::Tensor around =
        at::bmm(hills.permute({2, 0, 1}), spread.transpose(1, 2))
            .permute({1, 2, 0});
    const at::Tensor mixed =
        Relu(around + Linear(layer.pooled, layer.bias, pooled).unsqueeze(1));
    return Relu(Linear(layer.mix, layer.mix_bias, mixed) + hills);
  }

  // Returns [B, kNumPolicyOutputs].
  at::Tensor Policy(const at::Tensor& hills, const at::Tensor& context) const {
    const LightTensors& t = tensors_;
    const int64_t size = hills.size(0);
    const at::Tensor shared =
        Linear(t.policy_context, t.policy_bias, context).unsqueeze(1);
    const at::Tensor outputs =
        Linear(t.actions, t.actions_bias,
               Relu(at::matmul(hills, Of(t.policy)) + shared));
    const auto products = [&](HillOutput from, HillOutput to) {
      return at::bmm(outputs.narrow(2, from, kPolicyVector),
                     outputs.narrow(2, to, kPolicyVector).transpose(1, 2))
          .flatten(1);
    };
    const at::Tensor row = at::cat(
        {outputs.flatten(1), products(kOriginVector, kDestinationVector),
         products(kLinkVector, kLinkVector),
         Of(t.directions).expand({size, -1}),
         at::matmul(context, Of(t.pass).t()),
         at::zeros({size, kNumPolicyOutputs}, context.options())},
        1);
    return row.index_select(1, geometry_.terms)
        .view({size, Terms::kMost, kNumPolicyOutputs})
        .sum(1);
  }

  // Returns [B, kNumOwners, 7, 7].
  at::Tensor Owners(const at::Tensor& hills) const {
    const at::Tensor owners =
        Linear(tensors_.owner, tensors_.owner_bias, hills);
    const at::Tensor corner =
        at::zeros({hills.size(0), 1, kNumOwners}, owners.options());
    return at::cat({owners, corner}, 1)
        .index_select(1, geometry_.hills)
        .transpose(1, 2)
        .reshape({-1, kNumOwners, kBoardSize, kBoardSize});
  }

  const LightTensors& tensors_;
  const Geometry& geometry_;
  std::map<const LightTensor*, at::Tensor> values_;
};

// Fills [B, kNumHills, kNumLightFlags], which is 0.
void FillFlags(const EncodedSamples& samples, at::Tensor& flags) {
  auto values = flags.accessor<float, 3>();
  LightInput input;
  for (int64_t i = 0; i < samples.size(); ++i) {
    ReadLightInput(
        samples.planes.data_ptr<float>() + i * samples.planes.stride(0),
        samples.globals.data_ptr<float>() + i * kNumGlobals, input);
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      for (int row = 0; row < input.num_rows[hill]; ++row) {
        const int number = input.rows[hill][row] / kLightLevels;
        if (number >= kNumPlanes) values[i][hill][number - kNumPlanes] = 1;
      }
    }
  }
}

struct LightBatch : PreparedBatch {
  LightBatch(EncodedSamples encoded, at::Tensor flags)
      : PreparedBatch({}),
        encoded(std::move(encoded)),
        flags(std::move(flags)) {}

  const EncodedSamples encoded;
  const at::Tensor flags;  // [B, kNumHills, kNumLightFlags]
};

class TorchLightGradients : public LightGradients {
 public:
  TorchLightGradients(const NetworkShape& shape, const TrainerOptions& options)
      : options_(options),
        heads_(LearningHeads(options)),
        device_(DeviceOf(options)),
        hills_(MakeHillMask().to(device_)),
        geometry_(device_),
        tensors_(shape.blocks) {}

  absl::StatusOr<std::unique_ptr<PreparedBatch>> Prepare(
      std::vector<Sample> batch) const override {
    for (Sample& sample : batch) {
      sample.symmetry = RepresentativeSymmetry(sample.state);
    }
    const bool pinned = device_.is_cuda();
    try {
      EncodedSamples encoded = EncodeSamples(batch, heads_, pinned);
      at::Tensor flags =
          at::zeros({encoded.size(), kNumHills, kNumLightFlags},
                    at::TensorOptions(at::kFloat).pinned_memory(pinned));
      FillFlags(encoded, flags);
      return std::make_unique<LightBatch>(std::move(encoded), std::move(flags));
    } catch (const std::exception& error) {
      return TorchError(absl::StrCat("encoding ", batch.size(), " samples"),
                        kMemoryHint, error);
    }
  }

  absl::StatusOr<Losses> Compute(const PreparedBatch& batch,
                                 absl::Span<const float> parameters,
                                 absl::Span<float> gradient) override {
    const auto& prepared = static_cast<const LightBatch&>(batch);
    SetTorchThreads(options_.threads);
    try {
      const EncodedSamples samples = MoveTo(device_, prepared.encoded);
      const at::Tensor flags = prepared.flags.to(device_, at::kFloat,
                                                 /*non_blocking=*/true);
      at::Tensor weights = at::empty({static_cast<int64_t>(parameters.size())});
      std::memcpy(weights.data_ptr<float>(), parameters.data(),
                  parameters.size() * sizeof(float));
      weights = weights.to(device_).requires_grad_();
      const NetworkOutput output =
          LightForward(tensors_, weights, geometry_)
              .Run(samples.planes, flags, samples.globals,
                   heads_[Head::kOwner]);
      const LossTensors losses =
          ComputeLosses(output, samples, options_, hills_);
      losses.total.backward();
      const at::Tensor result = weights.grad().to(at::kCPU);
      TARA_CHECK(static_cast<size_t>(result.numel()) == gradient.size(),
                 "a gradient of another size");
      std::memcpy(gradient.data(), result.data_ptr<float>(),
                  gradient.size() * sizeof(float));
      return ToLosses(losses);
    } catch (const std::exception& error) {
      return TorchError(
          absl::StrCat("learning from ", prepared.encoded.size(), " samples"),
          kMemoryHint, error);
    }
  }

 private:
  const TrainerOptions options_;
  const PerHead<bool> heads_;
  const c10::Device device_;
  const at::Tensor hills_;
  const Geometry geometry_;
  const LightTensors tensors_;
};

}  // namespace

std::unique_ptr<LightGradients> NewTorchLightGradients(
    const NetworkShape& shape, const TrainerOptions& options) {
  return std::make_unique<TorchLightGradients>(shape, options);
}

}  // namespace tara::nn
