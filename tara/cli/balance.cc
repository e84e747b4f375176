#include "tara/eval/balance/balance.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tara/base/atomic_file.h"
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/cli/match_flags.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance_driver.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/balance/balance_report.h"
#include "tara/eval/balance/fair_search.h"
#include "tara/eval/balance/fair_study.h"
#include "tara/eval/players/contest.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"

namespace tara::cli {
namespace {

constexpr int kMaxGames = 10000000;
constexpr int kFairGames = 400;

struct BalanceFlags {
  GameFlags game;
  std::vector<std::string> players;
  bool untrained = false;             // what a network has not learned, too
  std::string simulations;            // "50,200"; each of the players with each
  std::vector<std::string> what_ifs;  // each "name=value[,name=value]"
  bool fair = false;
  std::optional<int> fair_games;  // none: kFairGames
  int games = 200;                // per study; with a precision, at most
  std::optional<double> precision;
  int first_games = 16;
  int pie_games = 64;
  std::optional<int> opening_plies;  // none: 0, or kOpeningPlies
  int drawn_plies = 8;
  std::optional<double> temperature;  // none: 1, or chosen by a pilot
  int threads = 0;                    // all cores
  uint64_t seed = 1;
  std::string format = "text";
  std::string html;   // a file for the page; none if empty
  std::string store;  // a file that keeps the games; none if empty
  std::string fleet = "none";
};

int FairGamesOf(const BalanceFlags& options) {
  return options.fair_games.value_or(kFairGames);
}

// A study that `tara balance` is asked for.
struct WantedStudy {
  eval::BalanceStudyKey key;
  eval::PlayerSpec player;  // key.player
  // The study, by its place among all, with which this one is compared: the
  // same player with the rules without the change; -1: it is not a what-if.
  int compare_with = -1;
  eval::FairPlan fair = {};  // what else is played with --fair
  bool choose_openings = false;
};

// Random openings of players that have no policy to draw from.
constexpr int kOpeningPlies = 2;

// Whether players of the kind have simulations, and a policy.
bool Searches(eval::PlayerKind kind) {
  return kind == eval::PlayerKind::kMcts || kind == eval::PlayerKind::kNet;
}

absl::StatusOr<eval::PlayerSpec> ParsePlayer(const std::string& text) {
  return AsUsageError(eval::ParsePlayerSpec(text));
}

// Returns the players, each with each of the numbers of simulations. Usage
// errors for what can be no player of a study.
absl::StatusOr<std::vector<eval::PlayerSpec>> PlayersOf(
    const BalanceFlags& options) {
  std::vector<eval::PlayerSpec> players;
  for (const std::string& text : options.players) {
    TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec given, ParsePlayer(text));
    if (given.search.ponder) {
      return UsageError(absl::StrCat("player '", text,
                                     "' ponders, but has no opponent whose "
                                     "time it could use; expected ponder=off"));
    }
    if (options.simulations.empty()) {
      players.push_back(given);
      continue;
    }
    if (!Searches(given.kind)) {
      return UsageError(absl::StrCat("--sims: player '", text,
                                     "' has no simulations; expected mcts, "
                                     "net or best players"));
    }
    for (const absl::string_view number :
         absl::StrSplit(options.simulations, ',')) {
      int simulations = 0;
      if (!absl::SimpleAtoi(number, &simulations) || simulations < 1) {
        return UsageError(absl::StrCat("--sims: '", number,
                                       "' is no number of simulations; "
                                       "expected numbers such as 50,200,800"));
      }
      TARA_ASSIGN_OR_RETURN(players.emplace_back(),
                            AsUsageError(eval::WithOption(
                                given, "sims", absl::StrCat(simulations))));
    }
  }
  return players;
}

// Returns the variant's options with a change; none where it does not apply to
// the variant or changes nothing.
absl::StatusOr<std::vector<RuleOptions>> Changed(const std::string& what_if,
                                                 Variant variant, bool all,
                                                 RuleOptions options) {
  const std::vector<std::string> texts = absl::StrSplit(what_if, ',');
  // Over all variants, a change counts where all of its options apply.
  for (const std::string& option : texts) {
    const RuleOptionInfo* const info = FindRuleOption(
        absl::StripAsciiWhitespace(option.substr(0, option.find('='))));
    if (all && info != nullptr && !info->applies_to(Info(variant))) {
      return std::vector<RuleOptions>();
    }
  }
  const RuleOptions before = options;
  TARA_RETURN_IF_ERROR(SetRuleOptions("--what-if", texts, variant,
                                      /*skip_others=*/false, options));
  if (options == before) return std::vector<RuleOptions>();
  return std::vector<RuleOptions>{options};
}

// The rules that each player plays by.
struct Rules {
  Variant variant;
  RuleOptions options;
  int changed_from;  // the place of the rules that these are a change of; or -1
};

absl::StatusOr<std::vector<Rules>> AllRules(const BalanceFlags& options) {
  TARA_ASSIGN_OR_RETURN(const std::vector<Variant> variants,
                        VariantsOf(options.game));
  const bool all = variants.size() > 1;
  std::vector<Rules> rules;
  std::set<std::string> used;
  for (const Variant variant : variants) {
    TARA_ASSIGN_OR_RETURN(const RuleOptions base,
                          RuleOptionsOf(options.game, variant, all));
    const auto place = static_cast<int>(rules.size());
    rules.push_back({variant, base, -1});
    for (const std::string& what_if : options.what_ifs) {
      TARA_ASSIGN_OR_RETURN(const std::vector<RuleOptions> changed,
                            Changed(what_if, variant, all, base));
      for (const RuleOptions& each : changed) {
        for (size_t i = place; i < rules.size(); ++i) {
          if (rules[i].options != each) continue;
          return UsageError(absl::StrCat("--what-if ", what_if,
                                         ": these rules are given twice; "
                                         "expected them once"));
        }
        rules.push_back({variant, each, place});
        used.insert(what_if);
      }
    }
  }
  for (const std::string& what_if : options.what_ifs) {
    if (used.contains(what_if)) continue;
    return UsageError(absl::StrCat(
        "--what-if ", what_if,
        ": changes nothing in the variants that are "
        "played; expected an option of theirs with another value"));
  }
  return rules;
}

// Returns the compensations next to 0 that the player's network has learned
// beside these rules; all for other players, and with --untrained.
eval::CompensationRange CompensationsOf(const BalanceFlags& options,
                                        const Rules& rules,
                                        const eval::PlayerSpec& player) {
  eval::CompensationRange range;
  if (options.untrained) return range;
  const auto learned_until = [&](int end) {
    const int step = end < 0 ? -1 : 1;
    RuleOptions tried = rules.options;
    for (int halves = step; halves != end + step; halves += step) {
      tried.compensation_halves = static_cast<int8_t>(halves);
      if (!NotLearnedBy(player, InitialState(rules.variant, tried)).empty()) {
        return halves - step;
      }
    }
    return end;
  };
  return {learned_until(range.low), learned_until(range.high)};
}

// What --fair plays for the rules, beside their study.
eval::FairPlan FairPlanOf(const BalanceFlags& options, const Rules& rules,
                          const eval::PlayerSpec& player) {
  if (!options.fair) return {.games = 0, .range = {0, 0}};
  const bool pie = Info(rules.variant).seats == 2;
  return {.games = FairGamesOf(options),
          .range = CompensationsOf(options, rules, player),
          .pie = pie,
          // Pairs of options, and no three.
          .pie_with_compensation = pie && rules.changed_from < 0};
}

// Refuses what --fair tries itself.
absl::Status CheckFair(const BalanceFlags& options) {
  if (!options.fair && options.fair_games.has_value()) {
    return UsageError("--fair-games requires --fair");
  }
  if (!options.fair) return absl::OkStatus();
  const auto check = [](absl::string_view flag, const std::string& text) {
    for (const absl::string_view option : absl::StrSplit(text, ',')) {
      const absl::string_view name =
          absl::StripAsciiWhitespace(option.substr(0, option.find('=')));
      if (name != "compensation" && name != "pie_rule") continue;
      return UsageError(absl::StrCat(
          "--fair tries compensation and pie_rule itself; expected it without ",
          flag, " ", option));
    }
    return absl::OkStatus();
  };
  for (const std::string& option : options.game.options) {
    TARA_RETURN_IF_ERROR(check("--option", option));
  }
  for (const std::string& what_if : options.what_ifs) {
    TARA_RETURN_IF_ERROR(check("--what-if", what_if));
  }
  return absl::OkStatus();
}

// Returns the studies of these players by these rules, players outermost, each
// of changed rules after that of the rules without the change. Networks have
// the number types of their games in the store. Errors as WithPrecision and
// PlayerIdentity.
absl::StatusOr<std::vector<WantedStudy>> WantedStudies(
    const BalanceFlags& options, const std::vector<eval::PlayerSpec>& players,
    const std::vector<Rules>& rules, record::GameStore& store) {
  std::vector<WantedStudy> studies;
  for (const eval::PlayerSpec& given : players) {
    TARA_ASSIGN_OR_RETURN(
        const eval::PlayerSpec player,
        eval::WithPrecision(given, eval::EarlierPrecisionsIn(store)));
    TARA_ASSIGN_OR_RETURN(const std::string identity,
                          eval::PlayerIdentity(player));
    const int opening_plies = options.opening_plies.value_or(
        Searches(player.kind) ? 0 : kOpeningPlies);
    for (const WantedStudy& other : studies) {
      if (other.key.identity != identity) continue;
      return UsageError(absl::StrCat("--player ", player.text, ": plays as ",
                                     other.key.player,
                                     " does; expected each player once"));
    }
    const auto first = static_cast<int>(studies.size());
    for (const Rules& each : rules) {
      studies.push_back(
          {.key = {.options = {.variant = each.variant,
                               .rule_options = each.options,
                               .seed = options.seed,
                               .opening_plies = opening_plies,
                               .drawn_plies = options.drawn_plies,
                               .temperature = options.temperature.value_or(1)},
                   .player = player.text,
                   .identity = identity},
           .player = player,
           .compare_with =
               each.changed_from < 0 ? -1 : first + each.changed_from,
           .fair = FairPlanOf(options, each, player),
           .choose_openings = options.fair &&
                              !options.temperature.has_value() &&
                              Searches(player.kind) && each.changed_from < 0});
    }
  }
  return studies;
}

// How far the command has come, over all studies. Thread-safe.
class Progress {
 public:
  // The fleet that plays, or null.
  Progress(const eval::BalancePlan& plan,
           const std::vector<WantedStudy>& studies, const fleet::Fleet* fleet,
           Console& console)
      : status_line_(console), fleet_(fleet) {
    for (const WantedStudy& study : studies) {
      int64_t most = eval::MostGames(plan, study.key.options) +
                     eval::MostFairGames(study.fair);
      if (study.choose_openings) most += eval::MostPilotGames();
      studies_.push_back(
          {.name = absl::StrCat(Info(study.key.options.variant).id, " ",
                                study.key.player),
           .to_come = most});
    }
  }

