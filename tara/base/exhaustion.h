#ifndef TARA_BASE_EXHAUSTION_H_
#define TARA_BASE_EXHAUSTION_H_

#include <new>
#include <system_error>

#include "absl/status/status.h"

namespace tara {

// Returns the result of a function, a status or a StatusOr. If the function
// throws for lack of memory or threads, returns RESOURCE_EXHAUSTED with the
// reason; its side effects until then remain. Other exceptions pass.
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
