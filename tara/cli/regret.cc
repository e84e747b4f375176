#include "tara/eval/regret/regret.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "tara/base/atomic_file.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/cli/match_flags.h"
#include "tara/cli/rated_players.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/regret/solved_set.h"

namespace tara::cli {
namespace {

struct RegretOptions {
  GameFlags game;  // no variant: what all the networks have learned
  std::vector<std::string> players;  // runs, checkpoints, player specs
  CheckpointFlags checkpoints;
  bool untrained = false;       // what a network has not learned, too
  int positions = 0;            // a variant; 0: 100, or all of the test set
  std::string test_set;         // file; empty: none
  int64_t node_limit = 100000;  // of solving one
  uint64_t seed = 1;
  std::string format = "text";
  std::string html;  // file of a page; empty: none
};

constexpr int kDefaultPositions = 100;

// A player to be measured.
struct Measured {
  NamedPlayer named;
  std::unique_ptr<eval::Player> player;
};

absl::StatusOr<std::vector<Measured>> MakePlayers(
    const std::vector<NamedPlayer>& named) {
  std::vector<Measured> players;
  for (const NamedPlayer& player : named) {
    // Not so of teams: a position is one player's to choose in.
    if (player.team.text != player.team.players[0].text) {
      return AsUsageError(eval::ParsePlayerSpec(player.team.text).status());
    }
    TARA_ASSIGN_OR_RETURN(auto made, eval::NewPlayerFactory(player.team)());
    players.push_back({.named = player, .player = std::move(made)});
  }
  return players;
}

using SolvedPositions = std::vector<eval::SolvedPosition>;

// Returns positions of the set with the start's variant and rule options, at
// most `positions`.
absl::StatusOr<SolvedPositions> SelectPositions(const SolvedPositions& set,
                                                const State& start,
                                                const RegretOptions& options) {
  SolvedPositions chosen;
  std::map<std::string, int> others;  // positions by variant
  for (const eval::SolvedPosition& position : set) {
    ++others[std::string(Info(position.state.variant).id)];
    if (position.state.variant != start.variant ||
        position.state.options != start.options) {
      continue;
    }
    if (options.positions > 0 &&
        static_cast<int64_t>(chosen.size()) >= options.positions) {
      continue;
    }
    chosen.push_back(position);
  }
  if (!chosen.empty()) {
    if (static_cast<int64_t>(chosen.size()) >= options.positions) return chosen;
    return absl::FailedPreconditionError(absl::StrCat(
        options.test_set, ": ", chosen.size(), " endgames of ",
        Info(start.variant).id, "; expected no more --positions than these"));
  }
  const auto append_count = [](std::string* out, const auto& other) {
    absl::StrAppend(out, other.second, " of ", other.first);
  };
  return absl::FailedPreconditionError(absl::StrCat(
      options.test_set, ": no endgames of ", Info(start.variant).id,
      " with these rule options; it has ",
      others.empty() ? "none" : absl::StrJoin(others, ", ", append_count),
      ". Give another --test-set; a missing file is created"));
}

// Returns the positions of each start: from the test set, or new ones, which
// are written to the test set's file if one is given. Covers fewer starts if
// `stop` returned true.
absl::StatusOr<std::vector<SolvedPositions>> PositionsOf(
    const RegretOptions& options, absl::Span<const State> starts,
    const StopCheck& stop, StatusLine& status_line) {
  std::vector<SolvedPositions> positions;
  std::error_code error;
  const bool is_file = !options.test_set.empty() &&
                       std::filesystem::exists(options.test_set, error);
  if (is_file) {
    TARA_ASSIGN_OR_RETURN(const SolvedPositions set,
                          eval::ReadSolvedSet(options.test_set));
    for (const State& start : starts) {
      TARA_ASSIGN_OR_RETURN(positions.emplace_back(),
                            SelectPositions(set, start, options));
    }
    return positions;
  }
  const int wanted =
      options.positions > 0 ? options.positions : kDefaultPositions;
  SolvedPositions all;
  for (const State& start : starts) {
    status_line.Show(absl::StrCat(Info(start.variant).id, ": solving ", wanted,
                                  " endgames"));
    positions.push_back(
        eval::MakeSolvedPositions({.variant = start.variant,
                                   .rule_options = start.options,
                                   .seed = options.seed,
                                   .positions = wanted,
                                   .node_limit = options.node_limit,
                                   .keep_going = [&] { return !stop(); }}));
    if (stop()) return positions;
    all.insert(all.end(), positions.back().begin(), positions.back().end());
  }
  if (!options.test_set.empty()) {
    TARA_RETURN_IF_ERROR(eval::WriteSolvedSet(options.test_set, all));
  }
  return positions;
}

// Solves endgames and reports the loss of players in them. An interrupt
// (Ctrl-C) ends it with a report of the variants finished by then.
absl::StatusOr<int> RunRegret(const RegretOptions& options, Console& console) {
  TARA_RETURN_IF_ERROR(
      CheckHtmlFlag(options.html, {{"--test-set", options.test_set}}));
  std::error_code ignored;
  if (!std::filesystem::exists(options.test_set, ignored)) {
    TARA_RETURN_IF_ERROR(CheckOutput("--test-set", options.test_set));
  }
  TARA_ASSIGN_OR_RETURN(const std::vector<NamedPlayer> named,
                        PlayersNamed(options.players, options.checkpoints));
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartsOfLearned(options.game, MembersOf(named),
                                        options.untrained, console));
  TARA_ASSIGN_OR_RETURN(const std::vector<Measured> players,
                        MakePlayers(named));
  const auto seed = options.seed;
  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  TARA_ASSIGN_OR_RETURN(const std::vector<SolvedPositions> positions,
                        PositionsOf(options, starts, stop, status_line));
  std::vector<eval::RegretRow> rows;
  for (size_t v = 0; v < positions.size() && !stop(); ++v) {
    const Variant variant = starts[v].variant;
    for (size_t i = 0; i < players.size() && !stop(); ++i) {
      const NamedPlayer& named = players[i].named;
      status_line.Show(absl::StrCat(Info(variant).id, ": ", named.name));
      absl::StatusOr<eval::Regret> regret =
          eval::MeasureRegret(positions[v], seed, *players[i].player, stop);
      // The results of an interrupted player are incomplete.
      if (stop()) break;
      TARA_RETURN_IF_ERROR(regret.status());
      if (regret->positions == 0) continue;
      rows.push_back(
          {.variant = variant,
           .player = named.name,
           .point = named.point,
           .regret = *std::move(regret),
           .not_learned = NotLearnedBy(named.team.players[0], starts[v])});
    }
  }
  status_line.Clear();
  console.out << (options.format == "json" ? eval::RegretReportJson(rows)
                                           : eval::RegretReportText(rows));
  if (!options.html.empty()) {
    TARA_RETURN_IF_ERROR(
        WriteFileAtomically(options.html, eval::RegretPage(rows)));
  }
  if (!stop()) return kExitOk;
  console.err << "tara: interrupted; these are the players finished by then\n";
  return kExitInterrupted;
}

}  // namespace

