#ifndef TARA_PYTHON_MODULE_H_
#define TARA_PYTHON_MODULE_H_

#include <pybind11/pybind11.h>

namespace tara::python {

void DefineStates(pybind11::module_& module);
// The rules for many positions at once: functions of arrays of tara.STATE.
void DefineBatches(pybind11::module_& module);
void DefineGames(pybind11::module_& module);
// Records, stores, and the learner's samples of them.
void DefineRecords(pybind11::module_& module);
// Networks: tara.Network.
void DefineEvaluators(pybind11::module_& module);
// Searches: tara.search, tara.Search.
void DefineSearch(pybind11::module_& module);
// Whole games: tara.selfplay, tara.arena.
void DefinePlay(pybind11::module_& module);

}  // namespace tara::python

#endif  // TARA_PYTHON_MODULE_H_
