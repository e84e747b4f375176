#include "tests/nn/witness/witness.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/verify_bundle.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/nn/inference/network_evaluator.h"

namespace tara::nn {

std::vector<WitnessAnswer> WitnessAnswers() {
  const Bundle bundle = Bundle::Open(kWitnessBundle).value();
  const std::vector<GoldenPosition> positions =
      GoldenFromJson(bundle.Read(kGoldenEntry).value()).value();
  const auto size = static_cast<int64_t>(positions.size());
  NetworkOutputs outputs;
  for (const NetworkOutputInfo& info :
       NetworkOutputInfos(bundle.manifest().has_owner)) {
    std::vector<int64_t> shape = {size};
    shape.insert(shape.end(), info.axes.begin(), info.axes.end());
    outputs.*info.values =
        FromNpy(bundle.Read(GoldenTensorEntry(info.name)).value(), shape)
            .value();
  }
  std::vector<WitnessAnswer> answers;
  for (size_t i = 0; i < positions.size(); ++i) {
    answers.push_back(
        {positions[i].state, ToEvaluation(positions[i], outputs, i)});
  }
  return answers;
}

void ExpectBothAnswer(const std::vector<WitnessAnswer>& answers,
                      InferenceBackend backend) {
  for (const char* path : {kWitnessCheckpoint, kWitnessBundle}) {
    const auto evaluator = LoadNetworkEvaluator(
        path, {.backend = backend, .precision = Precision::kFloat32});
    ASSERT_TRUE(evaluator.ok()) << evaluator.status();
    ExpectAnswers(answers, **evaluator);
  }
}

int AgreeingForms(bool run_torchscript) {
  const auto checks = VerifyBundle(
      Bundle::Open(kWitnessBundle).value(),
      [](const std::string&, const NetworkInputs&, bool) {
        return absl::UnavailableError("not in this test");
      },
      run_torchscript);
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