  // Begins a part of a study, of so many games at most.
  void BeginPart(size_t study, int most_games) {
    absl::MutexLock lock(&mutex_);
    Study& of = studies_[study];
    of.to_come -= most_games;
    of.left = most_games;
    of.done = -1;
    if (fleet_ != nullptr) return;
    // Another part, another speed.
    played_ = 0;
    start_ = SteadyTime();
  }
  void EndStudy(size_t study) {
    absl::MutexLock lock(&mutex_);
    studies_[study].to_come = studies_[study].left = 0;
  }

  void Show(size_t study, const eval::BalanceProgress& progress) {
    absl::MutexLock lock(&mutex_);
    Study& of = studies_[study];
    // Games of an earlier run cost no time.
    if (of.done < 0) of.done = progress.games_done;
    played_ += progress.games_done - of.done;
    of.done = progress.games_done;
    of.left = progress.games - progress.games_done;
    std::string text =
        fleet_ != nullptr ? absl::StrCat(played_, " games of the studies")
                          : absl::StrFormat("%s%s%s: %d of %d games", of.name,
                                            progress.stage.empty() ? "" : ", ",
                                            progress.stage, progress.games_done,
                                            progress.games);
    if (played_ > 0) {
      int64_t left = 0;
      for (const Study& each : studies_) left += each.to_come + each.left;
      const double rate =
          static_cast<double>(played_) /
          std::max(1e-9, absl::ToDoubleSeconds(SteadyTime() - start_));
      absl::StrAppendFormat(&text, ", %.1f games/s, %s left", rate,
                            absl::FormatDuration(absl::Ceil(
                                absl::Seconds(static_cast<double>(left) / rate),
                                absl::Seconds(1))));
    }
    if (fleet_ == nullptr && progress.score.mean > 0) {
      absl::StrAppendFormat(&text, ", first side %.1f %% +- %.1f",
                            100 * progress.score.mean,
                            50 * (progress.score.high - progress.score.low));
    }
    status_line_.Show(absl::StrCat(text, FleetText(fleet_)));
  }

