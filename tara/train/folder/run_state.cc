#include "tara/train/folder/run_state.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/atomic_file.h"
#include "tara/base/status_macros.h"

namespace tara::train {
namespace {

// As many generations back as a run can have to go to find a checkpoint that is
// whole, and more.
constexpr int kPlansKept = 64;

// Keeps the first error of the text-format parser.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) {
      text_ = absl::StrCat(line + 1, ":", column + 1, ": ", message);
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

absl::StatusOr<RunStateFile> RunStateFile::Open(const std::string& path) {
  RunStateFile file(path);
  absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (absl::IsNotFound(text.status())) return file;
  TARA_RETURN_IF_ERROR(text.status());
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (parser.ParseFromString(*text, &file.state_)) return file;
  return absl::DataLossError(absl::StrCat(
      path, ":", error.text(),
      "; expected the state of a run. Without this file the run goes on with "
      "what its games and checkpoints tell: the games of a generation may then "
      "be divided in another way, and the gate begins anew"));
}

absl::Status RunStateFile::Save() const {
  std::string text;
  google::protobuf::TextFormat::PrintToString(state_, &text);
  return WriteFileAtomically(
      path_,
      absl::StrCat("# Where the run stands; written by the program.\n", text));
}

const proto::GenerationPlan* RunStateFile::PlanOf(int generation) const {
  for (const proto::GenerationPlan& plan : state_.plan()) {
    if (static_cast<int>(plan.generation()) == generation) return &plan;
  }
  return nullptr;
}

absl::Status RunStateFile::AddPlan(const proto::GenerationPlan& plan) {
  *state_.add_plan() = plan;
  if (const int old = state_.plan_size() - kPlansKept; old > 0) {
    state_.mutable_plan()->DeleteSubrange(0, old);
  }
  return Save();
}

void RunStateFile::SetScores(const std::vector<StrengthResult>& strength) {
  // Sum of the scores against all opponents, and their number.
  std::map<std::string, std::pair<double, int>> sums;
  for (const StrengthResult& result : strength) {
    auto& [sum, opponents] = sums[result.variant];
    sum += result.score;
    ++opponents;
  }
  state_.clear_score();
  for (const auto& [variant, sum] : sums) {
    proto::VariantScore& score = *state_.add_score();
    score.set_variant(variant);
    score.set_score(sum.first / sum.second);
  }
}

}  // namespace tara::train
