#ifndef TARA_NN_CPU_CPU_PEAK_H_
#define TARA_NN_CPU_CPU_PEAK_H_

#include "tara/nn/inference_options.h"

namespace tara::nn {

// Returns how many multiplications and additions a second one core does in
// `precision`, measured for `seconds` by a loop over registers alone: what no
// direct convolution can pass. 0 where the processor has no instruction for it.
// REQUIRES: `precision` is float32, bfloat16 or int8.
double MeasureCpuPeak(Precision precision, double seconds);

}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_PEAK_H_
