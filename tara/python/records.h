#ifndef TARA_PYTHON_RECORDS_H_
#define TARA_PYTHON_RECORDS_H_

// Played games: records, stores, and the learner's samples of them.

#include <pybind11/pybind11.h>

#include <memory>

#include "proto/game.pb.h"
#include "tara/python/arguments.h"
#include "tara/record/game_store.h"

namespace tara::python {

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

#endif  // TARA_PYTHON_RECORDS_H_
