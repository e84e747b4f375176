#include "tara/eval/balance/action_classes.h"

#include <algorithm>
#include <array>

#include "tara/core/legal_set.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"

namespace tara::eval {

std::vector<int> ActionClasses(const State& state) {
  std::vector<Symmetry> kept;
  for (const Symmetry& symmetry : GameSymmetries(state.variant)) {
    if (TransformState(symmetry, state) == state) kept.push_back(symmetry);
  }
  std::array<int, kNumActions> class_of;
  class_of.fill(-1);
  std::vector<int> classes;
  int next = 0;
  LegalActions(state).ForEach([&](Action action) {
    if (class_of[Index(action)] < 0) {
      for (const Symmetry& symmetry : kept) {
        class_of[Index(TransformAction(symmetry, action))] = next;
      }
      ++next;
    }
    classes.push_back(class_of[Index(action)]);
  });
  return classes;
}

std::vector<Action> CanonicalLine(Variant variant,
                                  absl::Span<const Action> actions) {
  std::vector<Action> least(actions.begin(), actions.end());
  for (const Symmetry& symmetry : GameSymmetries(variant)) {
    std::vector<Action> line;
    for (const Action action : actions) {
      line.push_back(TransformAction(symmetry, action));
    }
    if (std::lexicographical_compare(
            line.begin(), line.end(), least.begin(), least.end(),
            [](Action x, Action y) { return Index(x) < Index(y); })) {
      least = std::move(line);
    }
  }
  return least;
}

}  // namespace tara::eval
