#include "tara/cli/match_flags.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/base/text.h"
#include "tara/cli/command_line.h"
#include "tara/cli/flags.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena_openings.h"
#include "tara/eval/players/contest.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/train/folder/run_provenance.h"

namespace tara::cli {
namespace {

// Returns the clocks of a time control, none for ""; a usage error for any
// other text.
absl::StatusOr<std::optional<eval::GameClocks>> ParseClocks(
    const std::string& text) {
  if (text.empty()) return std::nullopt;
  TARA_ASSIGN_OR_RETURN(mcts::TimeControl control,
                        AsUsageError(mcts::ParseTimeControl(text)));
  return eval::GameClocks{.control = std::move(control)};
}

// Returns the judge of "balanced:SPEC"; none for "random".
absl::StatusOr<std::optional<eval::PlayerSpec>> JudgeOf(
    const std::string& text) {
  if (text == "random") return std::nullopt;
  absl::string_view spec = text;
  if (!absl::ConsumePrefix(&spec, "balanced:")) {
    return UsageError(absl::StrCat("bad --openings '", text,
                                   "'; expected random or balanced:SPEC"));
  }
  return AsUsageError(eval::ParsePlayerSpec(spec));
}

// Parses "proof", "none" or "agreement:VALUE,TURNS".
absl::StatusOr<eval::AdjudicationOptions> ParseAdjudication(
    const std::string& text) {
  eval::AdjudicationOptions options;
  if (text == "proof") return options;
  if (text == "none") return eval::AdjudicationOptions{.proof = false};
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "agreement:")) {
    const std::vector<absl::string_view> parts = absl::StrSplit(rest, ',');
    if (parts.size() == 2 && ParseDecimal(parts[0], &options.agreed_value) &&
        absl::SimpleAtoi(parts[1], &options.agreed_turns) &&
        options.agreed_value > 0 && options.agreed_value <= 1 &&
        options.agreed_turns > 0) {
      return options;
    }
  }
  return UsageError(absl::StrCat(
      "bad --adjudicate '", Shown(text),
      "'; expected proof, none or agreement:VALUE,TURNS with a value up to 1, "
      "such as agreement:0.95,4"));
}

}  // namespace

Option OpeningPliesOption(std::optional<int>* plies, double least) {
  return {"--opening-plies N",
          plies,
          least,
          100,
          "random actions before each pair of games; each opening is played "
          "once from either side, and no two are mirror images",
          Default("2, or more if few openings of 2 are different")};
}

Option UntrainedOption(bool* untrained) {
  return {"--untrained", untrained,
          "allow networks to play variants and rule options that they have not "
          "learned; reports mark it"};
}

void AddMatchFlags(Command& command, MatchFlags* flags) {
  command.Add({
      OpeningPliesOption(&flags->opening_plies, 0),
      {"--openings HOW", &flags->openings,
       "openings: random, or balanced:SPEC, redrawn while that player's value "
       "for a side exceeds 0.2"},
      {"--adjudicate WHEN", &flags->adjudicate,
       "early end of games: proof (both players have proved the margin), none, "
       "or agreement:VALUE,TURNS (also proof): both players' values favour one "
       "side by at least VALUE for TURNS turns"},
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
  });
}

std::string MatchNotes() {
  return absl::StrCat(
      "Players:\n", eval::PlayerSpecHelp(),
      "\nReports name a network's number type (precision); games of "
      "different ones are\n"
      "kept apart.\n"
      "\nWith clocks, each thread plays one game at a time. A "
      "player whose time runs\n"
      "out, or an engine that cannot continue, loses by ",
      eval::kForfeitMargin,
      " points. The report has\n"
      "the number of such games, and the mean time per move.");
}

