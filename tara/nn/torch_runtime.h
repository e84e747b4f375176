#ifndef TARA_NN_TORCH_RUNTIME_H_
#define TARA_NN_TORCH_RUNTIME_H_

namespace tara {

// Sets how many threads one LibTorch operation uses, in the whole process, and
// readies the memory allocator for tensors. Self-play with one evaluator call
// per thread wants 1; a learner alone wants the number of cores. Call it early
// in main; may be called again. Thread-safe.
//
// Allocator: glibc gives large blocks back to the kernel when they are freed,
// so that each operation of LibTorch pays for page faults; the thresholds are
// raised to keep them.
void SetTorchThreads(int threads);

// Gives the calling thread the number of threads set last: OpenMP keeps it by
// thread, and a new thread would begin with one per core. Cheap.
void AdoptTorchThreads();

}  // namespace tara

#endif  // TARA_NN_TORCH_RUNTIME_H_
