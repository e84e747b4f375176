#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tara/base/atomic_file.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/base/text.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/cli/match_flags.h"
#include "tara/cli/rated_players.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/players/contest.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/team.h"
#include "tara/eval/rating/rating_report.h"
#include "tara/eval/rating/rating_tournament.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"

namespace tara::cli {
namespace {

struct RateFlags {
  std::vector<std::string> players;  // runs, checkpoints, player specs
  GameFlags game;          // no variant: what all the networks have learned
  bool untrained = false;  // what a network has not learned, too
  CheckpointFlags checkpoints = {.simulations = 100};
  int games = 40;                    // of a player in a variant, on average
  std::optional<int> opening_plies;  // none: DefaultOpeningPlies
  std::vector<std::string> anchors;  // "NAME=ELO"
  std::string store;                 // empty: RUN/ratings.db, or none
  int threads = 0;                   // 0: one per core
  uint64_t seed = 1;
  std::string format = "text";
  std::string html;  // file of a page; empty: none
  std::string fleet = "none";
};

// Removes duplicate names, and checks that at least two players are left and
// that they can play all variants.
absl::Status CheckPlayers(const std::vector<eval::ArenaOptions>& arenas,
                          std::vector<NamedPlayer>& players) {
  std::set<std::string> names;
  std::erase_if(players, [&](const NamedPlayer& player) {
    return !names.insert(player.name).second;
  });
  for (const NamedPlayer& player : players) {
    for (const eval::ArenaOptions& arena : arenas) {
      TARA_RETURN_IF_ERROR(
          AsUsageError(eval::CheckTeam(player.team, arena.variant)));
    }
  }
  if (players.size() >= 2) return absl::OkStatus();
  return UsageError(absl::StrCat(
      "there is ", players.size(),
      " player to rate; expected at least two, such as a run with several "
      "checkpoints, or a run and greedy"));
}

absl::StatusOr<std::vector<eval::RatedPlayer>> MakePlayers(
    const std::vector<NamedPlayer>& named) {
  std::vector<eval::RatedPlayer> players;
  for (const NamedPlayer& player : named) {
    TARA_ASSIGN_OR_RETURN(eval::TeamSpec team,
                          eval::WithPrecision(player.team));
    TARA_ASSIGN_OR_RETURN(std::string identity, eval::PlayerIdentity(team));
    const eval::PlayerFactory make = eval::NewPlayerFactory(team);
    players.push_back({.name = player.name,
                       .team = std::move(team),
                       .identity = std::move(identity),
                       .make = make,
                       .point = player.point});
  }
  return players;
}

// Parses "NAME=ELO"; without any, the first player is at 0.
absl::StatusOr<std::vector<eval::RatingAnchor>> ParseAnchors(
    const std::vector<std::string>& texts,
    const std::vector<NamedPlayer>& players) {
  if (texts.empty())
    return std::vector<eval::RatingAnchor>{{.player = 0, .elo = 0}};
  std::vector<eval::RatingAnchor> anchors;
  for (const std::string& text : texts) {
    // Specs have '=' of their own.
    const size_t end = text.rfind('=');
    eval::RatingAnchor anchor;
    if (end == std::string::npos ||
        !ParseDecimal(text.substr(end + 1), &anchor.elo)) {
      return UsageError(absl::StrCat("bad --anchor '", text,
                                     "'; expected NAME=ELO, such as greedy=0"));
    }
    const auto found = std::find_if(players.begin(), players.end(),
                                    [&](const NamedPlayer& player) {
                                      return player.name == text.substr(0, end);
                                    });
    if (found == players.end()) {
      return UsageError(absl::StrCat("--anchor '", text,
                                     "': no player of that name; the first is ",
                                     players[0].name));
    }
    anchor.player = static_cast<int>(found - players.begin());
    for (const eval::RatingAnchor& other : anchors) {
      if (other.player != anchor.player) continue;
      return UsageError(
          absl::StrCat("--anchor '", text, "': ", found->name,
                       " already has a rating; expected one each"));
    }
    anchors.push_back(anchor);
  }
  return anchors;
}

// Returns the store: the one named, or that of the first run.
std::string ChooseStorePath(const RateFlags& options) {
  if (!options.store.empty()) return options.store;
  std::error_code error;
  for (const std::string& player : options.players) {
    if (std::filesystem::is_directory(player, error)) {
      return (std::filesystem::path(player) / "ratings.db").string();
    }
  }
  return ":memory:";
}

std::vector<eval::ArenaOptions> MakeArenas(const RateFlags& options,
                                           const std::vector<State>& starts) {
  std::vector<eval::ArenaOptions> arenas;
  for (const State& start : starts) {
    arenas.push_back({.variant = start.variant,
                      .rule_options = start.options,
                      .opening_plies = options.opening_plies,
                      .seed = options.seed,
                      .stop = StopRequested});
  }
  return arenas;
}

// Rates checkpoints and other players in one variant or in all. An interrupt
// (Ctrl-C) ends it with the ratings by the games that are finished.
absl::StatusOr<int> RunRate(const RateFlags& options, Console& console) {
  eval::RatingTournamentOptions tournament = {
      .games_per_player = options.games,
      .threads = ResolveThreads(options.threads)};
  TARA_RETURN_IF_ERROR(
      CheckHtmlFlag(options.html, {{"--store", options.store}}));
  TARA_ASSIGN_OR_RETURN(std::vector<NamedPlayer> named,
                        PlayersNamed(options.players, options.checkpoints));
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartsOfLearned(options.game, MembersOf(named),
                                        options.untrained, console));
  tournament.arenas = MakeArenas(options, starts);
  TARA_RETURN_IF_ERROR(CheckPlayers(tournament.arenas, named));
  TARA_ASSIGN_OR_RETURN(tournament.anchors,
                        ParseAnchors(options.anchors, named));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<record::GameStore> store,
                        record::OpenGameStore(ChooseStorePath(options),
                                              record::StoreMode::kReadWrite));
  TARA_RETURN_IF_ERROR(store->CheckForContests());
  TARA_ASSIGN_OR_RETURN(const std::vector<eval::RatedPlayer> players,
                        MakePlayers(named));

  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<fleet::Fleet> fleet,
                        ConnectFleet(options.fleet));
  tournament.fleet = fleet.get();

  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  const auto on_progress = [&](const eval::RatingProgress& progress) {
    status_line.Show(absl::StrFormat(
        "%s: %d of %d games, differences +-%.0f Elo%s",
        Info(progress.variant).id, progress.games, progress.games_wanted,
        1.96 * progress.mean_deviation, FleetText(fleet.get())));
    return !stop();
  };
  absl::StatusOr<eval::RatingTable> table =
      eval::PlayRatingTournament(players, tournament, *store, on_progress);
  status_line.Clear();
  if (stop() && !table.ok()) {
    console.err << "tara: interrupted before there were ratings: "
                << table.status().message() << "\n";
    return kExitInterrupted;
  }
  if (table.status().code() == absl::StatusCode::kFailedPrecondition) {
    return absl::FailedPreconditionError(absl::StrCat(
        table.status().message(), "; expected more --games, to connect them"));
  }
  if (!table.ok()) return table.status();
  for (size_t v = 0; v < table->variants.size(); ++v) {
    for (const NamedPlayer& player : named) {
      const std::vector<eval::PlayerSpec>& members = player.team.players;
      table->variants[v].not_learned.push_back(
          members.size() == 1 ? NotLearnedBy(members[0], starts[v])
                              : NotLearnedByAny(members, starts[v]));
    }
  }
  if (!options.html.empty()) {
    TARA_RETURN_IF_ERROR(
        WriteFileAtomically(options.html, eval::RatingPage(*table)));
  }
  console.out << (options.format == "json"
                      ? eval::RatingReportJson(*table) + "\n"
                      : eval::RatingReportText(*table));
  for (const eval::VariantRatings& variant : table->variants) {
    for (size_t i = 0; i < variant.faults.size(); ++i) {
      if (variant.faults[i] == 0) continue;
      console.err << "tara: " << table->players[i] << " forfeited "
                  << variant.faults[i] << " games of "
                  << Info(variant.variant).id << ", which count as lost\n";
    }
  }
  if (!stop()) return kExitOk;
  console.err << "tara: interrupted; these are the games finished by then\n";
  return kExitInterrupted;
}

}  // namespace