  void Clear() { status_line_.Clear(); }

 private:
  struct Study {
    std::string name;
    int64_t to_come;   // games of parts that have not begun, at most
    int64_t left = 0;  // of the part that is played
    int done = -1;     // of it; -1: nobody has said
  };

  StatusLine status_line_;
  const fleet::Fleet* const fleet_;
  absl::Mutex mutex_;
  std::vector<Study> studies_ ABSL_GUARDED_BY(mutex_);
  int64_t played_ ABSL_GUARDED_BY(mutex_) = 0;  // of the part, or by the fleet
  absl::Time start_ ABSL_GUARDED_BY(mutex_) = SteadyTime();
};

eval::BalancePlan PlanOf(const BalanceFlags& options) {
  return {.games = options.games,
          .precision = options.precision,
          .first_games = options.first_games,
          .pie_games = options.pie_games};
}

// What has been played of a study.
struct PlayedStudy {
  eval::BalanceStudy study;  // without games: an interrupt came before them
  std::vector<eval::FairResult> fair = {};
  std::optional<eval::OpeningReportRow> openings = {};  // with --fair
  int forfeits = 0;
  std::string first_forfeit = {};
};

// Plays a study, whose openings are those of the key, or chosen and filled in
// there. Interrupted, it has what was played by then.
absl::StatusOr<PlayedStudy> PlayStudy(
    const BalanceFlags& options, WantedStudy& wanted, record::GameStore& store,
    fleet::Fleet* fleet, const StopCheck& stop,
    const std::function<void(int most_games)>& begin_part,
    const eval::BalanceProgressCallback& show) {
  const eval::PlayerSpec& player = wanted.player;
  const int threads = ResolveThreads(fleet == nullptr ? options.threads : 1);
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<eval::BalanceDriver> driver,
      eval::BalanceDriver::Create(
          eval::FactoryOf(player), std::max(1, threads / player.search.threads),
          eval::GamesAtATime(player, eval::kStudyGamesAThread)));
  driver->StopWhen(stop);
  if (fleet != nullptr) driver->PlayOn(*fleet, player, stop);
  PlayedStudy played;
  eval::BalanceGameOptions& game = wanted.key.options;
  std::optional<eval::OpeningChoice> chosen;
  if (wanted.choose_openings) {
    begin_part(eval::MostPilotGames());
    TARA_ASSIGN_OR_RETURN(
        chosen,
        eval::ChooseOpenings(std::max(options.games, FairGamesOf(options)),
                             wanted.key, *driver, store, show));
    if (!chosen.has_value()) return played;
    game.drawn_plies = chosen->drawn_plies;
    game.temperature = chosen->temperature;
  }
  const eval::BalancePlan plan = PlanOf(options);
  begin_part(eval::MostGames(plan, game));
  TARA_ASSIGN_OR_RETURN(
      played.study,
      eval::RunBalanceStudy(plan, wanted.key, *driver, store, show));
  if (eval::MostFairGames(wanted.fair) > 0 && !stop()) {
    begin_part(eval::MostFairGames(wanted.fair));
    TARA_ASSIGN_OR_RETURN(
        played.fair, eval::RunFairStudy(wanted.fair, wanted.key, played.study,
                                        *driver, store, show));
  }
  if (options.fair && wanted.compare_with < 0 && !stop()) {
    TARA_ASSIGN_OR_RETURN(
        const auto cost,
        eval::OpeningCost(played.study, driver->player(), show, stop));
    played.openings = {game, wanted.key.player, chosen, cost};
  }
  played.forfeits = driver->forfeits();
  played.first_forfeit = driver->first_forfeit();
  return played;
}

