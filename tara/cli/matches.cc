#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/puzzles/puzzles.h"
#include "tara/eval/rating/ratings.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/fleet/fleet.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/record/game_store.h"

namespace tara::cli {
namespace {

struct ContestFlags {
  GameFlags game;
  bool untrained = false;            // play what a network has not learned, too
  std::optional<int> opening_plies;  // none: DefaultOpeningPlies
  std::string store;                 // to resume; empty: none
  int threads = 0;                   // 0: one per core
  uint64_t seed = 1;
  ReportFlags report;
  std::string fleet = "none";
};

struct MatchFlags : ContestFlags {
  std::string adjudicate = "proof";  // or "none"
  std::string time_control;  // as ParseTimeControl reads it; empty: no clocks
};

// --opening-plies, at least `least`.
Option OpeningPliesOption(std::optional<int>* plies, double least) {
  return {"--opening-plies N",
          plies,
          least,
          100,
          "random actions before each pair of games; each opening is played "
          "once from either side, and no two are mirror images",
          Default("2, or more if few openings of 2 are different")};
}

// Adds a flag for each, but for --variant.
void AddMatchFlags(Command& command, MatchFlags* flags) {
  AddReportFlags(command, &flags->report);
  command.Add({
      UntrainedOption(&flags->untrained),
      OpeningPliesOption(&flags->opening_plies, 0),
      {"--adjudicate proof|none", &flags->adjudicate,
       "early end of games: when both players have proved the margin, or none"},
      {"--time-control TIME", &flags->time_control,
       "time per side: 5s/move, 300s per game, or 300s+2s with an increment; "
       "replaces sims, ms, nodes and depth",
       Default("none")},
      {"--store FILE", &flags->store,
       "game store, written as games end: the same command resumes, more "
       "--games add to it",
       Default("none")},
      {"--threads N", &flags->threads, 1, 1024,
       "number of threads, each with a batch of games (one game with clocks)",
       Default("one per core")},
      SeedOption(&flags->seed,
                 "random seed; with equal precision of networks, games are "
                 "reproducible on any number of --threads, except with clocks, "
                 "ms or threads=N"),
      FleetOption(&flags->fleet),
  });
}

std::string MatchNotes() {
  return absl::StrCat(
      "Players:\n", eval::PlayerSpecHelp(),
      "\n"
      "Reports name a network's number type (precision); games of different "
      "ones are kept apart.\n\n"
      "With clocks, each thread plays one game at a time. A player whose time "
      "runs out, or an engine that cannot continue, loses by ",
      eval::kForfeitMargin,
      " points. The report has the number of such games, and the mean time per "
      "move.");
}

// Returns the players of both as they were given, so that errors name them.
std::vector<eval::PlayerSpec> PlayersOf(const eval::Contestant& a,
                                        const eval::Contestant& b) {
  std::vector<eval::PlayerSpec> players = a.given.players;
  players.insert(players.end(), b.given.players.begin(), b.given.players.end());
  return players;
}

struct Match {
  State start;
  std::string name;  // for people
  const eval::Contestant* a;
  const eval::Contestant* b;
};

// Plays matches by the flags, which must outlive it.
class MatchTable {
 public:
  MatchTable(const MatchFlags& flags, const eval::ArenaOptions& arena,
             int openings)
      : flags_(flags), games_of_openings_(openings), arena_(arena) {}

  // `arena` has the options without flags; each match has its number of games
  // or, if not 0, of openings. Returns usage errors for wrong flags, and the
  // errors of opening the store.
  static absl::StatusOr<std::unique_ptr<MatchTable>> Create(
      const MatchFlags& flags, const eval::ArenaOptions& arena,
      int openings = 0) {
    auto table = std::make_unique<MatchTable>(flags, arena, openings);
    eval::ArenaOptions& options = table->arena_;
    options.opening_plies = flags.opening_plies;
    options.seed = flags.seed;
    options.stop = StopRequested;
    if (!flags.time_control.empty()) {
      TARA_ASSIGN_OR_RETURN(
          const mcts::TimeControl control,
          AsUsageError(mcts::ParseTimeControl(flags.time_control)));
      options.clocks = eval::GameClocks{.control = control};
    }
    options.adjudicate = flags.adjudicate == "proof";
    TARA_RETURN_IF_ERROR(
        CheckOutput("--html", flags.report.html, {{"--store", flags.store}}));
    TARA_ASSIGN_OR_RETURN(table->fleet_, ConnectFleet(flags.fleet));
    if (!flags.store.empty()) {
      TARA_ASSIGN_OR_RETURN(
          table->store_,
          record::OpenGameStore(flags.store, record::StoreMode::kReadWrite));
      TARA_RETURN_IF_ERROR(table->store_->CheckForContests());
    }
    return table;
  }

