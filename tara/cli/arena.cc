#include "tara/cli/arena.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tara/base/status_macros.h"
#include "tara/cli/commands.h"
#include "tara/cli/learned_variants.h"
#include "tara/cli/status_line.h"
#include "tara/cli/usage.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena.h"
#include "tara/eval/arena_report.h"
#include "tara/eval/arena_result.h"
#include "tara/eval/contest.h"
#include "tara/eval/make_player.h"
#include "tara/eval/opening_judge.h"
#include "tara/eval/parallel_arena.h"
#include "tara/eval/player_spec.h"
#include "tara/eval/result_store.h"
#include "tara/eval/sprt.h"
#include "tara/mcts/time_control.h"
#include "tara/train/stop.h"

namespace tara {
namespace {

// A player as its spec describes it, and how to make it: each thread wants its
// own.
struct ArenaPlayer {
  PlayerSpec spec;
  PlayerFactory make;
};

// Returns the player of a spec; one that cannot be is a usage error.
absl::StatusOr<ArenaPlayer> PlayerOf(const std::string& text, bool has_clock) {
  absl::StatusOr<PlayerSpec> spec = ParsePlayerSpec(text);
  if (!spec.ok()) return AsUsageError(spec.status());
  if (spec->search.ponder && !has_clock) {
    return UsageError(absl::StrCat(
        "player '", text,
        "' ponders, but without clocks nobody waits for the other; expected "
        "--time-control, or a player without ponder=on"));
  }
  return ArenaPlayer{.spec = *std::move(spec),
                     .make = [text] { return MakePlayer(text); }};
}

// Returns the clocks that the command asks for, if any; a usage error for a
// text that is no time control.
absl::StatusOr<std::optional<ArenaClocks>> ClocksOf(const std::string& text) {
  if (text.empty()) return std::nullopt;
  absl::StatusOr<TimeControl> control = ParseTimeControl(text);
  if (!control.ok()) return AsUsageError(control.status());
  return ArenaClocks{.control = *std::move(control)};
}

// Returns the threads that search at a time in a game of its own: those of the
// player to move, and of the other if it ponders.
int ThreadsOfAGame(const PlayerSpec& a, const PlayerSpec& b) {
  return std::max(a.search.threads + (b.search.ponder ? b.search.threads : 0),
                  b.search.threads + (a.search.ponder ? a.search.threads : 0));
}

// A sequential test wants as many games as it takes, and yet an end.
constexpr int kDefaultGames = 200;
constexpr int kMostGamesOfATest = 20000;

// Returns the judge that "balanced:SPEC" asks for, none for "random".
absl::StatusOr<OpeningJudge> JudgeOf(const std::string& text) {
  if (text == "random") return OpeningJudge();
  absl::string_view spec = text;
  if (!absl::ConsumePrefix(&spec, "balanced:")) {
    return UsageError(absl::StrCat("bad --openings '", text,
                                   "'; expected random or balanced:SPEC"));
  }
  const absl::Status parsed = ParsePlayerSpec(spec).status();
  if (!parsed.ok()) return AsUsageError(parsed);
  TARA_ASSIGN_OR_RETURN(std::unique_ptr<Player> player, MakePlayer(spec));
  return NewOpeningJudge(std::move(player));
}

// Parses "proof", "none" or "agreement:VALUE,TURNS".
absl::StatusOr<AdjudicationOptions> AdjudicationOf(const std::string& text) {
  AdjudicationOptions options;
  if (text == "proof") return options;
  if (text == "none") return AdjudicationOptions{.proof = false};
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "agreement:")) {
    const std::vector<absl::string_view> parts = absl::StrSplit(rest, ',');
    if (parts.size() == 2 &&
        absl::SimpleAtod(parts[0], &options.agreed_value) &&
        absl::SimpleAtoi(parts[1], &options.agreed_turns) &&
        options.agreed_value > 0 && options.agreed_value <= 1 &&
        options.agreed_turns > 0) {
      return options;
    }
  }
  return UsageError(absl::StrCat(
      "bad --adjudicate '", text,
      "'; expected proof, none or agreement:VALUE,TURNS with a value up to 1, "
      "such as agreement:0.95,4"));
}

