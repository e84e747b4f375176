#ifndef TARA_BASE_EXHAUSTION_H_
#define TARA_BASE_EXHAUSTION_H_

#include <new>
#include <system_error>

#include "absl/status/status.h"

namespace tara {

// Returns what a function returns, a status or a StatusOr; or, where it throws
// for want of memory or of threads, RESOURCE_EXHAUSTED that says so. What the
// function has changed by then is left as it is. Other exceptions pass.
template <typename Function>
auto CatchExhaustion(const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    return absl::ResourceExhaustedError(
        "no more threads can be made: the system's limit is reached");
  }
}

}  // namespace tara

#endif  // TARA_BASE_EXHAUSTION_H_
