#ifndef TARA_PYTHON_GIL_H_
#define TARA_PYTHON_GIL_H_

// Guards of the GIL, in place of pybind11's. When the interpreter ends, CPython
// before 3.14 unwinds threads that wait for the GIL; where they come through a
// destructor, the process is aborted. These let such a thread wait for ever, as
// Python 3.14 does.

#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <optional>

namespace tara::python {

// Calls call(), which takes the GIL or runs Python.
template <typename Function>
void OrWaitForEver(const Function& call) {
  try {
    call();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

// Without the GIL while it lives.
class ReleaseGil {
 public:
  ReleaseGil() : state_(PyEval_SaveThread()) {}
  ~ReleaseGil() {
    OrWaitForEver([this] { PyEval_RestoreThread(state_); });
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  PyThreadState* const state_;
};

// With the GIL while it lives.
class AcquireGil {
 public:
  AcquireGil() {
    OrWaitForEver([this] { acquired_.emplace(); });
  }
  AcquireGil(const AcquireGil&) = delete;
  AcquireGil& operator=(const AcquireGil&) = delete;

  pybind11::gil_scoped_acquire* operator->() { return &*acquired_; }

 private:
  std::optional<pybind11::gil_scoped_acquire> acquired_;
};

}  // namespace tara::python

#endif  // TARA_PYTHON_GIL_H_
