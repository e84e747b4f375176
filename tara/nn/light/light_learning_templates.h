#ifndef TARA_NN_LIGHT_LIGHT_LEARNING_TEMPLATES_H_
#define TARA_NN_LIGHT_LIGHT_LEARNING_TEMPLATES_H_

// light_learning.h for vectors of kLanes floats: a unit of each instruction set
// compiles it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/types/span.h"
#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/core/outcome.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light_learning.h"
#include "tara/nn/light/light_network.h"

namespace tara::nn::internal {

template <int kLanes>
struct FloatVector {
  typedef float Type __attribute__((vector_size(sizeof(float) * kLanes)));
};

template <InstructionSet kSet>
struct LightLearningCode {
  static constexpr int kLanes = kSet == InstructionSet::kAvx512 ? 16 : 8;
  using V = typename FloatVector<kLanes>::Type;

  static constexpr int kC = kLightChannels;
  static constexpr int kVectors = kC / kLanes;  // of a hill
  static constexpr int kPooled = 2 * kC;
  // Of a block of a product: rows, and vectors of a row. As many sums as leave
  // registers for what is added.
  static constexpr int kBlockRows = kLanes == 16 ? 5 : 3;
  static constexpr int kBlockVectors = kLanes == 16 ? 4 : 3;

  using Hills = LightActivations::Hills;

  static V& At(float* values, int i) {
    return *reinterpret_cast<V*>(values + kLanes * i);
  }
  static const V& At(const float* values, int i) {
    return *reinterpret_cast<const V*>(values + kLanes * i);
  }
  static V Relu(V x) { return x > 0 ? x : V{}; }
  // Returns the gradient before a ReLU.
  static V Where(V output, V gradient) {
    const V raise = gradient < 0 ? kRaise * gradient : V{};
    return output > 0 ? gradient : raise;
  }

  // values[0 .. size) = relu(values). `size` is a multiple of kLanes.
  static void ReluAll(float* values, int size) {
    for (int i = 0; i < size / kLanes; ++i) {
      At(values, i) = Relu(At(values, i));
    }
  }
  // sums[0 .. columns) += the rows of values [rows, columns].
  static void AddRows(const float* values, int rows, int columns, float* sums) {
    for (int i = 0; i < columns / kLanes; ++i) {
      V sum = At(sums, i);
      for (int row = 0; row < rows; ++row) {
        sum += At(values + static_cast<size_t>(row) * columns, i);
      }
      At(sums, i) = sum;
    }
  }

  // --- Products --------------------------------------------------------------

  // A matrix that is multiplied: rows of `stride` floats, or their transpose.
  struct Rows {
    const float* values;
    int stride;
  };
  struct Columns {
    const float* values;
    int stride;
  };
  static float Element(const Rows& in, int row, int k) {
    return in.values[static_cast<size_t>(row) * in.stride + k];
  }
  static float Element(const Columns& in, int row, int k) {
    return in.values[static_cast<size_t>(k) * in.stride + row];
  }

  // A block of Product: kRows rows from `first` on, and kWide vectors.
  template <int kRows, int kWide, typename In>
  static void ProductBlock(const In& in, int first, const float* matrix,
                           int stride, int inner, const float* bias,
                           float* out) {
    V sums[kRows][kWide];
    for (int r = 0; r < kRows; ++r) {
      const float* const begin =
          bias != nullptr ? bias : out + static_cast<size_t>(r) * stride;
      for (int n = 0; n < kWide; ++n) sums[r][n] = At(begin, n);
    }
    for (int k = 0; k < inner; ++k) {
      V row[kWide];
      for (int n = 0; n < kWide; ++n) {
        row[n] = At(matrix + static_cast<size_t>(k) * stride, n);
      }
      for (int r = 0; r < kRows; ++r) {
        const float x = Element(in, first + r, k);
        for (int n = 0; n < kWide; ++n) sums[r][n] += x * row[n];
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int n = 0; n < kWide; ++n) {
        At(out + static_cast<size_t>(r) * stride, n) = sums[r][n];
      }
    }
  }