  // Returns the player or team of a spec. A wrong spec is a usage error; else
  // errors as WithPrecision.
  absl::StatusOr<eval::Contestant> ContestantOf(const std::string& spec) const {
    TARA_ASSIGN_OR_RETURN(const eval::TeamSpec team,
                          AsUsageError(eval::ParseTeamSpec(spec)));
    return ContestantOf(team);
  }

  absl::StatusOr<eval::Contestant> ContestantOf(
      const eval::TeamSpec& team) const {
    for (const eval::PlayerSpec& player : team.players) {
      if (!player.search.ponder || arena_.clocks.has_value()) continue;
      return UsageError(
          "player '", team.text,
          "' ponders, which needs clocks; expected --time-control, or a player "
          "without ponder=on");
    }
    return eval::MakeContestant(team, store_ != nullptr);
  }

  // Plays the matches, with the store if there is one, and shows the progress.
  // Those that `stop` has kept from beginning have no games. Returns a usage
  // error for teams that cannot play the variant, and the errors of
  // PlayArena or PlayArenaOnFleet.
  absl::StatusOr<std::vector<eval::ArenaResult>> PlayAll(
      const std::vector<Match>& matches, const StopCheck& stop,
      Console& console) {
    for (const Match& match : matches) {
      for (const eval::Contestant* contestant : {match.a, match.b}) {
        TARA_RETURN_IF_ERROR(AsUsageError(
            eval::CheckTeam(contestant->team, match.start.variant)));
      }
    }
    StatusLine status_line(console);
    std::vector<std::atomic<int>> done(matches.size());
    const auto show = [&](size_t i, const eval::ArenaProgress& progress) {
      done[i] = progress.games_done;
      // All matches have the same number of games.
      const int all = static_cast<int>(matches.size()) * progress.games;
      const int all_done = std::accumulate(done.begin(), done.end(), 0);
      std::string text;
      if (fleet_ != nullptr) {  // it plays all of them concurrently
        text = absl::StrCat(all_done, " of ", all, " games",
                            FleetText(fleet_.get()));
      } else if (progress.games_done > 0) {
        text = absl::StrFormat("%s: %d of %d games, score %.1f %%",
                               matches[i].name, progress.games_done,
                               progress.games, 100 * progress.score);
        if (progress.llr.has_value()) {
          absl::StrAppendFormat(&text, ", LLR %+.2f", *progress.llr);
        }
      } else {
        return;
      }
      // When a test will have decided is not known.
      if (progress.llr.has_value()) return status_line.Show(text);
      status_line.Show(text, all_done, all);
    };
    std::vector<eval::ArenaResult> results(matches.size());
    TARA_RETURN_IF_ERROR(fleet::PlayAll(
        fleet_.get(), matches.size(), stop,
        [&](size_t i, const StopCheck& is_over) -> absl::Status {
          TARA_ASSIGN_OR_RETURN(
              results[i],
              Play(matches[i], [&](const eval::ArenaProgress& progress) {
                show(i, progress);
                return !is_over();
              }));
          return absl::OkStatus();
        }));
    return results;
  }

 private:
  // With a fleet, several threads may play concurrently.
  absl::StatusOr<eval::ArenaResult> Play(
      const Match& match, const eval::ArenaProgressCallback& on_progress) {
    const auto& [start, name, a, b] = match;
    const int threads =
        flags_.threads > 0
            ? flags_.threads
            : std::max(1, ResolveThreads(0) /
                              eval::ThreadsOfAGame(a->team, b->team));
    eval::ArenaOptions arena = arena_;
    arena.variant = start.variant;
    arena.rule_options = start.options;
    eval::SetTeams(a->team, b->team, arena);
    if (games_of_openings_ > 0) {
      arena.games = games_of_openings_ * eval::GamesPerPair(arena) *
                    eval::PairsPerOpening(arena);
    }
    TARA_RETURN_IF_ERROR(AsUsageError(eval::CheckArenaOptions(arena)));
    if (store_ != nullptr) {
      TARA_RETURN_IF_ERROR(eval::ResumeFromStore(
          *store_,
          eval::NewContest(
              eval::ArenaConditions(arena, "", flags_.time_control),
              a->identity, b->identity),
          arena));
    }
    return eval::PlayArena(arena, *a, *b, threads, fleet_.get(), on_progress);
  }

