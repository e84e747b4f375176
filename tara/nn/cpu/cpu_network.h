#ifndef TARA_NN_CPU_CPU_NETWORK_H_
#define TARA_NN_CPU_CPU_NETWORK_H_

// A network in one precision, ready to run on the CPU. In float32 and int16 all
// of it is our own, and runs in WebAssembly, too; the convolutions of narrower
// numbers are another's.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "tara/nn/cpu/cpu_kernels.h"
#include "tara/nn/cpu/cpu_weights.h"
#include "tara/nn/cpu/winograd.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/inference_options.h"

namespace tara::nn {

// The values of a network's activations that the largest integer stands for, by
// channel; greater ones are cut. All are positive.
struct CpuRanges {
  std::vector<std::vector<float>> tower;  // before each block, and at the end
  std::vector<std::vector<float>> inner;  // between a block's convolutions
};

// Positions of one run. Outputs do not depend on it.
inline constexpr std::array kCpuTiles = {16, 4, 1};
inline constexpr int kMaxCpuTile = kCpuTiles[0];

enum class CpuNumberType { kFloat32, kBfloat16, kByte };

// A number type with the values that its units stand for.
struct CpuNumbers {
  CpuNumberType type = CpuNumberType::kFloat32;
  // Of bytes: value = scales[channel] * byte. [channels]
  std::vector<float> scales = {};
  std::vector<float> inverse_scales = {};
};

// What the layers of a network read; tower and inner as in CpuRanges.
struct CpuLayerNumbers {
  CpuNumbers planes;
  std::vector<CpuNumbers> tower;
  std::vector<CpuNumbers> inner;
};

// All convolutions of a network that reads narrow numbers, in the order in
// which it computes them: the stem, two of each block, policy, policy planes
// and value. Thread-safe.
class NarrowConvolutions {
 public:
  // The buffers of a thread's runs, as CpuContext has them.
  struct Memory {
    void* planes;
    void* narrow_tower;
    void* inner;
    float* tower;
    float* policy;
    float* policy_rows;
    float* value;
    void* scratch;
  };
  // The convolutions between these buffers. Not thread-safe.
  class Bound {
   public:
    virtual ~Bound() = default;
    // Computes a convolution of kCpuTiles[tile_index] positions.
    virtual void Run(int tile_index, int convolution) const = 0;
  };

  virtual ~NarrowConvolutions() = default;
  virtual size_t scratch_bytes() const = 0;
  // The buffers and this object must outlive the returned object.
  virtual std::unique_ptr<const Bound> Bind(const Memory& memory) const = 0;
};

// Returns the convolutions in bfloat16 or int8, by oneDNN: made once and run
// often. Throws dnnl::error, as do the objects that it returns.
std::unique_ptr<const NarrowConvolutions> OneDnnConvolutions(
    const CpuWeights& weights, const CpuLayerNumbers& numbers);

// Lets OpenMP, on which oneDNN is built, use the calling thread alone until
// this object goes. What holds otherwise is restored, because LibTorch counts
// on it (tara/nn/torch/torch_runtime.h).
class OneOpenMpThread {
 public:
  OneOpenMpThread();
  ~OneOpenMpThread();
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  const int before_;
};

// The shared, constant part: weights and layers. Thread-safe.
class CpuNetwork {
 public:
  using MakeConvolutions = std::unique_ptr<const NarrowConvolutions>(
      const CpuWeights& weights, const CpuLayerNumbers& numbers);

  // REQUIRES: `precision` is float32, int16, bfloat16 or int8, and the
  // processor has it; `ranges` are the network's if `precision` is an integer
  // type; `narrow` is not null where it is bfloat16 or int8 (OneDnnConvolutions
  // of cpu_convolution.cc, which may throw dnnl::error).
  CpuNetwork(CpuWeights weights, Precision precision, const CpuRanges& ranges,
             MakeConvolutions* narrow = nullptr);

  Precision precision() const { return precision_; }
  const CpuWeights& weights() const { return weights_; }

 private:
  friend class CpuContext;

