#include "tara/mcts/choice/dirichlet.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tara/base/check.h"

namespace tara::mcts {

double DrawGamma(double shape, Random& random) {
  TARA_CHECK(shape > 0, "the shape must be > 0");
  if (shape < 1) {
    // gamma(a) = gamma(a + 1) * u^(1 / a)
    const double boost = std::pow(1.0 - random.Uniform(), 1.0 / shape);
    return DrawGamma(shape + 1, random) * boost;
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = random.Normal();
    const double v = std::pow(1.0 + c * x, 3);
    if (v <= 0) continue;
    const double u = 1.0 - random.Uniform();  // in (0, 1]
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

std::vector<float> DrawDirichlet(absl::Span<const double> alphas,
                                 Random& random) {
  TARA_CHECK(!alphas.empty(), "expected at least one dimension");
  std::vector<double> draws;
  draws.reserve(alphas.size());
  double total = 0;
  for (const double alpha : alphas) {
    draws.push_back(DrawGamma(alpha, random));
    total += draws.back();
  }
  const double even = 1.0 / static_cast<double>(alphas.size());
  std::vector<float> result;
  result.reserve(alphas.size());
  for (const double draw : draws) {
    // All draws of tiny parameters may underflow to 0.
    result.push_back(static_cast<float>(total > 0 ? draw / total : even));
  }
  return result;
}

std::vector<float> DrawDirichlet(double alpha, int size, Random& random) {
  TARA_CHECK(size > 0, "expected at least one dimension");
  return DrawDirichlet(std::vector<double>(size, alpha), random);
}

std::vector<float> DrawRootNoise(const RootNoiseOptions& options,
                                 absl::Span<const float> priors,
                                 Random& random) {
  TARA_CHECK(!priors.empty(), "expected at least one action");
  if (options.shaped) {
    return DrawDirichlet(ShapedAlphas(options.concentration, priors), random);
  }
  return DrawDirichlet(
      options.concentration / static_cast<float>(priors.size()),
      static_cast<int>(priors.size()), random);
}

std::vector<double> ShapedAlphas(double concentration,
                                 absl::Span<const float> priors) {
  constexpr double kHighest = 0.01;
  constexpr double kLowest = 1e-20;  // keeps logarithms finite
  const auto count = static_cast<double>(priors.size());
  std::vector<double> alphas;
  alphas.reserve(priors.size());
  double mean = 0;
  for (const float prior : priors) {
    alphas.push_back(std::log(std::clamp<double>(prior, kLowest, kHighest)));
    mean += alphas.back() / count;
  }
  double total = 0;
  for (double& alpha : alphas) {
    alpha = std::max(0.0, alpha - mean);
    total += alpha;
  }
  // Equal logarithms differ from their mean only by rounding.
  const bool even = total < 1e-9 * count;
  for (double& alpha : alphas) {
    const double share = even ? 1 / count : alpha / total;
    alpha = concentration * (0.5 / count + 0.5 * share);
  }
  return alphas;
}

}  // namespace tara::mcts
