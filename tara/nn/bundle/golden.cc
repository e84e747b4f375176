#include "tara/nn/bundle/golden.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tara/base/check.h"
#include "tara/base/json.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/encode/batch_encoder.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_learning.h"
#include "tara/nn/light/light_network.h"

namespace tara::nn {
namespace {

using Json = nlohmann::ordered_json;

// Any number would do; it is not that of other positions of random games.
constexpr uint64_t kGoldenSeed = 570;

GoldenPosition SeenCanonically(const State& state) {
  GoldenPosition position = {.state = state,
                             .symmetry = RepresentativeSymmetry(state),
                             .network_indices = {}};
  LegalActions(state).ForEach([&](Action action) {
    position.network_indices.push_back(
        Index(TransformAction(position.symmetry, action)));
  });
  return position;
}

// Adds one position from each of several random games, the first at its start,
// the last near its end.
void AddRandomPositions(const BundleVariant& variant,
                        std::vector<GoldenPosition>& positions) {
  for (int i = 0; i < kGoldenPositionsPerVariant; ++i) {
    const auto game =
        static_cast<uint64_t>(variant.variant) * kGoldenPositionsPerVariant +
        static_cast<uint64_t>(i);
    Random random(DeriveSeed(kGoldenSeed, game, StreamPurpose::kPlayouts));
    RuleOptions options = variant.options;
    for (const auto& [option, values] : variant.drawn) {
      option->set(options, values[static_cast<size_t>(i) % values.size()]);
    }
    std::vector<State> game_positions;
    for (State state = InitialState(variant.variant, options);
         !state.finished(); ApplyAction(RandomAction(state, random), state)) {
      game_positions.push_back(state);
    }
    const size_t last = game_positions.size() - 1;
    positions.push_back(
        SeenCanonically(game_positions[last * static_cast<size_t>(i) /
                                       (kGoldenPositionsPerVariant - 1)]));
  }
}

// Returns softmax of the logits.
std::vector<float> Probabilities(absl::Span<const float> logits) {
  const float most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  std::vector<double> powers;
  for (const float logit : logits) {
    powers.push_back(std::exp(double{logit} - most));
    sum += powers.back();
  }
  std::vector<float> probabilities;
  for (const double power : powers) {
    probabilities.push_back(static_cast<float>(power / sum));
  }
  return probabilities;
}

double Rounded(double value) {
  const double scale = std::pow(10.0, kExpectedDigits);
  return std::round(value * scale) / scale;
}

// The part that does not depend on the network.
Json ToJson(const GoldenPosition& position) {
  Json actions = Json::array(), indices = Json::array();
  LegalActions(position.state).ForEach([&](Action action) {
    actions.push_back(ActionToText(action, position.state));
    indices.push_back(Index(action));
  });
  Json json;
  json["variant"] = std::string(Info(position.state.variant).id);
  json["position"] = PositionToText(position.state);
  json["symmetry"] = {{"board", position.symmetry.board},
                      {"seat_shift", position.symmetry.seat_shift}};
  json["seen_as"] =
      PositionToText(TransformState(position.symmetry, position.state));
  json["actions"] = std::move(actions);
  json["action_indices"] = std::move(indices);
  json["network_indices"] = position.network_indices;
  return json;
}

Json ToJson(const mcts::Evaluation& evaluation) {
  Json priors = Json::array();
  for (const float prior : evaluation.priors) priors.push_back(Rounded(prior));
  return {{"priors", std::move(priors)},
          {"win", Rounded(evaluation.win)},
          {"draw", Rounded(evaluation.draw)},
          {"loss", Rounded(evaluation.loss)},
          {"margin", Rounded(evaluation.margin)}};
}

// Adds an entry of golden.json.
absl::Status ReadPosition(const Json& json, GoldenFile& golden) {
  TARA_ASSIGN_OR_RETURN(const State state,
                        ParsePosition(json.at("position").get<std::string>()));
  if (state.finished()) {
    return absl::InvalidArgumentError("the position is finished");
  }
  const GoldenPosition position = SeenCanonically(state);
  const Json whole = ToJson(position);
  for (const auto& [name, expected] : whole.items()) {
    const Json& found = json.at(name);
    if (found == expected) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, " of ", PositionToText(state), " is ",
                     Shown(found.dump()), "; expected ", expected.dump()));
  }
  const Json& answer = json.at("expected");
  mcts::Evaluation expected;
  expected.priors = answer.at("priors").get<std::vector<float>>();
  expected.win = answer.at("win");
  expected.draw = answer.at("draw");
  expected.loss = answer.at("loss");
  expected.margin = answer.at("margin");
  golden.positions.push_back(position);
  golden.expected.push_back(std::move(expected));
  return absl::OkStatus();
}

}  // namespace

