#include "tara/eval/arena/arena.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/eval/arena/parallel_arena.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/mcts/utility.h"

namespace tara::eval {
namespace {

// A player's clock in one game.
struct PlayerClock {
  mcts::TimeManager manager;
  TimeUse use = {};
};

// What a player has thought of a game, in favour of A.
struct AdjudicationState {
  std::optional<int> proved_margin = {};  // at its last choice
  // Choices in succession at which A, or if negative B, was as good as won.
  int agreed_turns = 0;
};

// A game in progress.
struct Game {
  int series;  // 2 * pair, and one more where B starts the series
  int number;  // of the game in its series, from 0
  int lead;    // points of A minus those of B in the games before
  bool a_is_red;
  State state;
  Random random;
  std::vector<Action> actions;  // so far, those of the opening included
  std::vector<PlayerClock> clocks = {};  // of A and of B, where there are any
  std::vector<Opening> openings = {};    // of the games of its series
  Forfeit forfeit = Forfeit::kNone;
  std::string fault = {};
  AdjudicationState adjudication_states[2] = {};  // of A and of B
  Adjudication adjudication = Adjudication::kNone;
  int adjudicated_margin = 0;  // of A, with an adjudication

  // Unique in this arena.
  uint64_t id() const { return 16 * static_cast<uint64_t>(series) + number; }
  bool a_to_move() const { return (state.side() == kRed) == a_is_red; }
  bool over() const {
    return state.finished() || forfeit != Forfeit::kNone ||
           adjudication != Adjudication::kNone;
  }
};

// A series is a game by itself or the games of a match.
int GamesPerSeries(const ArenaOptions& options) {
  return options.by_match ? Info(options.variant).seats : 1;
}

absl::Status CheckAtLeast(absl::string_view name, int value, int least) {
  if (value >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "arena: ", name, " is ", value, "; expected at least ", least));
}

// Which opening the game of a series begins with: pairs of series share them.
int OpeningOf(const ArenaOptions& options, int series, int number) {
  return series / 2 * GamesPerSeries(options) + number;
}

// Each opening has three streams: its own and those of its two games.
uint64_t StreamSeed(const ArenaOptions& options, int opening, int stream) {
  return DeriveSeed(options.seed, uint64_t{3} * opening + stream,
                    StreamPurpose::kArena);
}

// Starts a game of a series after its opening.
Game StartGame(const ArenaOptions& options, int series, int number, int lead,
               const Opening& opening) {
  const int opening_index = OpeningOf(options, series, number);
  const bool a_is_red = series % 2 == number % 2;
  Game game = {
      .series = series,
      .number = number,
      .lead = lead,
      .a_is_red = a_is_red,
      .state = opening.state,
      .random = Random(StreamSeed(options, opening_index, a_is_red ? 1 : 2)),
      .actions = opening.actions};
  if (options.clocks.has_value()) {
    const mcts::TimeManager manager(options.clocks->control,
                                    options.clocks->options);
    game.clocks = {{.manager = manager}, {.manager = manager}};
  }
  return game;
}

// How the match of a game stood when it began.
mcts::MatchScore MatchScoreOf(const ArenaOptions& options, const Game& game) {
  return {.red_lead = game.a_is_red ? game.lead : -game.lead,
          .games_left = GamesPerSeries(options) - 1 - game.number};
}

// Tells the player to move of its clock, and what that allows for the move.
void SetTimes(const ArenaOptions& options, const Game& game, bool is_a,
              Turn& turn) {
  const mcts::TimeManager& manager = game.clocks[is_a ? 0 : 1].manager;
  const mcts::TimeControl& control = options.clocks->control;
  turn.budget = manager.BudgetFor(static_cast<int>(game.actions.size()),
                                  mcts::ExpectedActionsLeft(game.state) / 2);
  turn.clock = {
      .control = control,
      .left = control.is_per_move() ? control.per_move : manager.left()};
  turn.may_ponder = true;
}

// Which of the ways of seating its players a team has in a game: pairs that
// share openings go through all of both teams'. In a match everybody moves on
// by a seat from game to game: the players of the team that starts it are, Red
// first, 1 2, then Blue 2 1, Red 2 1, Blue 1 2; those of the other
// Blue 1 2, Red 1 2, Blue 2 1, Red 2 1.
int SeatingOf(const ArenaOptions& options, const Game& game, bool is_a) {
  const int pair = game.series / 2;
  const bool starts_the_match = is_a == (game.series % 2 == 0);
  const int moved = (game.number + (starts_the_match ? 1 : 0)) / 2;
  return is_a ? (pair + moved) % options.seatings_a
              : (pair / options.seatings_a + moved) % options.seatings_b;
}

// Counts the time of a move, which may end the game.
void SpendTime(absl::Duration time, bool is_a, Game& game) {
  PlayerClock& clock = game.clocks[is_a ? 0 : 1];
  ++clock.use.moves;
  clock.use.time += time;
  clock.manager.Spend(time);
  if (!clock.manager.overstepped()) return;
  game.forfeit = is_a ? Forfeit::kByA : Forfeit::kByB;
}

// Notes what a player thinks of a game in which it has chosen.
void Note(const ArenaOptions& options, const SearchReport& report, bool is_a,
          AdjudicationState& state) {
  const int sign = is_a ? 1 : -1;
  state.proved_margin = std::nullopt;
  if (report.proved_margin.has_value()) {
    state.proved_margin = sign * *report.proved_margin;
  }
  if (!report.value.has_value()) return;  // a forced choice
  const double value = sign * *report.value;
  const double bound = options.adjudication.agreed_value;
  if (value >= bound) {
    state.agreed_turns = std::max(0, state.agreed_turns) + 1;
  } else if (value <= -bound) {
    state.agreed_turns = std::min(0, state.agreed_turns) - 1;
  } else {
    state.agreed_turns = 0;
  }
}

// Ends a game that need not be played to its end.
void Adjudicate(const ArenaOptions& options, Game& game) {
  if (game.over()) return;
  const AdjudicationState& a = game.adjudication_states[0];
  const AdjudicationState& b = game.adjudication_states[1];
  if (options.adjudication.proof && !options.clocks.has_value() &&
      a.proved_margin.has_value() && a.proved_margin == b.proved_margin) {
    game.adjudication = Adjudication::kProof;
    game.adjudicated_margin = *a.proved_margin;
    return;
  }
  const int turns = options.adjudication.agreed_turns;
  if (turns == 0) return;
  if (std::min(a.agreed_turns, b.agreed_turns) >= turns) {
    game.adjudication = Adjudication::kAgreement;
    game.adjudicated_margin = kForfeitMargin;
  } else if (std::max(a.agreed_turns, b.agreed_turns) <= -turns) {
    game.adjudication = Adjudication::kAgreement;
    game.adjudicated_margin = -kForfeitMargin;
  }
}

// Plays one action in each game where this player is to move.
absl::Status PlayOneAction(const ArenaOptions& options, Player& player,
                           bool is_a, std::vector<Game>& games) {
  std::vector<Game*> movers;
  for (Game& game : games) {
    if (!game.over() && game.a_to_move() == is_a) movers.push_back(&game);
  }
  if (movers.empty()) return absl::OkStatus();
  std::vector<Turn> turns;
  std::vector<SearchReport> reports(movers.size());
  std::vector<std::string> faults(movers.size());
  for (size_t i = 0; i < movers.size(); ++i) {
    turns.push_back({.state = movers[i]->state,
                     .random = &movers[i]->random,
                     .match = MatchScoreOf(options, *movers[i]),
                     .game = movers[i]->id(),
                     .actions = movers[i]->actions,
                     .seating = SeatingOf(options, *movers[i], is_a),
                     .report = &reports[i],
                     .forfeit = &faults[i]});
    if (options.clocks.has_value()) {
      SetTimes(options, *movers[i], is_a, turns.back());
    }
  }
  std::vector<Action> actions(movers.size());
  const absl::Time start =
      options.clocks.has_value() ? options.clocks->now() : absl::InfinitePast();
  TARA_RETURN_IF_ERROR(player.ChooseActions(turns, absl::MakeSpan(actions)));
  if (options.clocks.has_value()) {
    TARA_CHECK(movers.size() == 1, "games with clocks go on one at a time");
    SpendTime(options.clocks->now() - start, is_a, *movers[0]);
  }
  for (size_t i = 0; i < movers.size(); ++i) {
    Game& game = *movers[i];
    if (!faults[i].empty()) {
      game.forfeit = is_a ? Forfeit::kByA : Forfeit::kByB;
      game.fault = faults[i];
    }
    if (game.over()) continue;  // too late, or given up
    const absl::Status legal = PlayAction(actions[i], game.state);
    TARA_CHECK(legal.ok(), "a player chose an illegal action");
    game.actions.push_back(actions[i]);
    Note(options, reports[i], is_a, game.adjudication_states[is_a ? 0 : 1]);
    Adjudicate(options, game);
  }
  return absl::OkStatus();
}

ArenaGame ResultOf(const ArenaOptions& options, const Game& game) {
  ArenaGame result = {.pair = OpeningOf(options, game.series, game.number),
                      .match = options.by_match ? game.series : -1,
                      .a_is_red = game.a_is_red,
                      .margin = 0,
                      .length = static_cast<int>(game.actions.size()),
                      .forfeit = game.forfeit,
                      .adjudication = game.adjudication,
                      .fault = game.fault};
  if (game.forfeit != Forfeit::kNone) {
    result.margin =
        game.forfeit == Forfeit::kByA ? -kForfeitMargin : kForfeitMargin;
  } else if (game.adjudication != Adjudication::kNone) {
    result.margin = game.adjudicated_margin;
  } else {
    const int red_margin = Score(game.state).margin();
    result.margin = game.a_is_red ? red_margin : -red_margin;
  }
  if (!game.clocks.empty()) {
    result.time_a = game.clocks[0].use;
    result.time_b = game.clocks[1].use;
  }
  return result;
}

}  // namespace

