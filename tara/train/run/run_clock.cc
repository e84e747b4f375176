#include "tara/train/run/run_clock.h"

#include <algorithm>

#include "tara/base/clocks.h"

namespace tara::train {
namespace {

double Share(absl::Duration used, double minutes) {
  return minutes > 0 ? absl::ToDoubleSeconds(used) / (60 * minutes) : 0;
}

}  // namespace

RunTime operator+(const RunTime& a, const RunTime& b) {
  return {.wall = a.wall + b.wall, .cpu = a.cpu + b.cpu};
}

RunTime operator-(const RunTime& a, const RunTime& b) {
  return {.wall = a.wall - b.wall, .cpu = a.cpu - b.cpu};
}

RunTime ProcessTime() {
  return {.wall = SteadyTime() - absl::UnixEpoch(),
          .cpu = tara::ProcessTime() - absl::UnixEpoch()};
}

double ShareOfTime(const proto::TrainConfig& config, const RunTime& used) {
  return std::max(Share(used.wall, config.minutes()),
                  Share(used.cpu, config.cpu_minutes()));
}

int ExpectedGenerations(const proto::TrainConfig& config, int generations_done,
                        const RunTime& used) {
  const int generations = static_cast<int>(config.generations());
  const double share = ShareOfTime(config, used);
  if (generations_done == 0 || share <= 0) return generations;
  const double fit = generations_done / share;
  if (fit >= generations) return generations;
  // The next generation will be learned, at any time.
  return std::max(static_cast<int>(fit),
                  std::min(generations_done + 1, generations));
}

}  // namespace tara::train
