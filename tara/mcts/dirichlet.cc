#include "tara/mcts/dirichlet.h"

#include <cmath>
#include <vector>

#include "tara/base/check.h"

namespace tara {

double DrawGamma(double shape, Random& random) {
  TARA_CHECK(shape > 0, "the shape of a gamma distribution is positive");
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

std::vector<float> DrawDirichlet(double alpha, int size, Random& random) {
  TARA_CHECK(size > 0, "a Dirichlet distribution has a dimension");
  std::vector<double> draws(size);
  double total = 0;
  for (double& draw : draws) total += draw = DrawGamma(alpha, random);
  std::vector<float> result(size);
  for (int i = 0; i < size; ++i) {
    // All draws of a tiny alpha may underflow to 0.
    result[i] = static_cast<float>(total > 0 ? draws[i] / total : 1.0 / size);
  }
  return result;
}

}  // namespace tara