  const MatchFlags& flags_;
  const int games_of_openings_;
  eval::ArenaOptions arena_;
  std::unique_ptr<fleet::Fleet> fleet_;       // null: none
  std::unique_ptr<record::GameStore> store_;  // null: none
};

struct ArenaFlags : MatchFlags {
  std::string player_a;  // or a team
  std::string player_b;
  bool by_match = false;
  int games = 0;  // 0: 200, or with a sequential test 20000 at most
  // As ParseSprtOptions reads it; empty: all games are played.
  std::string sprt;
};

constexpr int kDefaultGames = 200;

absl::StatusOr<int> RunArena(const ArenaFlags& options, Console& console) {
  TARA_ASSIGN_OR_RETURN(const auto starts, StartsOf(options.game));
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
  TARA_ASSIGN_OR_RETURN(const auto table, MatchTable::Create(options, arena));
  TARA_ASSIGN_OR_RETURN(const eval::Contestant player_a,
                        table->ContestantOf(options.player_a));
  TARA_ASSIGN_OR_RETURN(const eval::Contestant player_b,
                        table->ContestantOf(options.player_b));
  const std::vector<eval::PlayerSpec> players = PlayersOf(player_a, player_b);
  TARA_RETURN_IF_ERROR(
      CheckLearned(players, starts, options.untrained, console));
  std::vector<Match> matches;
  for (const State& start : starts) {
    matches.push_back(
        {start, std::string(Info(start.variant).id), &player_a, &player_b});
  }
  const StopCheck stop = StopOnSignals();
  TARA_ASSIGN_OR_RETURN(auto results, table->PlayAll(matches, stop, console));
  std::vector<eval::ArenaReportRow> rows;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (results[i].games == 0) continue;  // stopped before the first pair's end
    rows.push_back({.variant = starts[i].variant,
                    .player_a = player_a.team.text,
                    .player_b = player_b.team.text,
                    .result = std::move(results[i]),
                    .time_control = options.time_control,
                    .not_learned = NotLearnedByAny(players, starts[i])});
  }
  TARA_RETURN_IF_ERROR(
      WriteReport(options.report, eval::ReportArena(rows), console));
  return EndOf(stop, console);
}

struct CrossPlayFlags : MatchFlags {
  std::string player_a;
  std::string player_b;
  std::string player_c;  // may be a team; empty: A and B are the opponents
  int games = 400;       // of A with B against each opponent
};

absl::StatusOr<eval::Contestant> MakePartner(const MatchTable& table,
                                             const std::string& text) {
  TARA_ASSIGN_OR_RETURN(eval::Contestant contestant, table.ContestantOf(text));
  if (contestant.team.seatings() == 1) return contestant;
  return UsageError("'", text, "' is a team; expected a single player");
}

// A match of a study by the letters of its teams, and its weight.
struct Pairing {
  std::string team;
  std::string opponents;
  const eval::Contestant* a;
  const eval::Contestant* b;
  double weight;
};

absl::StatusOr<int> RunCrossPlay(const CrossPlayFlags& options,
                                 Console& console) {
  TARA_ASSIGN_OR_RETURN(std::vector<State> starts, StartsOf(options.game));
  if (starts.size() > 1) {
    std::erase_if(starts, [](const State& start) {
      return Info(start.variant).seats < 4;
    });
  }
  // Four games of A with B to an opening: either seating on either side.
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<MatchTable> table,
      MatchTable::Create(options, {}, (options.games + 3) / 4));
  TARA_ASSIGN_OR_RETURN(const auto a, MakePartner(*table, options.player_a));
  TARA_ASSIGN_OR_RETURN(const auto b, MakePartner(*table, options.player_b));
  eval::CrossPlayReport report = {.players = {a.team.text, b.team.text},
                                  .studies = {},
                                  .worths = {},
                                  .time_control = options.time_control};
  if (a.given.players[0].text == b.given.players[0].text) {
    return UsageError("A and B are both '", report.players[0],
                      "'; expected two different players");
  }
  TARA_ASSIGN_OR_RETURN(const eval::Contestant both,
                        table->ContestantOf(eval::MakeTeam(
                            {a.given.players[0], b.given.players[0]})));
  eval::Contestant c;
  std::vector<Pairing> pairings;
  if (options.player_c.empty()) {
    const auto& weights = eval::kWeightsAgainstThemselves;
    pairings = {{"A+A", "B+B", &a, &b, weights[0]},
                {"A+B", "A+A", &both, &a, weights[1]},
                {"A+B", "B+B", &both, &b, weights[2]}};
  } else {
    TARA_ASSIGN_OR_RETURN(c, table->ContestantOf(options.player_c));
    report.players.push_back(c.team.text);
    const auto& weights = eval::kWeightsAgainstOthers;
    const std::string others = c.team.seatings() > 1 ? "C" : "C+C";
    pairings = {{"A+A", others, &a, &c, weights[0]},
                {"B+B", others, &b, &c, weights[1]},
                {"A+B", others, &both, &c, weights[2]}};
  }
  const std::vector<eval::PlayerSpec> specs = PlayersOf(both, c);
  TARA_RETURN_IF_ERROR(CheckLearned(specs, starts, options.untrained, console));
  std::vector<Match> matches;  // of each variant, one variant after another
  for (const State& start : starts) {
    for (const Pairing& pairing : pairings) {
      matches.push_back(
          {start,
           absl::StrCat(Info(start.variant).id, ", ", pairing.team, " against ",
                        pairing.opponents),
           pairing.a, pairing.b});
    }
  }
  const StopCheck stop = StopOnSignals();
  TARA_ASSIGN_OR_RETURN(auto results, table->PlayAll(matches, stop, console));
  Random random(options.seed);
  auto result = results.begin();
  for (const State& start : starts) {
    eval::CrossPlayStudy study = {
        .variant = start.variant,
        .matches = {},
        .even_score = options.player_c.empty() ? 0.5 : 0,
        .not_learned = NotLearnedByAny(specs, start)};
    for (const Pairing& pairing : pairings) {
      study.matches.push_back({.team = pairing.team,
                               .opponents = pairing.opponents,
                               .result = std::move(*result++),
                               .weight = pairing.weight});
    }
    const eval::PartnershipWorth worth = eval::EstimateWorth(study, random);
    if (worth.openings == 0) continue;  // stopped before the first one's end
    report.studies.push_back(std::move(study));
    report.worths.push_back(worth);
  }
  TARA_RETURN_IF_ERROR(
      WriteReport(options.report, eval::ReportCrossPlay(report), console));
  return EndOf(stop, console);
}

