#include "tara/eval/balance/first_actions.h"

#include <array>
#include <cstddef>

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

std::vector<std::vector<Action>> ActionsByClass(const State& state) {
  const std::vector<int> class_of = ActionClasses(state);
  std::vector<std::vector<Action>> classes;
  size_t place = 0;
  LegalActions(state).ForEach([&](Action action) {
    const auto number = static_cast<size_t>(class_of[place++]);
    if (number == classes.size()) classes.emplace_back();
    classes[number].push_back(action);
  });
  return classes;
}

}  // namespace tara::eval