  // The index of a layer's convolution.
  int First(int block) const { return 1 + 2 * block; }
  int Second(int block) const { return 2 + 2 * block; }
  int Policy() const { return 1 + 2 * num_blocks(); }
  int PolicyPlanes() const { return Policy() + 1; }
  int Value() const { return Policy() + 2; }

  int num_blocks() const { return static_cast<int>(weights_.blocks.size()); }
  // Whether convolutions read another number type than the tower has.
  bool is_narrow() const {
    return precision_ == Precision::kBfloat16 || precision_ == Precision::kInt8;
  }
  CpuNumbers Narrow(const std::vector<float>& ranges) const;
  CpuLayerNumbers LayerNumbers(const CpuRanges& ranges) const;
  void PrepareOwn(const CpuRanges& ranges);

  const CpuWeights weights_;
  const Precision precision_;
  const CpuLayerNumbers numbers_;
  const CpuKernels& kernels_;
  // For narrow numbers; otherwise null, and the following members are used.
  std::unique_ptr<const NarrowConvolutions> narrow_;
  std::vector<WinogradLayer> winograd_;  // 3 x 3, from the stem on
  // The 1 x 1 convolutions, each a linear layer applied to every square.
  CpuLinearWeights policy_;
  CpuLinearWeights policy_planes_;
  CpuLinearWeights value_;
};

// The buffers of one thread's runs. Not thread-safe.
class CpuContext {
 public:
  // The network must outlive it. Throws what its convolutions do.
  explicit CpuContext(const CpuNetwork& network);
  ~CpuContext();

  // The outputs of a run, for its n positions.
  struct Outputs {
    const float* policy_rows;  // [n, 49, policy_channels]: a plane a channel
    int policy_channels;
    const float* pass;  // of position i: pass[i * pass_stride]
    int pass_stride;
    const float* value;  // [n, value_stride]: win, draw, loss, then margins
    int value_stride;
    // A layer of the value head that the head of owners shares.
    const float* value_rows;  // [n, 49, channels of the tower]

    // The logit of a policy output (PolicyOutput) of position i.
    float Policy(int i, int output) const {
      if (output == kPassOutput) return pass[i * pass_stride];
      const int row = i * kNumSquares + output % kNumSquares;
      return policy_rows[row * policy_channels + output / kNumSquares];
    }
  };

  // Called with activations while a float32 network runs: layer i < blocks + 1
  // is tower[i] of CpuRanges, those after are inner[i - blocks - 1].
  using Observer =
      std::function<void(int layer, absl::Span<const float> values)>;

  // Called when a tile is computed, with its first position and its size.
  using Visitor = std::function<void(int first, int size, const Outputs&)>;

  // Computes the batch, tile by tile. Throws what the convolutions do.
  void Run(const EncodedBatch& batch, const Visitor& visit,
           const Observer* observer = nullptr);

 private:
  struct Buffers;

  std::vector<WinogradJob> BindWinograd() const;
  Outputs RunTile(const float* planes, const float* globals,
                  const Observer* observer);
  int TowerSize(int tile) const;
  void Convolve(int convolution) const;
  // Writes the tower as the numbers that convolutions read.
  void NarrowTower(const CpuNumbers& numbers) const;
  // Pools each position's rows into buffers_->pooled.
  void Pool(const void* rows, const CpuNumbers& numbers) const;

  void RunStem(const float* planes, const float* globals) const;
  void RunBlock(int block, const Observer* observer) const;
  // A linear layer of each position, and of each of its squares.
  void Linear(const CpuLinearWeights& layer, bool relu, const float* inputs,
              float* outputs) const;
  void LinearOfSquares(const CpuLinearWeights& layer, bool relu,
                       const TensorBuffer& inputs,
                       const TensorBuffer& outputs) const;
  void RunPolicy() const;
  void RunValue() const;

  const CpuNetwork& network_;
  std::unique_ptr<Buffers> buffers_;
  std::unique_ptr<const NarrowConvolutions::Bound> narrow_;
  std::vector<WinogradJob> winograd_jobs_;
  int tile_index_ = 0;  // of what is computed
  int tile_ = 0;
};

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_NETWORK_H_