void RegisterRate(Command& root) {
  Command& command = root.AddCommand(
      "rate", "rate checkpoints and players: Elo per variant and overall");
  RateFlags* const options = command.SetRun(RunRate);
  command.Add({
      {"RUN", &options->players,
       "folder of a run, checkpoint, or player spec; repeatable", kRequired},
      UntrainedOption(&options->untrained),
      {"--games N", &options->games, 2, 1000000,
       "mean games per player and variant, including those in the store"},
      OpeningPliesOption(&options->opening_plies, 1),
      {"--anchor NAME=ELO", &options->anchors,
       "player with a fixed rating; repeatable",
       Default("the first player at 0")},
      {"--store FILE", &options->store, "game store to resume from",
       Default("ratings.db of the first run")},
      ThreadsOption(&options->threads),
      SeedOption(&options->seed,
                 "random seed; with equal precision of networks, games are "
                 "reproducible"),
      FormatOption(&options->format),
      HtmlOption(&options->html),
      FleetOption(&options->fleet),
  });
  AddGameFlags(command, &options->game, kVariantOrLearnedHelp,
               /*required=*/false);
  AddCheckpointFlags(command, &options->checkpoints);
  command.SetNotes(
      absl::StrCat("The most informative pairs of players play first. Games "
                   "are kept in the store,\n"
                   "so a further checkpoint plays only the missing games. "
                   "Games of different number\n"
                   "types of a network (precision) are kept apart.\n\n"
                   "Players:\n",
                   eval::PlayerSpecHelp()));
  command.SetExamples(
      {"rate runs/all --variant all --checkpoints every:5 --html ratings.html",
       "rate runs/a runs/b greedy --variant four_treasures --games 100",
       "rate --variant high_kings_l1 random greedy mcts:sims=100 "
       "--format=json"});
}

}  // namespace tara::cli