  // out [rows, stride] = (bias, or out where that is null) + in [rows, inner]
  // matrix [inner, stride].
  template <typename In>
  static void Product(const In& in, int rows, const float* matrix, int stride,
                      int inner, const float* bias, float* out) {
    int column = 0;
    const auto part = [&]<int kWide>() {
      for (; column + kWide * kLanes <= stride; column += kWide * kLanes) {
        const auto block = [&]<int kRows>(int row) {
          ProductBlock<kRows, kWide>(
              in, row, matrix + column, stride, inner,
              bias == nullptr ? nullptr : bias + column,
              out + static_cast<size_t>(row) * stride + column);
        };
        int row = 0;
        for (; row + kBlockRows <= rows; row += kBlockRows) {
          block.template operator()<kBlockRows>(row);
        }
        for (; row < rows; ++row) block.template operator()<1>(row);
      }
    };
    part.template operator()<kBlockVectors>();
    part.template operator()<2>();
    part.template operator()<1>();
  }

  // --- Forward ---------------------------------------------------------------

  // The network as its parts use it.
  struct Net {
    const LightTensors& tensors;
    const float* parameters;

    const float* Of(const LightTensor& tensor, int row = 0) const {
      return parameters + tensor.RowAt(row);
    }
  };

  // out = bias + in matrix, of `rows` rows; without a bias, out += in matrix.
  // The rows of `in` and `out` are whole lines.
  static void Linear(const Net& net, const LightTensor& matrix,
                     const float* bias, const float* in, int rows, float* out) {
    Product(Rows{in, WholeLines(matrix.rows)}, rows, net.Of(matrix),
            matrix.stride, matrix.rows, bias, out);
  }
  static void Linear(const Net& net, const LightTensor& matrix,
                     const LightTensor& bias, const float* in, int rows,
                     float* out) {
    Linear(net, matrix, net.Of(bias), in, rows, out);
  }

  // Calls visit(value, place) for the inputs of a hill and of their rows.
  template <typename Visit>
  static void ForEachInput(const LightTensors& tensors, const LightInput& input,
                           int hill, const Visit& visit) {
    for (int i = 0; i < input.num_rows[hill]; ++i) {
      const int number = input.rows[hill][i];
      const int plane = number / kLightLevels;
      visit(0.25f * static_cast<float>(number % kLightLevels),
            plane < kNumPlanes ? tensors.planes.RowAt(plane)
                               : tensors.flags.RowAt(plane - kNumPlanes));
    }
  }

  static LightOwner OwnerOf(const LightInput& input, int hill) {
    if (hill == kNumHills) return kOffBoard;
    const Board board = BoardOf(hill);
    if ((input.own & board) != 0) return kOwnHill;
    return (input.enemy & board) != 0 ? kEnemyHill : kVacantHill;
  }

  // Computes the first hidden layer of a pattern, before its ReLU.
  template <typename Owner>
  static void RunPattern(const Net& net, const LightTableNetwork& table,
                         const Owner& owner, float* sums) {
    std::memcpy(sums, net.Of(table.bias1), kC * sizeof(float));
    for (int i = 0; i < kPatternHills; ++i) {
      AddRows(net.Of(table.hidden1, kNumLightOwners * i + owner(i)), 1, kC,
              sums);
    }
  }
  // The rest of a table's network, from hidden1 on: adds to `out`.
  static void RunTable(const Net& net, const LightTableNetwork& table, int rows,
                       float* hidden1, float* hidden2, float* out) {
    ReluAll(hidden1, rows * kC);
    Linear(net, table.hidden2, table.bias2, hidden1, rows, hidden2);
    ReluAll(hidden2, rows * kC);
    Linear(net, table.out, nullptr, hidden2, rows, out);
  }

