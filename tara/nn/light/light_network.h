#ifndef TARA_NN_LIGHT_LIGHT_NETWORK_H_
#define TARA_NN_LIGHT_LIGHT_NETWORK_H_

// What a light network consists of: its inputs, its tensors, its geometry.
//
//   hill:    table of the 3 x 3 hills around it, by owner
//            + table of the hill and of those a knight's move away, by owner
//            + a row for each input that holds on the hill
//            + a row for the hill + the globals                     -> ReLU
//   layer:   depthwise, over 17 hills (3 x 3 and the knight's moves)
//            + means of the rank and of the file, by channel
//            + linear of the pooled hills                           -> ReLU
//            pointwise 64 x 64 + the layer's input                  -> ReLU
//   pooled:  means and maxima of the hills, by channel
//   policy:  pointwise 64 x 32 + linear of pooled and globals       -> ReLU
//            a hill's logit; a king's move = origin + destination + a product
//            of two vectors of 8; the same for a link
//   value:   pooled and globals, two hidden layers, win/draw/loss and margins
//   owner:   pointwise, in training only
//
// While it learns, the two tables are networks of two hidden layers over the
// owners; to play, all their rows are computed once. Source of that idea:
// Rapfi (Jin 2025, arXiv:2503.13178), whose tables are over lines of Gomoku.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// --- Inputs ------------------------------------------------------------------

// Inputs of a hill in addition to the planes: facts about kingdoms beyond the
// reach of the layers. Kingdoms are groups of adjacent ringforts.
enum LightFlag {
  kOwnKingdoms2,  // vacant, next to two own kingdoms or more
  kOwnKingdoms3,
  kEnemyKingdoms2,
  kEnemyKingdoms3,
  kLiberties0,  // a ringfort whose kingdom has no vacant hill next to it
  kLiberties1,  // at most one, ...
  kLiberties2,
  kLiberties4,
  kSize3,  // a ringfort whose kingdom has three or more
  kSize8,
  kNumLightFlags,
};

// The planes, then the flags.
inline constexpr int kNumLightInputs = kNumPlanes + kNumLightFlags;

// Values of planes are multiples of a quarter: an input and its value make a
// row, kLightLevels * input + 4 * value.
inline constexpr int kLightLevels = 5;
static_assert(kLightLevels * kNumLightInputs <= 256);

// A position as a light network sees it: turned, the seat to move first.
struct LightInput {
  Board own = 0;
  Board enemy = 0;
  // Of each hill, the rows of the inputs that are not 0.
  std::array<uint8_t, kNumHills> num_rows = {};
  std::array<std::array<uint8_t, kNumLightInputs>, kNumHills> rows;
  std::array<float, kNumGlobals> globals;
};

// Reads a position of an EncodedBatch. planes: [7, 7, kNumPlanes]; globals:
// [kNumGlobals].
void ReadLightInput(const float* planes, const float* globals,
                    LightInput& input);

// Inputs of a hill in groups of bits: a value of a group is a row of a table.
// The other planes follow from the 3 x 3 hills around a hill, and are part of
// that table's rows.
inline constexpr int kLightGroups = 3;
inline constexpr int kGroupRows = 256;

// A position as the kernels read it: turned, the seat to move first.
struct LightBits {
  Board own = 0;
  Board enemy = 0;
  // The bits of LightGroupInputs; in the third group, which has flags, the
  // flags of vacant hills or, with kRingfortBit, of ringforts.
  uint8_t groups[kLightGroups][kNumHills];
  // Times kGlobalUnit, rounded; then zeros.
  alignas(64) int16_t globals[(kNumGlobals + 31) / 32 * 32] = {};
};
inline constexpr int kRingfortBit = 1 << 6;
inline constexpr float kGlobalUnit = 2048;

// Returns the inputs of the bits of a group's value, -1 where a bit has none.
const std::array<int8_t, 8>& LightGroupInputs(int group, int value);

// Writes the position seen through the symmetry, straight from its boards.
// REQUIRES: `legal` is LegalActions(state); as EncodeBatch.
void EncodeLightBits(const State& state, const Symmetry& symmetry,
                     const LegalSet& legal, LightBits& bits);

// Returns the bits of what was read from planes: the plain twin.
LightBits LightBitsOf(const LightInput& input);

// --- Geometry ----------------------------------------------------------------

// Owners of a hill in the patterns of the tables.
enum LightOwner : uint8_t { kVacantHill, kOwnHill, kEnemyHill, kOffBoard };
inline constexpr int kNumLightOwners = 4;

// Hills of a pattern: the middle and eight others, by increasing bit of the
// board.
inline constexpr int kPatternHills = 9;
inline constexpr int kNumLightTables = 2;  // near, knight
inline constexpr int kPatternInputs = kPatternHills * kNumLightOwners;

// The patterns of the hills. kLightPatterns[table][hill][i]: the i-th hill, or
// kNumHills off the board.
extern const std::array<
    std::array<std::array<int8_t, kPatternHills>, kNumHills>, kNumLightTables>
    kLightPatterns;

// The hills that the depthwise layers read: files and ranks, by rank, then
// file.
inline constexpr int kNumTaps = 17;
struct LightTap {
  int file;
  int rank;
};
inline constexpr auto kLightTaps = [] {
  std::array<LightTap, kNumTaps> taps{};
  int count = 0;
  for (int rank = -2; rank <= 2; ++rank) {
    for (int file = -2; file <= 2; ++file) {
      const int square = file * file + rank * rank;
      if (square <= 2 || square == 5) taps[count++] = {file, rank};
    }
  }
  return taps;
}();

