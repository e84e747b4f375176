#include "tara/mcts/evaluator.h"

#include <utility>

#include "tara/base/check.h"

namespace tara::mcts {
namespace {

// Each request is a position of a batch.
class PlainQueue : public EvaluationQueue {
 public:
  explicit PlainQueue(Evaluator* evaluator) : evaluator_(evaluator) {}

  void Submit(absl::Span<const Request> requests, std::vector<int>&) override {
    requests_.insert(requests_.end(), requests.begin(), requests.end());
  }

  size_t waiting() const override { return requests_.size(); }

  absl::Status Evaluate(std::vector<int>& answered) override {
    TARA_CHECK(!requests_.empty(), "expected a waiting request");
    const size_t size =
        BatchSize(requests_.size(), evaluator_->batch_multiple());
    states_.clear();
    for (size_t i = 0; i < size; ++i) states_.push_back(*requests_[i].state);
    if (results_.size() < size) results_.resize(size);
    const absl::Status status =
        evaluator_->Evaluate(states_, absl::MakeSpan(results_).first(size));
    if (!status.ok()) {
      requests_.clear();
      return status;
    }
    for (size_t i = 0; i < size; ++i) {
      std::swap(*requests_[i].result, results_[i]);  // both keep some memory
      answered.push_back(requests_[i].tag);
    }
    requests_.erase(requests_.begin(),
                    requests_.begin() + static_cast<ptrdiff_t>(size));
    return absl::OkStatus();
  }

 private:
  Evaluator* const evaluator_;
  std::vector<Request> requests_;
  // A batch; kept to reuse their memory.
  std::vector<State> states_;
  std::vector<Evaluation> results_;
};

}  // namespace

std::unique_ptr<EvaluationQueue> Evaluator::NewQueue() {
  return std::make_unique<PlainQueue>(this);
}

}  // namespace tara::mcts
