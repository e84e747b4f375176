#include "tara/train/folder/retention.h"

#include <cstdint>

namespace tara::train {
namespace {

// The untrained network, and the first that has learned.
constexpr int kFirst = 1;

}  // namespace

std::vector<int> CheckpointsToRemove(const std::vector<int>& there,
                                     const proto::RetentionConfig& config,
                                     const std::set<int>& needed) {
  const uint32_t last = config.keep_last_checkpoints();
  const uint32_t every = config.keep_every_checkpoints();
  if (last == 0 && every == 0) return {};
  std::vector<int> removed;
  for (size_t i = 0; i < there.size(); ++i) {
    const bool newest = i + last >= there.size();
    const bool is_each = every > 0 && there[i] % static_cast<int>(every) == 0;
    if (there[i] > kFirst && !newest && !is_each &&
        !needed.contains(there[i])) {
      removed.push_back(there[i]);
    }
  }
  return removed;
}

}  // namespace tara::train
