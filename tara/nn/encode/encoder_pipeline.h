#ifndef TARA_NN_ENCODE_ENCODER_PIPELINE_H_
#define TARA_NN_ENCODE_ENCODER_PIPELINE_H_

// The order in which a path of the batch encoder does its work.
//
// Writing the planes waits for memory, and all other work fits into that wait
// if it comes in small portions: a core can look ahead for some hundred
// instructions only. So, while the positions of one block are packed and
// written one by one, the next block is prepared in eight steps between them.
// The floats of a position are written some steps after its bits, for what
// reads narrower than it was stored must wait until the store has left the
// core, behind all stores before it.

#include <cstddef>

#include "tara/core/bits.h"
#include "tara/nn/encode/encoder_block.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {

// A batch to encode; see EncoderInput and EncoderOutput.
struct EncoderJob {
  const State* states;
  const Symmetry* symmetries;
  const LegalSet* legal;
  size_t size;
  float* planes;
  float* globals;
  bool channels_last;
  // Writes the planes around the caches. REQUIRES: aligned to 32 bytes.
  bool around_caches;
  // What needs functions that every unit has, and so must not be compiled for
  // one processor: the positions of the block from the given one on, and, in
  // Stone of Destiny, the kingdoms, which there are not the
  // components.
  BlockInput (*block_from)(const EncoderJob& job, size_t first);
  void (*count_kingdoms_by_links)(const BlockInput& input, EncoderBlock& block);
};

inline constexpr int kPrepareSteps = 4;

// A `Path` has these static functions:
//   bool Prepare<step>(tables, job, input, block)
//     Does one of kPrepareSteps steps that fill a block. Returns whether each
//     symmetry brings the seat to move to seat 0.
//   void Pack(job, input, block, i, bits, globals)
//     Makes the bits of position i of a filled block, and writes its globals.
//   void Expand(job, bits, planes)
//     Writes the planes of a position.
//   void Finish(job)
// Returns false, and stops, where Prepare does.
template <typename Path>
bool EncodeOn(const EncoderTables& tables, const EncoderJob& job) {
  constexpr size_t kWriteLag = 2;
  constexpr size_t kPlaneFloats = size_t{kNumPlanes} * kNumSquares;
  EncoderBlock block;
  PositionBits bits[kBlockSize];
  BlockInput input;
  // Step s of a round packs positions 2s and 2s + 1 of the block, or, when all
  // are packed, prepares the next block; and it expands position s - kWriteLag.
  const size_t end = job.size == 0 ? 0 : job.size + kBlockSize + kWriteLag;
  for (size_t next = 0; next < end; next += kBlockSize) {
    const size_t first = next - kBlockSize;  // of the block that is filled
    bool ok = true;
    Unrolled<kBlockSize>([&](auto number) {
      constexpr int kStep = number;
      if constexpr (kStep < kBlockSize - kPrepareSteps) {
        for (int i = 2 * kStep; i < 2 * kStep + 2; ++i) {
          const size_t position = first + static_cast<size_t>(i);
          if (next > 0 && position < job.size) {
            Path::Pack(job, input, block, i, bits[i],
                       job.globals + position * kNumGlobals);
          }
        }
      } else if (next < job.size) {
        constexpr int kPart = kStep - (kBlockSize - kPrepareSteps);
        if (kPart == 0) input = job.block_from(job, next);
        ok &= Path::template Prepare<kPart>(tables, job, input, block);
      }
      const size_t position = first + kStep - kWriteLag;
      if (next + kStep >= kBlockSize + kWriteLag && position < job.size) {
        Path::Expand(job, bits[(kStep + kBlockSize - kWriteLag) % kBlockSize],
                     job.planes + position * kPlaneFloats);
      }
    });
    if (!ok) return false;
  }
  Path::Finish(job);
  return true;
}

// Encodes with 64-byte vectors.
// REQUIRES: the processor supports InstructionSet::kAvx512.
bool EncodeOnAvx512(const EncoderTables& tables, const EncoderJob& job);

// Encodes with what the build is compiled for.
bool EncodeOnPortable(const EncoderTables& tables, const EncoderJob& job);

}  // namespace tara::nn

#endif  // TARA_NN_ENCODE_ENCODER_PIPELINE_H_
