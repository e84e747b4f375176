#ifndef TARA_PYTHON_MODULE_H_
#define TARA_PYTHON_MODULE_H_

// The parts of the module, and the classes that several of them use.

#include <pybind11/pybind11.h>

#include <memory>

#include "proto/game.pb.h"
#include "tara/record/game_store.h"

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

// tara.GameRecord.
struct PythonRecord {
  using PythonClass = void;

  proto::GameRecord record;
};

// tara._tara._Store. The store is null when it is closed.
struct PythonStore {
  using PythonClass = void;

  std::shared_ptr<record::GameStore> store;
};

}  // namespace tara::python

#endif  // TARA_PYTHON_MODULE_H_
