#include "tara/python/workers.h"

#include <pybind11/pybind11.h>

#include <system_error>
#include <thread>
#include <vector>

#include "tara/python/gil.h"

namespace tara::python {

void Workers::Run(int threads, const std::function<void(int)>& work) {
  running_ = threads;
  const auto run = [&](int i) {
    try {
      work(i);
    } catch (const std::exception&) {  // no memory
      Fail(std::current_exception());
    }
    const std::lock_guard lock(mutex_);
    --running_;
    wanted_.notify_one();
  };
  {
    const ReleaseGil release;
    std::vector<std::thread> workers;
    try {
      for (int i = 0; i < threads; ++i) workers.emplace_back(run, i);
    } catch (const std::system_error&) {  // no more threads
      Fail(std::current_exception());
      const std::lock_guard lock(mutex_);
      running_ -= threads - static_cast<int>(workers.size());
    }
    std::unique_lock lock(mutex_);
    while (running_ > 0) {
      wanted_.wait_for(lock, kSignalPeriod,
                       [&] { return running_ == 0 || !requests_.empty(); });
      if (running_ == 0) break;
      Request* request = nullptr;
      if (!requests_.empty()) {
        request = requests_.front();
        requests_.pop_front();
      }
      lock.unlock();
      Serve(request);
      lock.lock();
      if (request == nullptr) continue;
      request->over = true;
      served_.notify_all();
    }
    lock.unlock();
    for (std::thread& worker : workers) worker.join();
  }
  if (error_ != nullptr) std::rethrow_exception(error_);
}

bool Workers::Call(const std::function<void()>& function) {
  Request request = {.function = &function};
  std::unique_lock lock(mutex_);
  if (stopped()) return false;
  requests_.push_back(&request);
  wanted_.notify_one();
  served_.wait(lock, [&] { return request.over; });
  return request.done;
}

// Does a request, or none, and looks for signals: a function that is not
// Python's does not.
void Workers::Serve(Request* request) {
  const AcquireGil acquire;
  try {
    if (request != nullptr && !stopped()) {
      (*request->function)();
      request->done = true;
    }
    int signals = 0;
    OrWaitForEver([&] { signals = PyErr_CheckSignals(); });
    if (signals != 0) throw pybind11::error_already_set();
  } catch (...) {
    Fail(std::current_exception());
  }
}

void Workers::Fail(const std::exception_ptr& error) {
  const std::lock_guard lock(mutex_);
  if (error_ == nullptr) error_ = error;
  stopped_ = true;
}

}  // namespace tara::python