// Plays the studies, each that is compared with another one after that and with
// its openings; beside this all at once where a fleet plays, else in their
// order.
absl::StatusOr<std::vector<PlayedStudy>> PlayStudies(
    const BalanceFlags& options, std::vector<WantedStudy>& wanted,
    record::GameStore& store, fleet::Fleet* fleet, const StopCheck& stop,
    Console& console) {
  Progress progress(PlanOf(options), wanted, fleet, console);
  std::vector<PlayedStudy> played(wanted.size());
  const auto play = [&](size_t i, const StopCheck& is_over) -> absl::Status {
    TARA_ASSIGN_OR_RETURN(
        played[i],
        PlayStudy(
            options, wanted[i], store, fleet, is_over,
            [&](int most_games) { progress.BeginPart(i, most_games); },
            [&](const eval::BalanceProgress& done) {
              progress.Show(i, done);
              return !is_over();
            }));
    progress.EndStudy(i);
    return absl::OkStatus();
  };
  std::vector<std::vector<size_t>> families;  // the first, and its what-ifs
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].compare_with < 0) families.emplace_back();
    families.back().push_back(i);
  }
  TARA_RETURN_IF_ERROR(fleet::PlayAll(
      fleet, families.size(), stop,
      [&](size_t family, const StopCheck& is_over) -> absl::Status {
        const std::vector<size_t>& members = families[family];
        TARA_RETURN_IF_ERROR(play(members[0], is_over));
        const eval::BalanceGameOptions& first = wanted[members[0]].key.options;
        for (const size_t other : members) {
          wanted[other].key.options.drawn_plies = first.drawn_plies;
          wanted[other].key.options.temperature = first.temperature;
        }
        return fleet::PlayAll(fleet, members.size() - 1, is_over,
                              [&](size_t i, const StopCheck& others_are_over) {
                                return play(members[i + 1], others_are_over);
                              });
      }));
  progress.Clear();
  std::map<std::string, std::pair<int, std::string>> forfeits;  // by player
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (played[i].forfeits == 0) continue;
    auto& [count, first] = forfeits[wanted[i].key.player];
    if (count == 0) first = played[i].first_forfeit;
    count += played[i].forfeits;
  }
  for (const auto& [player, forfeit] : forfeits) {
    console.err << "tara: " << player << " gave " << forfeit.first
                << " games up, which were begun anew; the first: "
                << forfeit.second << "\n";
  }
  return played;
}

