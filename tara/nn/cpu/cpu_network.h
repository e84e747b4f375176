#ifndef TARA_NN_CPU_CPU_NETWORK_H_
#define TARA_NN_CPU_CPU_NETWORK_H_

#include <array>
#include <dnnl.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "tara/nn/cpu/cpu_convolution.h"
#include "tara/nn/cpu/cpu_kernels.h"
#include "tara/nn/cpu/cpu_weights.h"
#include "tara/nn/cpu/winograd_layer.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/inference_options.h"

namespace tara::nn {

// The values of a network's activations that the largest integer stands for, by
// channel; greater ones are cut. All are positive.
struct CpuRanges {
  std::vector<std::vector<float>> tower;  // before each block, and at the end
  std::vector<std::vector<float>> inner;  // between a block's convolutions
};

// A network in one precision, ready to run on the CPU. Only for the .cc files
// of the engine: this header brings oneDNN along.

// Positions of one run. Outputs do not depend on it.
inline constexpr std::array kCpuTiles = {16, 4, 1};
inline constexpr int kMaxCpuTile = kCpuTiles[0];

// The shared, constant part: weights and primitives. Thread-safe.
class CpuNetwork {
 public:
  // REQUIRES: `precision` is float32, int16, bfloat16 or int8, and the
  // processor has it; `ranges` are those of the network where it is an integer.
  // Throws dnnl::error.
  CpuNetwork(CpuWeights weights, Precision precision, const CpuRanges& ranges);

  Precision precision() const { return precision_; }
  const CpuWeights& weights() const { return weights_; }

 private:
  friend class CpuContext;

  // The convolutions that are oneDNN's, for one size of tile.
  struct Plan {
    std::vector<CpuConvolution> convolutions;
    size_t scratch_bytes = 0;
  };

  // The index of a layer's convolution: those by Winograd's method come first.
  int First(int block) const { return 1 + 2 * block; }
  int Second(int block) const { return 2 + 2 * block; }
  int Policy() const { return 1 + 2 * num_blocks(); }
  int PolicyPlanes() const { return Policy() + 1; }
  int Value() const { return Policy() + 2; }

  int num_blocks() const { return static_cast<int>(weights_.blocks.size()); }
  // Whether convolutions read other numbers than the tower is of.
  bool is_narrow() const {
    return precision_ == Precision::kBfloat16 || precision_ == Precision::kInt8;
  }
  int num_winograd() const { return static_cast<int>(winograd_.size()); }
  CpuNumbers Narrow(const std::vector<float>& ranges) const;
  void PrepareWinograd(const CpuRanges& ranges);
  Plan MakePlan(int tile, const Plan* twin) const;

  const CpuWeights weights_;
  const Precision precision_;
  // What convolutions read, as in CpuRanges.
  CpuNumbers plane_numbers_;
  std::vector<CpuNumbers> tower_numbers_;
  std::vector<CpuNumbers> inner_numbers_;
  // Those of 3 x 3, from the stem on, but for narrow numbers.
  std::vector<WinogradLayer> winograd_;
  const CpuKernels& kernels_;
  const dnnl::engine engine_;
  std::array<Plan, kCpuTiles.size()> plans_;
};

// The buffers of one thread's runs. Not thread-safe.
class CpuContext {
 public:
  // The network must outlive it. Throws dnnl::error.
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
    // Layers of the value head that other heads share.
    const float* value_rows;  // [n, 49, channels of the tower]
    const float* hidden;      // [n, hidden_stride]
    int hidden_stride;
  };

  // Called with activations while a float32 network runs: layer i < blocks + 1
  // is tower[i] of CpuRanges, those after are inner[i - blocks - 1].
  using Observer =
      std::function<void(int layer, absl::Span<const float> values)>;

  // Called when a tile is computed, with its first position and its size.
  using Visitor = std::function<void(int first, int size, const Outputs&)>;

  // Computes the batch, tile by tile. Throws dnnl::error.
  void Run(const EncodedBatch& batch, const Visitor& visit,
           const Observer* observer = nullptr);

 private:
  struct Buffers;

  std::vector<BoundConvolution> Bind(int tile_index);
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
  void RunPolicy() const;
  void RunValue() const;

  const CpuNetwork& network_;
  const dnnl::stream stream_;
  std::unique_ptr<Buffers> buffers_;
  std::vector<WinogradJob> winograd_jobs_;
  std::array<std::vector<BoundConvolution>, kCpuTiles.size()> bound_;
  int tile_index_ = 0;  // of what is computed
  int tile_ = 0;
};

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_NETWORK_H_