  static void RunInput(const Net& net, const LightInput& input,
                       LightActivations& a) {
    alignas(64) float shared[kC];
    std::memcpy(shared, net.Of(net.tensors.bias), sizeof(shared));
    for (int g = 0; g < kNumGlobals; ++g) {
      if (input.globals[g] == 0) continue;
      const float* const row = net.Of(net.tensors.globals, g);
      for (int n = 0; n < kVectors; ++n) {
        At(shared, n) += input.globals[g] * At(row, n);
      }
    }
    for (int hill = 0; hill < kNumHills; ++hill) {
      V sums[kVectors];
      const float* const own = net.Of(net.tensors.hills, hill);
      for (int n = 0; n < kVectors; ++n) sums[n] = At(shared, n) + At(own, n);
      ForEachInput(net.tensors, input, hill, [&](float value, size_t place) {
        const float* const row = net.parameters + place;
        for (int n = 0; n < kVectors; ++n) sums[n] += value * At(row, n);
      });
      for (int n = 0; n < kVectors; ++n) At(a.hills[0][hill], n) = sums[n];
    }
    for (int t = 0; t < kNumLightTables; ++t) {
      const LightTableNetwork& table = net.tensors.tables[t];
      for (int hill = 0; hill < kNumHills; ++hill) {
        const auto& pattern = kLightPatterns[t][hill];
        RunPattern(
            net, table, [&](int i) { return OwnerOf(input, pattern[i]); },
            a.hidden1[t][hill]);
      }
      RunTable(net, table, kNumHills, a.hidden1[t][0], a.hidden2[t][0],
               a.hills[0][0]);
    }
    ReluAll(a.hills[0][0], kNumHills * kC);
  }

  static void Pool(const Hills& hills, float* pooled, uint8_t* highest) {
    for (int n = 0; n < kVectors; ++n) {
      V sum{}, most = At(hills[0], n), where{};
      for (int hill = 0; hill < kNumHills; ++hill) {
        const V x = At(hills[hill], n);
        sum += x;
        where = x > most ? V{} + static_cast<float>(hill) : where;
        most = x > most ? x : most;
      }
      At(pooled, n) = sum * (1.0f / kNumHills);
      At(pooled + kC, n) = most;
      for (int i = 0; i < kLanes; ++i) {
        highest[kLanes * n + i] = static_cast<uint8_t>(where[i]);
      }
    }
  }

  // Sums of the ranks and files.
  struct Lines {
    V ranks[kBoardSize][kVectors] = {};
    V files[kBoardSize][kVectors] = {};

    explicit Lines(const Hills& hills) {
      for (int hill = 0; hill < kNumHills; ++hill) {
        for (int n = 0; n < kVectors; ++n) {
          ranks[RankOf(hill)][n] += At(hills[hill], n);
          files[FileOf(hill)][n] += At(hills[hill], n);
        }
      }
    }
  };

  // The hill that a tap of another one is, or -1.
  static int TapOf(int hill, const LightTap& tap, int sign) {
    return HillAt(FileOf(hill) + sign * tap.file,
                  RankOf(hill) + sign * tap.rank);
  }

  // [hill]: the hills that are its taps (from 0), and the hills that it is a
  // tap of (1).
  struct TapLists {
    struct List {
      int count = 0;
      int8_t taps[kNumTaps];
      int8_t hills[kNumTaps];
    };
    std::array<std::array<List, kNumHills>, 2> lists;

    TapLists() {
      for (int back = 0; back < 2; ++back) {
        for (int hill = 0; hill < kNumHills; ++hill) {
          for (int tap = 0; tap < kNumTaps; ++tap) {
            const int other = TapOf(hill, kLightTaps[tap], back ? -1 : 1);
            if (other < 0) continue;
            List& list = lists[back][hill];
            list.taps[list.count] = static_cast<int8_t>(tap);
            list.hills[list.count++] = static_cast<int8_t>(other);
          }
        }
      }
    }
  };
  static const TapLists& Taps() {
    static const TapLists kTaps;
    return kTaps;
  }

