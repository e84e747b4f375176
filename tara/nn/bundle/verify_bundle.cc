#include "tara/nn/bundle/verify_bundle.h"

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
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/torchscript.h"
#include "tara/nn/bundle/zip_archive.h"
#include "tara/nn/cpu/cpu_evaluator.h"
#include "tara/nn/inference_options.h"

namespace tara::nn {
namespace {

// Of chances and margins in golden.json to those of its tensors: rounded there,
// after sums whose last bit is the processor's.
constexpr double kExpectedTolerance = 2e-6;

struct Golden {
  std::vector<GoldenPosition> positions;
  std::vector<mcts::Evaluation> expected;  // by golden.json
  NetworkInputs inputs;
  NetworkOutputs outputs;
};

template <typename Info, typename Values>
absl::Status ReadTensor(const Bundle& bundle, int64_t size, const Info& info,
                        Values& values) {
  const std::string entry = GoldenTensorEntry(info.name);
  TARA_ASSIGN_OR_RETURN(const std::string file, bundle.Read(entry));
  std::vector<int64_t> shape = {size};
  shape.insert(shape.end(), info.axes.begin(), info.axes.end());
  absl::StatusOr<std::vector<float>> read = FromNpy(file, shape);
  if (!read.ok()) {
    return absl::DataLossError(absl::StrCat(
        "Bundle ", bundle.path(), ": ", entry, " ", read.status().message()));
  }
  values.*info.values = *std::move(read);
  return absl::OkStatus();
}

absl::StatusOr<Golden> ReadGolden(const Bundle& bundle) {
  TARA_ASSIGN_OR_RETURN(const std::string text, bundle.Read(kGoldenEntry));
  absl::StatusOr<std::vector<GoldenPosition>> positions = GoldenFromJson(text);
  if (!positions.ok()) {
    return absl::DataLossError(absl::StrCat("Bundle ", bundle.path(), ": ",
                                            positions.status().message()));
  }
  Golden golden = {.positions = *std::move(positions),
                   .expected = {},
                   .inputs = {},
                   .outputs = {}};
  const auto size = static_cast<int64_t>(golden.positions.size());
  if (size == 0 || size != bundle.manifest().golden_positions()) {
    return absl::DataLossError(absl::StrCat(
        "Bundle ", bundle.path(), ": ", kGoldenEntry, " has ", size,
        " positions; expected ", bundle.manifest().golden_positions()));
  }
  absl::StatusOr<std::vector<mcts::Evaluation>> expected =
      ExpectedFromJson(text);
  if (!expected.ok()) {
    return absl::DataLossError(absl::StrCat("Bundle ", bundle.path(), ": ",
                                            expected.status().message()));
  }
  golden.expected = *std::move(expected);
  golden.inputs.size = size;
  golden.inputs.counts = bundle.manifest().inputs;
  for (const NetworkInputInfo& info : NetworkInputInfos(golden.inputs.counts)) {
    TARA_RETURN_IF_ERROR(ReadTensor(bundle, size, info, golden.inputs));
  }
  for (const NetworkOutputInfo& info :
       NetworkOutputInfos(bundle.manifest().has_owner)) {
    TARA_RETURN_IF_ERROR(ReadTensor(bundle, size, info, golden.outputs));
  }
  const absl::Status finite =
      CheckFinite(golden.positions, golden.outputs, bundle.manifest().has_owner,
                  /*hidden=*/true);
  if (!finite.ok()) {
    return absl::DataLossError(absl::StrCat("Bundle ", bundle.path(), ": ",
                                            "the golden ", finite.message()));
  }
  return golden;
}

// Returns |value - golden| / max(1, |golden|); what is no number is infinitely
// wrong.
double Difference(double value, double golden) {
  const double difference =
      std::abs(value - golden) / std::max(1.0, std::abs(golden));
  return std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                : difference;
}

// Golden values that are NaN are those of illegal actions (ReadGolden), and not
// looked at.
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

void Judge(double difference, FormCheck& check) {
  check.difference = difference;
  check.result = difference <= check.tolerance ? CheckResult::kAgrees
                                               : CheckResult::kDiffers;
}

// Fills the check by what was computed.
void Compare(const absl::StatusOr<NetworkOutputs>& outputs,
             const Golden& golden, bool has_owner, FormCheck& check) {
  if (!outputs.ok()) {
    check.note = std::string(outputs.status().message());
    check.result = absl::IsUnavailable(outputs.status())
                       ? CheckResult::kNotRun
                       : CheckResult::kDiffers;
    return;
  }
  double largest = 0;
  for (const NetworkOutputInfo& info : NetworkOutputInfos(has_owner)) {
    largest = std::max(largest, LargestDifference((*outputs).*info.values,
                                                  golden.outputs.*info.values));
  }
  Judge(largest, check);
}

double DifferenceOf(const mcts::Evaluation& value,
                    const mcts::Evaluation& golden) {
  double largest = std::max(LargestDifference(value.priors, golden.priors),
                            LargestDifference(value.margins, golden.margins));
  for (const auto& [got, expected] :
       {std::pair{value.win, golden.win}, std::pair{value.draw, golden.draw},
        std::pair{value.loss, golden.loss},
        std::pair{value.margin, golden.margin}}) {
    largest = std::max(largest, Difference(got, expected));
  }
  return largest;
}

FormCheck CheckInputs(const Golden& golden) {
  FormCheck check = {
      .name = "inputs", .what = "this program's encoder", .note = {}};
  const NetworkInputs encoded = FirstInputs(
      EncodeGoldenPositions(golden.positions), golden.inputs.counts);
  bool same = true;
  for (const NetworkInputInfo& info : NetworkInputInfos(golden.inputs.counts)) {
    const std::vector<float>& expected = golden.inputs.*info.values;
    const std::vector<float>& made = encoded.*info.values;
    for (size_t i = 0; i < expected.size(); ++i) {
      check.difference =
          std::max(check.difference, Difference(made[i], expected[i]));
      // Not by their values: -0 is 0, and NaN is nothing.
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

FormCheck CheckExpected(const Golden& golden) {
  FormCheck check = {.name = "expected",
                     .what = "golden.json, by the golden outputs",
                     .tolerance = kExpectedTolerance,
                     .note = {}};
  double largest = 0;
  for (size_t i = 0; i < golden.positions.size(); ++i) {
    mcts::Evaluation got = ToEvaluation(golden.positions[i], golden.outputs, i);
    got.margins.clear();  // golden.json has none
    largest = std::max(largest, DifferenceOf(got, golden.expected[i]));
  }
  Judge(largest, check);
  return check;
}

FormCheck CheckOneDnn(const Checkpoint& network, const Golden& golden) {
  FormCheck check = {.name = "onednn",
                     .what = "oneDNN in float32, with its weights",
                     .tolerance = kExactTolerance,
                     .note = {}};
  const absl::StatusOr<CpuEvaluator> made =
      NewCpuEvaluator(network, Precision::kFloat32);
  std::vector<State> states;
  for (const GoldenPosition& position : golden.positions) {
    states.push_back(position.state);
  }
  std::vector<mcts::Evaluation> results(states.size());
  const absl::Status status =
      made.ok() ? made->evaluator->Evaluate(states, absl::MakeSpan(results))
                : made.status();
  if (!status.ok()) {
    check.result = CheckResult::kDiffers;
    check.note = std::string(status.message());
    return check;
  }
  double largest = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    largest = std::max(
        largest, DifferenceOf(results[i], ToEvaluation(golden.positions[i],
                                                       golden.outputs, i)));
  }
  Judge(largest, check);
  return check;
}

}  // namespace

absl::StatusOr<std::vector<FormCheck>> VerifyBundle(const Bundle& bundle,
                                                    const OnnxRunner& run_onnx,
                                                    bool run_torchscript) {
  const bool has_owner = bundle.manifest().has_owner;
  TARA_ASSIGN_OR_RETURN(const Golden golden, ReadGolden(bundle));
  TARA_ASSIGN_OR_RETURN(const Checkpoint network, bundle.ReadNetwork());
  std::vector<FormCheck> checks = {CheckInputs(golden), CheckExpected(golden)};
  FormCheck torch = {.name = "libtorch",
                     .what = "LibTorch, with its weights",
                     .tolerance = kExactTolerance,
                     .note = {}};
  // With inputs that the bundle lacks: the network that was read has them, too.
  Compare(ComputeTorchOutputs(network, EncodeGoldenPositions(golden.positions)),
          golden, has_owner, torch);
  checks.push_back(std::move(torch));
  checks.push_back(CheckOneDnn(network, golden));
  for (const BundleForm& form : FormsOf(bundle.manifest().weights)) {
    const bool script = form.file == kTorchScriptEntry;
    FormCheck check = {
        .name = form.name,
        .what = absl::StrCat(form.file,
                             script ? " by LibTorch" : " by ONNX Runtime"),
        .tolerance = form.tolerance,
        .note = {}};
    TARA_ASSIGN_OR_RETURN(const std::string bytes, bundle.Read(form.file));
    if (script && !run_torchscript) {
      check.note =
          "TorchScript is a program, and runs with all rights of this one; "
          "not run unless that is asked for";
      checks.push_back(std::move(check));
      continue;
    }
    Compare(script ? RunTorchScript(bytes, golden.inputs, has_owner)
                   : run_onnx(bytes, golden.inputs, has_owner),
            golden, has_owner, check);
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace tara::nn
