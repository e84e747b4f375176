#ifndef TARA_NN_BUNDLE_GOLDEN_H_
#define TARA_NN_BUNDLE_GOLDEN_H_

// Golden positions: what a network was asked and what it said, kept with it, so
// that whoever runs it elsewhere can see that it is the same.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/bundle/network_outputs.h"

namespace tara::nn {

// A variant with the rules that a network has learned it by.
struct BundleVariant {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions options = {};
};

// Positions of each variant in a bundle.
inline constexpr int kGoldenPositionsPerVariant = 20;

struct GoldenPosition {
  State state;
  Symmetry symmetry;  // how the network sees it
  // Where the logits of the legal actions stand, in the order of
  // LegalSet::ForEach.
  std::vector<int> network_indices;

  friend bool operator==(const GoldenPosition&,
                         const GoldenPosition&) = default;
};

// Returns positions of each variant, one after the other, from the start to the
// end of random games: always the same.
std::vector<GoldenPosition> MakeGoldenPositions(
    absl::Span<const BundleVariant> variants);

// Returns the positions as a network sees them.
NetworkInputs EncodeGoldenPositions(absl::Span<const GoldenPosition> positions);

// Returns the first so many planes and globals of each position.
// REQUIRES: there are as many.
NetworkInputs FirstInputs(const NetworkInputs& inputs,
                          const InputCounts& counts);

// Replaces the logits of illegal actions by NaN: nobody should look at them.
void HideIllegalActions(absl::Span<const GoldenPosition> positions,
                        NetworkOutputs& outputs);

// Returns OK if all outputs are finite, but for the logits of illegal actions,
// which are NaN where they are `hidden`. Else INVALID_ARGUMENT, naming the
// output, the position and the place in its row, as in "policy is nan at place
// 3 of position 7".
absl::Status CheckFinite(absl::Span<const GoldenPosition> positions,
                         const NetworkOutputs& outputs, bool with_owner,
                         bool hidden);

// Returns what the outputs say of position i, as every evaluator of this
// program answers it.
mcts::Evaluation ToEvaluation(const GoldenPosition& position,
                              const NetworkOutputs& outputs, size_t i);

// The text of golden.json (docs/bundle.md), and back. Returns DATA_LOSS naming
// the position that is wrong, and how: where anything but what is expected is
// other than this program would write for the position.
std::string GoldenToJson(absl::Span<const GoldenPosition> positions,
                         const NetworkOutputs& outputs);
absl::StatusOr<std::vector<GoldenPosition>> GoldenFromJson(
    absl::string_view text);

// Digits after the point of what is expected in golden.json: what people can
// compare. The tensors are exact.
inline constexpr int kExpectedDigits = 6;

// Returns what the text of golden.json expects of each position, without the
// distribution of margins. Returns DATA_LOSS as GoldenFromJson. REQUIRES: that
// reads the text.
absl::StatusOr<std::vector<mcts::Evaluation>> ExpectedFromJson(
    absl::string_view text);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_GOLDEN_H_