void RegisterRegret(Command& root) {
  Command& command = root.AddCommand(
      "regret", "measure the losses of players in exactly solved endgames");
  RegretOptions* const options = command.SetRun(RunRegret);
  AddGameFlags(command, &options->game, kVariantOrLearnedHelp,
               /*required=*/false);
  command.Add({
      {"--player SPEC", &options->players,
       "player to measure: a spec, a checkpoint, or the folder of a run (all "
       "its checkpoints); repeatable",
       kRequired},
      UntrainedOption(&options->untrained),
      {"--positions N", &options->positions, 1, 1000000,
       "solved endgames per variant", Default("100, or all of the test set")},
      {"--test-set FILE", &options->test_set,
       "file of endgames; if it does not exist, they are solved and written to "
       "it",
       Default("none")},
      {"--nodes N", Counted{&options->node_limit}, 100, int64_t{1} << 40,
       "node limit of the solver per position; higher limits reach further "
       "from the end"},
      SeedOption(&options->seed,
                 "random seed of the positions and the players"),
      FormatOption(&options->format),
      HtmlOption(&options->html),
  });
  AddCheckpointFlags(command, &options->checkpoints);
  command.SetNotes(
      absl::StrCat("Each position is the earliest in its game that can be "
                   "solved within --nodes and\n"
                   "has actions of different value. The loss is the difference "
                   "from the best\n"
                   "action. A draw counts as half a win.\n\n"
                   "Players:\n",
                   eval::PlayerSpecHelp()));
  command.SetExamples(
      {"regret --variant all --player greedy --player mcts:sims=100",
       "regret --variant all --player runs/all --checkpoints every:5 "
       "--test-set endgames.jsonl --html regret.html"});
}

}  // namespace tara::cli
