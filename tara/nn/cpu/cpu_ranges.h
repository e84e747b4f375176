#ifndef TARA_NN_CPU_CPU_RANGES_H_
#define TARA_NN_CPU_CPU_RANGES_H_

#include <vector>

namespace tara::nn {

// The values of a network's activations that the largest integer stands for, by
// channel; greater ones are cut. All are positive.
struct CpuRanges {
  std::vector<std::vector<float>> tower;  // before each block, and at the end
  std::vector<std::vector<float>> inner;  // between a block's convolutions
};

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_RANGES_H_