absl::StatusOr<std::unique_ptr<MatchTable>> MatchTable::Create(
    const MatchFlags& flags, const eval::ArenaOptions& arena,
    fleet::Fleet* fleet) {
  std::unique_ptr<MatchTable> table(new MatchTable(flags, arena, fleet));
  eval::ArenaOptions& options = table->arena_;
  options.opening_plies = flags.opening_plies;
  options.seed = flags.seed;
  TARA_ASSIGN_OR_RETURN(options.clocks, ParseClocks(flags.time_control));
  TARA_ASSIGN_OR_RETURN(table->judge_, JudgeOf(flags.openings));
  TARA_ASSIGN_OR_RETURN(options.adjudication,
                        ParseAdjudication(flags.adjudicate));
  if (!flags.store.empty()) {
    TARA_ASSIGN_OR_RETURN(
        table->store_,
        record::OpenGameStore(flags.store, record::StoreMode::kReadWrite));
    TARA_RETURN_IF_ERROR(table->store_->CheckForContests());
  }
  if (!table->judge_.has_value()) return table;
  TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec judge,
                        eval::WithPrecision(*table->judge_));
  TARA_ASSIGN_OR_RETURN(std::unique_ptr<eval::Player> player,
                        eval::NewPlayerFactory(judge)());
  options.opening_judge =
      eval::NewOpeningJudge(std::move(player), StopRequested);
  if (table->store_ != nullptr) {
    TARA_ASSIGN_OR_RETURN(table->openings_, eval::PlayerIdentity(judge));
  }
  return table;
}

absl::StatusOr<Contestant> MatchTable::ContestantOf(
    const std::string& spec) const {
  TARA_ASSIGN_OR_RETURN(const eval::TeamSpec team,
                        AsUsageError(eval::ParseTeamSpec(spec)));
  return ContestantOf(team);
}

absl::StatusOr<Contestant> MatchTable::ContestantOf(
    const eval::TeamSpec& team) const {
  for (const eval::PlayerSpec& player : team.players) {
    if (!player.search.ponder || arena_.clocks.has_value()) continue;
    return UsageError(absl::StrCat(
        "player '", team.text,
        "' ponders, which needs clocks; expected --time-control, or a player "
        "without ponder=on"));
  }
  Contestant contestant;
  contestant.given = team.players;
  TARA_ASSIGN_OR_RETURN(static_cast<eval::Contestant&>(contestant),
                        eval::MakeContestant(team, store_ != nullptr));
  return contestant;
}

std::vector<eval::PlayerSpec> MatchTable::PlayersOf(
    absl::Span<const Contestant* const> contestants) const {
  std::vector<eval::PlayerSpec> players;
  if (judge_.has_value()) players.push_back(*judge_);
  for (const Contestant* contestant : contestants) {
    players.insert(players.end(), contestant->given.begin(),
                   contestant->given.end());
  }
  return players;
}

absl::StatusOr<eval::ArenaResult> MatchTable::Play(
    const State& start, const Contestant& a, const Contestant& b,
    const eval::ArenaProgressCallback& on_progress, int openings) {
  for (const Contestant* contestant : {&a, &b}) {
    TARA_RETURN_IF_ERROR(
        AsUsageError(eval::CheckTeam(contestant->team, start.variant)));
  }
  const int threads_of_a_game = eval::ThreadsOfAGame(a.team, b.team);
  const std::vector<eval::PlayerSpec> players = PlayersOf({&a, &b});
  const bool with_person =
      std::any_of(players.begin(), players.end(), [](const auto& player) {
        return player.kind == eval::PlayerKind::kPerson;
      });
  const int threads = with_person ? 1  // nobody plays two games at a time
                      : flags_.threads > 0
                          ? flags_.threads
                          : std::max(1, ResolveThreads(0) / threads_of_a_game);
  eval::ArenaOptions arena = arena_;
  arena.variant = start.variant;
  arena.rule_options = start.options;
  arena.stop = StopRequested;
  eval::SetTeams(a.team, b.team, arena);
  if (openings > 0) {
    arena.games =
        openings * eval::GamesPerPair(arena) * eval::PairsPerOpening(arena);
  }
  TARA_RETURN_IF_ERROR(AsUsageError(eval::CheckArenaOptions(arena)));
  if (store_ != nullptr) {
    TARA_RETURN_IF_ERROR(eval::ResumeFromStore(
        *store_,
        eval::NewContest(
            eval::ArenaConditions(arena, openings_, flags_.time_control),
            a.identity, b.identity),
        arena));
  }
  if (fleet_ != nullptr) {
    return eval::PlayArenaOnFleet(arena, a.team, b.team, *fleet_, on_progress);
  }
  return eval::PlayArenaInParallel(arena, a.make, b.make, threads, on_progress);
}