  static void RunLayer(const Net& net, int index, LightActivations& a) {
    const LightLayer& layer = net.tensors.layers[index];
    const Hills& in = a.hills[index];
    alignas(64) float shared[kC];
    Linear(net, layer.pooled, layer.bias, a.pooled[index], 1, shared);
    Lines lines(in);
    for (int line = 0; line < kBoardSize; ++line) {
      const float size = 1.0f / static_cast<float>(LineSize(line));
      for (int n = 0; n < kVectors; ++n) {
        lines.ranks[line][n] =
            lines.ranks[line][n] * At(net.Of(layer.rank), n) * size +
            At(shared, n);
        lines.files[line][n] *= At(net.Of(layer.file), n) * size;
      }
    }
    const auto& taps = Taps().lists[0];
    for (int hill = 0; hill < kNumHills; ++hill) {
      V sums[kVectors];
      for (int n = 0; n < kVectors; ++n) {
        sums[n] = lines.ranks[RankOf(hill)][n] + lines.files[FileOf(hill)][n];
      }
      for (int i = 0; i < taps[hill].count; ++i) {
        const float* const weights = net.Of(layer.taps, taps[hill].taps[i]);
        const float* const values = in[taps[hill].hills[i]];
        for (int n = 0; n < kVectors; ++n) {
          sums[n] += At(weights, n) * At(values, n);
        }
      }
      for (int n = 0; n < kVectors; ++n) {
        At(a.mixed[index][hill], n) = Relu(sums[n]);
      }
    }
    Hills& out = a.hills[index + 1];
    Linear(net, layer.mix, layer.mix_bias, a.mixed[index][0], kNumHills,
           out[0]);
    for (int i = 0; i < kNumHills * kVectors; ++i) {
      At(out[0], i) = Relu(At(out[0], i) + At(in[0], i));
    }
    Pool(out, a.pooled[index + 1], a.highest[index + 1]);
  }

  static void RunPolicy(const Net& net, absl::Span<const int16_t> outputs,
                        LightActivations& a) {
    const LightTensors& t = net.tensors;
    a.is_concerned.fill(false);
    for (const int16_t output : outputs) {
      const PolicyPart& part = kPolicyParts[output];
      if (part.to >= 0) a.is_concerned[part.to] = true;
      if (part.from >= 0) a.is_concerned[part.from] = true;
    }
    alignas(64) float shared[kPolicyWidth];
    Linear(net, t.policy_context, t.policy_bias, a.context, 1, shared);
    const Hills& hills = a.hills[t.layers.size()];
    for (int hill = 0; hill < kNumHills; ++hill) {
      if (!a.is_concerned[hill]) continue;
      Linear(net, t.policy, shared, hills[hill], 1, a.policy[hill]);
      ReluAll(a.policy[hill], kPolicyWidth);
      Linear(net, t.actions, t.actions_bias, a.policy[hill], 1,
             a.outputs[hill]);
    }
    float pass = 0;
    for (int i = 0; i < kContext; ++i) {
      pass += net.Of(t.pass)[i] * a.context[i];
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const PolicyPart& part = kPolicyParts[outputs[i]];
      a.logits[i] = part.kind == PolicyPart::kPass
                        ? pass
                        : LogitOf(part, a.outputs, net.Of(t.directions));
    }
  }

  static void Forward(const LightTensors& tensors, const float* parameters,
                      const LightInput& input,
                      absl::Span<const int16_t> outputs, LightActivations& a) {
    const Net net = {tensors, parameters};
    RunInput(net, input, a);
    Pool(a.hills[0], a.pooled[0], a.highest[0]);
    const auto layers = static_cast<int>(tensors.layers.size());
    for (int i = 0; i < layers; ++i) RunLayer(net, i, a);
    std::memcpy(a.context, a.pooled[layers], kPooled * sizeof(float));
    std::memcpy(a.context + kPooled, input.globals.data(),
                kNumGlobals * sizeof(float));
    RunPolicy(net, outputs, a);
    const LightTensors& t = tensors;
    Linear(net, t.value1, t.value1_bias, a.context, 1, a.value1);
    ReluAll(a.value1, kValueHidden);
    Linear(net, t.value2, t.value2_bias, a.value1, 1, a.value2);
    ReluAll(a.value2, kValueHidden);
    Linear(net, t.value, t.value_bias, a.value2, 1, a.value);
    Linear(net, t.owner, t.owner_bias, a.hills[layers][0], kNumHills,
           a.owners[0]);
  }

  // --- Losses ----------------------------------------------------------------

