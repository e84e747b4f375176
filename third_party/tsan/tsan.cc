// Tells ThreadSanitizer about the threads of the system's libraries, which are
// not instrumented: without this a mutex of Abseil looks to it like no lock at
// all, and the threads of OpenMP like threads that nobody waits for. And which
// reports about such libraries to leave out. Only --config=tsan links it.
//
// The linker (--wrap, see BUILD) sends our calls of absl::Mutex and its kin
// through the functions below. Abseil evaluates conditions of waiting threads
// in whichever thread holds the lock, also while it is unlocking. Accesses
// within its functions are therefore ignored: they happen under the lock, but
// after the release shown to ThreadSanitizer.

#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

// Of libtsan, which has no header for them.
extern "C" {
const char* __tsan_default_suppressions();
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace {

using absl::Condition;
using absl::Duration;
using absl::Mutex;
using absl::Time;

// For the duration of one call into Abseil: before it, what this thread did is
// released to `release`; after it, what others released to `acquire` is visible
// here. Either may be null.
class Call {
 public:
  Call(void* release, void* acquire) : acquire_(acquire) {
    if (release != nullptr) __tsan_release(release);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Call() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    if (acquire_ != nullptr) __tsan_acquire(acquire_);
  }

 private:
  void* const acquire_;
};

// The flag of a Notification, which an inline function loads atomically. It
// follows the mutex.
void* FlagOf(void* notification) {
  return static_cast<char*>(notification) + sizeof(Mutex);
}

}  // namespace

// Defines the substitute of a member function, given its mangled name. Lists of
// parameters and arguments are in parentheses, `self` first: the ABI passes
// `this` like a parameter. `release` and `acquire` are as for Call.
#define TARA_WRAP(result, symbol, parameters, arguments, release, acquire) \
  extern "C" result __real_##symbol parameters;                            \
  extern "C" result __wrap_##symbol parameters {                           \
    const Call call(release, acquire);                                     \
    return __real_##symbol arguments;                                      \
  }

TARA_WRAP(void, _ZN4absl7debian35Mutex4LockEv, (void* self), (self), nullptr,
          self)
TARA_WRAP(void, _ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE,
          (void* self, const Condition& condition), (self, condition), nullptr,
          self)
TARA_WRAP(
    bool,
    _ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE,
    (void* self, const Condition& condition, Duration timeout),
    (self, condition, timeout), nullptr, self)
TARA_WRAP(
    bool,
    _ZN4absl7debian35Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE,
    (void* self, const Condition& condition, Time deadline),
    (self, condition, deadline), nullptr, self)
TARA_WRAP(bool, _ZN4absl7debian35Mutex7TryLockEv, (void* self), (self), nullptr,
          self)
TARA_WRAP(void, _ZN4absl7debian35Mutex6UnlockEv, (void* self), (self), self,
          nullptr)
TARA_WRAP(void, _ZN4absl7debian35Mutex10ReaderLockEv, (void* self), (self),
          nullptr, self)
TARA_WRAP(void, _ZN4absl7debian35Mutex14ReaderLockWhenERKNS0_9ConditionE,
          (void* self, const Condition& condition), (self, condition), nullptr,
          self)
TARA_WRAP(
    bool,
    _ZN4absl7debian35Mutex25ReaderLockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE,
    (void* self, const Condition& condition, Duration timeout),
    (self, condition, timeout), nullptr, self)
TARA_WRAP(
    bool,
    _ZN4absl7debian35Mutex26ReaderLockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE,
    (void* self, const Condition& condition, Time deadline),
    (self, condition, deadline), nullptr, self)
TARA_WRAP(bool, _ZN4absl7debian35Mutex13ReaderTryLockEv, (void* self), (self),
          nullptr, self)
TARA_WRAP(void, _ZN4absl7debian35Mutex12ReaderUnlockEv, (void* self), (self),
          self, nullptr)
TARA_WRAP(void, _ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE,
          (void* self, const Condition& condition), (self, condition), self,
          self)
TARA_WRAP(
    bool,
    _ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE,
    (void* self, const Condition& condition, Duration timeout),
    (self, condition, timeout), self, self)
TARA_WRAP(bool,
          _ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE,
          (void* self, const Condition& condition, Time deadline),
          (self, condition, deadline), self, self)
TARA_WRAP(void, _ZN4absl7debian37CondVar4WaitEPNS0_5MutexE,
          (void* self, Mutex* mutex), (self, mutex), mutex, mutex)
TARA_WRAP(bool,
          _ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE,
          (void* self, Mutex* mutex, Duration timeout), (self, mutex, timeout),
          mutex, mutex)
TARA_WRAP(bool,
          _ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE,
          (void* self, Mutex* mutex, Time deadline), (self, mutex, deadline),
          mutex, mutex)
TARA_WRAP(void, _ZN4absl7debian312Notification6NotifyEv, (void* self), (self),
          FlagOf(self), nullptr)
TARA_WRAP(void, _ZNK4absl7debian312Notification19WaitForNotificationEv,
          (void* self), (self), nullptr, FlagOf(self))
TARA_WRAP(
    bool,
    _ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE,
    (void* self, Duration timeout), (self, timeout), nullptr, FlagOf(self))
TARA_WRAP(
    bool,
    _ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE,
    (void* self, Time deadline), (self, deadline), nullptr, FlagOf(self))
TARA_WRAP(bool, _ZN4absl7debian315BlockingCounter14DecrementCountEv,
          (void* self), (self), self, nullptr)
TARA_WRAP(void, _ZN4absl7debian315BlockingCounter4WaitEv, (void* self), (self),
          nullptr, self)
TARA_WRAP(bool, _ZN4absl7debian37Barrier5BlockEv, (void* self), (self), self,
          self)

// --- OpenMP ------------------------------------------------------------------

// A `#pragma omp parallel` of ours or of LibTorch: what was done
// before is visible in all its threads, and what they did to who goes on after.
namespace {

struct ParallelRegion {
  void (*compute)(void*);
  void* data;
};

void ComputePart(void* region) {
  __tsan_acquire(region);
  const auto& [compute, data] = *static_cast<const ParallelRegion*>(region);
  compute(data);
  __tsan_release(region);
}

}  // namespace

// Found before libgomp's, also by the libraries, as the program comes first.
extern "C" void GOMP_parallel(void (*compute)(void*), void* data,
                              unsigned threads, unsigned flags) {
  static const auto libgomp_parallel =
      reinterpret_cast<decltype(&GOMP_parallel)>(
          dlsym(RTLD_NEXT, "GOMP_parallel"));
  ParallelRegion region = {.compute = compute, .data = data};
  __tsan_release(&region);
  libgomp_parallel(ComputePart, &region, threads, flags);
  __tsan_acquire(&region);
}

// --- Reports to leave out ----------------------------------------------------

// What libraries share under locks of their own: the cache of primitives of
// LibTorch's oneDNN, Abseil's check for deadlocks and its texts of errors.
const char* __tsan_default_suppressions() {
  return "race:libdnnl.so\n"
         "race:libabsl_graphcycles_internal.so\n"
         "race:libabsl_strerror.so\n";
}
