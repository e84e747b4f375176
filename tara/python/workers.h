#ifndef TARA_PYTHON_WORKERS_H_
#define TARA_PYTHON_WORKERS_H_

// Threads and the GIL.

#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tara::python {

// Guards of the GIL, in place of pybind11's. When the interpreter ends, CPython
// before 3.14 unwinds threads that wait for the GIL. If they pass a destructor,
// the process is aborted, or the destructor runs without the GIL. These guards
// let such a thread wait for ever, as Python 3.14 does.

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

// Work on threads of our own, which never take the GIL: the thread that serves
// them calls Python for them. An evaluator or player therefore runs where
// Python called us: its contexts apply, and Ctrl-C raises in it.
class Workers {
 public:
  Workers() = default;
  // As Join. Needs the GIL.
  ~Workers() { Join(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Starts work(0), ..., work(threads - 1).
  void Start(int threads, const std::function<void(int)>& work);
  // Serves the work without the GIL until done(), called with the lock, returns
  // true, or the work has ended. Ctrl-C and exceptions, of the work or of its
  // calls, stop the work and are raised. Needs the GIL.
  void Serve(const std::function<bool()>& done);
  // Starts work, serves it until it has ended, and joins it. Needs the GIL. May
  // be called again, but not while it runs.
  void Run(int threads, const std::function<void(int)>& work);

  // For the work: has the serving thread call function() with the GIL, and
  // waits for it. Returns whether it has, without an exception: false once the
  // work is stopped.
  bool Call(const std::function<void()>& function);
  // For the work: calls act() with the lock, again after each change, until it
  // returns true. Returns false once the work is stopped.
  bool Await(const std::function<bool()>& act);

  // Stops the work. Calls that have begun go on.
  void Stop();
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // Whether a call is being made. REQUIRES: the lock, as in `done`.
  bool in_call() const { return calls_ > 0; }

 private:
  struct Request {
    const std::function<void()>& function;
    bool begun = false;
    bool over = false;
    bool done = false;  // and has not thrown
  };

  void Join();
  void Serve(Request* request);
  void Fail(const std::exception_ptr& error);

  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;                 // of what follows
  std::condition_variable wanted_;   // for Serve
  std::condition_variable changed_;  // for the work
  int running_ = 0;
  int calls_ = 0;
  std::deque<Request*> requests_;
  std::exception_ptr error_;  // the first that is not raised yet
  std::vector<std::thread> threads_;
};

}  // namespace tara::python

#endif  // TARA_PYTHON_WORKERS_H_
