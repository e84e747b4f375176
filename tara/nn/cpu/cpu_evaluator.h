#ifndef TARA_NN_CPU_CPU_EVALUATOR_H_
#define TARA_NN_CPU_CPU_EVALUATOR_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/mcts/evaluator.h"
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

// Makes an evaluator that computes by CpuNetwork, in float32. Thread-safe, and
// takes no locks: each call computes on its own thread alone. The evaluation of
// a position is the same, bit for bit, in any batch.
//
// Returns INVALID_ARGUMENT when a tensor is missing or misshapen, naming it.
absl::StatusOr<std::unique_ptr<mcts::Evaluator>> NewCpuEvaluator(
    const Checkpoint& checkpoint);

// Mean differences of evaluations from others of the same positions.
struct EvaluationError {
  double value = 0;   // |difference| of the value, 0 to 2
  double policy = 0;  // half the sum of |differences| of the priors, 0 to 1
};

// REQUIRES: as many of both, at least one.
EvaluationError ErrorOf(absl::Span<const mcts::Evaluation> reference,
                        absl::Span<const mcts::Evaluation> evaluations);

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_EVALUATOR_H_
