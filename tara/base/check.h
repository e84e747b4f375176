#ifndef TARA_BASE_CHECK_H_
#define TARA_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>

// TARA_CHECK(condition, message) ends the process when a caller broke a
// contract: a bug in the program, never bad input (that is an absl::Status).
// The names carry the project's prefix because LibTorch defines CHECK.
#define TARA_CHECK(condition, message)                                        \
  do {                                                                        \
    if (!(condition)) [[unlikely]] {                                          \
      ::tara::internal::CheckFailed(__FILE__, __LINE__, #condition, message); \
    }                                                                         \
  } while (false)

// Like TARA_CHECK, but only in builds without NDEBUG: for checks on hot paths.
#ifdef NDEBUG
#define TARA_DCHECK(condition, message) \
  do {                                  \
  } while (false)
#else
#define TARA_DCHECK(condition, message) TARA_CHECK(condition, message)
#endif

namespace tara::internal {

[[noreturn]] inline void CheckFailed(const char* file, int line,
                                     const char* condition,
                                     const char* message) {
  std::fprintf(stderr, "%s:%d: check failed: %s (%s)\n", file, line, message,
               condition);
  std::abort();
}

}  // namespace tara::internal

#endif  // TARA_BASE_CHECK_H_
