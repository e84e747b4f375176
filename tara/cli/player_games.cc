#include "tara/cli/player_games.h"

#include <cmath>
#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/eval/balance/balance_driver.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/players/make_player.h"
#include "tara/record/game_record.h"

namespace tara::cli {
namespace {

// Games in progress a thread: a batch for a player that searches.
constexpr int kConcurrentGames = 32;
// Of players without a policy to draw from.
constexpr int kOpeningPlies = 2;

eval::BalanceGameOptions OptionsOf(const PlayerGames& games,
                                   const State& start) {
  const bool has_policy = games.spec.kind == eval::PlayerKind::kMcts;
  return {.variant = start.variant,
          .rule_options = start.options,
          .seed = games.seed,
          .opening_plies = has_policy ? 0 : kOpeningPlies};
}

proto::GameRecord RecordOf(const PlayerGames& games, const State& start,
                           const eval::BalanceGameOptions& options,
                           const eval::BalanceGame& game) {
  proto::GameRecord record = record::NewGameRecord(
      start, {.seed = games.seed,
              .model_id = games.player,
              .game_index = static_cast<uint64_t>(game.id.index)});
  record.set_opening_plies(static_cast<uint32_t>(options.opening_plies));
  State state = start;
  for (size_t ply = 0; ply < game.actions.size(); ++ply) {
    proto::Step& step = record::AddStep(game.actions[ply], record);
    const float red_value = game.red_values[ply];
    if (!std::isnan(red_value)) {
      step.set_root_value(state.side() == kRed ? red_value : -red_value);
    }
    ApplyAction(game.actions[ply], state);
  }
  record::SetResult(state, record);
  return record;
}

}  // namespace

absl::Status PlayPlayerGames(
    const PlayerGames& games, absl::Span<const uint64_t> numbers,
    const std::function<absl::Status(const proto::GameRecord&)>& sink,
    const std::function<bool()>& stop) {
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<eval::BalanceDriver> driver,
      eval::BalanceDriver::Create(
          [&] { return eval::MakePlayer(games.player); }, games.threads,
          eval::GamesAtATime(games.spec, kConcurrentGames)));
  for (size_t i = 0; i < games.starts.size() && !stop(); ++i) {
    const State& start = games.starts[i];
    std::vector<eval::BalanceGameId> ids;
    for (const uint64_t number : numbers) {
      if (number % games.starts.size() == i) {
        ids.push_back({.index = static_cast<int>(number)});
      }
    }
    const eval::BalanceGameOptions options = OptionsOf(games, start);
    TARA_RETURN_IF_ERROR(driver->Play(
        options, ids,
        [&](const eval::BalanceGame& game) -> absl::StatusOr<bool> {
          TARA_RETURN_IF_ERROR(sink(RecordOf(games, start, options, game)));
          return !stop();
        }));
  }
  return absl::OkStatus();
}

}  // namespace tara::cli