  // Turns logits into probabilities, in place. Returns the logarithm of the sum
  // of their powers.
  static float SoftmaxOf(float* logits, int count) {
    const float most = *std::max_element(logits, logits + count);
    float sum = 0;
    for (int i = 0; i < count; ++i) {
      logits[i] = std::exp(logits[i] - most);
      sum += logits[i];
    }
    for (int i = 0; i < count; ++i) logits[i] /= sum;
    return most + std::log(sum);
  }

  // Adds the cross-entropy of shares [count] to the head's losses, and sets
  // the gradients of the logits. Returns it.
  static void OfShares(Head head, const float* logits, const float* shares,
                       int count, const LightSample& sample, float scale,
                       float* gradients, LightLosses& losses) {
    std::copy_n(logits, count, gradients);
    const float log_sum = SoftmaxOf(gradients, count);
    double loss = 0;
    for (int i = 0; i < count; ++i) {
      loss += shares[i] * (log_sum - logits[i]);
      gradients[i] =
          scale * sample.targets->weight * (gradients[i] - shares[i]);
    }
    losses.sums[head] += sample.targets->weight * loss;
    losses.weights[head] += sample.targets->weight;
  }

  // --- Backward --------------------------------------------------------------

  struct Back {
    const Net net;
    const TransposedLight& transposed;
    float* gradient;

    float* Of(const LightTensor& tensor, int row = 0) const {
      return gradient + tensor.RowAt(row);
    }
  };

  // Back through Linear: adds the gradients of the matrix, of its bias if there
  // is one, and of the inputs to d_in.
  static void BackLinear(const Back& back, const LightTensor& matrix,
                         const LightTensor* bias, const float* in, int rows,
                         const float* d_out, float* d_in) {
    const int in_stride = WholeLines(matrix.rows);
    Product(Columns{in, in_stride}, matrix.rows, d_out, matrix.stride, rows,
            nullptr, back.Of(matrix));
    if (bias != nullptr) AddRows(d_out, rows, matrix.stride, back.Of(*bias));
    Product(Rows{d_out, matrix.stride}, rows, back.transposed.Of(matrix),
            in_stride, matrix.columns, nullptr, d_in);
  }
  static void MaskRelu(const float* out, int size, float* gradients) {
    for (int i = 0; i < size / kLanes; ++i) {
      At(gradients, i) = Where(At(out, i), At(gradients, i));
    }
  }

  static void BackValue(const Back& back, const LightSample& sample,
                        const PerHead<float>& scales, LightActivations& a,
                        float* d_context, LightLosses& losses) {
    const LightTensors& t = back.net.tensors;
    alignas(64) float d_value[WholeLines(kNumValueOutputs)] = {};
    OfShares(Head::kValue, a.value, sample.targets->result.data(), kNumResults,
             sample, scales[Head::kValue], d_value, losses);
    if (sample.targets->has_margin) {
      std::array<float, kNumMargins> shares = {};
      shares[sample.targets->margin + kMaxMargin] = 1;
      OfShares(Head::kMargin, a.value + kNumResults, shares.data(), kNumMargins,
               sample, scales[Head::kMargin], d_value + kNumResults, losses);
    }
    alignas(64) float d_value2[kValueHidden] = {}, d_value1[kValueHidden] = {};
    BackLinear(back, t.value, &t.value_bias, a.value2, 1, d_value, d_value2);
    MaskRelu(a.value2, kValueHidden, d_value2);
    BackLinear(back, t.value2, &t.value2_bias, a.value1, 1, d_value2, d_value1);
    MaskRelu(a.value1, kValueHidden, d_value1);
    BackLinear(back, t.value1, &t.value1_bias, a.context, 1, d_value1,
               d_context);
  }

