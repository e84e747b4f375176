#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tara/core/board.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/torch/layers_torch.h"

// Without OpenMP the header uses only one thread.
#if AT_PARALLEL_OPENMP && !defined(_OPENMP)
#error "expected -fopenmp: LibTorch divides work by OpenMP"
#endif

namespace tara::nn {

void ForEachPart(int64_t parts, const std::function<void(int64_t)>& compute) {
  at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) compute(part);
  });
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Samples of a part: some 50 KB of 64 channels, which a core keeps at hand.
constexpr int64_t kPartSamples = 4;

// A tensor [B, C, H, W] in channels-last memory, as rows [B * H * W][C], cut
// into parts of whole samples.
struct Rows {
  int64_t samples;
  int64_t rows_per_sample;
  int64_t channels;

  explicit Rows(const at::Tensor& tensor)
      : samples(tensor.size(0)),
        rows_per_sample(tensor.size(2) * tensor.size(3)),
        channels(tensor.size(1)) {}

  int64_t count() const { return samples * rows_per_sample; }
  int64_t parts() const { return (samples + kPartSamples - 1) / kPartSamples; }
  int64_t first_sample(int64_t part) const { return part * kPartSamples; }
  int64_t end_sample(int64_t part) const {
    return std::min(samples, (part + 1) * kPartSamples);
  }
  // Index of the first value of a part, and its rows.
  int64_t offset(int64_t part) const {
    return first_sample(part) * rows_per_sample * channels;
  }
  int64_t rows(int64_t part) const {
    return (end_sample(part) - first_sample(part)) * rows_per_sample;
  }
};

template <typename Value>
Value* Values(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<Value>() : nullptr;
}
float* Floats(const at::Tensor& tensor) { return Values<float>(tensor); }

// Values are float or bfloat16, and converted to float to compute. These have
// no branches, so that loops over them become vector instructions.
float ToFloat(float value) { return value; }
float ToFloat(c10::BFloat16 value) {
  return std::bit_cast<float>(uint32_t{value.x} << 16);
}
void Store(float value, float& place) { place = value; }
// Rounds to the nearest, ties to even. Infinities stay, and so do the NaNs that
// arithmetic makes, whose low bits are zero.
void Store(float value, c10::BFloat16& place) {
  const auto bits = std::bit_cast<uint32_t>(value);
  place.x = static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// Calls compute(value) with a value of the tensor's type.
template <typename Function>
void DispatchType(const at::Tensor& tensor, const Function& compute) {
  if (tensor.scalar_type() == at::kBFloat16) {
    compute(c10::BFloat16());
  } else {
    compute(0.0f);
  }
}

// Calls compute(value, sample) for the tensor's samples, in parts on all
// threads, with a value as above.
template <typename Function>
void ForEachSample(const at::Tensor& tensor, const Function& compute) {
  const Rows rows(tensor);
  DispatchType(tensor, [&](auto value) {
    ForEachPart(rows.parts(), [&](int64_t part) {
      for (int64_t sample = rows.first_sample(part);
           sample < rows.end_sample(part); ++sample) {
        compute(value, sample);
      }
    });
  });
}

// Writes the mean of each channel over the rows, and the sum of the squared
// distances from it.
template <typename Value>
void PartMoments(const Value* __restrict rows, int64_t count, int64_t channels,
                 float* __restrict mean, float* __restrict squares) {
  std::fill_n(mean, channels, 0.0f);
  std::fill_n(squares, channels, 0.0f);
  for (int64_t row = 0; row < count; ++row) {
    const Value* const values = rows + row * channels;
    for (int64_t c = 0; c < channels; ++c) mean[c] += ToFloat(values[c]);
  }
  const float scale = 1.0f / static_cast<float>(count);
  for (int64_t c = 0; c < channels; ++c) mean[c] *= scale;
  for (int64_t row = 0; row < count; ++row) {
    const Value* const values = rows + row * channels;
    for (int64_t c = 0; c < channels; ++c) {
      const float distance = ToFloat(values[c]) - mean[c];
      squares[c] += distance * distance;
    }
  }
}

// A norm's statistics of a batch: [C] each.
struct Moments {
  at::Tensor mean;
  at::Tensor inverse_deviation;
};

// Computes them, and moves the norm's running ones. Parts are put together as
// in Chan et al. 1983 (The American Statistician 37(3)), equation 2.1.
Moments ComputeMoments(const at::Tensor& input,
                       torch::nn::BatchNorm2dImpl& norm) {
  const Rows rows(input);
  const int64_t channels = rows.channels;
  std::vector<float> means(rows.parts() * channels);
  std::vector<float> squares(rows.parts() * channels);
  DispatchType(input, [&]<typename Value>(Value) {
    ForEachPart(rows.parts(), [&](int64_t part) {
      PartMoments(Values<Value>(input) + rows.offset(part), rows.rows(part),
                  channels, means.data() + part * channels,
                  squares.data() + part * channels);
    });
  });
  Moments moments = {at::empty({channels}), at::empty({channels})};
  const auto count = static_cast<double>(rows.count());
  const double momentum = norm.options.momentum().value();
  for (int64_t c = 0; c < channels; ++c) {
    double mean = 0;
    for (int64_t part = 0; part < rows.parts(); ++part) {
      mean += static_cast<double>(rows.rows(part)) * means[part * channels + c];
    }
    mean /= count;
    double sum = 0;
    for (int64_t part = 0; part < rows.parts(); ++part) {
      const double distance = means[part * channels + c] - mean;
      sum += squares[part * channels + c] +
             static_cast<double>(rows.rows(part)) * distance * distance;
    }
    Floats(moments.mean)[c] = static_cast<float>(mean);
    Floats(moments.inverse_deviation)[c] =
        static_cast<float>(1 / std::sqrt(sum / count + norm.options.eps()));
    const auto move = [&](double value, float& running) {
      running = static_cast<float>((1 - momentum) * running + momentum * value);
    };
    move(mean, Floats(norm.running_mean)[c]);
    move(sum / std::max(count - 1, 1.0), Floats(norm.running_var)[c]);
  }
  return moments;
}

// Writes max(0, input * scale + shift + residual) of the rows.
template <bool kResidual, typename Value>
void WriteNormRelu(const Value* __restrict input, const float* __restrict scale,
                   const float* __restrict shift,
                   const Value* __restrict residual, int64_t count,
                   int64_t channels, Value* __restrict output) {
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t i = row * channels + c;
      float value = ToFloat(input[i]) * scale[c] + shift[c];
      if constexpr (kResidual) value += ToFloat(residual[i]);
      Store(value > 0 ? value : 0, output[i]);
    }
  }
}

