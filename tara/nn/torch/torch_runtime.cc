#include "tara/nn/torch/torch_runtime.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <malloc.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <new>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/nn/inference_options.h"

namespace tara::nn {
namespace {

// OpenBLAS is reached by name, because which BLAS stands behind LibTorch is
// the system's choice.
void SetOpenBlasThreads(int threads) {
  using SetThreads = void (*)(int);
  const auto set_threads = reinterpret_cast<SetThreads>(
      ::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set_threads != nullptr) set_threads(threads);
}

bool PrepareProcess() {
  constexpr int kKeepBytes = 256 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kKeepBytes);
  ::mallopt(M_TRIM_THRESHOLD, kKeepBytes);
  ::mallopt(M_TOP_PAD, 16 << 20);
  SetOpenBlasThreads(1);
  return true;
}

}  // namespace

void SetTorchThreads(int threads) {
  static const bool prepared = PrepareProcess();
  static_cast<void>(prepared);
  thread_local int current = 0;
  if (current == threads) return;
  at::set_num_threads(threads);
  current = threads;
}

namespace {

bool IsOutOfMemory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) {
    return true;
  }
  // Libraries of the device, and the allocator of the CPU, throw the same type
  // for everything.
  const absl::string_view text = error.what();
  return absl::StrContains(text, "out of memory") ||
         absl::StrContains(text, "can't allocate memory") ||
         absl::StrContains(text, "_ALLOC_FAILED");
}

// The first line: LibTorch adds a stack trace.
absl::string_view FirstLine(absl::string_view text) {
  return text.substr(0, text.find('\n'));
}

// Returns 12080 as "12.8".
std::string CudaVersion(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

// Returns a function of the CUDA runtime that LibTorch has loaded, or null. By
// name, because the headers may be missing.
template <typename Function>
Function* FindCudaFunction(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

// Returns why CUDA has no device.
std::string WhyNoDevice() {
  const auto count = FindCudaFunction<int(int*)>("cudaGetDeviceCount");
  const auto of_driver = FindCudaFunction<int(int*)>("cudaDriverGetVersion");
  const auto of_runtime = FindCudaFunction<int(int*)>("cudaRuntimeGetVersion");
  const auto describe =
      FindCudaFunction<const char*(int)>("cudaGetErrorString");
  constexpr char kHint[] =
      "nvidia-smi lists devices; CUDA_VISIBLE_DEVICES hides them";
  if (count == nullptr || of_driver == nullptr || of_runtime == nullptr ||
      describe == nullptr) {
    return absl::StrCat("finds no device or no driver (", kHint, ")");
  }
  int devices = 0, driver = 0, runtime = 0;
  const int error = count(&devices);
  of_driver(&driver);
  of_runtime(&runtime);
  if (driver == 0) return "finds no NVIDIA driver (nvidia-smi needs it too)";
  constexpr int kInsufficientDriver = 35;
  if (error == kInsufficientDriver) {
    return absl::StrCat("needs a driver for CUDA ", CudaVersion(runtime),
                        "; the driver is for CUDA ", CudaVersion(driver),
                        ": update it, or use a LibTorch for that CUDA");
  }
  return absl::StrCat(
      "finds no device: ", error == 0 ? "none is visible" : describe(error),
      " (", kHint, ")");
}

// Makes threads sleep while they wait for the device. By default they spin, one
// for each batch underway, and take the cores from the threads that search.
void SleepWhileWaiting(int device) {
  const auto init =
      FindCudaFunction<int(int, unsigned, unsigned)>("cudaInitDevice");
  const auto take_error = FindCudaFunction<int()>("cudaGetLastError");
  if (init == nullptr || take_error == nullptr) return;  // before CUDA 12
  constexpr unsigned kBlockingSync = 4;   // cudaDeviceScheduleBlockingSync
  constexpr unsigned kFlagsAreValid = 1;  // cudaInitDeviceFlagsAreValid
  // LibTorch will meet the same error, and must not take it for another's.
  if (init(device, kBlockingSync, kFlagsAreValid) != 0) take_error();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindTorchDevices(
    absl::string_view text) {
  TARA_ASSIGN_OR_RETURN(const DeviceText device, ParseDevice(text));
  if (device.is_cpu) return std::vector<std::string>{"cpu"};
  if (!at::Context::hasCUDART()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "device '", text, "': this LibTorch (", TORCH_VERSION,
        ") was built without CUDA; expected device cpu, or a build with "
        "TARA_TORCH_ROOT at a LibTorch with CUDA (docs/how-to/use_a_gpu.md)"));
  }
  const int count = static_cast<int>(torch::cuda::device_count());
  if (count == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("device '", text, "': this LibTorch (", TORCH_VERSION,
                     ") has CUDA but ", WhyNoDevice()));
  }
  if (!device.all && device.index >= count) {
    return absl::FailedPreconditionError(
        absl::StrCat("device '", text, "': LibTorch finds ", count,
                     " CUDA devices; expected cuda:0 to cuda:", count - 1));
  }
  std::vector<std::string> devices;
  for (int index = 0; index < count; ++index) {
    if (device.all || index == device.index) {
      SleepWhileWaiting(index);
      devices.push_back(absl::StrCat("cuda:", index));
    }
  }
  return devices;
}

absl::Status TorchError(absl::string_view doing, absl::string_view hint,
                        const std::exception& error) {
  if (IsOutOfMemory(error)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("out of memory while ", doing, "; ", hint, " (",
                     FirstLine(error.what()), ")"));
  }
  return absl::InternalError(
      absl::StrCat("LibTorch failed while ", doing, ": ", error.what()));
}

}  // namespace tara::nn