// --- Players by their runs ---------------------------------------------------

struct CheckpointChoice {
  int every = 1;
  std::vector<int> generations = {};  // if not empty: only these
};

absl::StatusOr<CheckpointChoice> ParseChoice(const std::string& text) {
  CheckpointChoice choice;
  if (text == "all") return choice;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "every:")) {
    if (absl::SimpleAtoi(rest, &choice.every) && choice.every > 0) {
      return choice;
    }
  } else {
    for (const absl::string_view part : absl::StrSplit(text, ',')) {
      int generation;
      if (!absl::SimpleAtoi(part, &generation) || generation < 0) {
        choice.generations.clear();
        break;
      }
      choice.generations.push_back(generation);
    }
    if (!choice.generations.empty()) return choice;
  }
  return UsageError("bad --checkpoints '", text,
                    "'; expected all, every:K, or generations such as 0,10,20");
}

// Returns the chosen checkpoints ckpt-NNNNNN.pt of a run's folder, by
// generation.
absl::StatusOr<std::map<int, std::string>> ChosenCheckpoints(
    const std::string& run, const CheckpointChoice& choice) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path folder = fs::path(run) / "checkpoints";
  if (!fs::is_directory(folder, error)) folder = run;
  std::map<int, std::string> checkpoints;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    absl::string_view number = name;
    int generation;
    if (absl::ConsumePrefix(&number, "ckpt-") &&
        absl::ConsumeSuffix(&number, ".pt") &&
        absl::SimpleAtoi(number, &generation)) {
      checkpoints[generation] = entry.path().string();
    }
  }
  if (checkpoints.empty()) {
    return absl::NotFoundError(
        absl::StrCat(run, ": no checkpoints; expected files ckpt-NNNNNN.pt in ",
                     (fs::path(run) / "checkpoints").string()));
  }
  const int newest = checkpoints.rbegin()->first;
  if (choice.generations.empty()) {
    std::erase_if(checkpoints, [&](const auto& each) {
      return each.first % choice.every != 0 && each.first != newest;
    });
    return checkpoints;
  }
  std::map<int, std::string> chosen;
  for (const int generation : choice.generations) {
    const auto found = checkpoints.find(generation);
    if (found == checkpoints.end()) {
      return absl::NotFoundError(
          absl::StrCat(run, ": no checkpoint of generation ", generation,
                       "; the newest is ", newest));
    }
    chosen.insert(*found);
  }
  return chosen;
}

