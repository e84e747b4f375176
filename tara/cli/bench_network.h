#ifndef TARA_CLI_BENCH_NETWORK_H_
#define TARA_CLI_BENCH_NETWORK_H_

#include <string>

#include "absl/status/statusor.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara {

// A checkpoint to measure with: one that there is, or one of random weights in
// a folder of its own, which goes when this does.
class BenchNetwork {
 public:
  // `net` is "CHANNELSxBLOCKS"; unused where `checkpoint` names a file or a run,
  // which stands for its newest. Returns
  // a usage error when it is not, UNAVAILABLE when there is no place for it, or
  // errors as ReadCheckpoint.
  static absl::StatusOr<BenchNetwork> Make(const std::string& net,
                                           const std::string& checkpoint);

  BenchNetwork(BenchNetwork&& other) noexcept;
  BenchNetwork& operator=(BenchNetwork&&) = delete;
  ~BenchNetwork();

  const std::string& path() const { return path_; }
  const NetworkShape& shape() const { return shape_; }
  std::string name() const;  // "64x4"

 private:
  BenchNetwork() = default;

  std::string path_;
  std::string folder_;  // to remove; may be empty
  NetworkShape shape_;
};

}  // namespace tara

#endif  // TARA_CLI_BENCH_NETWORK_H_
