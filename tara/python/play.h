#ifndef TARA_PYTHON_PLAY_H_
#define TARA_PYTHON_PLAY_H_

#include <pybind11/pybind11.h>

namespace tara::python {

// Whole games: tara.selfplay, tara.arena.
void DefinePlay(pybind11::module_& module);

}  // namespace tara::python

#endif  // TARA_PYTHON_PLAY_H_
