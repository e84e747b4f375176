#include "tests/nn/witness/witness.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/verify_bundle.h"
#include "tara/nn/bundle/zip_archive.h"

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

}  // namespace tara::nn
