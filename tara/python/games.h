#ifndef TARA_PYTHON_GAMES_H_
#define TARA_PYTHON_GAMES_H_

#include <pybind11/pybind11.h>

namespace tara::python {

// Many games of one variant in step: tara.Games.
void DefineGames(pybind11::module_& module);

}  // namespace tara::python

#endif  // TARA_PYTHON_GAMES_H_
