#ifndef TARA_CORE_SVG_BOARD_H_
#define TARA_CORE_SVG_BOARD_H_

#include <optional>
#include <string>
#include <vector>

#include "tara/core/action.h"
#include "tara/core/state.h"

namespace tara {

struct SvgOptions {
  struct Weight {
    Action action;
    double weight;  // finite, 0 or more; in any unit
  };

  // The actions to mark: hills, kings with where they may go, and links. Pass
  // LegalActions(state) to show what is legal.
  LegalSet highlight = {};
  // The action that led to the position: ringed, with an arrow for a king.
  std::optional<Action> last = std::nullopt;
  // A policy, drawn as discs with percentages of the sum of weights. The
  // weights of actions to the same hill are added. Weights of 0 have no disc.
  std::vector<Weight> policy = {};
  // How wide it is where it is shown, in pixels; 0: as wide as its place.
  int width = 0;
};

// Returns a picture of the position as one SVG document of about 9 to 24 kB:
// the board as the page in the browser draws it, and below it the variant, the
// seat to move or the result, and what each side has. 848 units wide; it
// scales, with a background of its own. The same bytes for the same arguments.
// Without ids, scripts, style sheets and fonts, so that many fit into one page
// of HTML. For programs that read it: each ringfort is a <circle> of the group
// of class "tara-red-ringforts" or "tara-blue-ringforts", each bridge a <path>
// of "tara-red-bridges", each king a group "tara-red-king", with
// "tara-stranded" after it for a stranded one.
std::string SvgBoard(const State& state, const SvgOptions& options = {});

}  // namespace tara

#endif  // TARA_CORE_SVG_BOARD_H_