eval::BalanceReport ReportOf(const std::vector<WantedStudy>& wanted,
                             const std::vector<PlayedStudy>& played) {
  eval::BalanceReport report;
  const auto not_learned = [&](size_t i,
                               const eval::BalanceGameOptions& options) {
    return NotLearnedBy(wanted[i].player,
                        InitialState(options.variant, options.rule_options));
  };
  for (size_t i = 0; i < played.size(); ++i) {
    const eval::BalanceStudy& study = played[i].study;
    if (study.games.empty()) continue;
    const std::string of_study = not_learned(i, study.options);
    report.rows.push_back({.options = study.options,
                           .player = study.player,
                           .spec = wanted[i].player,
                           .statistics = eval::Summarize(study),
                           .not_learned = of_study});
    for (const eval::FairResult& fair : played[i].fair) {
      report.fair.push_back(eval::SummarizeFair(fair, study.player,
                                                not_learned(i, fair.options)));
    }
    if (played[i].openings.has_value()) {
      report.openings.push_back(*played[i].openings);
    }
    if (wanted[i].compare_with < 0) continue;
    const auto first = static_cast<size_t>(wanted[i].compare_with);
    const eval::BalanceStudy& from = played[first].study;
    const std::string of_from = not_learned(first, from.options);
    report.changes.push_back(
        {.from = from.options,
         .to = study.options,
         .player = study.player,
         .difference = eval::Compare(from, study),
         .not_learned = of_study.empty() ? of_from : of_study});
  }
  eval::CorrectForMany(report);
  return report;
}