int GamesPerPair(const ArenaOptions& options) {
  return 2 * GamesPerSeries(options);
}

int PairsPerOpening(const ArenaOptions& options) {
  return options.seatings_a * options.seatings_b;
}

absl::Status CheckArenaOptions(const ArenaOptions& options) {
  TARA_RETURN_IF_ERROR(CheckAtLeast("games", options.games, 1));
  TARA_RETURN_IF_ERROR(
      CheckAtLeast("concurrent_games", options.concurrent_games, 1));
  TARA_RETURN_IF_ERROR(CheckAtLeast("opening_plies", options.opening_plies, 0));
  TARA_RETURN_IF_ERROR(
      CheckAtLeast("agreed_turns", options.adjudication.agreed_turns, 0));
  const VariantInfo& variant = Info(options.variant);
  if (PairsPerOpening(options) > 1 && variant.seats < 4) {
    return absl::InvalidArgumentError(absl::StrCat(
        "arena: a team of two players cannot play ", variant.id,
        ", where a side has one seat; expected a variant in pairs"));
  }
  if (options.sprt.has_value()) {
    TARA_RETURN_IF_ERROR(CheckSprtOptions(*options.sprt));
    if (PairsPerOpening(options) > 1) {
      return absl::InvalidArgumentError(
          "arena: a sequential test takes pairs for independent, and teams of "
          "two players play several of one opening; expected no test");
    }
  }
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (option.get(options.rule_options) != option.DefaultValue() &&
        !option.applies_to(variant)) {
      return absl::InvalidArgumentError(
          absl::StrCat("arena: the rule option ", option.name,
                       " does not apply to ", variant.id));
    }
  }
  return absl::OkStatus();
}

