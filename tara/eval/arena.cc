#include "tara/eval/arena.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/legal_set.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/eval/statistics.h"
#include "tara/mcts/game_length.h"
#include "tara/mcts/utility.h"

namespace tara {
namespace {

// A player's clock in one game.
struct PlayerClock {
  TimeManager manager;
  TimeUse use = {};
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
  Forfeit forfeit = Forfeit::kNone;

  // Unique in this arena and in those of the parts of a match.
  uint64_t id() const { return 16 * static_cast<uint64_t>(series) + number; }
  bool a_to_move() const { return (state.side() == kRed) == a_is_red; }
  bool over() const { return state.finished() || forfeit != Forfeit::kNone; }
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

absl::Status CheckOptions(const ArenaOptions& options) {
  TARA_RETURN_IF_ERROR(CheckAtLeast("games", options.games, 1));
  TARA_RETURN_IF_ERROR(
      CheckAtLeast("concurrent_games", options.concurrent_games, 1));
  TARA_RETURN_IF_ERROR(CheckAtLeast("opening_plies", options.opening_plies, 0));
  TARA_RETURN_IF_ERROR(CheckAtLeast("first_pair", options.first_pair, 0));
  const VariantInfo& variant = Info(options.variant);
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

// Which opening the game of a series begins with: pairs of series share them.
int OpeningOf(const ArenaOptions& options, int series, int number) {
  return series / 2 * GamesPerSeries(options) + number;
}

// Each opening has three streams: its own and those of its two games.
uint64_t StreamSeed(const ArenaOptions& options, int opening, int stream) {
  return DeriveSeed(options.seed, uint64_t{3} * opening + stream,
                    StreamPurpose::kArena);
}

// Starts a game of a series: its random opening is played. An action that
// would end the game already is not.
Game StartGame(const ArenaOptions& options, int series, int number, int lead) {
  const int opening_index = OpeningOf(options, series, number);
  Random opening(StreamSeed(options, opening_index, 0));
  const bool a_is_red = series % 2 == number % 2;
  Game game = {
      .series = series,
      .number = number,
      .lead = lead,
      .a_is_red = a_is_red,
      .state = InitialState(options.variant, options.rule_options),
      .random = Random(StreamSeed(options, opening_index, a_is_red ? 1 : 2)),
      .actions = {}};
  if (options.clocks.has_value()) {
    const TimeManager manager(options.clocks->control, options.clocks->options);
    game.clocks = {{.manager = manager}, {.manager = manager}};
  }
  while (static_cast<int>(game.actions.size()) < options.opening_plies) {
    const LegalSet legal = LegalActions(game.state);
    const Action action =
        legal.Nth(static_cast<int>(opening.Below(legal.Count())));
    State next = game.state;
    ApplyAction(action, next);
    if (next.finished()) break;
    game.state = next;
    game.actions.push_back(action);
  }
  return game;
}

// How the match of a game stood when it began.
MatchScore MatchScoreOf(const ArenaOptions& options, const Game& game) {
  return {.red_lead = game.a_is_red ? game.lead : -game.lead,
          .games_left = GamesPerSeries(options) - 1 - game.number};
}

// Returns what the clock of the player to move allows for the move.
MoveBudget BudgetFor(const Game& game, bool is_a) {
  return game.clocks[is_a ? 0 : 1].manager.BudgetFor(
      static_cast<int>(game.actions.size()),
      ExpectedActionsLeft(game.state) / 2);
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

// Plays one action in each game where this player is to move.
absl::Status PlayOneAction(const ArenaOptions& options, Player& player,
                           bool is_a, std::vector<Game>& games) {
  std::vector<Game*> movers;
  std::vector<Turn> turns;
  for (Game& game : games) {
    if (game.over() || game.a_to_move() != is_a) continue;
    movers.push_back(&game);
    turns.push_back({.state = game.state,
                     .random = &game.random,
                     .match = MatchScoreOf(options, game),
                     .game = game.id(),
                     .actions = game.actions});
    if (!options.clocks.has_value()) continue;
    turns.back().budget = BudgetFor(game, is_a);
    turns.back().may_ponder = true;
  }
  if (movers.empty()) return absl::OkStatus();
  std::vector<Action> actions(movers.size());
  const absl::Time start =
      options.clocks.has_value() ? options.clocks->now() : absl::InfinitePast();
  TARA_RETURN_IF_ERROR(player.ChooseActions(turns, absl::MakeSpan(actions)));
  if (options.clocks.has_value()) {
    TARA_CHECK(movers.size() == 1, "games with clocks go on one at a time");
    SpendTime(options.clocks->now() - start, is_a, *movers[0]);
  }
  for (size_t i = 0; i < movers.size(); ++i) {
    if (movers[i]->over()) continue;  // too late
    const absl::Status legal = PlayAction(actions[i], movers[i]->state);
    TARA_CHECK(legal.ok(), "a player chose an illegal action");
    movers[i]->actions.push_back(actions[i]);
  }
  return absl::OkStatus();
}

ArenaGame ResultOf(const ArenaOptions& options, const Game& game) {
  ArenaGame result = {.pair = OpeningOf(options, game.series, game.number),
                      .match = options.by_match ? game.series : -1,
                      .a_is_red = game.a_is_red,
                      .margin = 0,
                      .length = static_cast<int>(game.actions.size()),
                      .forfeit = game.forfeit};
  if (game.forfeit != Forfeit::kNone) {
    result.margin =
        game.forfeit == Forfeit::kByA ? -kForfeitMargin : kForfeitMargin;
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

double ScoreOf(int margin) { return margin > 0 ? 1 : (margin < 0 ? 0 : 0.5); }

// Returns the games of pairs of series that are finished, by opening, A as Red
// first.
std::vector<ArenaGame> WholePairs(const ArenaOptions& options,
                                  std::vector<ArenaGame> games) {
  std::sort(
      games.begin(), games.end(), [](const ArenaGame& x, const ArenaGame& y) {
        return std::pair(x.pair, !x.a_is_red) < std::pair(y.pair, !y.a_is_red);
      });
  const auto pair_of = [&](const ArenaGame& game) {
    return game.pair / GamesPerSeries(options);
  };
  std::vector<ArenaGame> whole;
  for (auto begin = games.begin(); begin != games.end();) {
    const auto end = std::find_if(begin, games.end(), [&](const ArenaGame& g) {
      return pair_of(g) != pair_of(*begin);
    });
    if (end - begin == GamesPerPair(options)) {
      whole.insert(whole.end(), begin, end);
    }
    begin = end;
  }
  return whole;
}

void AddClock(const TimeUse& use, bool forfeit, ClockResult& result) {
  result.forfeits += forfeit;
  result.use.moves += use.moves;
  result.use.time += use.time;
}

// Fills the score and the Elo of an ArenaResult or MatchResult from the scores
// of its pairs.
template <typename Result>
void SetScore(absl::Span<const double> pairs, Result& result) {
  const Interval score = ScoreInterval(pairs);
  result.score = score.mean;
  result.score_low = score.low;
  result.score_high = score.high;
  result.elo = EloDifference(score.mean);
  result.elo_low = EloDifference(score.low);
  result.elo_high = EloDifference(score.high);
}

// Returns the result of the matches that games are of, all of them whole and
// in the order of SummarizeGames.
MatchResult SummarizeMatches(absl::Span<const ArenaGame> games) {
  MatchResult result;
  std::vector<double> scores;  // means of the pairs of matches
  std::vector<double> leads;
  for (size_t i = 0; i < games.size();) {
    const int pair = games[i].match / 2;
    const size_t begin = i;
    int lead[2] = {};  // of A, in the match that A starts and the other
    // Of two results in succession, the next begins with an earlier opening.
    for (; i < games.size() && games[i].match / 2 == pair &&
           (i == begin || games[i].pair >= games[i - 1].pair);
         ++i) {
      lead[games[i].match % 2] += games[i].margin;
    }
    for (const int margin : lead) {
      ++result.matches;
      result.wins += margin > 0;
      result.draws += margin == 0;
      result.losses += margin < 0;
    }
    scores.push_back((ScoreOf(lead[0]) + ScoreOf(lead[1])) / 2);
    leads.push_back((lead[0] + lead[1]) / 2.0);
  }
  const Interval mean_lead = MeanInterval(leads);
  SetScore(scores, result);
  result.mean_lead = mean_lead.mean;
  result.mean_lead_low = mean_lead.low;
  result.mean_lead_high = mean_lead.high;
  return result;
}

}  // namespace

int GamesPerPair(const ArenaOptions& options) {
  return 2 * GamesPerSeries(options);
}

absl::StatusOr<ArenaResult> PlayArena(
    const ArenaOptions& options, Player& a, Player& b,
    const ArenaProgressCallback& on_progress) {
  TARA_RETURN_IF_ERROR(CheckOptions(options));
  const int per_pair = GamesPerPair(options);
  const int num_pairs = (options.games + per_pair - 1) / per_pair;
  const int num_games = num_pairs * per_pair;
  const int concurrent_games =
      options.clocks.has_value() ? 1 : options.concurrent_games;
  std::vector<ArenaGame> finished;
  std::vector<Game> games;
  int started = 0;  // series
  double points = 0;
  while (static_cast<int>(finished.size()) < num_games) {
    for (; started < 2 * num_pairs &&
           static_cast<int>(games.size()) < concurrent_games;
         ++started) {
      games.push_back(StartGame(options, 2 * options.first_pair + started,
                                /*number=*/0, /*lead=*/0));
    }
    TARA_RETURN_IF_ERROR(PlayOneAction(options, a, /*is_a=*/true, games));
    TARA_RETURN_IF_ERROR(PlayOneAction(options, b, /*is_a=*/false, games));
    for (Game& game : games) {
      if (!game.over()) continue;
      const ArenaGame result = ResultOf(options, game);
      finished.push_back(result);
      a.EndGame(game.id());
      b.EndGame(game.id());
      points += ScoreOf(result.margin);
      if (game.number + 1 == GamesPerSeries(options)) continue;
      game = StartGame(options, game.series, game.number + 1,
                       game.lead + result.margin);
    }
    std::erase_if(games, [](const Game& game) { return game.over(); });
    const auto done = static_cast<int>(finished.size());
    if (on_progress &&
        !on_progress({.games_done = done,
                      .games = num_games,
                      .score = done == 0 ? 0.5 : points / done})) {
      break;
    }
  }
  return SummarizeGames(WholePairs(options, std::move(finished)));
}

ArenaResult SummarizeGames(absl::Span<const ArenaGame> games) {
  TARA_CHECK(games.size() % 2 == 0, "games come in pairs");
  ArenaResult result;
  result.played.assign(games.begin(), games.end());
  std::vector<double> scores;  // means of the pairs
  std::vector<double> margins;
  double points_as_red = 0;
  for (size_t i = 0; i < games.size(); i += 2) {
    const ArenaGame& first = games[i];
    const ArenaGame& second = games[i + 1];
    TARA_CHECK(first.pair == second.pair && first.a_is_red != second.a_is_red,
               "games come in pairs, once with each side as Red");
    scores.push_back((ScoreOf(first.margin) + ScoreOf(second.margin)) / 2);
    margins.push_back((first.margin + second.margin) / 2.0);
    for (const ArenaGame& game : {first, second}) {
      result.wins += game.margin > 0;
      result.draws += game.margin == 0;
      result.losses += game.margin < 0;
      result.mean_length += game.length;
      if (!game.a_is_red) continue;
      ++result.games_as_red;
      result.wins_as_red += game.margin > 0;
      result.draws_as_red += game.margin == 0;
      points_as_red += ScoreOf(game.margin);
    }
  }
  for (const ArenaGame& game : games) {
    AddClock(game.time_a, game.forfeit == Forfeit::kByA, result.clock_a);
    AddClock(game.time_b, game.forfeit == Forfeit::kByB, result.clock_b);
  }
  result.games = static_cast<int>(games.size());
  const Interval margin = MeanInterval(margins);
  SetScore(scores, result);
  result.mean_margin = margin.mean;
  result.mean_margin_low = margin.low;
  result.mean_margin_high = margin.high;
  if (games.empty()) return result;
  if (games[0].match >= 0) result.matches = SummarizeMatches(games);
  result.mean_length /= result.games;
  result.score_as_red = points_as_red / result.games_as_red;
  result.score_as_blue = 2 * result.score - result.score_as_red;
  return result;
}

}  // namespace tara
