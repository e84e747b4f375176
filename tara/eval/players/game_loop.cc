#include "tara/eval/players/game_loop.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/base/threads.h"
#include "tara/core/rules.h"
#include "tara/record/game_record.h"

namespace tara::eval {
namespace {

using Games = std::vector<std::unique_ptr<PlayedGame>>;

bool IsStopped(const GameLoopOptions& options) {
  return options.stop && options.stop();
}

// Tells the player to move of its clock, and what that allows for the move.
void SetTimes(const GameClocks& clocks, const PlayedGame& game, Turn& turn) {
  const mcts::TimeManager& manager = game.clocks[game.to_move()].manager;
  const mcts::TimeControl& control = clocks.control;
  turn.budget = manager.BudgetFor(static_cast<int>(game.actions.size()),
                                  mcts::ExpectedActionsLeft(game.state) / 2);
  turn.clock = {
      .control = control,
      .left = control.is_per_move() ? control.per_move : manager.left()};
  turn.may_ponder = true;
}

// Counts the time of a move, which may end the game.
void SpendTime(absl::Duration time, PlayedGame& game) {
  PlayerClock& clock = game.clocks[game.to_move()];
  ++clock.use.moves;
  clock.use.time += time;
  clock.manager.Spend(time);
  if (clock.manager.overstepped()) game.forfeited_by = game.to_move();
}

// Plays one action in each game in which the player of this place is to move.
absl::Status PlayOneAction(const GameLoopOptions& options, Player& player,
                           int place, const Games& games) {
  std::vector<PlayedGame*> movers;
  for (const auto& game : games) {
    if (!game->over() && game->to_move() == place) movers.push_back(game.get());
  }
  if (movers.empty()) return absl::OkStatus();
  std::vector<Turn> turns;
  std::vector<SearchReport> reports(movers.size());
  std::vector<std::string> faults(movers.size());
  for (size_t i = 0; i < movers.size(); ++i) {
    turns.push_back({.state = movers[i]->state,
                     .random = &movers[i]->random,
                     .match = movers[i]->match,
                     .game = movers[i]->number,
                     .actions = movers[i]->actions,
                     .seating = movers[i]->seatings[place],
                     .report = &reports[i],
                     .forfeit = &faults[i],
                     .stop = options.stop ? &options.stop : nullptr});
    if (options.clocks.has_value()) {
      SetTimes(*options.clocks, *movers[i], turns.back());
    }
  }
  std::vector<Action> actions(movers.size());
  const absl::Time start =
      options.clocks.has_value() ? options.clocks->now() : absl::InfinitePast();
  TARA_RETURN_IF_ERROR(player.ChooseActions(turns, absl::MakeSpan(actions)));
  if (options.clocks.has_value()) {
    TARA_CHECK(movers.size() == 1,
               "games with clocks are played one at a time");
    SpendTime(options.clocks->now() - start, *movers[0]);
  }
  for (size_t i = 0; i < movers.size(); ++i) {
    PlayedGame& game = *movers[i];
    if (!faults[i].empty()) {
      game.forfeited_by = place;
      game.fault = faults[i];
    }
    if (game.forfeited_by.has_value()) continue;
    game.Play(game.Choose(reports[i], actions[i]), reports[i]);
  }
  return absl::OkStatus();
}

void EndGame(const PlayedGame& game, absl::Span<Player* const> players) {
  for (Player* const player : players) player->EndGame(game.number);
}

}  // namespace

PlayedGame::PlayedGame(uint64_t number, const State& start, uint64_t seed)
    : number(number),
      state(start),
      random(seed),
      record(record::NewGameRecord(start, {.seed = seed})) {}

void PlayedGame::Play(Action action, const SearchReport& report) {
  proto::Step& step = record::AddStep(action, record);
  if (report.value.has_value()) {
    step.set_root_value(std::clamp(*report.value, -1.0f, 1.0f));
  }
  if (report.proved_margin.has_value()) {
    record::SetProved(*report.proved_margin, *report.proved_margin, state,
                      step);
  }
  const absl::Status legal = PlayAction(action, state);
  TARA_CHECK(legal.ok(), "a player chose an illegal action");
  actions.push_back(action);
}

namespace {

// Like PlayGames. Leaves the games in progress in `games`.
absl::Status PlayUntilOver(const GameLoopOptions& options,
                           absl::Span<Player* const> players,
                           const GameSource& next_game,
                           const std::function<bool()>& go_on, Games& games) {
  const size_t most =
      options.clocks.has_value() ? 1 : static_cast<size_t>(options.games);
  const auto begin = [&](std::unique_ptr<PlayedGame>& game) -> absl::Status {
    if (game == nullptr) {
      TARA_ASSIGN_OR_RETURN(game, next_game());
    }
    if (game == nullptr || !options.clocks.has_value()) return absl::OkStatus();
    const PlayerClock clock = {.manager =
                                   mcts::TimeManager(options.clocks->control,
                                                     options.clocks->options)};
    game->clocks.assign(players.size(), clock);
    return absl::OkStatus();
  };
  while (games.size() < most) {
    TARA_RETURN_IF_ERROR(begin(games.emplace_back()));
    if (games.back() != nullptr) continue;
    games.pop_back();
    break;
  }
  while (!games.empty() && !IsStopped(options)) {
    for (size_t place = 0; place < players.size(); ++place) {
      TARA_RETURN_IF_ERROR(PlayOneAction(options, *players[place],
                                         static_cast<int>(place), games));
    }
    for (std::unique_ptr<PlayedGame>& game : games) {
      if (!game->over()) continue;
      EndGame(*game, players);
      TARA_ASSIGN_OR_RETURN(game, game->Finish());
      TARA_RETURN_IF_ERROR(begin(game));
    }
    std::erase(games, nullptr);
    if (!go_on()) break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PlayGames(const GameLoopOptions& options,
                       absl::Span<Player* const> players,
                       const GameSource& next_game,
                       const std::function<bool()>& go_on) {
  Games games;
  absl::Status status =
      PlayUntilOver(options, players, next_game, go_on, games);
  // Choices interrupted on request are not an error.
  if (absl::IsCancelled(status) && IsStopped(options))
    status = absl::OkStatus();
  TARA_RETURN_IF_ERROR(status);
  for (const auto& game : games) {
    if (game != nullptr) EndGame(*game, players);
  }
  return absl::OkStatus();
}

absl::StatusOr<PlayersByThread> MakePlayers(
    absl::Span<const PlayerFactory> factories, int threads) {
  PlayersByThread players(threads);
  std::vector<absl::Status> errors(threads);
  RunOnThreads(threads, [&](int thread) {
    for (const PlayerFactory& make : factories) {
      absl::StatusOr<std::unique_ptr<Player>> player = make();
      errors[thread].Update(player.status());
      if (!player.ok()) return;
      players[thread].push_back(*std::move(player));
    }
  });
  for (const absl::Status& error : errors) TARA_RETURN_IF_ERROR(error);
  return players;
}

absl::Status PlayGamesOnThreads(const GameLoopOptions& options,
                                const PlayersByThread& players, int threads,
                                const GameSource& next_game,
                                const std::function<bool()>& go_on) {
  std::atomic<bool> stopped = false;
  absl::Mutex mutex;
  absl::Status first_error;
  GameLoopOptions of_thread = options;
  of_thread.stop = [&] { return stopped || IsStopped(options); };
  RunOnThreads(threads, [&](int thread) {
    std::vector<Player*> own;
    for (const auto& player : players[thread]) own.push_back(player.get());
    // Here, so that the other threads end, too.
    const absl::Status status = CatchExhaustion([&] {
      return PlayGames(of_thread, own, next_game, [&] {
        if (!go_on()) stopped = true;
        return !stopped;
      });
    });
    if (status.ok()) return;
    stopped = true;
    absl::MutexLock lock(&mutex);
    first_error.Update(status);
  });
  return first_error;
}

}  // namespace tara::eval