// Of one sample: writes the gradient before the ReLU, and adds up that and its
// products with the distances from the mean.
template <typename Value>
void PassBackRelu(const Value* __restrict gradient,
                  const Value* __restrict output, const Value* __restrict input,
                  const float* __restrict mean, int64_t count, int64_t channels,
                  Value* __restrict passed, float* __restrict sum,
                  float* __restrict product) {
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t i = row * channels + c;
      const float whole = ToFloat(gradient[i]);  // read without a branch
      const float value = ToFloat(output[i]) > 0 ? whole : 0;
      Store(value, passed[i]);
      sum[c] += value;
      product[c] += value * (ToFloat(input[i]) - mean[c]);
    }
  }
}

// Writes scale * passed - constant - slope * (input - mean) of the rows.
// `passed` may be `result`.
template <typename Value>
void PassBackNorm(const Value* passed, const Value* __restrict input,
                  const float* __restrict mean, const float* __restrict scale,
                  const float* __restrict constant,
                  const float* __restrict slope, int64_t count,
                  int64_t channels, Value* result) {
  for (int64_t row = 0; row < count; ++row) {
    const int64_t i = row * channels;
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) {
      Store(scale[c] * ToFloat(passed[i + c]) - constant[c] -
                slope[c] * (ToFloat(input[i + c]) - mean[c]),
            result[i + c]);
    }
  }
}