void MatchStatus::Show(size_t match, absl::string_view name,
                       const eval::ArenaProgress& progress) {
  if (games_[match].exchange(progress.games) == 0) {
    stored_ += progress.games_done;
  }
  done_[match] = progress.games_done;
  const int done = std::accumulate(done_.begin(), done_.end(), 0);
  if (fleet_ != nullptr) {
    status_line_.Show(absl::StrCat(
        done, " of ", std::accumulate(games_.begin(), games_.end(), 0),
        " games", FleetText(fleet_)));
    return;
  }
  if (progress.games_done == 0) return;
  std::string text = absl::StrFormat("%s: %d of %d games, score %.1f %%", name,
                                     progress.games_done, progress.games,
                                     100 * progress.score);
  if (progress.llr.has_value()) {
    absl::StrAppendFormat(&text, ", LLR %+.2f", *progress.llr);
  } else if (done > stored_) {
    // For all matches, which have the same number of games.
    const auto left = static_cast<double>(done_.size()) * progress.games - done;
    absl::StrAppend(&text, ", about ",
                    absl::FormatDuration(absl::Trunc(
                        (SteadyTime() - begin_) * left / (done - stored_),
                        absl::Seconds(1))),
                    " left");
  }
  status_line_.Show(text);
}

namespace {

// Returns the file of a player's network; nullopt for other players, and if it
// is missing, which the loader reports.
std::optional<std::string> NetworkOf(const eval::PlayerSpec& player) {
  if (player.kind != eval::PlayerKind::kNet) return std::nullopt;
  const absl::StatusOr<std::string> file = eval::NetworkFileOf(player);
  if (!file.ok()) return std::nullopt;
  return *file;
}

// Returns the files of the players' networks, by the players' specs.
std::map<std::string, std::string> FindNetworkFiles(
    absl::Span<const eval::PlayerSpec> players) {
  std::map<std::string, std::string> files;
  for (const eval::PlayerSpec& player : players) {
    const std::optional<std::string> file = NetworkOf(player);
    if (file.has_value()) files[player.text] = *file;
  }
  return files;
}

std::string NotLearnedByFile(const std::string& file, const State& start) {
  const train::Learned learned = train::LearnedByModel(file);
  return learned.has_value() ? nn::NotLearned(*learned, start) : "";
}

}  // namespace

