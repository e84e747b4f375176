#include "tara/mcts/choice/resignation.h"

#include <algorithm>
#include <cmath>

#include "tara/base/check.h"
#include "tara/base/random.h"

namespace tara::mcts {
namespace {

// Returns the index of the highest threshold of the grid that is not above
// `threshold`; the size of the grid if all are above.
int IndexNotAbove(float threshold) {
  constexpr int kEnd = ResignationCounts::kNumThresholds;
  if (!(threshold > -1)) return kEnd;
  // Rounded, and put right where that went up: -0.9f is not quite -90 / 100.
  int index = static_cast<int>(std::lround(-threshold * kEnd));
  while (index < kEnd && ResignationCounts::Threshold(index) > threshold) {
    ++index;
  }
  return index;
}

}  // namespace

ResignationCounts::ResignationCounts(int64_t games,
                                     absl::Span<const int64_t> resigned,
                                     absl::Span<const int64_t> wrong)
    : games_(games) {
  TARA_CHECK(
      resigned.size() == kNumThresholds && wrong.size() == kNumThresholds,
      "counts of other thresholds");
  std::copy(resigned.begin(), resigned.end(), resigned_.begin());
  std::copy(wrong.begin(), wrong.end(), wrong_.begin());
}

ResignationCounts& ResignationCounts::operator+=(
    const ResignationCounts& other) {
  games_ += other.games_;
  for (int i = 0; i < kNumThresholds; ++i) {
    resigned_[i] += other.resigned_[i];
    wrong_[i] += other.wrong_[i];
  }
  return *this;
}

std::optional<float> ResignationCounts::ChooseThreshold(
    const ResignationOptions& options) const {
  if (!options.threshold.has_value()) return std::nullopt;
  TARA_CHECK(*options.threshold <= 0, "a threshold of resigning is at most 0");
  const int first = IndexNotAbove(*options.threshold);
  for (int i = first; i < kNumThresholds; ++i) {
    const bool judged = resigned_[i] > 0 && resigned_[i] >= options.min_games;
    if (!judged && i > first) return std::nullopt;
    const double allowed =
        static_cast<double>(options.max_false_positive_rate) *
        static_cast<double>(resigned_[i]);
    if (!judged || static_cast<double>(wrong_[i]) <= allowed) {
      return Threshold(i);
    }
  }
  return std::nullopt;
}

bool IsPlayedOn(const ResignationOptions& options, uint64_t seed) {
  return Random(seed).Uniform() < options.played_on_share;
}

ResignationWatch::ResignationWatch(const ResignationOptions& options,
                                   std::optional<float> threshold,
                                   bool played_on)
    : turns_(options.turns), threshold_(threshold), played_on_(played_on) {
  TARA_CHECK(options.turns >= 1, "turns must be >= 1");
  first_.fill(-1);
}

bool ResignationWatch::Observe(Side side, float root_value) {
  std::vector<float>& recent = recent_[side];
  if (static_cast<int>(recent.size()) == turns_) recent.erase(recent.begin());
  recent.push_back(root_value);
  if (static_cast<int>(recent.size()) < turns_) return false;
  const float level = *std::max_element(recent.begin(), recent.end());
  for (int i = 0; i < ResignationCounts::kNumThresholds; ++i) {
    if (level > ResignationCounts::Threshold(i)) break;
    if (first_[i] < 0) first_[i] = static_cast<int8_t>(side);
  }
  return !played_on_ && threshold_.has_value() && level <= *threshold_;
}

void ResignationWatch::AddTo(ResignationCounts& counts, int winner) const {
  if (!played_on_) return;
  ++counts.games_;
  for (int i = 0; i < ResignationCounts::kNumThresholds; ++i) {
    if (first_[i] < 0) continue;
    ++counts.resigned_[i];
    if (winner != Opponent(first_[i])) ++counts.wrong_[i];
  }
}

}  // namespace tara::mcts