  static void BackOwners(const Back& back, const LightSample& sample,
                         float scale, LightActivations& a, Hills& d_hills,
                         LightLosses& losses) {
    if (!sample.targets->has_final) return;
    const LightTensors& t = back.net.tensors;
    alignas(64) float d_owners[kNumHills][16] = {};
    LightLosses hills;
    for (int hill = 0; hill < kNumHills; ++hill) {
      float shares[kNumOwners] = {};
      shares[sample.owners[hill]] = 1;
      OfShares(Head::kOwner, a.owners[hill], shares, kNumOwners, sample,
               scale / kNumHills, d_owners[hill], hills);
    }
    losses.sums[Head::kOwner] += hills.sums[Head::kOwner] / kNumHills;
    losses.weights[Head::kOwner] += sample.targets->weight;
    if (scale == 0) return;
    BackLinear(back, t.owner, &t.owner_bias, a.hills[t.layers.size()][0],
               kNumHills, d_owners[0], d_hills[0]);
  }

  // Adds the gradient of an action's logit to the gradients of the hills'
  // outputs.
  static void BackLogit(const Back& back, const PolicyPart& part, float d,
                        const LightActivations& a,
                        float (*d_outputs)[kHillOutputRoom]) {
    float* const to = d_outputs[part.to];
    to[part.destination] += d;
    if (part.kind == PolicyPart::kHill) return;
    float* const from = d_outputs[part.from];
    from[part.origin] += d;
    if (part.direction >= 0) {
      back.Of(back.net.tensors.directions)[part.direction] += d;
    }
    const float* const to_value = a.outputs[part.to];
    const float* const from_value = a.outputs[part.from];
    for (int i = 0; i < kPolicyVector; ++i) {
      from[part.origin_vector + i] += d * to_value[part.destination_vector + i];
      to[part.destination_vector + i] += d * from_value[part.origin_vector + i];
    }
  }

  static void BackPolicy(const Back& back, const LightSample& sample,
                         float scale, LightActivations& a, Hills& d_hills,
                         float* d_context, LightLosses& losses) {
    if (sample.policy.empty()) return;
    const LightTensors& t = back.net.tensors;
    const auto count = static_cast<int>(sample.outputs.size());
    std::array<float, kNumPolicyOutputs> d_logits;
    OfShares(Head::kPolicy, a.logits.data(), sample.policy.data(), count,
             sample, scale, d_logits.data(), losses);
    const auto best = [count](const float* values) {
      return std::max_element(values, values + count) - values;
    };
    losses.agreements += best(a.logits.data()) == best(sample.policy.data())
                             ? sample.targets->weight
                             : 0;
    if (scale == 0) return;

    alignas(64) float d_outputs[kNumHills][kHillOutputRoom];
    for (int hill = 0; hill < kNumHills; ++hill) {
      if (a.is_concerned[hill])
        std::fill_n(d_outputs[hill], kHillOutputRoom, 0.0f);
    }
    for (int i = 0; i < count; ++i) {
      const PolicyPart& part = kPolicyParts[sample.outputs[i]];
      if (part.kind != PolicyPart::kPass) {
        BackLogit(back, part, d_logits[i], a, d_outputs);
        continue;
      }
      for (int k = 0; k < kContext; ++k) {
        back.Of(t.pass)[k] += d_logits[i] * a.context[k];
        d_context[k] += d_logits[i] * back.net.Of(t.pass)[k];
      }
    }
    const Hills& hills = a.hills[t.layers.size()];
    alignas(64) float d_shared[kPolicyWidth] = {};
    for (int hill = 0; hill < kNumHills; ++hill) {
      if (!a.is_concerned[hill]) continue;
      alignas(64) float d_policy[kPolicyWidth] = {};
      BackLinear(back, t.actions, &t.actions_bias, a.policy[hill], 1,
                 d_outputs[hill], d_policy);
      MaskRelu(a.policy[hill], kPolicyWidth, d_policy);
      AddRows(d_policy, 1, kPolicyWidth, d_shared);
      BackLinear(back, t.policy, &t.policy_bias, hills[hill], 1, d_policy,
                 d_hills[hill]);
    }
    BackLinear(back, t.policy_context, nullptr, a.context, 1, d_shared,
               d_context);
  }

