// Prints what the learner makes of a batch, for the package's Sampler to be
// compared with, bit for bit:
//
//   learner_batch STORE SEED STEP SIZE [FIELD=VALUE...]
//
// with fields of `learner` in a config. Prints the arrays of tara.Batch as they
// lie in memory, one after another: planes as [n, 7, 7, NUM_PLANES], globals,
// mask, policy, policy_weight, result, margin, margin_weight, reply,
// reply_weight, owner, kingdoms, final_weight. Mask and margin have the types
// of the learner: float32, 0 where legal, and int64.

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/training/losses_torch.h"
#include "tara/record/game_store.h"
#include "tara/train/config/config.h"
#include "tara/train/config/config_options.h"
#include "tara/train/learn/sampler.h"

namespace tara::train {
namespace {

void Print(const at::Tensor& tensor) {
  const at::Tensor whole = tensor.contiguous();
  std::fwrite(whole.data_ptr(), 1, whole.nbytes(), stdout);
}

// The columns [B, kNumPolicyOutputs] of actions, in their order.
at::Tensor OfActions(const at::Tensor& outputs) {
  std::vector<int64_t> columns;
  for (int index = 0; index < kNumActions; ++index) {
    columns.push_back(nn::PolicyOutput(static_cast<Action>(index)));
  }
  return outputs.index_select(1, at::tensor(columns));
}

absl::Status Run(const std::vector<std::string>& arguments) {
  int64_t seed = 0, step = 0;
  int size = 0;
  if (arguments.size() < 4 || !absl::SimpleAtoi(arguments[1], &seed) ||
      !absl::SimpleAtoi(arguments[2], &step) ||
      !absl::SimpleAtoi(arguments[3], &size)) {
    return absl::InvalidArgumentError("expected STORE SEED STEP SIZE");
  }
  std::vector<std::string> overrides;
  for (size_t i = 4; i < arguments.size(); ++i) {
    overrides.push_back(absl::StrCat("learner.", arguments[i]));
  }
  TARA_ASSIGN_OR_RETURN(
      const proto::TrainConfig config,
      ParseTrainConfig("variant: \"sacred_hill_l1\"", "arguments", overrides));
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<record::GameStore> store,
      record::OpenGameStore(arguments[0], record::StoreMode::kReadOnly));
  TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> newest,
                        store->Indices({.limit = 1, .newest_first = true}));
  Sampler sampler(*store, ToSamplerOptions(config.learner()),
                  static_cast<uint64_t>(seed));
  TARA_RETURN_IF_ERROR(sampler.MoveWindow(newest.at(0) + 1));

  nn::PerHead<bool> heads;
  for (const nn::HeadInfo& info : nn::kHeads) heads[info.head] = true;
  const nn::EncodedSamples targets =
      nn::EncodeSamples(sampler.Batch(step, size), heads);
  Print(targets.planes.permute({0, 2, 3, 1}));
  Print(targets.globals);
  Print(OfActions(targets.legal));
  Print(OfActions(targets.targets[nn::Head::kPolicy]));
  Print(targets.weights[nn::Head::kPolicy]);
  Print(targets.targets[nn::Head::kValue]);
  Print(targets.targets[nn::Head::kMargin] - kMaxMargin);
  Print(targets.weights[nn::Head::kMargin]);
  Print(OfActions(targets.targets[nn::Head::kReply]));
  Print(targets.weights[nn::Head::kReply]);
  Print(targets.targets[nn::Head::kOwner]);
  Print(targets.targets[nn::Head::kKingdoms]);
  Print(targets.weights[nn::Head::kOwner]);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tara::train

int main(int argc, char** argv) {
  const absl::Status status =
      tara::train::Run(std::vector<std::string>(argv + 1, argv + argc));
  if (status.ok()) return 0;
  std::fprintf(stderr, "learner_batch: %s\n", status.ToString().c_str());
  return 1;
}
