#include "tara/python/workers.h"

#include <pthread.h>

#include <chrono>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace tara::python {

// How often a thread that serves looks for signals.
constexpr auto kSignalPeriod = std::chrono::milliseconds(50);

void Workers::Start(int threads, const std::function<void(int)>& work) {
  if (!threads_.empty()) {
    throw std::runtime_error("another call runs; expected one at a time");
  }
  running_ = threads;
  stopped_ = false;
  try {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, work, i] {
        // As debuggers and `top` show it, and the threads that it starts.
        pthread_setname_np(pthread_self(), "tara");
        try {
          work(i);
        } catch (const std::exception&) {  // no memory
          Fail(std::current_exception());
        }
        const std::lock_guard lock(mutex_);
        --running_;
        wanted_.notify_all();
      });
    }
  } catch (const std::system_error&) {  // no more threads
    Fail(std::current_exception());
    const std::lock_guard lock(mutex_);
    running_ -= threads - static_cast<int>(threads_.size());
  }
}

void Workers::Serve(const std::function<bool()>& done) {
  std::exception_ptr error;
  {
    const ReleaseGil release;
    std::unique_lock lock(mutex_);
    while (error_ == nullptr && !done() && running_ > 0) {
      if (requests_.empty()) wanted_.wait_for(lock, kSignalPeriod);
      Request* request = nullptr;
      if (!requests_.empty()) {
        request = requests_.front();
        request->begun = true;
        requests_.pop_front();
        ++calls_;
      }
      lock.unlock();
      Serve(request);
      lock.lock();
      if (request == nullptr) continue;
      request->over = true;
      --calls_;
      changed_.notify_all();
    }
    error = std::exchange(error_, nullptr);
    changed_.notify_all();  // done() may have changed something
  }
  if (error != nullptr) std::rethrow_exception(error);
}

// Does a request, or none, and looks for signals: a function that is not
// Python's does not.
void Workers::Serve(Request* request) {
  const AcquireGil acquire;
  try {
    if (request != nullptr) {
      request->function();
      request->done = true;
    }
    int signals = 0;
    OrWaitForEver([&] { signals = PyErr_CheckSignals(); });
    if (signals != 0) throw pybind11::error_already_set();
  } catch (...) {
    Fail(std::current_exception());
  }
}

void Workers::Run(int threads, const std::function<void(int)>& work) {
  Start(threads, work);
  try {
    Serve([] { return false; });
  } catch (...) {
    Join();  // The work refers to the caller's variables.
    throw;
  }
  Join();
}

bool Workers::Call(const std::function<void()>& function) {
  Request request = {.function = function};
  std::unique_lock lock(mutex_);
  requests_.push_back(&request);
  wanted_.notify_all();
  changed_.wait(lock,
                [&] { return request.over || (stopped() && !request.begun); });
  if (!request.begun) std::erase(requests_, &request);
  return request.done;
}

bool Workers::Await(const std::function<bool()>& act) {
  std::unique_lock lock(mutex_);
  bool acted = false;
  changed_.wait(lock, [&] { return stopped() || (acted = act()); });
  wanted_.notify_all();
  return acted;
}

void Workers::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void Workers::Fail(const std::exception_ptr& error) {
  Stop();
  const std::lock_guard lock(mutex_);
  if (error_ == nullptr) error_ = error;
  wanted_.notify_all();
}

void Workers::Join() {
  Stop();
  if (threads_.empty()) return;
  const ReleaseGil release;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace tara::python