  // Adds the gradients of means and maxima to the gradients of the hills.
  static void BackPool(const float* d_pooled, const uint8_t* highest,
                       Hills& d_hills) {
    for (int n = 0; n < kVectors; ++n) {
      const V mean = At(d_pooled, n) * (1.0f / kNumHills);
      for (int hill = 0; hill < kNumHills; ++hill) At(d_hills[hill], n) += mean;
    }
    for (int c = 0; c < kC; ++c) d_hills[highest[c]][c] += d_pooled[kC + c];
  }

  // Turns the gradients of a layer's outputs into gradients of its inputs.
  static void BackLayer(const Back& back, int index, LightActivations& a,
                        Hills& d_hills) {
    const LightLayer& layer = back.net.tensors.layers[index];
    const Hills& in = a.hills[index];
    alignas(64) Hills d_mixed = {};
    MaskRelu(a.hills[index + 1][0], kNumHills * kC, d_hills[0]);
    BackLinear(back, layer.mix, &layer.mix_bias, a.mixed[index][0], kNumHills,
               d_hills[0], d_mixed[0]);
    MaskRelu(a.mixed[index][0], kNumHills * kC, d_mixed[0]);

    const Lines lines(in);
    Lines d_lines(d_mixed);
    for (int line = 0; line < kBoardSize; ++line) {
      const float size = 1.0f / static_cast<float>(LineSize(line));
      for (int n = 0; n < kVectors; ++n) {
        At(back.Of(layer.rank), n) +=
            size * lines.ranks[line][n] * d_lines.ranks[line][n];
        At(back.Of(layer.file), n) +=
            size * lines.files[line][n] * d_lines.files[line][n];
        d_lines.ranks[line][n] *= size * At(back.net.Of(layer.rank), n);
        d_lines.files[line][n] *= size * At(back.net.Of(layer.file), n);
      }
    }
    const auto& taps = Taps().lists;
    for (int hill = 0; hill < kNumHills; ++hill) {
      V sums[kVectors];
      for (int n = 0; n < kVectors; ++n) {
        sums[n] = At(d_hills[hill], n) + d_lines.ranks[RankOf(hill)][n] +
                  d_lines.files[FileOf(hill)][n];
      }
      const auto& list = taps[1][hill];
      for (int i = 0; i < list.count; ++i) {
        const float* const weights = back.net.Of(layer.taps, list.taps[i]);
        for (int n = 0; n < kVectors; ++n) {
          sums[n] += At(weights, n) * At(d_mixed[list.hills[i]], n);
        }
      }
      for (int n = 0; n < kVectors; ++n) At(d_hills[hill], n) = sums[n];
    }
    for (int tap = 0; tap < kNumTaps; ++tap) {
      V sums[kVectors];
      float* const gradient = back.Of(layer.taps, tap);
      for (int n = 0; n < kVectors; ++n) sums[n] = At(gradient, n);
      for (int hill = 0; hill < kNumHills; ++hill) {
        const int other = TapOf(hill, kLightTaps[tap], 1);
        if (other < 0) continue;
        for (int n = 0; n < kVectors; ++n) {
          sums[n] += At(d_mixed[hill], n) * At(in[other], n);
        }
      }
      for (int n = 0; n < kVectors; ++n) At(gradient, n) = sums[n];
    }
    alignas(64) float d_shared[kC] = {}, d_pooled[kPooled] = {};
    AddRows(d_mixed[0], kNumHills, kC, d_shared);
    BackLinear(back, layer.pooled, &layer.bias, a.pooled[index], 1, d_shared,
               d_pooled);
    BackPool(d_pooled, a.highest[index], d_hills);
  }

