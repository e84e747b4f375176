// The extension module tara._tara. What users see, with its documentation and
// types, is python/tara.

#include "tara/python/module.h"

#include <google/protobuf/stubs/logging.h>
#include <pybind11/pybind11.h>

#include <string>

#include "absl/synchronization/mutex.h"
#include "tara/base/version.h"
#include "tara/core/action.h"
#include "tara/core/variant.h"
#include "tara/nn/encode/features.h"

PYBIND11_MODULE(_tara, module) {
  namespace py = pybind11;
  // In Debian's Abseil every lock of a mutex takes one of all threads, too, to
  // follow the order of locks: a fork made meanwhile could lock nothing.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Messages that cannot be parsed are exceptions here, which say so.
  google::protobuf::SetLogHandler(nullptr);
  py::list variants;
  for (const tara::VariantInfo& info : tara::kVariants) {
    variants.append(std::string(info.id));
  }
  module.attr("VARIANTS") = py::tuple(variants);
  module.attr("NUM_ACTIONS") = tara::kNumActions;
  module.attr("NUM_PLANES") = tara::nn::kNumPlanes;
  module.attr("NUM_GLOBALS") = tara::nn::kNumGlobals;
  module.attr("__version__") = tara::kVersion;
  tara::python::DefineStates(module);
  tara::python::DefineBatches(module);
  tara::python::DefineGames(module);
  tara::python::DefineRecords(module);
  tara::python::DefineEvaluators(module);
  tara::python::DefineSearch(module);
  tara::python::DefinePlay(module);
}