std::vector<GoldenPosition> MakeGoldenPositions(
    absl::Span<const BundleVariant> variants) {
  std::vector<GoldenPosition> positions;
  for (const BundleVariant& variant : variants) {
    AddRandomPositions(variant, positions);
  }
  return positions;
}

GoldenTensors EncodeGoldenPositions(absl::Span<const GoldenPosition> positions,
                                    const InputCounts& counts) {
  GoldenTensors inputs = {.size = static_cast<int64_t>(positions.size()),
                          .counts = counts};
  std::vector<float> planes(size_t{kNumPlanes} * kNumSquares);
  std::vector<float> globals(kNumGlobals);
  for (const GoldenPosition& position : positions) {
    const LegalSet legal = LegalActions(position.state);
    EncodeBatch({.states = absl::MakeConstSpan(&position.state, 1),
                 .symmetries = absl::MakeConstSpan(&position.symmetry, 1),
                 .legal = absl::MakeConstSpan(&legal, 1)},
                {.layout = PlaneLayout::kChannelsFirst,
                 .planes = absl::MakeSpan(planes),
                 .globals = absl::MakeSpan(globals)});
    inputs.planes.insert(inputs.planes.end(), planes.begin(),
                         planes.begin() + counts.planes * kNumSquares);
    inputs.globals.insert(inputs.globals.end(), globals.begin(),
                          globals.begin() + counts.globals);
  }
  return inputs;
}

void HideIllegalActions(absl::Span<const GoldenPosition> positions,
                        GoldenTensors& outputs) {
  TARA_CHECK(outputs.policy.size() == positions.size() * kNumActions,
             "570 logits a position");
  for (size_t i = 0; i < positions.size(); ++i) {
    const auto row =
        outputs.policy.begin() + static_cast<ptrdiff_t>(i) * kNumActions;
    const std::vector<float> all(row, row + kNumActions);
    std::fill(row, row + kNumActions, std::numeric_limits<float>::quiet_NaN());
    for (const int index : positions[i].network_indices) {
      row[index] = all[static_cast<size_t>(index)];
    }
  }
}

absl::Status CheckFinite(absl::Span<const GoldenPosition> positions,
                         const GoldenTensors& outputs, bool with_owner) {
  for (const auto& info : NetworkOutputInfos(with_owner)) {
    const std::vector<float>& values = outputs.*info.values;
    const size_t width = values.size() / positions.size();
    const bool hides = info.values == &GoldenTensors::policy;
    for (size_t i = 0; i < values.size(); ++i) {
      const std::vector<int>& legal = positions[i / width].network_indices;
      const bool is_hidden =
          hides && std::find(legal.begin(), legal.end(),
                             static_cast<int>(i % width)) == legal.end();
      if (is_hidden ? std::isnan(values[i]) : std::isfinite(values[i])) {
        continue;
      }
      return absl::InvalidArgumentError(absl::StrCat(
          info.name, " is ", values[i], " at place ", i % width,
          " of position ", i / width, "; expected ",
          is_hidden ? "NaN, as for every illegal action" : "a finite number"));
    }
  }
  return absl::OkStatus();
}