  static void BackInput(const Back& back, const LightInput& input,
                        LightActivations& a, Hills& d_hills) {
    const LightTensors& t = back.net.tensors;
    MaskRelu(a.hills[0][0], kNumHills * kC, d_hills[0]);
    alignas(64) float d_shared[kC] = {};
    AddRows(d_hills[0], kNumHills, kC, d_shared);
    AddRows(d_shared, 1, kC, back.Of(t.bias));
    for (int g = 0; g < kNumGlobals; ++g) {
      if (input.globals[g] == 0) continue;
      float* const row = back.Of(t.globals, g);
      for (int n = 0; n < kVectors; ++n) {
        At(row, n) += input.globals[g] * At(d_shared, n);
      }
    }
    for (int hill = 0; hill < kNumHills; ++hill) {
      AddRows(d_hills[hill], 1, kC, back.Of(t.hills, hill));
      ForEachInput(t, input, hill, [&](float value, size_t place) {
        float* const row = back.gradient + place;
        for (int n = 0; n < kVectors; ++n) {
          At(row, n) += value * At(d_hills[hill], n);
        }
      });
    }
    for (int table = 0; table < kNumLightTables; ++table) {
      const LightTableNetwork& net = t.tables[table];
      alignas(64) Hills d_hidden2 = {}, d_hidden1 = {};
      BackLinear(back, net.out, nullptr, a.hidden2[table][0], kNumHills,
                 d_hills[0], d_hidden2[0]);
      MaskRelu(a.hidden2[table][0], kNumHills * kC, d_hidden2[0]);
      BackLinear(back, net.hidden2, &net.bias2, a.hidden1[table][0], kNumHills,
                 d_hidden2[0], d_hidden1[0]);
      MaskRelu(a.hidden1[table][0], kNumHills * kC, d_hidden1[0]);
      AddRows(d_hidden1[0], kNumHills, kC, back.Of(net.bias1));
      for (int hill = 0; hill < kNumHills; ++hill) {
        for (int i = 0; i < kPatternHills; ++i) {
          const LightOwner owner =
              OwnerOf(input, kLightPatterns[table][hill][i]);
          AddRows(d_hidden1[hill], 1, kC,
                  back.Of(net.hidden1, kNumLightOwners * i + owner));
        }
      }
    }
  }

  static void Backward(const LightTensors& tensors, const float* parameters,
                       const TransposedLight& transposed,
                       const LightSample& sample, const PerHead<float>& scales,
                       LightActivations& a, float* gradient,
                       LightLosses& losses) {
    const Back back = {{tensors, parameters}, transposed, gradient};
    const auto layers = static_cast<int>(tensors.layers.size());
    alignas(64) Hills d_hills = {};
    alignas(64) float d_context[WholeLines(kContext)] = {};
    BackValue(back, sample, scales, a, d_context, losses);
    BackOwners(back, sample, scales[Head::kOwner], a, d_hills, losses);
    BackPolicy(back, sample, scales[Head::kPolicy], a, d_hills, d_context,
               losses);
    BackPool(d_context, a.highest[layers], d_hills);
    for (int i = layers - 1; i >= 0; --i) BackLayer(back, i, a, d_hills);
    BackInput(back, sample.input, a, d_hills);
  }

  // --- Tables ----------------------------------------------------------------

  static void Tabulate(const LightTensors& tensors, const float* parameters,
                       int table, absl::Span<const uint32_t> patterns,
                       float* rows) {
    constexpr size_t kChunk = 64;
    const Net net = {tensors, parameters};
    const LightTableNetwork& network = tensors.tables[table];
    alignas(64) float hidden1[kChunk][kC], hidden2[kChunk][kC];
    for (size_t first = 0; first < patterns.size(); first += kChunk) {
      const auto count =
          static_cast<int>(std::min(kChunk, patterns.size() - first));
      for (int i = 0; i < count; ++i) {
        const uint32_t pattern = patterns[first + i];
        RunPattern(
            net, network,
            [pattern](int hill) {
              return static_cast<int>(pattern >> hill & 1) +
                     2 * static_cast<int>(pattern >> (kPatternHills + hill) &
                                          1);
            },
            hidden1[i]);
      }
      float* const out = rows + first * kC;
      std::fill_n(out, count * kC, 0.0f);
      RunTable(net, network, count, hidden1[0], hidden2[0], out);
    }
  }
  static_assert(kOwnHill == 1 && kEnemyHill == 2 && kOffBoard == 3);

  static LightLearning Table() {
    return {.forward = Forward, .backward = Backward, .tabulate = Tabulate};
  }
};

}  // namespace tara::nn::internal

#endif  // TARA_NN_LIGHT_LIGHT_LEARNING_TEMPLATES_H_
