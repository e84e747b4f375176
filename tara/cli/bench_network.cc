#include "tara/cli/bench_network.h"

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tara/base/status_macros.h"
#include "tara/cli/command_line.h"
#include "tara/eval/players/make_player.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/training/trainer.h"

namespace tara::cli {
namespace {

constexpr uint64_t kSeed = 1;

absl::StatusOr<nn::NetworkShape> ShapeOf(const std::string& net) {
  const std::vector<std::string> parts = absl::StrSplit(net, 'x');
  nn::NetworkShape shape;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &shape.channels) ||
      !absl::SimpleAtoi(parts[1], &shape.blocks) || shape.channels < 1 ||
      shape.channels > 1024 || shape.blocks < 1 || shape.blocks > 100) {
    return UsageError(absl::StrCat("--net is '", net,
                                   "'; expected CHANNELSxBLOCKS, such as 64x4 "
                                   "(up to 1024x100)"));
  }
  return shape;
}

}  // namespace

void AddBenchNetworkFlags(Command& command, BenchNetworkFlags* flags) {
  command.AddText({.names = "--net",
                   .placeholder = "CxB",
                   .help = "network of random weights: channels x blocks"},
                  &flags->net);
  command.AddText({.names = "--checkpoint",
                   .placeholder = "FILE",
                   .help = "network of a checkpoint, or of a run's newest"},
                  &flags->checkpoint);
}

absl::StatusOr<BenchNetwork> BenchNetwork::Make(
    const BenchNetworkFlags& flags) {
  BenchNetwork network;
  if (!flags.checkpoint.empty()) {
    TARA_ASSIGN_OR_RETURN(network.path_,
                          eval::FindCheckpoint(flags.checkpoint));
    TARA_ASSIGN_OR_RETURN(const nn::Checkpoint read,
                          nn::ReadNetworkFile(network.path_));
    network.shape_ = read.shape;
    return network;
  }
  TARA_ASSIGN_OR_RETURN(network.shape_, ShapeOf(flags.net));
  std::error_code ignored;
  std::string folder =
      (std::filesystem::temp_directory_path(ignored) / "tara-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::UnavailableError("cannot make a temporary folder");
  }
  network.folder_ = folder;
  network.path_ = folder + "/random.checkpoint";
  TARA_RETURN_IF_ERROR(nn::NewTrainer(network.shape_, {.threads = 1}, kSeed)
                           ->Save(network.path_, {}));
  return network;
}

BenchNetwork::BenchNetwork(BenchNetwork&& other) noexcept
    : path_(std::move(other.path_)),
      folder_(std::exchange(other.folder_, "")),
      shape_(other.shape_) {}

BenchNetwork::~BenchNetwork() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::string BenchNetwork::name() const {
  return absl::StrCat(shape_.channels, "x", shape_.blocks);
}

}  // namespace tara::cli