// Lets players play themselves and says whether the variants are fair. An
// interrupt (Ctrl-C) ends it with a report of the games finished by then.
absl::StatusOr<int> RunBalance(const BalanceFlags& options, Console& console) {
  TARA_RETURN_IF_ERROR(CheckFair(options));
  TARA_ASSIGN_OR_RETURN(const std::vector<Rules> rules, AllRules(options));
  TARA_ASSIGN_OR_RETURN(const std::vector<eval::PlayerSpec> players,
                        PlayersOf(options));
  std::vector<State> starts;  // those of --what-if and --fair, too
  for (const Rules& each : rules) {
    starts.push_back(InitialState(each.variant, each.options));
    if (!options.fair) continue;
    // Some compensation, and the pie rule with it.
    RuleOptions tried = each.options;
    tried.compensation_halves = 1;
    starts.push_back(InitialState(each.variant, tried));
    tried.compensation_halves = -1;
    starts.push_back(InitialState(each.variant, tried));
    tried.compensation_halves = 0;
    tried.pie_rule = Info(each.variant).seats == 2;
    starts.push_back(InitialState(each.variant, tried));
  }
  std::vector<eval::PlayerSpec> given;  // without --sims, as refusals name them
  for (const std::string& text : options.players) {
    TARA_ASSIGN_OR_RETURN(given.emplace_back(), ParsePlayer(text));
  }
  TARA_RETURN_IF_ERROR(CheckLearned(given, starts, options.untrained, console));
  TARA_RETURN_IF_ERROR(
      CheckHtmlFlag(options.html, {{"--store", options.store}}));
  const bool has_store = !options.store.empty();
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<record::GameStore> store,
      record::OpenGameStore(has_store ? options.store : ":memory:",
                            record::StoreMode::kExclusive));
  TARA_RETURN_IF_ERROR(store->CheckForContests());
  TARA_ASSIGN_OR_RETURN(std::vector<WantedStudy> wanted,
                        WantedStudies(options, players, rules, *store));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<fleet::Fleet> fleet,
                        FleetOf(options.fleet));
  const StopCheck stop = StopOnSignals();
  const absl::StatusOr<std::vector<PlayedStudy>> played =
      PlayStudies(options, wanted, *store, fleet.get(), stop, console);
  if (absl::IsCancelled(played.status())) {
    console.err << "tara: " << played.status().message() << "\n";
    return kExitInterrupted;
  }
  TARA_RETURN_IF_ERROR(played.status());
  const eval::BalanceReport report = ReportOf(wanted, *played);
  console.out << (options.format == "json"
                      ? eval::BalanceReportJson(report) + "\n"
                      : eval::BalanceReportText(report));
  if (!options.html.empty()) {
    TARA_RETURN_IF_ERROR(
        WriteFileAtomically(options.html, eval::BalancePage(report)));
  }
  if (!stop()) return kExitOk;
  console.err << "tara: interrupted; these are the games finished by then\n";
  if (has_store) {
    console.err << "tara: the same command goes on from " << options.store
                << "\n";
  }
  return kExitInterrupted;
}

}  // namespace

