#include "tara/eval/statistics/resampling.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "tara/base/check.h"

namespace tara::eval {

double Quantile(absl::Span<const double> sorted, double p) {
  TARA_CHECK(!sorted.empty(), "a quantile of nothing");
  TARA_CHECK(p >= 0 && p <= 1, "not a probability");
  const double h = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(h);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] +
         (h - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<double> BootstrapReplicates(int size, int replicates,
                                        const IndexStatistic& statistic,
                                        Random& random) {
  TARA_CHECK(size > 0 && replicates > 0, "nothing to draw from");
  std::vector<int> indices(size);
  std::vector<double> values(replicates);
  for (double& value : values) {
    for (int& index : indices) {
      index = static_cast<int>(random.Below(static_cast<uint32_t>(size)));
    }
    value = statistic(indices);
  }
  return values;
}

Interval BootstrapInterval(int size, int replicates,
                           const IndexStatistic& statistic, Random& random) {
  std::vector<double> values =
      BootstrapReplicates(size, replicates, statistic, random);
  std::sort(values.begin(), values.end());
  std::vector<int> sample(size);
  std::iota(sample.begin(), sample.end(), 0);
  return {statistic(sample), Quantile(values, 0.025), Quantile(values, 0.975)};
}

}  // namespace tara::eval