// Returns what all variants have in common; usage errors for what cannot be.
absl::StatusOr<ArenaOptions> CommonOptions(const ArenaCommandOptions& options) {
  ArenaOptions arena = {
      .by_match = options.by_match,
      .games = static_cast<int>(options.games),
      .opening_plies = static_cast<int>(options.opening_plies),
      .seed = static_cast<uint64_t>(options.seed)};
  TARA_ASSIGN_OR_RETURN(arena.clocks, ClocksOf(options.time_control));
  TARA_ASSIGN_OR_RETURN(arena.opening_judge, JudgeOf(options.openings));
  TARA_ASSIGN_OR_RETURN(arena.adjudication, AdjudicationOf(options.adjudicate));
  if (!options.sprt.empty()) {
    absl::StatusOr<SprtOptions> sprt = ParseSprtOptions(options.sprt);
    if (!sprt.ok()) return AsUsageError(sprt.status());
    arena.sprt = *sprt;
  }
  if (arena.games == 0) {
    arena.games = arena.sprt.has_value() ? kMostGamesOfATest : kDefaultGames;
  }
  return arena;
}

// The results file of a command, if it has one, and who plays.
struct Memory {
  std::unique_ptr<ResultStore> store;
  std::string identity_a = {};
  std::string identity_b = {};
  std::string openings = {};  // "" for random ones, or who judges them
};

absl::StatusOr<Memory> OpenMemory(const ArenaCommandOptions& options) {
  if (options.store.empty()) return Memory{};
  Memory memory;
  TARA_ASSIGN_OR_RETURN(memory.store, ResultStore::Open(options.store));
  TARA_ASSIGN_OR_RETURN(memory.identity_a, PlayerIdentity(options.player_a));
  TARA_ASSIGN_OR_RETURN(memory.identity_b, PlayerIdentity(options.player_b));
  absl::string_view judge = options.openings;
  if (absl::ConsumePrefix(&judge, "balanced:")) {
    TARA_ASSIGN_OR_RETURN(memory.openings, PlayerIdentity(judge));
  }
  return memory;
}

// Returns the options of one variant, which goes on where its games end.
absl::StatusOr<ArenaOptions> OptionsOf(const ArenaCommandOptions& options,
                                       const ArenaOptions& common,
                                       const State& start,
                                       const Memory& memory) {
  ArenaOptions arena = common;
  arena.variant = start.variant;
  arena.rule_options = start.options;
  if (memory.store == nullptr) return arena;
  TARA_RETURN_IF_ERROR(GoOnWith(
      *memory.store,
      {.variant = std::string(Info(start.variant).id),
       .conditions =
           ArenaConditions(arena, /*openings=*/"", options.time_control),
       .player_a = memory.identity_a,
       .player_b = memory.identity_b},
      arena));
  return arena;
}

std::string ProgressText(Variant variant, const ArenaProgress& progress) {
  std::string text = absl::StrFormat("%s: %d of %d games, score %.1f %%",
                                     Info(variant).id, progress.games_done,
                                     progress.games, 100 * progress.score);
  if (progress.llr.has_value()) {
    absl::StrAppendFormat(&text, ", LLR %+.2f", *progress.llr);
  }
  return text;
}

}  // namespace

absl::StatusOr<int> RunArena(const ArenaCommandOptions& options,
                             Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartsOf(options.game));
  if (!options.untrained) {
    TARA_RETURN_IF_ERROR(
        CheckLearned({options.player_a, options.player_b}, starts));
  }
  TARA_ASSIGN_OR_RETURN(ArenaOptions common, CommonOptions(options));
  const bool has_clocks = common.clocks.has_value();
  TARA_ASSIGN_OR_RETURN(const ArenaPlayer player_a,
                        PlayerOf(options.player_a, has_clocks));
  TARA_ASSIGN_OR_RETURN(const ArenaPlayer player_b,
                        PlayerOf(options.player_b, has_clocks));
  const int threads_of_a_game = ThreadsOfAGame(player_a.spec, player_b.spec);
  const int threads = options.threads > 0
                          ? static_cast<int>(options.threads)
                          : std::max(1, ThreadsOr(0) / threads_of_a_game);
  // Several threads search positions that come one at a time.
  common.concurrent_games = threads_of_a_game > 1 ? 1 : 64;
  TARA_ASSIGN_OR_RETURN(const Memory memory, OpenMemory(options));

  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  std::vector<ArenaReportRow> rows;
  for (size_t i = 0; i < starts.size() && !stop(); ++i) {
    const auto on_progress = [&](const ArenaProgress& progress) {
      if (progress.games_done > 0) {
        status_line.Show(ProgressText(starts[i].variant, progress));
      }
      return !stop();
    };
    TARA_ASSIGN_OR_RETURN(const ArenaOptions arena,
                          OptionsOf(options, common, starts[i], memory));
    TARA_ASSIGN_OR_RETURN(
        ArenaResult result,
        PlayArenaInParallel(arena, player_a.make, player_b.make, threads,
                            on_progress));
    if (result.games == 0) break;  // stopped before the first pair's end
    rows.push_back({.variant = starts[i].variant,
                    .player_a = options.player_a,
                    .player_b = options.player_b,
                    .result = std::move(result),
                    .time_control = options.time_control});
  }
  status_line.Clear();
  console.out << (options.format == "json" ? ArenaReportJson(rows) + "\n"
                                           : ArenaReportText(rows));
  if (!stop()) return kExitOk;
  console.err << "tara: interrupted; these are the games finished by then\n";
  return kExitInterrupted;
}

