#include "tara/cli/arena.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tara/base/status_macros.h"
#include "tara/cli/commands.h"
#include "tara/cli/status_line.h"
#include "tara/cli/usage.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tara/eval/arena.h"
#include "tara/eval/arena_report.h"
#include "tara/eval/make_player.h"
#include "tara/eval/parallel_arena.h"
#include "tara/eval/player_spec.h"
#include "tara/train/stop.h"

namespace tara {
namespace {

// Returns how to make the player of a spec; each thread wants its own. A spec
// that cannot be is a usage error.
absl::StatusOr<PlayerFactory> FactoryOf(const std::string& spec) {
  TARA_RETURN_IF_ERROR(AsUsageError(ParsePlayerSpec(spec).status()));
  return [spec] { return MakePlayer(spec); };
}

}  // namespace

absl::StatusOr<int> RunArena(const ArenaCommandOptions& options,
                             Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::vector<Variant> variants,
                        VariantsOf(options.game));
  std::vector<RuleOptions> rule_options;
  for (const Variant variant : variants) {
    TARA_ASSIGN_OR_RETURN(
        rule_options.emplace_back(),
        RuleOptionsOf(options.game, variant, variants.size() > 1));
  }
  TARA_ASSIGN_OR_RETURN(const PlayerFactory player_a,
                        FactoryOf(options.player_a));
  TARA_ASSIGN_OR_RETURN(const PlayerFactory player_b,
                        FactoryOf(options.player_b));
  const int threads = ThreadsOr(options.threads);

  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  std::vector<ArenaReportRow> rows;
  for (size_t i = 0; i < variants.size() && !stop(); ++i) {
    const auto on_progress = [&](const ArenaProgress& progress) {
      if (progress.games_done > 0) {
        status_line.Show(absl::StrFormat(
            "%s: %d of %d games, score %.1f %%", Info(variants[i]).id,
            progress.games_done, progress.games, 100 * progress.score));
      }
      return !stop();
    };
    TARA_ASSIGN_OR_RETURN(
        ArenaResult result,
        PlayArenaInParallel(
            {.variant = variants[i],
             .rule_options = rule_options[i],
             .by_match = options.by_match,
             .games = static_cast<int>(options.games),
             .opening_plies = static_cast<int>(options.opening_plies),
             .seed = static_cast<uint64_t>(options.seed)},
            player_a, player_b, threads, on_progress));
    if (result.games == 0) break;  // stopped before the first pair's end
    rows.push_back(
        {variants[i], options.player_a, options.player_b, std::move(result)});
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
  command.AddInteger({.names = "--games",
                      .placeholder = "N",
                      .help = "games a variant, made even; with --by-match "
                              "made whole pairs of matches"},
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
  command.AddInteger(
      {.names = "--seed",
       .placeholder = "N",
       .help = "of all randomness: the same seed, the same games"},
      0, INT64_MAX, &options->seed);
  command.AddChoice({.names = "--format", .help = "form of the report"},
                    {"text", "json"}, &options->format);
  command.SetNotes(absl::StrCat(
      "Players:\n", PlayerSpecHelp(),
      "\nCtrl-C ends the match with a report of the games finished by then."));
  command.SetExamples(
      {"arena --variant four_treasures random greedy",
       "arena --variant all greedy mcts:sims=100 --games 40 --format=json",
       "arena --variant sacred_hill_l1 net:runs/quickstart,sims=100 greedy",
       "arena --variant high_kings_l1 --by-match mcts:utility=match mcts"});
  command.SetRun(
      [options](Console& console) { return RunArena(*options, console); });
}

}  // namespace tara
