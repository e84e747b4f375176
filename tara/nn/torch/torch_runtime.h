#ifndef TARA_NN_TORCH_TORCH_RUNTIME_H_
#define TARA_NN_TORCH_TORCH_RUNTIME_H_

namespace tara::nn {

// Sets how many threads LibTorch uses for operations that the calling thread
// starts, and, the first time, readies the process for tensors. Evaluators and
// trainers call it by themselves whenever they are called. Cheap when the
// number is as before. Thread-safe. REQUIRES: threads > 0.
//
// The number is kept by thread because OpenMP does so: without it each new
// thread would begin with one thread per core.
//
// Allocator: glibc gives large blocks back to the kernel when they are freed,
// so that each operation of LibTorch pays for page faults; the thresholds are
// raised to keep them. OpenBLAS, whose threads are its own and shared by the
// whole process, gets one: it only computes the small linear layers.
void SetTorchThreads(int threads);

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_TORCH_RUNTIME_H_