class FusedNormRelu : public torch::autograd::Function<FusedNormRelu> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weight, const at::Tensor& offset,
                            const c10::optional<at::Tensor>& maybe_residual,
                            const c10::optional<at::Tensor>& maybe_bias,
                            torch::nn::BatchNorm2dImpl* norm) {
    const at::Tensor residual = maybe_residual.value_or(at::Tensor());
    const at::Tensor bias = maybe_bias.value_or(at::Tensor());
    const Rows rows(input);
    const int64_t channels = rows.channels;
    const Moments moments = ComputeMoments(input, *norm);
    const at::Tensor scale = weight * moments.inverse_deviation;
    const at::Tensor shift = offset - moments.mean * scale;
    // [B or 1, C]
    const at::Tensor shifts =
        bias.defined() ? bias + shift : shift.unsqueeze(0);
    const at::Tensor output = at::empty_like(input);
    ForEachSample(input, [&]<typename Value>(Value, int64_t sample) {
      const int64_t i = sample * rows.rows_per_sample * channels;
      const auto write = residual.defined() ? &WriteNormRelu<true, Value>
                                            : &WriteNormRelu<false, Value>;
      write(Values<Value>(input) + i, Floats(scale),
            Floats(shifts) + (bias.defined() ? sample * channels : 0),
            residual.defined() ? Values<Value>(residual) + i : nullptr,
            rows.rows_per_sample, channels, Values<Value>(output) + i);
    });
    context->save_for_backward(
        {input, output, moments.mean, moments.inverse_deviation, scale});
    context->saved_data["residual"] = residual.defined();
    context->saved_data["bias"] = bias.defined();
    return output;
  }

  // With g the gradient before the ReLU, s = weight / deviation, N rows, and
  // sums over them:  d input = s (g - sum(g) / N - x' sum(g x') / N), x' the
  // normed input; d weight = sum(g x'); d offset = sum(g).
  // Source: Ioffe and Szegedy 2015 (arXiv:1502.03167), section 3.
  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& input = saved[0];
    const at::Tensor& output = saved[1];
    const at::Tensor& mean = saved[2];
    const at::Tensor& inverse_deviation = saved[3];
    const at::Tensor& scale = saved[4];
    const at::Tensor gradient =
        gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    const Rows rows(input);
    const int64_t channels = rows.channels;
    const bool has_residual = context->saved_data["residual"].toBool();
    const at::Tensor of_input = at::empty_like(input);
    const at::Tensor of_residual =
        has_residual ? at::empty_like(input) : at::Tensor();
    const at::Tensor& passed = has_residual ? of_residual : of_input;
    // [B, C] each: sums over the places of a sample.
    const at::Tensor sums = at::zeros({rows.samples, channels});
    const at::Tensor products = at::zeros({rows.samples, channels});
    ForEachSample(input, [&]<typename Value>(Value, int64_t sample) {
      const int64_t i = sample * rows.rows_per_sample * channels;
      PassBackRelu(Values<Value>(gradient) + i, Values<Value>(output) + i,
                   Values<Value>(input) + i, Floats(mean), rows.rows_per_sample,
                   channels, Values<Value>(passed) + i,
                   Floats(sums) + sample * channels,
                   Floats(products) + sample * channels);
    });
    const at::Tensor of_offset = sums.sum(0);
    const at::Tensor of_weight = products.sum(0) * inverse_deviation;
    const double part_of_all = 1.0 / static_cast<double>(rows.count());
    const at::Tensor constant = scale * of_offset * part_of_all;
    const at::Tensor slope =
        scale * of_weight * inverse_deviation * part_of_all;
    DispatchType(input, [&]<typename Value>(Value) {
      ForEachPart(rows.parts(), [&](int64_t part) {
        const int64_t i = rows.offset(part);
        PassBackNorm(Values<Value>(passed) + i, Values<Value>(input) + i,
                     Floats(mean), Floats(scale), Floats(constant),
                     Floats(slope), rows.rows(part), channels,
                     Values<Value>(of_input) + i);
      });
    });
    const bool has_bias = context->saved_data["bias"].toBool();
    return {of_input,
            of_weight,
            of_offset,
            of_residual,
            has_bias ? sums : at::Tensor(),
            at::Tensor()};
  }
};

constexpr std::array<int, kNumHills> MakeHillSquares() {
  std::array<int, kNumHills> squares{};
  for (Hill hill = 0; hill < kNumHills; ++hill) squares[hill] = SquareOf(hill);
  return squares;
}
constexpr std::array<int, kNumHills> kHillSquares = MakeHillSquares();