void RegisterArena(Command& root) {
  Command& command = root.AddCommand(kArenaCommand.name, kArenaCommand.summary);
  const auto options = std::make_shared<ArenaCommandOptions>();
  AddGameFlags(command, &options->game, kVariantOrAllHelp);
  command.AddText({.names = "A", .help = "player A", .required = true},
                  &options->player_a);
  command.AddText({.names = "B", .help = "player B", .required = true},
                  &options->player_b);
  AddUntrainedFlag(command, &options->untrained);
  command.AddInteger({.names = "--games",
                      .placeholder = "N",
                      .help = "games a variant, made even; with --by-match "
                              "made whole pairs of matches; with --sprt at "
                              "most so many, 20000 if not given",
                      .default_text = "200"},
                     1, 10000000, &options->games);
  command.AddSwitch(
      {.names = "--by-match",
       .help = "play matches: as many games as there are seats, each started "
               "by another, points add up; players with utility=match heed "
               "the score"},
      &options->by_match);
  command.AddInteger(
      {.names = "--opening-plies",
       .placeholder = "N",
       .help = "random actions that open each pair of games; each opening is "
               "played once from either side"},
      0, 100, &options->opening_plies);
  command.AddText({.names = "--openings",
                   .placeholder = "HOW",
                   .help = "random, or balanced:SPEC: drawn again if that "
                           "player thinks a side favoured by more than 0.2"},
                  &options->openings);
  command.AddText(
      {.names = "--adjudicate",
       .placeholder = "WHEN",
       .help = "ends games early: proof (both players have proved the margin), "
               "none, or agreement:VALUE,TURNS (and proof): both have thought "
               "one side to win by a value of at least so much for so many "
               "turns"},
      &options->adjudicate);
  command.AddText(
      {.names = "--time-control",
       .placeholder = "TIME",
       .help = "clocks, of actions: 5s/move, or for a game 300s, or "
               "300s+2s with an increment; the time then takes the "
               "place of sims, ms, nodes and depth",
       .default_text = "none"},
      &options->time_control);
  command.AddText(
      {.names = "--sprt",
       .placeholder = "TEST",
       .help = "sequential test of each variant, such as elo0=0,elo1=10: ends "
               "when pairs have shown that A is stronger by elo1 rather than "
               "by elo0, or the other way round; also alpha=0.05, beta=0.05 "
               "(rates of error), scale=logistic|normalized",
       .default_text = "none"},
      &options->sprt);
  command.AddText(
      {.names = "--store",
       .placeholder = "FILE",
       .help = "results file that games go to as they end: the same command "
               "goes on where it was broken off, more --games add to it",
       .default_text = "none"},
      &options->store);
  command.AddInteger({.names = "--threads",
                      .placeholder = "N",
                      .help = "games at a time; without clocks, batches of "
                              "them",
                      .default_text = "as many as the cores allow"},
                     1, 1024, &options->threads);
  command.AddInteger(
      {.names = "--seed",
       .placeholder = "N",
       .help = "of all randomness: the same seed, the same games, but with "
               "clocks, ms or threads=N"},
      0, INT64_MAX, &options->seed);
  command.AddChoice({.names = "--format", .help = "form of the report"},
                    {"text", "json"}, &options->format);
  command.SetNotes(absl::StrCat(
      "Players:\n", PlayerSpecHelp(),
      "\nWith clocks games are played one at a time on each thread. Whose time "
      "runs out\nloses by ",
      kForfeitMargin,
      " points; the report counts such games, and the mean time of a move.\n",
      "\nCtrl-C ends the match with a report of the games finished by then."));
  command.SetExamples(
      {"arena --variant four_treasures random greedy",
       "arena --variant all greedy mcts:sims=100 --games 40 --format=json",
       "arena --variant sacred_hill_l1 net:runs/quickstart,sims=100 greedy",
       "arena --variant high_kings_l1 --by-match mcts:utility=match mcts",
       "arena --variant poisoned_chalice --time-control 60s+1s mcts "
       "alphabeta",
       "arena --variant four_treasures --sprt elo0=0,elo1=20 mcts "
       "mcts:sims=50"});
  command.SetRun(
      [options](Console& console) { return RunArena(*options, console); });
}

}  // namespace tara
