#ifndef TARA_NN_HEADS_H_
#define TARA_NN_HEADS_H_

// The heads of the network: their outputs, their tensors, their losses. What
// differs between heads in learning, files and reports is a fold over kHeads;
// tara/nn/torch/network_torch.h draws where they sit, and
// tara/nn/training/losses_torch.cc has what each learns.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "tara/core/outcome.h"

namespace tara::nn {

// The parts of a network's output that have a loss of their own, in the order
// of reports. Logits, for the side to move:
enum class Head : uint8_t {
  kPolicy,    // [B, kNumPolicyOutputs], see tara/nn/encode/features.h
  kValue,     // [B, kNumResults]: win, draw, loss
  kMargin,    // [B, kNumMargins], from -kMaxMargin on
  kOwner,     // [B, kNumOwners, 7, 7]: own, enemy, vacant at the end
  kKingdoms,  // [B, 2, kNumKingdomCounts]: own, enemy at the end
  kReply,     // [B, kNumPolicyOutputs]: the opponent's next policy
};

struct HeadInfo {
  Head head;
  // Of its loss, in progress lines and metrics (NAME_loss).
  absl::string_view name;
  // The names of its tensors begin so, and no others do. (The margins are part
  // of the value's last layer.)
  absl::string_view tensors;
  // Learned for its effect on the tower: not computed in play, nor in learning
  // while its loss has no weight. If a checkpoint lacks it, it starts with new
  // weights.
  bool is_auxiliary;
  // Kept in bundles; an auxiliary head only if it has been trained.
  bool in_bundles;
  // The field of LearnerConfig with the weight of its loss; empty: always 1.
  absl::string_view weight_field;
  float loss_weight;  // default
};

inline constexpr auto kHeads = std::to_array<HeadInfo>({
    {Head::kPolicy, "policy", "policy_", false, true, "", 1},
    {Head::kValue, "value", "value_", false, true, "", 1},
    // A distribution over this many margins has a loss of some nats: with a
    // weight of 1 it would dominate the total.
    {Head::kMargin, "margin", "value_", false, true, "margin_loss_weight",
     0.1f},
    {Head::kOwner, "owner", "owner_", true, true, "owner_loss_weight", 0},
    {Head::kKingdoms, "kingdoms", "kingdoms_", true, false,
     "kingdoms_loss_weight", 0},
    {Head::kReply, "reply", "reply_", true, false, "reply_loss_weight", 0},
});
static_assert([] {
  for (size_t i = 0; i < kHeads.size(); ++i) {
    if (static_cast<size_t>(kHeads[i].head) != i) return false;
  }
  return true;
}());

// A value for each head.
template <typename T>
class PerHead {
 public:
  constexpr PerHead() = default;
  // Heads that are not listed get T().
  constexpr PerHead(std::initializer_list<std::pair<Head, T>> values) {
    for (const auto& [head, value] : values) (*this)[head] = value;
  }

  constexpr T& operator[](Head head) {
    return values_[static_cast<size_t>(head)];
  }
  constexpr const T& operator[](Head head) const {
    return values_[static_cast<size_t>(head)];
  }

 private:
  std::array<T, kHeads.size()> values_ = {};
};

// Returns the default weights of the losses, with the given ones replaced.
constexpr PerHead<float> LossWeights(
    std::initializer_list<std::pair<Head, float>> given = {}) {
  PerHead<float> weights;
  for (const HeadInfo& info : kHeads) weights[info.head] = info.loss_weight;
  for (const auto& [head, weight] : given) weights[head] = weight;
  return weights;
}

// Returns the auxiliary head that the tensor belongs to, or nullptr.
inline const HeadInfo* AuxiliaryHeadOf(absl::string_view tensor) {
  for (const HeadInfo& info : kHeads) {
    if (info.is_auxiliary && absl::StartsWith(tensor, info.tensors)) {
      return &info;
    }
  }
  return nullptr;
}

// Sizes that every program which computes the network has to know.
inline constexpr int kNumResults = 3;
inline constexpr int kValueHidden = 64;  // between the value's linear layers
inline constexpr int kNumValueOutputs = kNumResults + kNumMargins;
inline constexpr int kNumOwners = 3;
// The largest distinguished number of kingdoms of a side at the end: the
// maximum on a board where adjacent ringforts are linked. (Stone of Destiny may
// have more, which count as this many.)
inline constexpr int kMaxKingdoms = 24;
inline constexpr int kNumKingdomCounts = kMaxKingdoms + 1;

// Mean losses of a step, by weight of the samples.
struct Losses {
  double total = 0;  // the sum of the heads', each by its weight
  // Cross-entropies in nats, over the samples that have the head's target: of
  // the hills and of both sides' kingdoms, the mean. 0 where the head is not
  // computed.
  PerHead<double> heads = {};
  // Share of samples with a policy whose most visited action has the highest
  // prior.
  double policy_accuracy = 0;
  // A loss or a gradient was not finite: the step was not made.
  bool skipped = false;
};

}  // namespace tara::nn

#endif  // TARA_NN_HEADS_H_