void RegisterBalance(Command& root) {
  Command& command = root.AddCommand(
      "balance",
      "fairness of variants: self-play of strong players, statistics");
  BalanceFlags* const options = command.SetRun(RunBalance);
  AddGameFlags(command, &options->game, kVariantOrAllHelp);
  command.Add({
      {"--player SPEC", &options->players,
       "player for self-play; repeat to compare players", kRequired},
      UntrainedOption(&options->untrained),
      {"--sims N,N,...", &options->simulations,
       "simulations of each player, to compare balance across strengths",
       Default("the players' own")},
      {"--what-if NAME=VALUE", &options->what_ifs,
       "changed rule option (or several, separated by commas) to compare with; "
       "repeat for further changes"},
      {"--fair", &options->fair,
       "also find the compensation that makes the score even, in games whose "
       "players know it; confirm it, the pie rule and both in fresh games; the "
       "same with each --what-if"},
      {"--fair-games N", &options->fair_games, 1, kMaxGames,
       "with --fair: fresh games per remedy, and the maximum of those that "
       "search for a compensation",
       Default("400")},
      {"--games N", &options->games, 1, kMaxGames,
       "games per study (a variant with one set of rules and one player); the "
       "maximum with --precision"},
      {"--precision SHARE", &options->precision, 0.0001, 0.5,
       "end a study when the first side's score is known to within this share, "
       "e.g. 0.02 for 2 % on either side",
       Default("none")},
      {"--first-games N", &options->first_games, 0, 1000000,
       "further games per first action, up to symmetry; 0: none, and no pie "
       "rule"},
      {"--pie-games N", &options->pie_games, 0, 1000000,
       "further games that begin with the fairest of these"},
      {"--opening-plies N", &options->opening_plies, 0, 100,
       "uniformly random actions that begin each game",
       Default("0; 2 for players without a policy")},
      {"--drawn-plies N", &options->drawn_plies, 0, 1000,
       "further actions, drawn from the player's policy"},
      {"--temperature T", &options->temperature, 0.01, 100,
       "temperature of the drawn plies: policy^(1/T)",
       Default("1; with --fair the lowest that keeps 95 % of games different, "
               "with more drawn plies if needed")},
      ThreadsOption(&options->threads),
      SeedOption(&options->seed,
                 "random seed; with equal precision of a network, reproducible "
                 "on any number of threads"),
      FormatOption(&options->format),
      HtmlOption(&options->html),
      {"--store FILE", &options->store,
       "game store, written as games end: the same command resumes; a "
       "network's precision auto is that of its games",
       Default("none")},
      FleetOption(&options->fleet),
  });
  command.SetNotes(absl::StrCat(
      "The first side is Red. A draw is half a win in its score. 95 % "
      "are\nconfidence intervals; \"p even\" is the chance of a score so far "
      "from even\nif it were even, \"p of all\" the same for as many studies "
      "as there are\n(Holm), \"q\" by Benjamini and Hochberg. "
      "docs/explanation/statistics.md\ndefines the rest.\n\nPlayers:\n",
      eval::PlayerSpecHelp()));
  command.SetExamples(
      {"balance --variant four_treasures --player mcts:sims=200",
       "balance --variant all --player net:runs/first,sims=400 --games 1000 "
       "--store balance.db --html balance.html",
       "balance --variant high_kings_l1 --player mcts --sims 50,200,800",
       "balance --variant poisoned_chalice --player mcts:sims=200 --fair",
       "balance --variant stone_of_destiny --player mcts:sims=100 "
       "--what-if link_all_at_end=false --precision 0.02 --games 20000"});
}

}  // namespace tara::cli
