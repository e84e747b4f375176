#include "tara/eval/tuning/logistic_regression.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tara/base/check.h"

namespace tara::eval {
namespace {

constexpr int kMaxSteps = 30;
constexpr double kSmallStep = 1e-4;  // logits

double Dot(absl::Span<const double> weights, const float* input) {
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) sum += weights[i] * input[i];
  return sum;
}

double Chance(double logit) { return 1 / (1 + std::exp(-logit)); }

// Solves the symmetric positive definite system `matrix` x = `right` by
// Cholesky's factors; returns x. Only the lower triangle [row, column] is read.
std::vector<double> Solve(std::vector<double> matrix,
                          std::vector<double> right) {
  const size_t n = right.size();
  for (size_t row = 0; row < n; ++row) {
    for (size_t column = 0; column <= row; ++column) {
      double sum = matrix[row * n + column];
      for (size_t k = 0; k < column; ++k) {
        sum -= matrix[row * n + k] * matrix[column * n + k];
      }
      matrix[row * n + column] =
          row == column ? std::sqrt(sum) : sum / matrix[column * n + column];
    }
  }
  for (size_t row = 0; row < n; ++row) {
    for (size_t k = 0; k < row; ++k)
      right[row] -= matrix[row * n + k] * right[k];
    right[row] /= matrix[row * n + row];
  }
  for (size_t row = n; row-- > 0;) {
    for (size_t k = row + 1; k < n; ++k) {
      right[row] -= matrix[k * n + row] * right[k];
    }
    right[row] /= matrix[row * n + row];
  }
  return right;
}

}  // namespace

std::vector<double> FitLogistic(const LogisticData& data, double penalty) {
  TARA_CHECK(penalty > 0, "the fit may have no end without a penalty");
  TARA_CHECK(data.width > 0, "no inputs");
  const auto width = static_cast<size_t>(data.width);
  std::vector<double> weights(width);
  for (int step = 0; step < kMaxSteps; ++step) {
    std::vector<double> gradient(width);
    std::vector<double> curvature(width * width);  // [row, column], lower
    for (size_t j = 0; j < width; ++j) {
      gradient[j] = -penalty * weights[j];
      curvature[j * width + j] = penalty;
    }
    for (size_t i = 0; i < data.targets.size(); ++i) {
      const float* input = &data.inputs[i * width];
      const double chance = Chance(Dot(weights, input));
      const double error = data.targets[i] - chance;
      const double confidence = chance * (1 - chance);
      for (size_t row = 0; row < width; ++row) {
        if (input[row] == 0) continue;
        gradient[row] += error * input[row];
        const double scale = confidence * input[row];
        for (size_t column = 0; column <= row; ++column) {
          curvature[row * width + column] += scale * input[column];
        }
      }
    }
    const std::vector<double> change = Solve(curvature, gradient);
    double largest = 0;
    for (size_t j = 0; j < width; ++j) {
      weights[j] += change[j];
      largest = std::max(largest, std::abs(change[j]));
    }
    if (largest < kSmallStep) break;
  }
  return weights;
}

double LogisticLoss(const LogisticData& data,
                    absl::Span<const double> weights) {
  double sum = 0;
  for (size_t i = 0; i < data.targets.size(); ++i) {
    constexpr double kTiny = 1e-9;
    const double chance =
        std::clamp(Chance(Dot(weights, &data.inputs[i * weights.size()])),
                   kTiny, 1 - kTiny);
    const double target = data.targets[i];
    sum -= target * std::log(chance) + (1 - target) * std::log(1 - chance);
  }
  return sum / static_cast<double>(std::max<size_t>(1, data.targets.size()));
}

}  // namespace tara::eval
