#include "tara/mcts/tree/temper_priors.h"

#include <cmath>
#include <cstddef>

#include "tara/base/check.h"

namespace tara::mcts {

void TemperPriors(absl::Span<const float> priors, float temperature,
                  absl::Span<float> tempered) {
  TARA_CHECK(temperature > 0, "a temperature is positive");
  TARA_CHECK(priors.size() == tempered.size(), "a place for each prior");
  float sum = 0;
  for (size_t i = 0; i < priors.size(); ++i) {
    tempered[i] = std::pow(priors[i], 1 / temperature);
    sum += tempered[i];
  }
  TARA_CHECK(sum > 0, "some action has a chance");
  for (float& prior : tempered) prior /= sum;
}

}  // namespace tara::mcts
