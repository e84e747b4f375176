#include "tara/eval/arena/arena.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tara/base/atomic_file.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/cli/match_flags.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena_report.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/statistics/sprt.h"
#include "tara/fleet/fleet.h"

namespace tara::cli {
namespace {

struct ArenaFlags {
  GameFlags game;
  MatchFlags match;
  std::string player_a;  // or a team
  std::string player_b;
  bool untrained = false;  // play what a network has not learned, too
  bool by_match = false;
  int games = 0;  // 0: 200, or with a sequential test 20000 at most
  // As ParseSprtOptions reads it; empty: all games are played.
  std::string sprt;
  std::string format = "text";
  std::string html;  // a file for the page; none if empty
  std::string fleet = "none";
};

constexpr int kDefaultGames = 200;

// Returns what the flags of matches do not say; usage errors for what cannot
// be.
absl::StatusOr<eval::ArenaOptions> OptionsOf(const ArenaFlags& options) {
  eval::ArenaOptions arena = {.by_match = options.by_match,
                              .games = options.games};
  if (!options.sprt.empty()) {
    TARA_ASSIGN_OR_RETURN(arena.sprt,
                          AsUsageError(eval::ParseSprtOptions(options.sprt)));
  }
  if (arena.games == 0) {
    arena.games =
        arena.sprt.has_value() ? eval::kMaxGamesOfATest : kDefaultGames;
  }
  return arena;
}

// Lets two players or teams play each other in one variant or in all. An
// interrupt (Ctrl-C) ends it with a report of the games that are finished.
absl::StatusOr<int> RunArena(const ArenaFlags& options, Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartsOf(options.game));
  TARA_ASSIGN_OR_RETURN(const eval::ArenaOptions arena, OptionsOf(options));
  TARA_RETURN_IF_ERROR(
      CheckHtmlFlag(options.html, {{"--store", options.match.store}}));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<fleet::Fleet> fleet,
                        ConnectFleet(options.fleet));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<MatchTable> table,
                        MatchTable::Create(options.match, arena, fleet.get()));
  TARA_ASSIGN_OR_RETURN(const Contestant player_a,
                        table->ContestantOf(options.player_a));
  TARA_ASSIGN_OR_RETURN(const Contestant player_b,
                        table->ContestantOf(options.player_b));
  const std::vector<eval::PlayerSpec> players =
      table->PlayersOf({&player_a, &player_b});
  TARA_RETURN_IF_ERROR(
      CheckLearned(players, starts, options.untrained, console));

  const StopCheck stop = StopOnSignals();
  MatchStatus status(starts.size(), fleet.get(), console);
  std::vector<eval::ArenaReportRow> rows(starts.size());
  const auto play = [&](size_t i, const StopCheck& is_over) -> absl::Status {
    const auto on_progress = [&](const eval::ArenaProgress& progress) {
      status.Show(i, Info(starts[i].variant).id, progress);
      return !is_over();
    };
    TARA_ASSIGN_OR_RETURN(
        eval::ArenaResult result,
        table->Play(starts[i], player_a, player_b, on_progress));
    rows[i] = {.variant = starts[i].variant,
               .player_a = player_a.team.text,
               .player_b = player_b.team.text,
               .result = std::move(result),
               .time_control = options.match.time_control,
               .not_learned = NotLearnedByAny(players, starts[i])};
    return absl::OkStatus();
  };
  TARA_RETURN_IF_ERROR(fleet::PlayAll(fleet.get(), starts.size(), stop, play));
  // Stopped before the first pair's end.
  std::erase_if(rows, [](const eval::ArenaReportRow& row) {
    return row.result.games == 0;
  });
  status.Clear();
  console.out << (options.format == "json" ? eval::ArenaReportJson(rows) + "\n"
                                           : eval::ArenaReportText(rows));
  if (!options.html.empty()) {
    TARA_RETURN_IF_ERROR(
        WriteFileAtomically(options.html, eval::ArenaPage(rows)));
  }
  if (!stop()) return kExitOk;
  console.err << "tara: interrupted; these are the games finished by then\n";
  return kExitInterrupted;
}

}  // namespace

void RegisterArena(Command& root) {
  Command& command = root.AddCommand(
      "arena", "play a match of two players: score, interval, Elo");
  ArenaFlags* const options = command.SetRun(RunArena);
  AddGameFlags(command, &options->game, kVariantOrAllHelp);
  command.Add({
      {"A", &options->player_a, "player or team A", kRequired},
      {"B", &options->player_b, "player or team B", kRequired},
      UntrainedOption(&options->untrained),
      {"--games N", &options->games, 1, 10000000,
       "games per variant, rounded up to an even number (to whole matches with "
       "--by-match); with --sprt the maximum, by default 20000",
       Default("200")},
      {"--by-match", &options->by_match,
       "whole matches: one game per seat, each started by another seat; points "
       "add up, and players with utility=match play for the score"},
      {"--sprt TEST", &options->sprt,
       "sequential test per variant, such as elo0=0,elo1=10: ends when the "
       "pairs decide whether A is stronger by elo0 or by elo1; also "
       "alpha=0.05, beta=0.05 (error rates), scale=logistic|normalized",
       Default("none")},
      FormatOption(&options->format),
      HtmlOption(&options->html),
      FleetOption(&options->fleet),
  });
  AddMatchFlags(command, &options->match);
  command.SetNotes(absl::StrCat(
      MatchNotes(),
      "\n\nIn variants for pairs, A and B may be teams of two players, "
      "SPEC+SPEC. Each\nopening is then played with the partners in either "
      "order.\n",
      "\nCtrl-C ends the match with a report of the finished games."));
  command.SetExamples(
      {"arena --variant four_treasures random greedy",
       "arena --variant all greedy mcts:sims=100 --games 40 --format=json",
       "arena --variant sacred_hill_l1 net:runs/mine,sims=100 greedy",
       "arena --variant high_kings_l1 --by-match mcts:utility=match mcts",
       "arena --variant poisoned_chalice --time-control 60s+1s mcts "
       "alphabeta",
       "arena --variant four_treasures --sprt elo0=0,elo1=20 mcts "
       "mcts:sims=50",
       "arena --variant four_treasures mcts 'engine:./my_engine -l 3,move=5'",
       "arena --variant four_treasures_doubles mcts+greedy alphabeta"});
}

}  // namespace tara::cli