absl::Status PlayFromSchedule(const ArenaOptions& options, Player& a, Player& b,
                              ArenaSchedule& schedule,
                              const std::function<bool()>& go_on) {
  const int concurrent_games =
      options.clocks.has_value() ? 1 : options.concurrent_games;
  std::vector<Game> games;
  while (true) {
    while (static_cast<int>(games.size()) < concurrent_games) {
      TARA_ASSIGN_OR_RETURN(std::optional<ArenaSeries> next, schedule.Next());
      if (!next.has_value()) break;
      games.push_back(StartGame(options, next->series, /*number=*/0,
                                /*lead=*/0, next->openings[0]));
      games.back().openings = std::move(next->openings);
    }
    if (games.empty()) return absl::OkStatus();
    TARA_RETURN_IF_ERROR(PlayOneAction(options, a, /*is_a=*/true, games));
    TARA_RETURN_IF_ERROR(PlayOneAction(options, b, /*is_a=*/false, games));
    for (Game& game : games) {
      if (!game.over()) continue;
      const ArenaGame result = ResultOf(options, game);
      a.EndGame(game.id());
      b.EndGame(game.id());
      TARA_RETURN_IF_ERROR(schedule.Add(result));
      const int number = game.number + 1;
      if (number == GamesPerSeries(options)) continue;
      std::vector<Opening> openings = std::move(game.openings);
      game = StartGame(options, game.series, number, game.lead + result.margin,
                       openings[number]);
      game.openings = std::move(openings);
    }
    std::erase_if(games, [](const Game& game) { return game.over(); });
    if (schedule.decided() || !go_on()) return absl::OkStatus();
  }
}

absl::StatusOr<ArenaResult> PlayArena(
    const ArenaOptions& options, Player& a, Player& b,
    const ArenaProgressCallback& on_progress) {
  TARA_RETURN_IF_ERROR(CheckArenaOptions(options));
  ArenaSchedule schedule(options);
  TARA_RETURN_IF_ERROR(PlayFromSchedule(options, a, b, schedule, [&] {
    return !on_progress || on_progress(schedule.progress());
  }));
  return schedule.Result();
}

}  // namespace tara::eval
