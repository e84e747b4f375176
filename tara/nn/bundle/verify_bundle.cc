#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/base/casts.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/nn/cpu/cpu_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/light/light.h"

namespace tara::nn {
namespace {

// Tolerance of chances and margins in golden.json, which are rounded and are
// sums whose last bit depends on the processor.
constexpr double kExpectedTolerance = 2e-6;

// Tolerance of a light network in integers: mean differences of values and
// priors.
constexpr double kIntegerTolerance = 0.05;

struct Golden : GoldenFile {
  GoldenTensors tensors;
  std::vector<State> states;                  // of the positions
  std::vector<mcts::Evaluation> evaluations;  // by the outputs
};

absl::StatusOr<Golden> ReadGolden(const Bundle& bundle) {
  const BundleManifest& manifest = bundle.manifest();
  Golden golden;
  TARA_ASSIGN_OR_RETURN(static_cast<GoldenFile&>(golden), bundle.ReadGolden());
  GoldenTensors& tensors = golden.tensors;
  tensors.size = static_cast<int64_t>(golden.positions.size());
  tensors.counts = manifest.inputs;
  for (const TensorInfo& info :
       GoldenTensorInfos(manifest.inputs, manifest.has_owner)) {
    const std::string entry = GoldenTensorEntry(info.name);
    TARA_ASSIGN_OR_RETURN(const std::string bytes, bundle.Read(entry));
    TARA_ASSIGN_OR_RETURN(
        tensors.*info.values,
        bundle.OrDamage(FromNpy(bytes, info.Shape(tensors.size)),
                        absl::StrCat(entry, " ")));
  }
  TARA_RETURN_IF_ERROR(bundle.OrDamage(
      CheckFinite(golden.positions, tensors, manifest.has_owner),
      "the golden "));
  for (size_t i = 0; i < golden.positions.size(); ++i) {
    golden.states.push_back(golden.positions[i].state);
    golden.evaluations.push_back(ToEvaluation(golden.positions[i], tensors, i));
  }
  return golden;
}

// Returns |value - golden| / max(1, |golden|); infinite if a value is not a
// number.
double Difference(double value, double golden) {
  const double difference =
      std::abs(value - golden) / std::max(1.0, std::abs(golden));
  return std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                : difference;
}

// Skips golden values that are NaN: they belong to illegal actions
// (ReadGolden).
double LargestDifference(const std::vector<float>& values,
                         const std::vector<float>& golden) {
  if (values.size() != golden.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double largest = 0;
  for (size_t i = 0; i < golden.size(); ++i) {
    if (std::isnan(golden[i])) continue;
    largest = std::max(largest, Difference(values[i], golden[i]));
  }
  return largest;
}

double LargestDifference(const std::vector<mcts::Evaluation>& values,
                         const std::vector<mcts::Evaluation>& golden) {
  double largest = 0;
  for (size_t i = 0; i < golden.size(); ++i) {
    const mcts::Evaluation& a = values[i];
    const mcts::Evaluation& b = golden[i];
    largest =
        std::max({largest, LargestDifference(a.priors, b.priors),
                  LargestDifference(a.margins, b.margins),
                  Difference(a.win, b.win), Difference(a.draw, b.draw),
                  Difference(a.loss, b.loss), Difference(a.margin, b.margin)});
  }
  return largest;
}

// Fills in the check from the difference, or from its error.
FormCheck Judged(FormCheck check, const absl::StatusOr<double>& difference) {
  if (difference.ok()) {
    check.difference = *difference;
    check.result = *difference <= check.tolerance ? CheckResult::kAgrees
                                                  : CheckResult::kDiffers;
  } else {
    check.note = std::string(difference.status().message());
    check.result = absl::IsUnavailable(difference.status())
                       ? CheckResult::kNotRun
                       : CheckResult::kDiffers;
  }
  return check;
}

FormCheck CheckInputs(const Golden& golden) {
  FormCheck check = {.name = "inputs", .computed_by = "this program's encoder"};
  const GoldenTensors encoded =
      EncodeGoldenPositions(golden.positions, golden.tensors.counts);
  bool same = true;
  for (const auto& info : NetworkInputInfos(golden.tensors.counts)) {
    const std::vector<float>& expected = golden.tensors.*info.values;
    const std::vector<float>& made = encoded.*info.values;
    for (size_t i = 0; i < expected.size(); ++i) {
      check.difference =
          std::max(check.difference, Difference(made[i], expected[i]));
      // Compares bits, because -0 equals 0 and NaN equals nothing.
      same = same && absl::bit_cast<uint32_t>(made[i]) ==
                         absl::bit_cast<uint32_t>(expected[i]);
    }
  }
  check.result = same ? CheckResult::kAgrees : CheckResult::kDiffers;
  if (!same && check.difference == 0) {
    check.note = "zeros have other signs";
  }
  return check;
}

double DifferenceOfExpected(const Golden& golden) {
  std::vector<mcts::Evaluation> evaluations = golden.evaluations;
  // golden.json has none.
  for (mcts::Evaluation& evaluation : evaluations) evaluation.margins.clear();
  return LargestDifference(evaluations, golden.expected);
}

absl::StatusOr<double> DifferenceInFloats(const Checkpoint& network,
                                          const Golden& golden,
                                          bool has_owner) {
  // Includes inputs that the bundle lacks, because the network that was read
  // has them.
  GoldenTensors computed = EncodeGoldenPositions(golden.positions);
  TARA_RETURN_IF_ERROR(ComputeReferenceOutputs(network, computed));
  double largest = 0;
  for (const auto& info : NetworkOutputInfos(has_owner)) {
    largest = std::max(largest, LargestDifference(computed.*info.values,
                                                  golden.tensors.*info.values));
  }
  return largest;
}

// Of what players use: of a light network, in integers, mean differences.
absl::StatusOr<double> DifferenceInPlay(const Checkpoint& network,
                                        const Golden& golden) {
  const bool is_light = network.shape.kind == NetworkKind::kLight;
  TARA_ASSIGN_OR_RETURN(const auto evaluator, is_light
                                                  ? NewLightEvaluator(network)
                                                  : NewCpuEvaluator(network));
  std::vector<mcts::Evaluation> results(golden.states.size());
  TARA_RETURN_IF_ERROR(
      evaluator->Evaluate(golden.states, absl::MakeSpan(results)));
  if (!is_light) return LargestDifference(results, golden.evaluations);
  const EvaluationError error = ErrorOf(golden.evaluations, results);
  return std::max(error.value, error.policy);
}

// The checks of the weights, computed by this program.
std::vector<FormCheck> CheckWeights(const Checkpoint& network,
                                    const Golden& golden, bool has_owner) {
  const auto floats = DifferenceInFloats(network, golden, has_owner);
  const auto in_play = DifferenceInPlay(network, golden);
  const bool is_light = network.shape.kind == NetworkKind::kLight;
  return {
      Judged({.name = is_light ? "float32" : "libtorch",
              .computed_by = is_light ? "layers in float32, with its weights"
                                      : "LibTorch, with its weights",
              .tolerance = kExactTolerance},
             floats),
      Judged({.name = is_light ? "int8" : "tara",
              .computed_by = is_light
                                 ? "integers, as players use; mean difference"
                                 : "Tara's kernels in float32, as players use",
              .tolerance = is_light ? kIntegerTolerance : kExactTolerance},
             in_play)};
}

}  // namespace

absl::StatusOr<std::vector<FormCheck>> VerifyBundle(const Bundle& bundle) {
  const BundleManifest& manifest = bundle.manifest();
  TARA_ASSIGN_OR_RETURN(const Golden golden, ReadGolden(bundle));
  TARA_ASSIGN_OR_RETURN(const Checkpoint network, bundle.ReadNetwork());
  std::vector<FormCheck> checks = {
      CheckInputs(golden),
      Judged({.name = "expected",
              .computed_by = "golden.json, by the golden outputs",
              .tolerance = kExpectedTolerance},
             DifferenceOfExpected(golden))};
  for (FormCheck& check : CheckWeights(network, golden, manifest.has_owner)) {
    checks.push_back(std::move(check));
  }
  TARA_ASSIGN_OR_RETURN(const std::string source, bundle.Read(kOnnxEntry));
  for (const BundleForm& form : FormsOf(manifest.weights)) {
    TARA_ASSIGN_OR_RETURN(const std::string model, bundle.Read(form.file));
    const absl::Status status =
        CheckOnnxModel(model, source, manifest.shape, form.weights);
    checks.push_back(Judged(
        {.name = form.name,
         .computed_by =
             absl::StrCat(form.file, ", node by node, with its weights")},
        status.ok() ? absl::StatusOr<double>(0.0) : status));
  }
  return checks;
}

}  // namespace tara::nn