// Hills in the ranks and files.
constexpr int LineSize(int line) {
  return line == 0 || line == kBoardSize - 1 ? kBoardSize - 2 : kBoardSize;
}

// --- Policy ------------------------------------------------------------------

// What an output of the policy (tara/nn/encode/features.h) stands for. Hills
// are turned as the position is.
struct PolicyPart {
  enum Kind : uint8_t { kNone, kHill, kPair, kPass };
  Kind kind = kNone;
  int8_t from = -1;  // of pairs: moves and links
  int8_t to = -1;    // but of passing
  // What LogitOf adds up: an output (HillOutput) of `from` and one of `to`, the
  // product of a vector of each, and an element of LightTensors::directions,
  // -1 for links. Of a hill only `destination`.
  int8_t origin = 0, destination = 0;
  int8_t origin_vector = 0, destination_vector = 0;
  int8_t direction = -1;

  bool has_pair() const { return kind == kPair; }
};
extern const std::array<PolicyPart, kNumPolicyOutputs> kPolicyParts;

// --- Tensors -----------------------------------------------------------------

inline constexpr int kPolicyWidth = 32;  // between the policy's layers
inline constexpr int kPolicyVector = 8;  // of a product of two hills
inline constexpr int kContext = 2 * kLightChannels + kNumGlobals;

// Outputs of a hill, from which the logits of actions are computed.
enum HillOutput {
  kHillLogit = 0,
  kMoveOrigin = 1,       // by direction; so are the next three
  kMoveDestination = 9,  // of king moves
  kSacrificeOrigin = 17,
  kSacrificeDestination = 25,
  kOriginVector = 33,  // of both kinds of moves
  kDestinationVector = 41,
  kLinkLogit = 49,
  kLinkVector = 50,
  kNumHillOutputs = 58,
};

// Distance between the outputs of two hills, in floats.
inline constexpr int kHillOutputRoom = 64;

// Returns the logit of an action that is not passing, from the outputs of its
// hills. Inlined everywhere: a unit of each instruction set compiles it.
TARA_INLINE float LogitOf(const PolicyPart& part,
                          const float (*outputs)[kHillOutputRoom],
                          const float* directions) {
  const float* const to = outputs[part.to];
  if (part.kind == PolicyPart::kHill) return to[part.destination];
  const float* const from = outputs[part.from];
  float logit = from[part.origin] + to[part.destination];
  if (part.direction >= 0) logit += directions[part.direction];
  for (int i = 0; i < kPolicyVector; ++i) {
    logit += from[part.origin_vector + i] * to[part.destination_vector + i];
  }
  return logit;
}

// Rounds floats up to whole lines of the cache.
constexpr int WholeLines(int floats) { return (floats + 15) / 16 * 16; }

// Memory for floats, aligned to 64 bytes; zeros at first.
class AlignedFloats : public TensorBuffer {
 public:
  explicit AlignedFloats(size_t size) {
    Resize(size);
    std::fill_n(data(), size, 0.0f);
  }
};

// Where a tensor is among the parameters. Rows lie `stride` floats apart, a
// multiple of 16; the floats after `columns` stay 0.
struct LightTensor {
  std::string name;
  int rows = 1;
  int columns = 0;
  int stride = 0;
  size_t offset = 0;
  double scale = 0;  // standard deviation of new weights; biases have 0

  bool decays() const { return scale > 0; }  // by the decay of weights
  // As in a checkpoint: vectors have one axis.
  std::vector<int64_t> shape() const {
    return rows == 1 ? std::vector<int64_t>{columns}
                     : std::vector<int64_t>{rows, columns};
  }
  size_t size() const { return static_cast<size_t>(rows) * stride; }
  // Where a row is among the parameters.
  size_t RowAt(int row) const {
    return offset + static_cast<size_t>(row) * stride;
  }
};

struct LightLayer {
  LightTensor taps, rank, file, bias, pooled, mix, mix_bias;
};
struct LightTableNetwork {
  LightTensor hidden1, bias1, hidden2, bias2, out;
};

// The tensors of a network with a number of layers, and their total size.
class LightTensors {
 public:
  explicit LightTensors(int layers);
  LightTensors(const LightTensors&) = delete;
  LightTensors& operator=(const LightTensors&) = delete;

  std::array<LightTableNetwork, kNumLightTables> tables;
  LightTensor planes, flags, globals, hills, bias;
  std::vector<LightLayer> layers;
  LightTensor policy, policy_bias, policy_context, actions, actions_bias,
      directions, pass;
  LightTensor value1, value1_bias, value2, value2_bias, value, value_bias;
  LightTensor owner, owner_bias;

  // All of them, in the order of their places.
  absl::Span<const LightTensor* const> all() const { return all_; }
  size_t size() const { return size_; }

  // Copies parameters [size()] to named tensors, and back. Reading returns
  // INVALID_ARGUMENT for a tensor that is missing or misshapen, and leaves
  // parameters of auxiliary heads that are missing as they are.
  void Write(const float* parameters, absl::string_view prefix,
             Checkpoint& checkpoint) const;
  absl::Status Read(const Checkpoint& checkpoint, absl::string_view prefix,
                    float* parameters) const;
  // The same of all of a network's parameters as it plays.
  absl::StatusOr<AlignedFloats> Read(const Checkpoint& checkpoint) const;

 private:
  void Add(absl::string_view name, int rows, int columns, double scale,
           LightTensor& tensor);

  std::vector<const LightTensor*> all_;
  size_t size_ = 0;
};

}  // namespace tara::nn

#endif  // TARA_NN_LIGHT_LIGHT_NETWORK_H_
