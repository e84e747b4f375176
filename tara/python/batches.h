#ifndef TARA_PYTHON_BATCHES_H_
#define TARA_PYTHON_BATCHES_H_

// The rules for many positions at once: functions of arrays of tara.STATE, and
// what tara.Games shares with them.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/base/threads.h"
#include "tara/core/state.h"

namespace tara::python {

// Calls run(first, end, part) for parts of n rows at the same time.
template <typename Run>
void RunInParts(int threads, size_t n, const Run& run) {
  const auto parts = static_cast<size_t>(threads);
  RunOnThreads(threads, [&](int part) {
    const auto p = static_cast<size_t>(part);
    run(n * p / parts, n * (p + 1) / parts, p);
  });
}

// The actions to play in n positions.
struct Moves {
  // Whatever integers there are where none is played.
  std::vector<uint16_t> actions;
  std::vector<uint8_t> where;  // 1 for each position that one is played in
};

// Returns the arguments `actions`, integers [n], and `where`, bool [n] or None.
Moves MovesOf(pybind11::ssize_t n, const pybind11::object& actions,
              const pybind11::object& where);

// Makes actions on the positions as they are seen those on the positions as
// they are, in the rows from `first` to `end`. Leaves alone what is no action.
void TurnBack(absl::Span<const State> states, size_t first, size_t end,
              Moves& moves);

// Whether the action of a row is legal.
bool IsLegal(const State& state, uint16_t action);

// Returns why the action of a row is not legal: INVALID_ARGUMENT.
absl::Status IllegalMove(const State& state, const Moves& moves, size_t row);

void DefineBatches(pybind11::module_& module);

}  // namespace tara::python

#endif  // TARA_PYTHON_BATCHES_H_
