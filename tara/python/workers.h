#ifndef TARA_PYTHON_WORKERS_H_
#define TARA_PYTHON_WORKERS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>

namespace tara::python {

// How often threads that wait look for signals.
inline constexpr auto kSignalPeriod = std::chrono::milliseconds(50);

// Work on threads of our own, which Ctrl-C ends. They never have the GIL: what
// they want of Python, the thread that waits for them does. So a judge or a
// player is called where Python called us: its contexts hold, and Ctrl-C raises
// in it.
class Workers {
 public:
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls work(0), ..., work(threads - 1) at the same time and waits for them,
  // without the GIL. Ctrl-C stops them, and so do exceptions that they throw,
  // or functions of Call: the first of these is raised when all have returned.
  // Once. Needs the GIL.
  void Run(int threads, const std::function<void(int)>& work);

  // Has the waiting thread call function() with the GIL; waits for it. Returns
  // whether it has, and has not thrown: false once they are stopped.
  // REQUIRES: it is their work that calls, or a thread that this waits for.
  bool Call(const std::function<void()>& function);

  // Whether the work must end.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  void Stop() { stopped_ = true; }

 private:
  struct Request {
    const std::function<void()>* function;
    bool over = false;
    bool done = false;  // and has not thrown
  };

  void Serve(Request* request);
  void Fail(const std::exception_ptr& error);

  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable wanted_;  // a request, or no thread any more
  std::condition_variable served_;
  int running_ = 0;  // guarded by mutex_, as the next two
  std::deque<Request*> requests_;
  std::exception_ptr error_;  // the first
};

}  // namespace tara::python

#endif  // TARA_PYTHON_WORKERS_H_
