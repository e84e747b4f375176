#ifndef TARA_PYTHON_GIL_H_
#define TARA_PYTHON_GIL_H_

// Guards of the GIL, in place of pybind11's. When the interpreter ends, CPython
// before 3.14 unwinds threads that wait for the GIL. If they pass a destructor,
// the process is aborted, or the destructor runs without the GIL. These guards
// let such a thread wait for ever, as Python 3.14 does.

#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <optional>

namespace tara::python {

// Whether the interpreter is ending or has ended: only the thread that ends it
// has the GIL.
inline bool InterpreterEnds() { return Py_IsInitialized() == 0; }

[[noreturn]] inline void WaitForEver() {
  for (;;) pause();
}

// Calls call(), which takes the GIL or runs Python.
template <typename Function>
void OrWaitForEver(const Function& call) {
  try {
    call();
  } catch (abi::__forced_unwind&) {
    WaitForEver();
  }
}

// Calls a function in Python, so that nothing is destroyed where it is unwound.
template <typename... Values>
pybind11::object Call(pybind11::handle function, const Values&... values) {
  const pybind11::tuple arguments = pybind11::make_tuple(values...);
  PyObject* result = nullptr;
  OrWaitForEver(
      [&] { result = PyObject_CallObject(function.ptr(), arguments.ptr()); });
  if (result == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(result);
}

// Releases the GIL while it exists.
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

// Returns call(), which must not touch Python.
template <typename Function>
auto WithoutGil(const Function& call) {
  const ReleaseGil release;
  return call();
}

// Holds the GIL while it exists.
class AcquireGil {
 public:
  AcquireGil() {
    // The main thread ends it. Other threads would register with an
    // interpreter that no longer exists.
    if (InterpreterEnds() && gettid() != getpid()) WaitForEver();
    OrWaitForEver([this] { acquired_.emplace(); });
  }
  AcquireGil(const AcquireGil&) = delete;
  AcquireGil& operator=(const AcquireGil&) = delete;

 private:
  std::optional<pybind11::gil_scoped_acquire> acquired_;
};

}  // namespace tara::python

#endif  // TARA_PYTHON_GIL_H_
