#include "tara/nn/bundle/golden.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/position_text.h"
#include "tara/core/random_action.h"
#include "tara/core/representative.h"
#include "tara/core/rules.h"
#include "tara/nn/encode/features.h"

namespace tara {
namespace {

using Json = nlohmann::ordered_json;

// Any number would do; it is not that of other positions of random games.
constexpr uint64_t kGoldenSeed = 570;

// Digits of a number in JSON: what people can compare. The tensors are exact.
constexpr int kDigits = 6;

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

// One position of each of as many random games, the first at its start, the
// last near its end.
void AddPositionsOf(const BundleVariant& variant,
                    std::vector<GoldenPosition>& positions) {
  for (int i = 0; i < kGoldenPositionsPerVariant; ++i) {
    const auto game =
        static_cast<uint64_t>(variant.variant) * kGoldenPositionsPerVariant +
        static_cast<uint64_t>(i);
    Random random(DeriveSeed(kGoldenSeed, game, StreamPurpose::kPlayouts));
    std::vector<State> game_positions;
    for (State state = InitialState(variant.variant, variant.options);
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
std::vector<float> Probabilities(const std::vector<float>& logits) {
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
  const double scale = std::pow(10.0, kDigits);
  return std::round(value * scale) / scale;
}

Json ToJson(const GoldenPosition& position, const Evaluation& evaluation) {
  Json actions = Json::array(), indices = Json::array(), priors = Json::array();
  LegalActions(position.state).ForEach([&](Action action) {
    actions.push_back(ActionToText(action));
    indices.push_back(Index(action));
  });
  for (const float prior : evaluation.priors) priors.push_back(Rounded(prior));
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
  json["expected"] = {{"priors", std::move(priors)},
                      {"win", Rounded(evaluation.win)},
                      {"draw", Rounded(evaluation.draw)},
                      {"loss", Rounded(evaluation.loss)},
                      {"margin", Rounded(evaluation.margin)}};
  return json;
}

absl::StatusOr<GoldenPosition> FromJson(const Json& json) {
  TARA_ASSIGN_OR_RETURN(const State state,
                        ParsePosition(json.at("position").get<std::string>()));
  if (state.finished()) {
    return absl::InvalidArgumentError("the position is finished");
  }
  const GoldenPosition expected = SeenCanonically(state);
  const Json& symmetry = json.at("symmetry");
  if (symmetry.at("board").get<int>() != expected.symmetry.board ||
      symmetry.at("seat_shift").get<int>() != expected.symmetry.seat_shift) {
    return absl::InvalidArgumentError(absl::StrCat(
        "symmetry is ", symmetry.dump(), "; this program sees ",
        PositionToText(state), " through board ", expected.symmetry.board,
        " and seat_shift ", expected.symmetry.seat_shift));
  }
  if (json.at("network_indices").get<std::vector<int>>() !=
      expected.network_indices) {
    return absl::InvalidArgumentError(
        "network_indices are others than those of the legal actions of " +
        PositionToText(state));
  }
  return expected;
}

}  // namespace

std::vector<GoldenPosition> MakeGoldenPositions(
    absl::Span<const BundleVariant> variants) {
  std::vector<GoldenPosition> positions;
  for (const BundleVariant& variant : variants) {
    AddPositionsOf(variant, positions);
  }
  return positions;
}

NetworkInputs EncodeGoldenPositions(
    absl::Span<const GoldenPosition> positions) {
  constexpr size_t kPlanesSize = size_t{kNumPlanes} * kNumSquares;
  NetworkInputs inputs = {
      .size = static_cast<int64_t>(positions.size()),
      .counts = {},
      .planes = std::vector<float>(positions.size() * kPlanesSize),
      .globals = std::vector<float>(positions.size() * kNumGlobals)};
  for (size_t i = 0; i < positions.size(); ++i) {
    EncodeFeatures(
        positions[i].state, positions[i].symmetry,
        absl::MakeSpan(inputs.planes).subspan(i * kPlanesSize, kPlanesSize),
        absl::MakeSpan(inputs.globals).subspan(i * kNumGlobals, kNumGlobals));
  }
  return inputs;
}

NetworkInputs FirstInputs(const NetworkInputs& inputs,
                          const InputCounts& counts) {
  NetworkInputs first = {
      .size = inputs.size, .counts = counts, .planes = {}, .globals = {}};
  for (int64_t i = 0; i < inputs.size; ++i) {
    const auto planes =
        inputs.planes.begin() + i * inputs.counts.planes * kNumSquares;
    const auto globals = inputs.globals.begin() + i * inputs.counts.globals;
    first.planes.insert(first.planes.end(), planes,
                        planes + counts.planes * kNumSquares);
    first.globals.insert(first.globals.end(), globals,
                         globals + counts.globals);
  }
  return first;
}

void HideIllegalActions(absl::Span<const GoldenPosition> positions,
                        NetworkOutputs& outputs) {
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

Evaluation ToEvaluation(const GoldenPosition& position,
                        const NetworkOutputs& outputs, size_t i) {
  std::vector<float> logits;
  for (const int index : position.network_indices) {
    logits.push_back(
        outputs.policy[i * kNumActions + static_cast<size_t>(index)]);
  }
  Evaluation evaluation;
  evaluation.priors = Probabilities(logits);
  const auto result = outputs.result.begin() + static_cast<ptrdiff_t>(i) * 3;
  const std::vector<float> results = Probabilities({result, result + 3});
  evaluation.win = results[0];
  evaluation.draw = results[1];
  evaluation.loss = results[2];
  const auto margins =
      outputs.margins.begin() + static_cast<ptrdiff_t>(i) * kNumMargins;
  evaluation.margins = Probabilities({margins, margins + kNumMargins});
  double mean = 0;
  for (int m = 0; m < kNumMargins; ++m) {
    mean +=
        double{evaluation.margins[static_cast<size_t>(m)]} * (m - kMaxMargin);
  }
  evaluation.margin = static_cast<float>(mean);
  return evaluation;
}

std::string GoldenToJson(absl::Span<const GoldenPosition> positions,
                         const NetworkOutputs& outputs) {
  std::string text = "{\"positions\": [\n";
  for (size_t i = 0; i < positions.size(); ++i) {
    absl::StrAppend(
        &text,
        ToJson(positions[i], ToEvaluation(positions[i], outputs, i)).dump(),
        i + 1 < positions.size() ? ",\n" : "\n");
  }
  return text + "]}\n";
}

absl::StatusOr<std::vector<GoldenPosition>> GoldenFromJson(
    absl::string_view text) {
  std::vector<GoldenPosition> positions;
  try {
    const Json json = Json::parse(text);
    for (const Json& entry : json.at("positions")) {
      absl::StatusOr<GoldenPosition> position = FromJson(entry);
      if (!position.ok()) {
        return absl::DataLossError(absl::StrCat("golden.json: position ",
                                                positions.size(), ": ",
                                                position.status().message()));
      }
      positions.push_back(*std::move(position));
    }
  } catch (const Json::exception& error) {
    return absl::DataLossError(absl::StrCat(
        "golden.json: position ", positions.size(), ": ", error.what()));
  }
  return positions;
}

}  // namespace tara
