#ifndef TARA_PYTHON_STATES_H_
#define TARA_PYTHON_STATES_H_

// Single positions and NumPy arrays of them, their network inputs, and actions
// in many positions.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/threads.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/batch_encoder.h"
#include "tara/python/arguments.h"

namespace tara::python {

// The position of a state, which Python cannot change.
struct PythonState {
  using PythonClass = void;

  State state;
};

// Returns the start of a variant. ValueError for one, or for options, that
// there are not.
PythonState NewState(const Text<"variant">& variant,
                     const Text<"options">& options);

// Returns tara.STATE, the NumPy type of the 64 bytes of a State.
pybind11::dtype StateType();

// Returns tara.Outcome of points as scored.
pybind11::object OutcomeToPython(int red_points, int blue_points,
                                 int compensation_halves,
                                 absl::string_view ended_by);

// The arrays of network inputs, float32: planes [n, kNumPlanes, 7, 7] (or
// [n, 7, 7, kNumPlanes]) and globals [n, kNumGlobals].
struct Features {
  pybind11::array_t<float> planes;
  pybind11::array_t<float> globals;
};

// Returns arrays for n positions: `out`, a pair of arrays, unless it is None.
Features FeatureArrays(const pybind11::object& out, pybind11::ssize_t n,
                       nn::PlaneLayout layout);

// Returns tara.Features of positions as Tara's own networks see them, each by
// its representative symmetry. In a finished one there is no phase, and nothing
// is legal; it is seen by its seat of `seats`, or by seat 0 if that is None.
pybind11::object EncodedFeatures(absl::Span<const State> states,
                                 const Text<"layout">& layout,
                                 const pybind11::object& out,
                                 const pybind11::object& seats, int threads);

// Returns a new array of the positions.
pybind11::array StateArray(absl::Span<const State> states);

// Positions of an argument: a copy, or memory of `NewStates`.
class StateList {
 public:
  explicit StateList(std::vector<State> states) : own_(std::move(states)) {}
  StateList(pybind11::array owner, absl::Span<const State> states)
      : owner_(std::move(owner)), borrowed_(states) {}

  absl::Span<const State> states() const {
    return owner_ ? borrowed_ : absl::MakeConstSpan(own_);
  }
  size_t size() const { return states().size(); }

 private:
  std::vector<State> own_;
  pybind11::object owner_;
  absl::Span<const State> borrowed_;
};

// A new array of possible positions, which Python cannot change: so it is not
// checked again when it is an argument.
class NewStates {
 public:
  explicit NewStates(size_t n) : size_(n), states_(new State[n]) {}

  State* data() { return states_.get(); }
  // Needs the GIL.
  pybind11::array ToPython() &&;

 private:
  size_t size_;
  std::unique_ptr<State[]> states_;
};

// Returns the positions in the argument `states`: an array of tara.STATE or a
// sequence of State. ValueError for an impossible one. Needs the GIL.
StateList StatesOf(const pybind11::object& states, int threads);

// The same; ValueError for a finished one, too.
std::vector<State> UnfinishedStatesOf(const pybind11::object& states);

// Returns [n, kNumActions], 1 for legal actions, in the array `out`, or in a
// new one if it is None.
pybind11::array_t<uint8_t> MaskArray(absl::Span<const State> states, bool seen,
                                     const pybind11::object& out, int threads);

// Returns the symmetry by which a network sees a position; of a finished one,
// that which changes nothing.
inline Symmetry SeenSymmetry(const State& state) {
  return state.finished() ? Symmetry{} : RepresentativeSymmetry(state);
}

// Returns the index of an action seen through a symmetry.
inline uint16_t SeenIndex(const Symmetry& symmetry, Action action) {
  return static_cast<uint16_t>(Index(TransformAction(symmetry, action)));
}

// Calls visit(index) for each legal action, in the order of actions on the
// position itself; with `seen` as a network sees it.
template <typename Visit>
void ForEachLegal(const State& state, bool seen, const Visit& visit) {
  const LegalSet legal = LegalActions(state);
  if (!seen) {
    legal.ForEach(
        [&](Action action) { visit(static_cast<uint16_t>(Index(action))); });
    return;
  }
  const Symmetry symmetry = SeenSymmetry(state);
  legal.ForEach([&](Action action) { visit(SeenIndex(symmetry, action)); });
}

// Calls run(first, end, part) for parts of n rows at the same time.
template <typename Run>
void RunInParts(int threads, size_t n, const Run& run) {
  const auto parts = static_cast<size_t>(threads);
  RunOnThreads(threads, [&](int part) {
    const auto p = static_cast<size_t>(part);
    run(n * p / parts, n * (p + 1) / parts, p);
  });
}

// Returns the first of n rows that `check` refuses, or n. Rows are checked in
// parts at the same time.
template <typename Check>
size_t FirstWrong(int threads, size_t n, const Check& check) {
  std::vector<size_t> wrong(static_cast<size_t>(threads), n);
  RunInParts(threads, n, [&](size_t first, size_t end, size_t part) {
    for (size_t row = first; row < end; ++row) {
      if (check(row)) continue;
      wrong[part] = row;
      return;
    }
  });
  return *std::min_element(wrong.begin(), wrong.end());
}

// The actions to play in n positions.
struct Moves {
  std::vector<uint16_t> actions;  // 0 where none is played
  std::vector<uint8_t> where;     // 1 for each position that one is played in
};

// Returns the argument `where`, bool [n]; ones for None.
std::vector<uint8_t> WhereOf(pybind11::ssize_t n,
                             const pybind11::object& where);

// Returns the arguments `actions`, integers [n], and `where`.
Moves MovesOf(pybind11::ssize_t n, const pybind11::object& actions,
              const pybind11::object& where);

// Makes the action of a row, on the position as it is seen, one on the position
// as it is.
void TurnBack(const State& state, Moves& moves, size_t row);

bool IsLegal(const State& state, uint16_t action);

// Returns why the action of a row is not legal: INVALID_ARGUMENT.
absl::Status IllegalMove(const State& state, const Moves& moves, size_t row);

}  // namespace tara::python

#endif  // TARA_PYTHON_STATES_H_
