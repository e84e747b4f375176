#include "tara/mcts/search/pondering.h"

#include <atomic>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/mcts/search/search_until.h"
#include "tara/mcts/time/stop_rule.h"

namespace tara::mcts {

// `tree` and `status` belong to the thread until it is joined.
struct Pondering::Search {
  explicit Search(Tree searched) : tree(std::move(searched)) {}

  void Join() {
    stop.store(true, std::memory_order_relaxed);
    thread.join();
  }

  Tree tree;
  absl::Status status;
  std::atomic<bool> stop = false;
  std::thread thread;
};

Pondering::Pondering() = default;

Pondering::~Pondering() {
  if (started()) search_->Join();
}

void Pondering::Start(Tree tree, Evaluator& evaluator,
                      const PonderingLimits& limits) {
  TARA_CHECK(!started(), "pondering was started already");
  search_ = std::make_unique<Search>(std::move(tree));
  search_->thread = std::thread([search = search_.get(), &evaluator, limits] {
    Tree& tree = search->tree;
    const int simulations = tree.options().simulations;
    tree.SetSimulations(limits.simulations);
    search->status = SearchUntil(
        tree, evaluator, /*rule=*/AnyOf(),
        {.threads = limits.threads, .leaves_per_game = limits.leaves_per_game},
        [search] { return search->stop.load(std::memory_order_relaxed); });
    tree.SetSimulations(simulations);
  });
}

absl::StatusOr<Tree> Pondering::Stop() {
  TARA_CHECK(started(), "pondering was not started");
  search_->Join();
  const std::unique_ptr<Search> search = std::move(search_);
  TARA_RETURN_IF_ERROR(search->status);
  return std::move(search->tree);
}

}  // namespace tara::mcts