// Returns the players of the arguments, as they are given: for a
// run's folder each chosen checkpoint, with `simulations`; for a checkpoint its
// file; or a player spec. Checkpoints are named by their files, and by their
// runs if there are several. Returns NOT_FOUND for a run without the
// checkpoints, and a usage error for invalid flags or arguments.
absl::StatusOr<std::vector<eval::RatedPlayer>> PlayersNamed(
    absl::Span<const std::string> arguments, const std::string& checkpoints,
    int simulations) {
  TARA_ASSIGN_OR_RETURN(const auto choice, ParseChoice(checkpoints));
  const auto team_of = [&](const std::string& path) {
    return eval::MakeTeam({eval::NetworkPlayer(path, simulations)});
  };
  std::error_code error;
  const auto is_run = [&](const std::string& argument) {
    return std::filesystem::is_directory(argument, error);
  };
  const auto runs = std::count_if(arguments.begin(), arguments.end(), is_run);
  std::vector<eval::RatedPlayer> players;
  const auto add = [&](const std::string& name, const eval::TeamSpec& team) {
    players.emplace_back().name = name;
    players.back().given = team;
  };
  for (const std::string& argument : arguments) {
    const absl::StatusOr<eval::TeamSpec> team = eval::ParseTeamSpec(argument);
    if (team.ok()) {
      add(argument, *team);
      continue;
    }
    if (!std::filesystem::exists(argument, error)) {
      return UsageError("'", argument,
                        "' is not a run, checkpoint or player; as a player: ",
                        team.status().message());
    }
    if (!is_run(argument)) {
      add(std::filesystem::path(argument).stem().string(), team_of(argument));
      continue;
    }
    TARA_ASSIGN_OR_RETURN(const auto chosen,
                          ChosenCheckpoints(argument, choice));
    for (const auto& [generation, path] : chosen) {
      const std::string name = std::filesystem::path(path).stem().string();
      add(runs > 1 ? absl::StrCat(argument, "/", name) : name, team_of(path));
      players.back().point = {.run = argument, .generation = generation};
    }
  }
  return players;
}

std::vector<eval::PlayerSpec> MembersOf(
    absl::Span<const eval::RatedPlayer> players) {
  std::vector<eval::PlayerSpec> members;
  for (const eval::RatedPlayer& player : players) {
    members.insert(members.end(), player.given.players.begin(),
                   player.given.players.end());
  }
  return members;
}

// Without a variant: in those that all the networks have learned; without a
// store: RUN/ratings.db, or none.
struct RateFlags : ContestFlags {
  std::vector<std::string> players;  // runs, checkpoints, player specs
  // Of a run: "all", every K-th generation and the newest ("every:K"), or the
  // listed generations ("0,10,20").
  std::string checkpoints = "all";
  int simulations = 100;             // of checkpoints; 0: the policy
  int games = 40;                    // of a player in a variant, on average
  std::vector<std::string> anchors;  // "NAME=ELO"
};

// Removes duplicate names, and checks that at least two players are left and
// that they can play all variants.
absl::Status CheckPlayers(const std::vector<eval::ArenaOptions>& arenas,
                          std::vector<eval::RatedPlayer>& players) {
  std::set<std::string> names;
  std::erase_if(players, [&](const eval::RatedPlayer& player) {
    return !names.insert(player.name).second;
  });
  for (const eval::RatedPlayer& player : players) {
    for (const eval::ArenaOptions& arena : arenas) {
      TARA_RETURN_IF_ERROR(
          AsUsageError(eval::CheckTeam(player.given, arena.variant)));
    }
  }
  if (players.size() >= 2) return absl::OkStatus();
  return UsageError(
      "there is ", players.size(),
      " player to rate; expected at least two, such as a run with several "
      "checkpoints, or a run and greedy");
}