class FusedPoolHills : public torch::autograd::Function<FusedPoolHills> {
 public:
  static at::Tensor forward(AutogradContext* context,
                            const at::Tensor& values) {
    const Rows rows(values);
    const int64_t channels = rows.channels;
    const at::Tensor pooled = at::zeros({rows.samples, 2 * channels});
    // [B, C]: the square of the first maximum.
    const at::Tensor where = at::zeros({rows.samples, channels}, at::kInt);
    ForEachSample(values, [&]<typename Value>(Value, int64_t sample) {
      Pool(Values<Value>(values) + sample * kNumSquares * channels, channels,
           Floats(pooled) + sample * 2 * channels,
           where.data_ptr<int32_t>() + sample * channels);
    });
    context->save_for_backward({where});
    context->saved_data["type"] = values.scalar_type();
    return pooled;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const at::Tensor where = context->get_saved_variables()[0];
    const at::Tensor gradient = gradients[0].contiguous();
    const int64_t channels = where.size(1);
    const at::Tensor result =
        at::empty({where.size(0), channels, kBoardSize, kBoardSize},
                  at::TensorOptions()
                      .dtype(context->saved_data["type"].toScalarType())
                      .memory_format(at::MemoryFormat::ChannelsLast));
    ForEachSample(result, [&]<typename Value>(Value, int64_t sample) {
      PassBack(Floats(gradient) + sample * 2 * channels,
               where.data_ptr<int32_t>() + sample * channels, channels,
               Values<Value>(result) + sample * kNumSquares * channels);
    });
    return {result};
  }

 private:
  static constexpr float kShare = 1.0f / kNumHills;

  // `pooled` is [2][channels], zero as it comes: no value is below.
  template <typename Value>
  static void Pool(const Value* __restrict values, int64_t channels,
                   float* __restrict pooled, int32_t* __restrict where) {
    float* __restrict const sum = pooled;
    float* __restrict const most = pooled + channels;
    for (const int square : kHillSquares) {
      const Value* const row = values + square * channels;
      for (int64_t c = 0; c < channels; ++c) {
        const float value = ToFloat(row[c]);
        sum[c] += value;
        where[c] = value > most[c] ? square : where[c];
        most[c] = value > most[c] ? value : most[c];
      }
    }
    for (int64_t c = 0; c < channels; ++c) sum[c] *= kShare;
  }

  template <typename Value>
  static void PassBack(const float* __restrict gradient,
                       const int32_t* __restrict where, int64_t channels,
                       Value* __restrict result) {
    std::fill_n(result, kNumSquares * channels, Value());
    for (const int square : kHillSquares) {
      Value* const row = result + square * channels;
      for (int64_t c = 0; c < channels; ++c) {
        Store(gradient[c] * kShare +
                  (where[c] == square ? gradient[channels + c] : 0.0f),
              row[c]);
      }
    }
  }
};

at::Tensor PlainNormRelu(const at::Tensor& input,
                         torch::nn::BatchNorm2dImpl& norm,
                         const at::Tensor& residual, const at::Tensor& bias) {
  at::Tensor sum = norm.forward(input);
  if (residual.defined()) sum = sum + residual;
  if (bias.defined()) sum = sum + bias.unsqueeze(2).unsqueeze(3);
  return at::relu(sum);
}

}  // namespace

at::Tensor NormRelu(const at::Tensor& input, torch::nn::BatchNorm2dImpl& norm,
                    const at::Tensor& residual, const at::Tensor& bias) {
  const bool fusable =
      norm.is_training() && IsFusable(input) &&
      (!residual.defined() ||
       (IsFusable(residual) && residual.scalar_type() == input.scalar_type()));
  if (!fusable) return PlainNormRelu(input, norm, residual, bias);
  const at::Tensor floats =
      bias.defined() ? bias.to(at::kFloat).contiguous() : bias;
  return FusedNormRelu::apply(input, norm.weight, norm.bias,
                              c10::optional<at::Tensor>(residual),
                              c10::optional<at::Tensor>(floats), &norm);
}

at::Tensor PoolHills(const at::Tensor& values, const at::Tensor& hills) {
  if (IsFusable(values)) return FusedPoolHills::apply(values);
  const at::Tensor masked = values * hills;
  return at::cat({masked.sum({2, 3}) * (1.0 / kNumHills), masked.amax({2, 3})},
                 1);
}

}  // namespace tara::nn