std::string DefaultPlayer(const State& start, Console& console) {
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

void AddJudgeFlags(Command& command, JudgeFlags* flags) {
  command.Add({
      {"--player SPEC", &flags->player, "player that judges: mcts, net or best",
       Default("best:sims=1000, or mcts if that has not learned the rules")},
      {"--sims N", Counted{&flags->simulations}, 1, 10000000,
       "simulations per position", Default("the player's own")},
      UntrainedOption(&flags->untrained),
  });
}

absl::StatusOr<eval::PlayerSpec> JudgeOf(JudgeFlags flags,
                                         absl::Span<const State> starts,
                                         Console& console) {
  constexpr int kDefaultSimulations = 1000;
  auto& [player, simulations, untrained] = flags;
  if (player.empty()) {
    player = DefaultPlayer(starts[0], console);
    if (simulations == 0) simulations = kDefaultSimulations;
  }
  TARA_ASSIGN_OR_RETURN(eval::PlayerSpec spec,
                        AsUsageError(eval::ParsePlayerSpec(player)));
  const bool searches = spec.kind == eval::PlayerKind::kMcts ||
                        (spec.kind == eval::PlayerKind::kNet &&
                         (!spec.policy_alone || simulations > 0));
  if (!searches) {
    return UsageError(absl::StrCat("--player: '", player,
                                   "' does not search; expected mcts, net or "
                                   "best, with simulations"));
  }
  if (simulations > 0) {
    TARA_ASSIGN_OR_RETURN(spec, AsUsageError(eval::WithOption(
                                    spec, "sims", absl::StrCat(simulations))));
  }
  if (spec.search.time > absl::ZeroDuration() || spec.search.ponder ||
      spec.search.threads > 1) {
    return UsageError(absl::StrCat(
        "--player: '", player,
        "' has a time, threads or ponder, so its values are not reproducible; "
        "expected sims=N, with --threads"));
  }
  if (spec.search.search.utility.kind != mcts::UtilityKind::kWinLoss) {
    return UsageError(absl::StrCat("--player: '", player,
                                   "' does not play only to win; expected "
                                   "utility=win"));
  }
  TARA_RETURN_IF_ERROR(CheckLearned({spec}, starts, untrained, console));
  return eval::WithPrecision(spec);
}

absl::Status CheckModelLearned(const std::string& name, const std::string& file,
                               const train::Learned& learned,
                               absl::Span<const State> starts, bool untrained,
                               Console& console) {
  if (!learned.has_value()) {
    // A damaged bundle: that is the loader's error.
    if (nn::IsBundlePath(file)) return absl::OkStatus();
    console.err << "tara: the variants that " << name
                << " has learned are unknown: it is neither a bundle nor in a "
                   "run's folder\n";
    return absl::OkStatus();
  }
  if (untrained) return absl::OkStatus();
  for (const State& start : starts) {
    const absl::Status status = nn::CheckNetworkLearned(name, *learned, start);
    if (status.ok()) continue;
    return UsageError(
        absl::StrCat(status.message(),
                     "; expected rules that it has learned, or --untrained"));
  }
  return absl::OkStatus();
}

absl::Status CheckLearned(absl::Span<const eval::PlayerSpec> players,
                          absl::Span<const State> starts, bool untrained,
                          Console& console) {
  for (const auto& [name, file] : FindNetworkFiles(players)) {
    TARA_RETURN_IF_ERROR(CheckModelLearned(
        name, file, train::LearnedByModel(file), starts, untrained, console));
  }
  return absl::OkStatus();
}

std::string NotLearnedBy(const eval::PlayerSpec& player, const State& start) {
  const std::optional<std::string> file = NetworkOf(player);
  return file.has_value() ? NotLearnedByFile(*file, start) : "";
}

std::string NotLearnedByAny(absl::Span<const eval::PlayerSpec> players,
                            const State& start) {
  std::string text;
  for (const auto& [name, file] : FindNetworkFiles(players)) {
    const std::string rules = NotLearnedByFile(file, start);
    if (rules.empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", name, ": ", rules);
  }
  return text;
}

absl::StatusOr<std::vector<State>> StartsOfLearned(
    const GameFlags& flags, absl::Span<const eval::PlayerSpec> players,
    bool untrained, Console& console) {
  GameFlags wanted = flags;
  if (flags.variant.empty()) wanted.variant = "all";
  TARA_ASSIGN_OR_RETURN(std::vector<State> starts, StartsOf(wanted));
  if (flags.variant.empty() && !untrained) {
    for (const auto& [name, file] : FindNetworkFiles(players)) {
      const train::Learned learned = train::LearnedByModel(file);
      if (!learned.has_value()) continue;
      std::erase_if(starts, [&](const State& start) {
        return std::none_of(learned->begin(), learned->end(),
                            [&](const nn::BundleVariant& each) {
                              return each.variant == start.variant;
                            });
      });
    }
  }
  if (starts.empty()) {
    return UsageError(
        "these networks have learned no variant in common; expected --variant "
        "and --untrained");
  }
  TARA_RETURN_IF_ERROR(CheckLearned(players, starts, untrained, console));
  return starts;
}

}  // namespace tara::cli
