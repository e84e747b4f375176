#include "tara/cli/play.h"

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tara/base/status_macros.h"
#include "tara/cli/commands.h"
#include "tara/cli/learned_variants.h"
#include "tara/cli/play_session.h"
#include "tara/cli/show.h"
#include "tara/cli/usage.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/ready_made_model.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/playout_evaluator.h"
#include "tara/mcts/search/run_searches.h"
#include "tara/mcts/tree/tree.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/learned_rules.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_option_text.h"

namespace tara::cli {
namespace {

// Who plays where there is no ready-made model for the variant.
constexpr char kSearchWithoutNetwork[] = "mcts:sims=1000";

// Returns the ready-made network, if it has learned the rules, or else a search
// with random games.
std::string DefaultOpponent(const State& start, Console& console) {
  const absl::StatusOr<std::string> path = eval::FindReadyMadeModel();
  if (!path.ok()) return kSearchWithoutNetwork;
  const absl::StatusOr<nn::Bundle> bundle = nn::Bundle::Open(*path);
  if (!bundle.ok()) {
    console.err << "tara: " << bundle.status().message() << "\n";
    return kSearchWithoutNetwork;
  }
  return nn::NotLearned(bundle->manifest().variants, start).empty()
             ? "best"
             : kSearchWithoutNetwork;
}

// Writes which network plays, and in which number type.
absl::Status PrintNetwork(const eval::PlayerSpec& opponent, Console& console) {
  if (opponent.kind != eval::PlayerKind::kNet) return absl::OkStatus();
  TARA_ASSIGN_OR_RETURN(const std::string path,
                        eval::FindCheckpoint(opponent.path));
  console.out << "The opponent is the network of " << path << ", computed in "
              << nn::PrecisionName(opponent.inference.precision) << ".\n";
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<mcts::Evaluator>> AdvisingEvaluator(
    const eval::PlayerSpec& spec, uint64_t seed) {
  if (spec.kind != eval::PlayerKind::kNet) {
    return std::make_unique<mcts::PlayoutEvaluator>(1, seed);
  }
  TARA_ASSIGN_OR_RETURN(const std::string path,
                        eval::FindCheckpoint(spec.path));
  return nn::LoadNetworkEvaluator(path, spec.inference);
}

// Returns an advisor that searches with the opponent's network, if it has one,
// and else with random playouts.
Advisor MakeAdvisor(const eval::PlayerSpec& spec, int simulations,
                    uint64_t seed) {
  // Loaded when it is first asked: most games go without.
  const auto evaluator = std::make_shared<std::unique_ptr<mcts::Evaluator>>();
  return
      [=](const State& state) -> absl::StatusOr<std::vector<mcts::RootAction>> {
        if (*evaluator == nullptr) {
          TARA_ASSIGN_OR_RETURN(*evaluator, AdvisingEvaluator(spec, seed));
        }
        mcts::SearchOptions options;
        options.simulations = simulations;
        options.c_puct = spec.search.search.c_puct;
        mcts::Tree tree(options, state, seed);
        mcts::Tree* const trees[] = {&tree};
        TARA_RETURN_IF_ERROR(mcts::RunSearches(trees, **evaluator));
        return tree.root_actions();
      };
}

}  // namespace

absl::StatusOr<int> RunPlay(const PlayCommandOptions& options,
                            Console& console) {
  PlaySessionOptions session;
  TARA_ASSIGN_OR_RETURN(session.start, StartOf(options.game));
  const std::string chosen = options.opponent.empty()
                                 ? DefaultOpponent(session.start, console)
                                 : options.opponent;
  absl::StatusOr<eval::PlayerSpec> spec = eval::ParsePlayerSpec(chosen);
  if (!spec.ok()) return AsUsageError(spec.status());
  TARA_RETURN_IF_ERROR(
      CheckLearned({chosen}, {session.start}, options.untrained, console));
  session.not_learned = NotLearnedBy(chosen, session.start);
  TARA_ASSIGN_OR_RETURN(const std::string resolved,
                        eval::WithPrecision(chosen));
  TARA_ASSIGN_OR_RETURN(spec, eval::ParsePlayerSpec(resolved));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<eval::Player> opponent,
                        eval::MakePlayer(resolved));
  TARA_RETURN_IF_ERROR(PrintNetwork(*spec, console));
  session.person = {options.side != "blue", options.side != "red"};
  session.seed = options.seed >= 0 ? static_cast<uint64_t>(options.seed)
                                   : std::random_device()();
  session.ascii = options.ascii;
  session.colour = UseColour(options.colour, console);
  PlaySession game(
      session, *opponent,
      MakeAdvisor(*spec, static_cast<int>(options.hint_simulations),
                  session.seed),
      console);
  TARA_RETURN_IF_ERROR(game.Run());
  return kExitOk;
}

void RegisterPlay(Command& root) {
  Command& command = root.AddCommand(kPlayCommand.name, kPlayCommand.summary);
  const auto options = std::make_shared<PlayCommandOptions>();
  AddGameFlags(command, &options->game, kVariantHelp);
  command.AddText(
      {.names = "--opponent",
       .placeholder = "SPEC",
       .help = "the opponent",
       .default_text = absl::StrCat("best, if it has learned the rules, else ",
                                    kSearchWithoutNetwork)},
      &options->opponent);
  AddUntrainedFlag(command, &options->untrained);
  command.AddChoice({.names = "--seat",
                     .help = "your side; Red begins. In doubles you play both "
                             "seats of it. both: two people at one terminal"},
                    {"red", "blue", "both"}, &options->side);
  command.AddInteger(
      {.names = "--hint-sims",
       .placeholder = "N",
       .help = "simulations of the search behind 'hint' and 'go'"},
      1, 1000000, &options->hint_simulations);
  command.AddInteger({.names = "--seed",
                      .placeholder = "N",
                      .help = "of the opponent's randomness",
                      .default_text = "another each time"},
                     0, INT64_MAX, &options->seed);
  AddDrawingFlags(command, &options->ascii, &options->colour);
  command.SetNotes(absl::StrCat("Opponents:\n", eval::PlayerSpecHelp(),
                                "\nWithin the game, 'help' lists what you can "
                                "type."));
  command.SetExamples({"play --variant sacred_hill_l1",
                       "play --variant high_kings_l2 --seat blue --opponent "
                       "net:runs/kings",
                       "play --variant four_treasures --opponent "
                       "mcts:ms=3000,graph=on,ponder=on"});
  command.SetRun(
      [options](Console& console) { return RunPlay(*options, console); });
}

}  // namespace tara::cli
