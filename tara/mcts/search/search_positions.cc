#include "tara/mcts/search/search_positions.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/threads.h"
#include "tara/mcts/solver/endgame_solver.h"

namespace tara::mcts {
namespace {

// Positions searched by a thread at a time, and the simulations that the trees
// of all threads may hold together, some 500 bytes each.
constexpr int kMostTrees = 32;
constexpr int kMostSimulations = 1000000;

// The search of one position, which hands over its tree at the end.
class PositionSearch : public SearchedGame {
 public:
  PositionSearch(const SearchOptions& options, const State& state,
                 uint64_t seed, std::function<void(const Tree&)> on_searched)
      : tree_(options, state, seed), on_searched_(std::move(on_searched)) {}

  Tree& tree() override { return tree_; }
  absl::StatusOr<bool> Play() override {
    on_searched_(tree_);
    return false;
  }

 private:
  Tree tree_;
  const std::function<void(const Tree&)> on_searched_;
};

}  // namespace

absl::Status SearchPositions(
    absl::Span<const State> positions, const SearchPositionsOptions& options,
    Evaluator& evaluator,
    const std::function<void(size_t place, const Tree& tree)>& on_searched,
    SearchCounters& counters) {
  if (positions.empty()) return absl::OkStatus();
  SharedSolver solver;
  SearchOptions search = options.search;
  SetForVariant(positions[0].variant, &solver, search);
  const int count = static_cast<int>(positions.size());
  const int threads = std::clamp(options.threads, 1, count);
  const int share = (count + threads - 1) / threads;
  const int trees =
      std::max(1, std::min({share, kMostTrees,
                            kMostSimulations / search.simulations / threads}));
  const auto stopped = [&] { return options.stop && options.stop(); };
  const auto report = [&] {
    if (options.on_progress) options.on_progress();
  };
  std::atomic<size_t> next = 0;
  const auto next_search = [&]() -> std::unique_ptr<SearchedGame> {
    const size_t place = next++;
    if (place >= positions.size()) return nullptr;
    return std::make_unique<PositionSearch>(
        search, positions[place],
        DeriveSeed(options.seed, place, StreamPurpose::kArena),
        [&on_searched, place](const Tree& tree) { on_searched(place, tree); });
  };
  std::vector<absl::Status> statuses(static_cast<size_t>(threads));
  RunOnThreads(threads, [&](int thread) {
    statuses[static_cast<size_t>(thread)] = PlayManyGames(
        {.games = trees, .leaves_per_game = options.leaves_per_game},
        next_search, evaluator,
        [&] {
          report();
          return stopped();
        },
        counters);
  });
  for (const absl::Status& status : statuses) TARA_RETURN_IF_ERROR(status);
  report();
  return stopped() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

}  // namespace tara::mcts
