#include "tara/train/run/generation_player.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/mcts/utility.h"
#include "tara/nn/inference_options.h"
#include "tara/train/config/config_options.h"

namespace tara::train {

absl::StatusOr<std::unique_ptr<GenerationPlayer>> GenerationPlayer::Create(
    const proto::PlayRequest& request, const std::string& checkpoint,
    int threads, const std::string& device) {
  auto player = std::unique_ptr<GenerationPlayer>(new GenerationPlayer());
  TARA_ASSIGN_OR_RETURN(nn::InferenceOptions inference,
                        ToInferenceOptions(request.config().inference()));
  if (!device.empty()) inference = {.device = device};
  TARA_ASSIGN_OR_RETURN(player->options_, ToSelfPlayOptions(request));
  player->options_.threads = threads;
  player->begin_ = request.begin();
  player->end_ = request.begin() + static_cast<uint64_t>(request.start_size());
  TARA_ASSIGN_OR_RETURN(player->network_,
                        nn::LoadNetwork(checkpoint, inference));
  player->cache_ = std::make_unique<mcts::CachingEvaluator>(
      player->network_.evaluator.get(),
      mcts::CachingOptions{
          .positions = request.config().inference().cache_positions(),
          .symmetric = true,
          .margins =
              mcts::Utility(player->options_.search.utility).needs_margins()});
  player->warm_start_ = WarmStartEvaluator(request);
  return player;
}

absl::StatusOr<std::string> GenerationPlayer::NumericClass() const {
  return nn::NumericClassOf(network_, options_.starts);
}

absl::Status GenerationPlayer::Play(
    absl::Span<const uint64_t> games, const GameSink& sink,
    const StopCheck& stop, SelfPlayStats& stats,
    const std::function<void()>& on_all_started) {
  SelfPlayTimes times;
  times.clock = SteadyTime;  // that of a thread stands still while it waits
  SelfPlayOptions options = options_;
  options.times = &times;
  options.on_all_started = on_all_started;
  const absl::Time begin = SteadyTime();
  const auto measure = [&] {
    const auto share = [](int64_t part, int64_t of) {
      return static_cast<double>(part) /
             static_cast<double>(std::max<int64_t>(of, 1));
    };
    stats.evaluate_share =
        share(times.evaluate,
              absl::ToInt64Nanoseconds(SteadyTime() - begin) * options.threads);
    stats.cached_share = share(cache_->hits(), cache_->requests());
  };
  const absl::Status status = PlayGames(
      options, games, warm_start_ != nullptr ? *warm_start_ : *cache_,
      [&](const proto::GameRecord& game) {
        measure();
        return sink(game);
      },
      stop, stats);
  measure();
  return status;
}

absl::Status GenerationPlayer::Play(absl::Span<const uint64_t> games,
                                    const StopCheck& stop,
                                    proto::PlayedGames& played) {
  for (const uint64_t game : games) {
    if (game >= begin_ && game < end_) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("games: ", game, "; expected ", begin_, " to ", end_ - 1));
  }
  const int64_t requests = cache_->requests();
  const int64_t hits = cache_->hits();
  SelfPlayStats stats;
  absl::Mutex mutex;
  TARA_RETURN_IF_ERROR(Play(
      games,
      [&](const proto::GameRecord& game) {
        const absl::MutexLock lock(&mutex);
        played.add_game(game.SerializeAsString());
        return absl::OkStatus();
      },
      stop, stats));
  for (const auto counter : kSelfPlayCounters) {
    played.add_count(stats.*counter);
  }
  played.set_cache_requests(cache_->requests() - requests);
  played.set_cache_hits(cache_->hits() - hits);
  return absl::OkStatus();
}

}  // namespace tara::train