mcts::Evaluation ToEvaluation(const GoldenPosition& position,
                              const GoldenTensors& outputs, size_t i) {
  std::vector<float> logits;
  for (const int index : position.network_indices) {
    logits.push_back(
        outputs.policy[i * kNumActions + static_cast<size_t>(index)]);
  }
  mcts::Evaluation evaluation;
  evaluation.priors = Probabilities(logits);
  const std::vector<float> results =
      Probabilities(absl::MakeConstSpan(outputs.result)
                        .subspan(i * kNumResults, kNumResults));
  evaluation.win = results[0];
  evaluation.draw = results[1];
  evaluation.loss = results[2];
  evaluation.margins =
      Probabilities(absl::MakeConstSpan(outputs.margins)
                        .subspan(i * kNumMargins, kNumMargins));
  double mean = 0;
  for (int m = 0; m < kNumMargins; ++m) {
    mean +=
        double{evaluation.margins[static_cast<size_t>(m)]} * (m - kMaxMargin);
  }
  evaluation.margin = static_cast<float>(mean);
  return evaluation;
}

std::string GoldenToJson(absl::Span<const GoldenPosition> positions,
                         const GoldenTensors& outputs) {
  std::string text = "{\"positions\": [\n";
  for (size_t i = 0; i < positions.size(); ++i) {
    Json json = ToJson(positions[i]);
    json["expected"] = ToJson(ToEvaluation(positions[i], outputs, i));
    absl::StrAppend(&text, json.dump(),
                    i + 1 < positions.size() ? ",\n" : "\n");
  }
  return text + "]}\n";
}

absl::StatusOr<GoldenFile> GoldenFromJson(absl::string_view text) {
  const absl::StatusOr<Json> json = ParseJson<Json>(text);
  if (!json.ok()) {
    return absl::DataLossError(
        absl::StrCat("golden.json: ", json.status().message()));
  }
  GoldenFile golden;
  absl::Status status;
  try {
    for (const Json& entry : json->at("positions")) {
      status = ReadPosition(entry, golden);
      if (!status.ok()) break;
    }
  } catch (const Json::exception& error) {
    status = absl::DataLossError(JsonProblem(error));
  }
  if (status.ok()) return golden;
  return absl::DataLossError(absl::StrCat("golden.json: position ",
                                          golden.expected.size(), ": ",
                                          status.message()));
}

namespace {

absl::Status ComputeLightOutputs(const Checkpoint& checkpoint,
                                 GoldenTensors& golden) {
  TARA_CHECK(golden.counts == InputCounts(), "all inputs of this program");
  TARA_RETURN_IF_ERROR(CheckLightShape(checkpoint.shape));
  const LightTensors tensors(checkpoint.shape.blocks);
  TARA_ASSIGN_OR_RETURN(const AlignedFloats parameters,
                        tensors.Read(checkpoint));
  const bool with_owner = HasLearned(checkpoint, Head::kOwner);
  LightInput input;
  std::vector<float> planes(size_t{kNumPlanes} * kNumSquares);
  const auto activations = std::make_unique<LightActivations>();
  for (int64_t i = 0; i < golden.size; ++i) {
    // From [planes, 7, 7] to [7, 7, planes].
    const float* const from =
        golden.planes.data() + i * kNumPlanes * kNumSquares;
    for (int plane = 0; plane < kNumPlanes; ++plane) {
      for (int square = 0; square < kNumSquares; ++square) {
        planes[static_cast<size_t>(square * kNumPlanes + plane)] =
            from[plane * kNumSquares + square];
      }
    }
    ReadLightInput(planes.data(), golden.globals.data() + i * kNumGlobals,
                   input);
    BestLightLearning().forward(tensors, parameters.data(), input,
                                kPolicyOutputs, *activations);
    const auto append = [](const float* values, int count,
                           std::vector<float>& to) {
      to.insert(to.end(), values, values + count);
    };
    append(activations->logits.data(), kNumActions, golden.policy);
    append(activations->value, kNumResults, golden.result);
    append(activations->value + kNumResults, kNumMargins, golden.margins);
    for (int owner = 0; with_owner && owner < kNumOwners; ++owner) {
      for (Hill hill = 0; hill < kNumHills; ++hill) {
        golden.owner.push_back(activations->owners[hill][owner]);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ComputeReferenceOutputs(const Checkpoint& checkpoint,
                                     GoldenTensors& tensors) {
  return checkpoint.shape.kind == NetworkKind::kLight
             ? ComputeLightOutputs(checkpoint, tensors)
             : ComputeTorchOutputs(checkpoint, tensors);
}

}  // namespace tara::nn
