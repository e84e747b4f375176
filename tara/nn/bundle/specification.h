#ifndef TARA_NN_BUNDLE_SPECIFICATION_H_
#define TARA_NN_BUNDLE_SPECIFICATION_H_

// The specification of a network's inputs and outputs for readers without this
// code: as JSON and as a page, both from the tables of this program.

#include <array>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tara/core/action.h"
#include "tara/nn/bundle/manifest.h"

namespace tara::nn {

// The text of specification.json (docs/reference/bundle.md).
std::string SpecificationToJson(const BundleManifest& manifest);

// Returns DATA_LOSS unless a text of specification.json says what this
// program's does, in whatever words: programs take hills, actions, symmetries
// and the order of inputs and outputs from there. One made before inputs were
// appended lists those of the manifest.
absl::Status CheckSpecification(const BundleManifest& manifest,
                                absl::string_view text);

// The text of specification.html: one page that needs no other file.
std::string SpecificationToPage(const BundleManifest& manifest);

// Sentences that both forms of a specification hold.

inline constexpr absl::string_view kPerspectiveText =
    "The network always sees the seat to move as seat 0, and all that it says "
    "is for the side of that seat: \"own\" is its side, \"enemy\" the other. "
    "Never infer the side from the number of plies: turns of two actions, "
    "skipped turns and teams break that.";

inline constexpr absl::string_view kSymmetryText =
    "Before a position is encoded it is moved by a symmetry that takes the "
    "seat to move to seat 0: hill h goes to hill_transforms[board][h], what "
    "belongs to seat s to seat (s + seat_shift) modulo the number of seats; an "
    "odd shift swaps the colours. to_first_seat lists the symmetries for each "
    "variant and seat to move; each is right. A legal action a of the position "
    "has the logit policy[action_transforms[board][a]], hill h the owner "
    "owner[:, hill_transforms[board][h]].";

inline constexpr absl::string_view kNormalisationText =
    "Inputs are float32; a plane is 1 where its meaning holds and 0 elsewhere "
    "unless it says otherwise, and 0 off the board. Divisions are part of the "
    "meaning: \"divided by 45\" is done before the number goes in. Outputs are "
    "logits: probabilities by softmax, those of the policy over the legal "
    "actions alone.";

struct OutputText {
  absl::string_view name;
  absl::string_view meaning;
  absl::string_view normalisation;
  absl::string_view perspective;
};

inline constexpr std::array kOutputTexts = {
    OutputText{"policy", "how good each of the 570 actions is to play",
               "softmax over the legal actions alone",
               "the board as the network sees it: see action_transforms"},
    OutputText{"result", "win, draw, loss, in this order", "softmax",
               "of the side to move"},
    OutputText{"margins",
               "own minus enemy points at the end, from -47 to 47; the "
               "expected margin is their mean",
               "softmax", "of the side to move"},
    OutputText{"owner",
               "who owns each hill at the end: own, enemy or nobody, by hill",
               "softmax over the three, for each hill",
               "of the side to move; the board as the network sees it: see "
               "hill_transforms"},
};

// Of an action's kind, in specification.json.
inline absl::string_view ActionKindName(ActionKind kind) {
  constexpr std::array<absl::string_view, 5> kNames = {
      "hill", "king_move", "sacrifice", "link", "pass"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_SPECIFICATION_H_
