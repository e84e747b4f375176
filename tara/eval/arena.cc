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

namespace tara {
namespace {

// A game in progress.
struct Game {
  int index;  // 2 * pair, and one more where B is Red
  bool a_is_red;
  int length;
  State state;
  Random random;

  bool a_to_move() const { return (state.side() == kRed) == a_is_red; }
};

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

// Each pair has three streams: of its opening and of its two games.
uint64_t StreamSeed(const ArenaOptions& options, int pair, int stream) {
  return DeriveSeed(options.seed, uint64_t{3} * pair + stream,
                    StreamPurpose::kArena);
}

// Starts a game (index as in Game): the random opening of its pair is played.
// An action that would end the game already is not.
Game StartGame(const ArenaOptions& options, int index) {
  const int pair = index / 2;
  Random opening(StreamSeed(options, pair, 0));
  Game game = {.index = index,
               .a_is_red = index % 2 == 0,
               .length = 0,
               .state = InitialState(options.variant, options.rule_options),
               .random = Random(StreamSeed(options, pair, 1 + index % 2))};
  while (game.length < options.opening_plies) {
    const LegalSet legal = LegalActions(game.state);
    State next = game.state;
    ApplyAction(legal.Nth(static_cast<int>(opening.Below(legal.Count()))),
                next);
    if (next.finished()) break;
    game.state = next;
    ++game.length;
  }
  return game;
}

// Plays one action in each game where this player is to move.
absl::Status PlayOneAction(Player& player, bool is_a,
                           std::vector<Game>& games) {
  std::vector<Game*> movers;
  std::vector<State> states;
  std::vector<Random*> randoms;
  for (Game& game : games) {
    if (game.state.finished() || game.a_to_move() != is_a) continue;
    movers.push_back(&game);
    states.push_back(game.state);
    randoms.push_back(&game.random);
  }
  if (movers.empty()) return absl::OkStatus();
  std::vector<Action> actions(movers.size());
  TARA_RETURN_IF_ERROR(
      player.ChooseActions(states, randoms, absl::MakeSpan(actions)));
  for (size_t i = 0; i < movers.size(); ++i) {
    const absl::Status legal = PlayAction(actions[i], movers[i]->state);
    TARA_CHECK(legal.ok(), "a player chose an illegal action");
    ++movers[i]->length;
  }
  return absl::OkStatus();
}

ArenaGame ResultOf(const Game& game) {
  const int red_margin = Score(game.state).margin();
  return {.pair = game.index / 2,
          .a_is_red = game.a_is_red,
          .margin = game.a_is_red ? red_margin : -red_margin,
          .length = game.length};
}

double ScoreOf(const ArenaGame& game) {
  return game.margin > 0 ? 1 : (game.margin < 0 ? 0 : 0.5);
}

}  // namespace

absl::StatusOr<ArenaResult> PlayArena(
    const ArenaOptions& options, Player& a, Player& b,
    const ArenaProgressCallback& on_progress) {
  TARA_RETURN_IF_ERROR(CheckOptions(options));
  const int num_games = (options.games + 1) / 2 * 2;
  std::vector<ArenaGame> finished;
  std::vector<Game> games;
  int started = 0;
  double points = 0;
  while (static_cast<int>(finished.size()) < num_games) {
    for (; started < num_games &&
           static_cast<int>(games.size()) < options.concurrent_games;
         ++started) {
      games.push_back(StartGame(options, 2 * options.first_pair + started));
    }
    TARA_RETURN_IF_ERROR(PlayOneAction(a, /*is_a=*/true, games));
    TARA_RETURN_IF_ERROR(PlayOneAction(b, /*is_a=*/false, games));
    for (const Game& game : games) {
      if (!game.state.finished()) continue;
      finished.push_back(ResultOf(game));
      points += ScoreOf(finished.back());
    }
    std::erase_if(games,
                  [](const Game& game) { return game.state.finished(); });
    const auto done = static_cast<int>(finished.size());
    if (on_progress &&
        !on_progress({.games_done = done,
                      .games = num_games,
                      .score = done == 0 ? 0.5 : points / done})) {
      break;
    }
  }

  // Pair by pair, A as Red first, and without the pairs half done.
  std::sort(finished.begin(), finished.end(),
            [](const ArenaGame& x, const ArenaGame& y) {
              return std::pair(x.pair, !x.a_is_red) <
                     std::pair(y.pair, !y.a_is_red);
            });
  std::vector<ArenaGame> played;
  for (size_t i = 0; i + 1 < finished.size(); ++i) {
    if (finished[i].pair != finished[i + 1].pair) continue;
    played.push_back(finished[i]);
    played.push_back(finished[i + 1]);
  }
  return SummarizeGames(played);
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
    scores.push_back((ScoreOf(first) + ScoreOf(second)) / 2);
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
      points_as_red += ScoreOf(game);
    }
  }
  result.games = static_cast<int>(games.size());
  const Interval score = ScoreInterval(scores);
  const Interval margin = MeanInterval(margins);
  result.score = score.mean;
  result.score_low = score.low;
  result.score_high = score.high;
  result.elo = EloDifference(score.mean);
  result.elo_low = EloDifference(score.low);
  result.elo_high = EloDifference(score.high);
  result.mean_margin = margin.mean;
  result.mean_margin_low = margin.low;
  result.mean_margin_high = margin.high;
  if (games.empty()) return result;
  result.mean_length /= result.games;
  result.score_as_red = points_as_red / result.games_as_red;
  result.score_as_blue = 2 * result.score - result.score_as_red;
  return result;
}

}  // namespace tara
