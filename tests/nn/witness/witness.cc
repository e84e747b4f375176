#include "tests/nn/witness/witness.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/nn/inference/network_evaluator.h"

namespace tara::nn {

WitnessAnswers ReadWitnessAnswers() {
  const Bundle bundle = Bundle::Open(kWitnessBundle).value();
  const std::vector<GoldenPosition> positions =
      bundle.ReadGolden().value().positions;
  const auto size = static_cast<int64_t>(positions.size());
  GoldenTensors outputs;
  for (const auto& info : NetworkOutputInfos(bundle.manifest().has_owner)) {
    outputs.*info.values =
        FromNpy(bundle.Read(GoldenTensorEntry(info.name)).value(),
                info.Shape(size))
            .value();
  }
  WitnessAnswers answers;
  for (size_t i = 0; i < positions.size(); ++i) {
    answers.states.push_back(positions[i].state);
    answers.expected.push_back(ToEvaluation(positions[i], outputs, i));
  }
  return answers;
}

void ExpectBothAnswer(const WitnessAnswers& answers, InferenceBackend backend) {
  for (const char* path : {kWitnessCheckpoint, kWitnessBundle}) {
    const auto evaluator = LoadNetworkEvaluator(
        path, {.backend = backend, .precision = Precision::kFloat32});
    ASSERT_TRUE(evaluator.ok()) << evaluator.status();
    ExpectAnswers(answers, **evaluator);
  }
}

int AgreeingForms() {
  const auto checks = VerifyBundle(Bundle::Open(kWitnessBundle).value());
  EXPECT_TRUE(checks.ok()) << checks.status();
  if (!checks.ok()) return 0;
  int agree = 0;
  for (const FormCheck& check : *checks) {
    EXPECT_NE(check.result, CheckResult::kDiffers) << check.name;
    agree += check.result == CheckResult::kAgrees;
  }
  return agree;
}

}  // namespace tara::nn
