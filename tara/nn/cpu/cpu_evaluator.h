#ifndef TARA_NN_CPU_CPU_EVALUATOR_H_
#define TARA_NN_CPU_CPU_EVALUATOR_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Objects that threads borrow, one at a time per thread. Lock-free; a thread
// mostly gets its last object, whose memory its core still caches. Objects are
// created on demand and kept, up to kSlots. Thread-safe.
template <typename Object>
class CpuContextPool {
 public:
  CpuContextPool() = default;
  ~CpuContextPool() {
    for (std::atomic<Object*>& slot : slots_) delete slot.load();
  }
  CpuContextPool(const CpuContextPool&) = delete;
  CpuContextPool& operator=(const CpuContextPool&) = delete;

  // Returns an idle object, or what `make` returns: a std::unique_ptr<Object>.
  template <typename Make>
  std::unique_ptr<Object> Take(Make make) {
    const size_t home = Home();
    for (size_t i = 0; i < kSlots; ++i) {
      std::atomic<Object*>& slot = slots_[(home + i) % kSlots];
      if (slot.load(std::memory_order_relaxed) == nullptr) continue;
      if (Object* const found =
              slot.exchange(nullptr, std::memory_order_acquire)) {
        return std::unique_ptr<Object>(found);
      }
    }
    return make();
  }

  void Return(std::unique_ptr<Object> object) {
    const size_t home = Home();
    for (size_t i = 0; i < kSlots; ++i) {
      Object* empty = nullptr;
      if (slots_[(home + i) % kSlots].compare_exchange_strong(
              empty, object.get(), std::memory_order_release,
              std::memory_order_relaxed)) {
        object.release();
        return;
      }
    }
  }

 private:
  static constexpr size_t kSlots = 64;

  // Where this thread looks first.
  static size_t Home() {
    static std::atomic<size_t> threads = 0;
    thread_local const size_t home =
        threads.fetch_add(1, std::memory_order_relaxed);
    return home;
  }

  std::array<std::atomic<Object*>, kSlots> slots_ = {};
};

struct CpuEvaluator {
  std::unique_ptr<mcts::Evaluator> evaluator;
  Precision precision = Precision::kFloat32;  // never kAuto
};

// Makes an evaluator that computes by CpuNetwork, whose bfloat16 and int8 are
// oneDNN's. Thread-safe, and takes no locks: each call computes on its own
// thread alone. The evaluation of a position is the same, bit for bit, in any
// batch.
//
// Returns INVALID_ARGUMENT when a tensor is missing or misshapen, naming it;
// UNIMPLEMENTED when this processor has no instructions for `precision`.
absl::StatusOr<CpuEvaluator> NewCpuEvaluator(const Checkpoint& checkpoint,
                                             Precision precision);

// The number types of networks on the CPU, the most accurate first.
inline constexpr Precision kCpuPrecisions[] = {
    Precision::kFloat32, Precision::kInt16, Precision::kBfloat16,
    Precision::kInt8};

// Returns OK if this processor has instructions for products of this precision,
// or it is kAuto; else UNIMPLEMENTED, naming what it lacks.
absl::Status CheckCpuPrecision(Precision precision);

// Whether it multiplies in bfloat16 many times as fast as in float32 (AMX).
bool HasFastBfloat16();

// Mean differences of two precisions over positions.
struct PrecisionError {
  double value = 0;   // |difference| of the value, 0 to 2
  double policy = 0;  // half the sum of |differences| of the priors, 0 to 1
};

// REQUIRES: evaluations of the same positions, at least one.
PrecisionError ErrorOf(absl::Span<const mcts::Evaluation> reference,
                       absl::Span<const mcts::Evaluation> evaluations);

// The largest error that is accepted: a small part of the network's own.
inline constexpr PrecisionError kLargestPrecisionError = {.value = 0.02,
                                                          .policy = 0.03};

// Returns whether the error of an evaluator at these positions is within
// kLargestPrecisionError of the reference. Returns the error of an evaluator
// that fails. REQUIRES: at least one position.
absl::StatusOr<bool> IsAccurate(mcts::Evaluator& evaluator,
                                mcts::Evaluator& reference,
                                absl::Span<const State> positions);

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_EVALUATOR_H_
