#include "tara/eval/regret/puzzles.h"

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/search_player.h"

namespace tara::cli {
namespace {

struct PuzzlesOptions {
  GameFlags game;
  std::string player = "best:sims=16";
  bool untrained = false;
  int games = 2000;   // a variant, at most
  int puzzles = 100;  // a variant, at most
  int64_t node_limit = 20000;
  uint64_t seed = 1;
};

// Prints the puzzles of each variant as soon as they are found.
absl::StatusOr<int> RunPuzzles(const PuzzlesOptions& options,
                               Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartsOf(options.game));
  TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec spec,
                        AsUsageError(eval::ParsePlayerSpec(options.player)));
  TARA_RETURN_IF_ERROR(CheckLearned(absl::MakeConstSpan(&spec, 1), starts,
                                    options.untrained, console));
  const std::unique_ptr<eval::Player> greedy = eval::NewGreedyPlayer();
  std::vector<eval::Player*> naive = {greedy.get()};
  std::unique_ptr<eval::Player> player;
  std::unique_ptr<eval::Player> policy;
  if (spec.kind == eval::PlayerKind::kNet) {
    // Both with one network.
    TARA_ASSIGN_OR_RETURN(const auto network, eval::MakeEvaluator(spec));
    player = eval::NewSearchPlayer(network, spec.search);
    policy = eval::NewPolicyPlayer(network);
    naive.push_back(policy.get());
  } else {
    TARA_ASSIGN_OR_RETURN(player, eval::NewPlayerFactory(spec)());
  }
  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  for (const State& start : starts) {
    const std::string variant(Info(start.variant).id);
    status_line.Show(absl::StrCat(variant, ": ", options.games, " games"));
    TARA_ASSIGN_OR_RETURN(const std::vector<eval::Puzzle> puzzles,
                          eval::MakePuzzles({.start = start,
                                             .seed = options.seed,
                                             .games = options.games,
                                             .puzzles = options.puzzles,
                                             .node_limit = options.node_limit,
                                             .stop = stop},
                                            *player, naive));
    status_line.Clear();
    int trapped = 0;
    for (const eval::Puzzle& puzzle : puzzles) {
      console.out << eval::PuzzleToText(puzzle) << "\n";
      trapped += puzzle.traps > 0;
    }
    console.out << std::flush;
    console.err << variant << ": " << puzzles.size() << " puzzles, " << trapped
                << " with a wrong first guess\n";
  }
  return kExitOk;
}

}  // namespace

void RegisterPuzzles(Command& root) {
  Command& command = root.AddCommand(
      "puzzles", "find endgames in which one action alone keeps the win");
  PuzzlesOptions* const options = command.SetRun(RunPuzzles);
  AddGameFlags(command, &options->game, kVariantOrAllHelp);
  command.Add({
      {"--player SPEC", &options->player, "player of the games"},
      UntrainedOption(&options->untrained),
      {"--games N", &options->games, 1, 100000000,
       "most games to search for puzzles, per variant"},
      {"--puzzles N", &options->puzzles, 1, 1000000,
       "most puzzles per variant"},
      {"--nodes N", Counted{&options->node_limit}, 100, int64_t{1} << 40,
       "node limit of the solver per position"},
      SeedOption(&options->seed, "random seed of the games"),
  });
  command.SetNotes(absl::StrCat(
      "In the games, one action of eight is random. In each puzzle, one action "
      "alone keeps the win, and so again at the next one or two decisions of "
      "that side. Preferred are puzzles in which a greedy player, or the "
      "network without a search, chooses another first action. The output has "
      "one line per puzzle: the position, then the solution with the best "
      "replies.\n\n"
      "Players:\n",
      eval::PlayerSpecHelp()));
  command.SetExamples({"puzzles --variant four_treasures",
                       "puzzles --variant all --puzzles 80 > web/puzzles.txt"});
}

}  // namespace tara::cli
