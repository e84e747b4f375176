#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tara/base/atomic_file.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/cli/match_flags.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/cross_play.h"
#include "tara/eval/players/team.h"
#include "tara/fleet/fleet.h"

namespace tara::cli {
namespace {

struct CrossPlayFlags {
  GameFlags game;
  MatchFlags match;
  std::string player_a;
  std::string player_b;
  std::string player_c;    // may be a team; empty: A and B are the opponents
  bool untrained = false;  // play what a network has not learned, too
  int games = 400;         // of A with B against each opponent
  std::string format = "text";
  std::string html;  // a file for the page; none if empty
  std::string fleet = "none";
};

// A match to be played: the letters of its teams, and the teams.
struct Pairing {
  std::string team;
  std::string opponents;
  const Contestant* a;
  const Contestant* b;
  double weight;
};

// The players: A, B, A with B, and C if there is one.
struct Players {
  Contestant a;
  Contestant b;
  Contestant both;
  std::vector<Contestant> c;  // one, or none

  std::vector<Pairing> Pairings() const {
    const absl::Span<const double> weights =
        c.empty() ? absl::MakeConstSpan(eval::kWeightsAgainstThemselves)
                  : absl::MakeConstSpan(eval::kWeightsAgainstOthers);
    if (c.empty()) {
      return {{"A+A", "B+B", &a, &b, weights[0]},
              {"A+B", "A+A", &both, &a, weights[1]},
              {"A+B", "B+B", &both, &b, weights[2]}};
    }
    const std::string others = c[0].team.seatings() > 1 ? "C" : "C+C";
    return {{"A+A", others, &a, &c[0], weights[0]},
            {"B+B", others, &b, &c[0], weights[1]},
            {"A+B", others, &both, &c[0], weights[2]}};
  }
};

// Returns the single player of a spec.
absl::StatusOr<Contestant> MakePartner(const MatchTable& table,
                                       const std::string& text) {
  TARA_ASSIGN_OR_RETURN(Contestant contestant, table.ContestantOf(text));
  if (contestant.team.seatings() == 1) return contestant;
  return UsageError(
      absl::StrCat("'", text, "' is a team; expected a single player"));
}

absl::StatusOr<Players> MakePlayers(const CrossPlayFlags& options,
                                    const MatchTable& table) {
  Players players;
  TARA_ASSIGN_OR_RETURN(players.a, MakePartner(table, options.player_a));
  TARA_ASSIGN_OR_RETURN(players.b, MakePartner(table, options.player_b));
  const std::string& first = players.a.team.players[0].text;
  const std::string& second = players.b.team.players[0].text;
  if (first == second) {
    return UsageError(absl::StrCat("A and B are both '", first,
                                   "'; expected two different players"));
  }
  TARA_ASSIGN_OR_RETURN(players.both,
                        table.ContestantOf(eval::MakeTeam(
                            {players.a.given[0], players.b.given[0]})));
  if (options.player_c.empty()) return players;
  TARA_ASSIGN_OR_RETURN(players.c.emplace_back(),
                        table.ContestantOf(options.player_c));
  return players;
}

// Returns the variants to play: of all, those in pairs.
absl::StatusOr<std::vector<State>> VariantsForPairs(const GameFlags& flags) {
  TARA_ASSIGN_OR_RETURN(std::vector<State> starts, StartsOf(flags));
  if (starts.size() > 1) {
    std::erase_if(starts, [](const State& start) {
      return Info(start.variant).seats < 4;
    });
  }
  return starts;
}

// Measures the strength of two players as partners of each other, in one
// variant in pairs or in all of them. An interrupt (Ctrl-C) ends it with a
// report of the openings that are finished.
absl::StatusOr<int> RunCrossPlay(const CrossPlayFlags& options,
                                 Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        VariantsForPairs(options.game));
  TARA_RETURN_IF_ERROR(
      CheckHtmlFlag(options.html, {{"--store", options.match.store}}));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<fleet::Fleet> fleet,
                        ConnectFleet(options.fleet));
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<MatchTable> table,
      MatchTable::Create(options.match, eval::ArenaOptions(), fleet.get()));
  TARA_ASSIGN_OR_RETURN(const Players players, MakePlayers(options, *table));
  // Said before anything is played.
  for (const State& start : starts) {
    TARA_RETURN_IF_ERROR(
        AsUsageError(eval::CheckTeam(players.both.team, start.variant)));
  }
  std::vector<const Contestant*> all = {&players.both};
  if (!players.c.empty()) all.push_back(&players.c[0]);
  const std::vector<eval::PlayerSpec> specs = table->PlayersOf(all);
  TARA_RETURN_IF_ERROR(CheckLearned(specs, starts, options.untrained, console));
  const StopCheck stop = StopOnSignals();
  // The matches of each variant, one variant after another.
  const std::vector<Pairing> pairings = players.Pairings();
  std::vector<eval::ArenaResult> results(starts.size() * pairings.size());
  MatchStatus status(results.size(), fleet.get(), console);
  // Four games of A with B to an opening: either seating on either side.
  const auto openings = static_cast<int>((options.games + 3) / 4);
  TARA_RETURN_IF_ERROR(fleet::PlayAll(
      fleet.get(), results.size(), stop,
      [&](size_t i, const StopCheck& is_over) -> absl::Status {
        const State& start = starts[i / pairings.size()];
        const Pairing& pairing = pairings[i % pairings.size()];
        const std::string name =
            absl::StrCat(Info(start.variant).id, ", ", pairing.team,
                         " against ", pairing.opponents);
        TARA_ASSIGN_OR_RETURN(results[i],
                              table->Play(
                                  start, *pairing.a, *pairing.b,
                                  [&](const eval::ArenaProgress& progress) {
                                    status.Show(i, name, progress);
                                    return !is_over();
                                  },
                                  openings));
        return absl::OkStatus();
      }));
  status.Clear();
  Random random(options.match.seed);
  eval::CrossPlayReport report = {
      .players = {players.a.team.text, players.b.team.text},
      .studies = {},
      .worths = {},
      .time_control = options.match.time_control};
  if (!players.c.empty()) report.players.push_back(players.c[0].team.text);
  for (size_t i = 0; i < starts.size(); ++i) {
    eval::CrossPlayStudy study = {
        .variant = starts[i].variant,
        .matches = {},
        .even_score = players.c.empty() ? 0.5 : 0,
        .not_learned = NotLearnedByAny(specs, starts[i])};
    for (size_t k = 0; k < pairings.size(); ++k) {
      study.matches.push_back(
          {.team = pairings[k].team,
           .opponents = pairings[k].opponents,
           .result = std::move(results[i * pairings.size() + k]),
           .weight = pairings[k].weight});
    }
    const eval::PartnershipWorth worth = eval::EstimateWorth(study, random);
    if (worth.openings == 0) continue;  // stopped before the first one's end
    report.studies.push_back(std::move(study));
    report.worths.push_back(worth);
  }
  console.out << (options.format == "json" ? eval::CrossPlayJson(report) + "\n"
                                           : eval::CrossPlayText(report));
  if (!options.html.empty()) {
    TARA_RETURN_IF_ERROR(
        WriteFileAtomically(options.html, eval::CrossPlayPage(report)));
  }
  if (!stop()) return kExitOk;
  console.err << "tara: interrupted; these are the games finished by then\n";
  return kExitInterrupted;
}

}  // namespace

void RegisterCrossPlay(Command& root) {
  Command& command = root.AddCommand(
      "crossplay", "compare two players as partners, in variants for pairs");
  CrossPlayFlags* const options = command.SetRun(RunCrossPlay);
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
      UntrainedOption(&options->untrained),
      FormatOption(&options->format),
      HtmlOption(&options->html),
      FleetOption(&options->fleet),
  });
  AddMatchFlags(command, &options->match);
  command.SetNotes(
      absl::StrCat("A with A, B with B, and A with B in either order play each "
                   "opening, from both\n"
                   "sides. The score of A with B minus the mean of the other "
                   "two is the loss caused\n"
                   "by different habits. docs/explanation/statistics.md has "
                   "the formulas.\n\n",
                   MatchNotes()));
  command.SetExamples(
      {"crossplay --variant four_treasures_doubles mcts:sims=100 alphabeta",
       "crossplay --variant all net:runs/a,sims=100 net:runs/b,sims=100 mcts"});
}

}  // namespace tara::cli
