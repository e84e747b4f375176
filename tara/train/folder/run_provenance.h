#ifndef TARA_TRAIN_FOLDER_RUN_PROVENANCE_H_
#define TARA_TRAIN_FOLDER_RUN_PROVENANCE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::train {

// The origin of a checkpoint, as far as its folder shows it.
struct RunProvenance {
  nn::BundleProvenance provenance;
  // The variants of the run; empty if the file is not in the folder of a run.
  std::vector<nn::BundleVariant> variants;
};

// Returns the provenance of the checkpoint read from `path`. For one in the
// folder `checkpoints` of a run it includes the data of the run; for any other,
// only the content of the file. It needs no lock, also for runs in progress,
// and contains no paths of this machine. Returns the errors of reading the
// run's files.
absl::StatusOr<RunProvenance> ProvenanceOf(const std::string& path,
                                           const nn::Checkpoint& checkpoint);

// The variants with the rule options that a network has learned; nullopt:
// unknown.
using Learned = std::optional<std::vector<nn::BundleVariant>>;

// Returns what the network in a file has learned: by the manifest of a bundle,
// or the config of the run in whose folder a checkpoint lies.
Learned LearnedByModel(const std::string& file);

}  // namespace tara::train

#endif  // TARA_TRAIN_FOLDER_RUN_PROVENANCE_H_
