#ifndef TARA_NN_WEIGHTS_CHECKPOINT_H_
#define TARA_NN_WEIGHTS_CHECKPOINT_H_

// The file that holds a network: its weights, its optimizer, and where its
// training stands. Independent of LibTorch, so that every backend and every
// version of LibTorch reads the same bytes, and a damaged file is found before
// anything is built from it. Little-endian:
//
//   0  8 bytes  "TaraNet\n"
//   8  uint32   format version: 2 of towers, 3 of other networks
//  12  uint32   CRC-32C of the payload
//  16  uint64   size of the payload in bytes
//  24  payload:
//        int64 x 9   feature version, policy version, value version, channels,
//                    blocks, progress.step, progress.generation,
//                    progress.samples, optimizer steps
//        int64       of format 3: the kind of the network (NetworkKind)
//        uint32      number of tensors, then for each:
//          uint32, bytes      size of the name, name
//          uint32, int64 x n  number of axes, their sizes
//          float x product    values, the last axis fastest
//
// Names of tensors:
//   NAME            the network as it plays; the average of the weights where
//                   training averages them
//   raw/NAME        then, the weights that training continues with
//   adamw.*, muon.*  moments of the optimizer (sgd.* of earlier versions)
// The number of inputs is the second axis of stem_conv.weight (planes) and of
// stem_globals.weight (globals), or the first of input_planes.weight and
// input_globals.weight in a light network: the first of kPlanes and kGlobals.
// Evaluators read the plain names that they know, and ignore all others.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/nn/heads.h"

namespace tara::nn {

// Changes when the outputs of the value head change number or meaning.
//   1  logits of win, draw and loss, and the expected margin
//   2  logits of win, draw and loss, and of each margin
inline constexpr int kValueVersion = 2;

// What a network is made of.
enum class NetworkKind : uint8_t {
  kTower,  // of residual blocks (tara/nn/torch/network_torch.h)
  kLight,  // tables and light layers, for CPUs (tara/nn/light/light_network.h)
};

// Returns "tower" or "light".
absl::string_view NetworkKindName(NetworkKind kind);

// The size of a network.
struct NetworkShape {
  int channels = 32;  // 1 to 1024
  int blocks = 4;     // residual blocks of two convolutions, or light layers
  NetworkKind kind = NetworkKind::kTower;

  friend bool operator==(const NetworkShape&, const NetworkShape&) = default;
};

// Whether the block (from 0) adds pooled knowledge of the whole board.
inline bool BlockPools(int block) { return block % 2 == 0; }

// Where training stands; kept with the weights in one checkpoint file.
struct TrainingProgress {
  int64_t step = 0;
  int generation = 0;
  int64_t samples = 0;

  friend bool operator==(const TrainingProgress&,
                         const TrainingProgress&) = default;
};

struct NamedTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;  // row-major; one for each element
};

struct Checkpoint {
  NetworkShape shape;
  TrainingProgress progress;
  int64_t optimizer_steps = 0;
  std::vector<NamedTensor> tensors;  // names are unique

  // Returns the tensor, or null.
  const NamedTensor* Find(absl::string_view name) const;
  NamedTensor* Find(absl::string_view name) {
    return const_cast<NamedTensor*>(std::as_const(*this).Find(name));
  }
  // Returns the tensor, or INVALID_ARGUMENT, listing the existing ones, if none
  // has that name and shape.
  absl::StatusOr<const NamedTensor*> Find(
      absl::string_view name, const std::vector<int64_t>& shape) const;
  bool Has(absl::string_view name) const { return Find(name) != nullptr; }
  // Whether the name of any tensor begins so.
  bool HasPrefix(absl::string_view prefix) const;
};

// Appends inputs that the network did not have when it was saved, up to those
// of this program (kPlanes, kGlobals): their weights, and the optimizer's
// moments of them, are zero, so that the network plays as before. Returns
// FAILED_PRECONDITION for a network with more inputs than this program has.
absl::Status AddNewInputs(Checkpoint& checkpoint);

// Returns INVALID_ARGUMENT, naming the first tensor with a value that is not
// finite, if there is one.
absl::Status CheckFinite(const Checkpoint& checkpoint);

// Whether the network has learned an auxiliary head: one that was never taught
// still has the biases of zero that it began with.
bool HasLearned(const Checkpoint& checkpoint, Head head);

// Whether a tensor of this name is the optimizer's, or of the weights that it
// works on where the network is their average.
bool IsOfOptimizer(absl::string_view name);

// Returns the checkpoint as the bytes of a file.
std::string EncodeCheckpoint(const Checkpoint& checkpoint);

// Returns the checkpoint that bytes hold, or DATA_LOSS and FAILED_PRECONDITION
// as ReadCheckpoint; errors call them `name`.
absl::StatusOr<Checkpoint> DecodeCheckpoint(const std::string& name,
                                            absl::string_view bytes);

// Writes the checkpoint to `path` atomically: at any instant, also after a
// kill, the path has the old file or the new one (temporary file in the same
// folder, fsync, rename, fsync of the folder). Not for several writers of one
// path at once. Returns the error of the failing system call, with the path.
absl::Status WriteCheckpoint(const std::string& path,
                             const Checkpoint& checkpoint);

// Returns the checkpoint at `path`, or:
//   NOT_FOUND            no such file
//   DATA_LOSS            no checkpoint, truncated or damaged: where; or a value
//                        that is not finite: in which tensor
//   FAILED_PRECONDITION  of another format, feature, policy or value version,
//                        or with inputs that this program does not have
// A network with fewer inputs has them added (AddNewInputs).
absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path);

}  // namespace tara::nn

#endif  // TARA_NN_WEIGHTS_CHECKPOINT_H_