absl::StatusOr<std::vector<eval::RatingAnchor>> ParseAnchors(
    const std::vector<std::string>& texts,
    const std::vector<eval::RatedPlayer>& players) {
  if (texts.empty())
    return std::vector<eval::RatingAnchor>{{.player = 0, .elo = 0}};
  std::vector<eval::RatingAnchor> anchors;
  for (const std::string& text : texts) {
    // Specs have '=' of their own.
    const size_t end = text.rfind('=');
    eval::RatingAnchor anchor;
    if (end == std::string::npos ||
        !ParseDecimal(text.substr(end + 1), &anchor.elo)) {
      return UsageError("bad --anchor '", text,
                        "'; expected NAME=ELO, such as greedy=0");
    }
    const auto found = std::find_if(players.begin(), players.end(),
                                    [&](const eval::RatedPlayer& player) {
                                      return player.name == text.substr(0, end);
                                    });
    if (found == players.end()) {
      return UsageError("--anchor '", text,
                        "': no player of that name; the first is ",
                        players[0].name);
    }
    anchor.player = static_cast<int>(found - players.begin());
    for (const eval::RatingAnchor& other : anchors) {
      if (other.player != anchor.player) continue;
      return UsageError("--anchor '", text, "': ", found->name,
                        " already has a rating; expected one each");
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

absl::StatusOr<int> RunRate(const RateFlags& options, Console& console) {
  TARA_RETURN_IF_ERROR(
      CheckOutput("--html", options.report.html, {{"--store", options.store}}));
  TARA_ASSIGN_OR_RETURN(
      std::vector<eval::RatedPlayer> players,
      PlayersNamed(options.players, options.checkpoints, options.simulations));
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartsOfLearned(options.game, MembersOf(players),
                                        options.untrained, console));
  eval::RatingTournamentOptions tournament = {
      .games_per_player = options.games,
      .threads = ResolveThreads(options.threads)};
  for (const State& start : starts) {
    tournament.arenas.push_back({.variant = start.variant,
                                 .rule_options = start.options,
                                 .opening_plies = options.opening_plies,
                                 .seed = options.seed,
                                 .stop = StopRequested});
  }
  TARA_RETURN_IF_ERROR(CheckPlayers(tournament.arenas, players));
  TARA_ASSIGN_OR_RETURN(tournament.anchors,
                        ParseAnchors(options.anchors, players));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<record::GameStore> store,
                        record::OpenGameStore(ChooseStorePath(options),
                                              record::StoreMode::kReadWrite));
  TARA_RETURN_IF_ERROR(store->CheckForContests());
  for (eval::RatedPlayer& player : players) {
    eval::Contestant& contestant = player;
    TARA_ASSIGN_OR_RETURN(contestant,
                          eval::MakeContestant(player.given, /*stored=*/true));
  }
  TARA_ASSIGN_OR_RETURN(const auto fleet, ConnectFleet(options.fleet));
  tournament.fleet = fleet.get();

  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  const auto on_progress = [&](const eval::RatingProgress& progress) {
    status_line.Show(
        absl::StrCat(Info(progress.variant).id, ": ", progress.games, " of ",
                     progress.games_wanted, " games", FleetText(fleet.get())),
        progress.games, progress.games_wanted);
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
    for (const eval::RatedPlayer& player : players) {
      const std::vector<eval::PlayerSpec>& members = player.given.players;
      table->variants[v].not_learned.push_back(
          members.size() == 1 ? NotLearnedBy(members[0], starts[v])
                              : NotLearnedByAny(members, starts[v]));
    }
  }
  TARA_RETURN_IF_ERROR(
      WriteReport(options.report, eval::ReportRatings(*table), console));
  for (const eval::VariantRatings& variant : table->variants) {
    for (size_t i = 0; i < variant.faults.size(); ++i) {
      if (variant.faults[i] == 0) continue;
      console.err << "tara: " << table->players[i] << " forfeited "
                  << variant.faults[i] << " games of "
                  << Info(variant.variant).id << ", which count as lost\n";
    }
  }
  return EndOf(stop, console);
}

struct PuzzlesOptions {
  GameFlags game;
  std::string player = "best:sims=16";
  bool untrained = false;
  int games = 2000;   // a variant, at most
  int puzzles = 100;  // a variant, at most
  int64_t node_limit = 20000;
  uint64_t seed = 1;
};

absl::StatusOr<int> RunPuzzles(const PuzzlesOptions& options,
                               Console& console) {
  TARA_ASSIGN_OR_RETURN(const auto starts, StartsOf(options.game));
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

void RegisterArena(Command& root) {
  const auto [command, options] = root.AddCommand(
      "arena", "play a match of two players: score, interval, Elo", RunArena);
  AddGameFlags(command, &options->game, kVariantOrAllHelp);
  command.Add({
      {"A", &options->player_a, "player or team A", kRequired},
      {"B", &options->player_b, "player or team B", kRequired},
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
       "alpha=0.05, beta=0.05 (error rates)",
       Default("none")},
  });
  AddMatchFlags(command, options);
  command.SetNotes(absl::StrCat(
      MatchNotes(),
      "\n\n"
      "In variants for pairs, A and B may be teams of two players, SPEC+SPEC. "
      "Each opening is then played with the partners in either order.\n",
      "\n"
      "Ctrl-C ends the match with a report of the finished games."));
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

void RegisterCrossPlay(Command& root) {
  const auto [command, options] = root.AddCommand(
      "crossplay", "compare two players as partners, in variants for pairs",
      RunCrossPlay);
  AddGameFlags(command, &options->game,
               "variant for pairs, by its identifier in `tara variants`, or "
               "'all' of them");
  command.Add({
      {"A", &options->player_a, "first partner", kRequired},
      {"B", &options->player_b, "second partner", kRequired},
      {"C", &options->player_c,
       "their opponents, a player or a team; if omitted, A with A and B with "
       "B"},
      {"--games N", &options->games, 1, 10000000,
       "games of A with B against each opponent, rounded to a multiple of "
       "four; A with A and B with B play the same openings"},
  });
  AddMatchFlags(command, options);
  command.SetNotes(absl::StrCat(
      "A with A, B with B, and A with B in either order play each "
      "opening, from both sides. The score of A with B minus the "
      "mean of the other two is the loss caused by different "
      "habits. docs/explanation/statistics.md has the formulas.\n\n",
      MatchNotes()));
  command.SetExamples(
      {"crossplay --variant four_treasures_doubles mcts:sims=100 alphabeta",
       "crossplay --variant all net:runs/a,sims=100 net:runs/b,sims=100 mcts"});
}

void RegisterRate(Command& root) {
  const auto [command, options] = root.AddCommand(
      "rate", "rate checkpoints and players: Elo per variant and overall",
      RunRate);
  command.Add({
      {"RUN", &options->players,
       "folder of a run, checkpoint, or player spec; repeatable", kRequired},
      UntrainedOption(&options->untrained),
      {"--checkpoints WHICH", &options->checkpoints,
       "checkpoints of runs: all, every:K (and the newest), or generations "
       "such as 0,10,20"},
      {"--sims N", &options->simulations, 0, 1000000,
       "simulations per action of checkpoints; 0 plays the policy"},
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
      FleetOption(&options->fleet),
  });
  AddGameFlags(command, &options->game, kVariantOrLearnedHelp,
               /*required=*/false);
  AddReportFlags(command, &options->report);
  command.SetNotes(absl::StrCat(
      "The most informative pairs of players play first. Games are kept in the "
      "store, so a further checkpoint plays only the missing games. Games of "
      "different number types of a network (precision) are kept apart.\n\n"
      "Players:\n",
      eval::PlayerSpecHelp()));
  command.SetExamples(
      {"rate runs/all --variant all --checkpoints every:5 --html ratings.html",
       "rate runs/a runs/b greedy --variant four_treasures --games 100",
       "rate --variant high_kings_l1 random greedy mcts:sims=100 "
       "--format=json"});
}

void RegisterPuzzles(Command& root) {
  const auto [command, options] = root.AddCommand(
      "puzzles", "find endgames in which one action alone keeps the win",
      RunPuzzles);
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
