#ifndef TARA_CLI_BENCH_NETWORK_H_
#define TARA_CLI_BENCH_NETWORK_H_

#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::cli {

// The network to measure with.
struct BenchNetworkFlags {
  std::string net;         // "CHANNELSxBLOCKS": of random weights
  std::string checkpoint;  // a file, or a run, which stands for its newest
};

// Adds --net and --checkpoint.
void AddBenchNetworkFlags(Command& command, BenchNetworkFlags* flags);

// A checkpoint to measure with: one that there is, or one of random weights in
// a folder of its own, which goes when this does.
class BenchNetwork {
 public:
  // The checkpoint, or without one a network of the shape. Returns a usage
  // error when that is none, UNAVAILABLE when there is no place for it, or
  // errors as ReadCheckpoint.
  static absl::StatusOr<BenchNetwork> Make(const BenchNetworkFlags& flags);

  BenchNetwork(BenchNetwork&& other) noexcept;
  BenchNetwork& operator=(BenchNetwork&&) = delete;
  ~BenchNetwork();

  const std::string& path() const { return path_; }
  const nn::NetworkShape& shape() const { return shape_; }
  std::string name() const;  // "64x4"

 private:
  BenchNetwork() = default;

  std::string path_;
  std::string folder_;  // to remove; may be empty
  nn::NetworkShape shape_;
};

}  // namespace tara::cli

#endif  // TARA_CLI_BENCH_NETWORK_H_
