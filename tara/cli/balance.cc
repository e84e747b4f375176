#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/study.pb.h"
#include "tara/base/files.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/study.h"
#include "tara/eval/players/player_spec.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"
#include "tara/train/config/config.h"

namespace tara::cli {
namespace {

constexpr int kMaxGames = 10000000;
// Without --study, each step of the ladder has 1 / this of --games.
constexpr int kLadderShare = 4;

struct BalanceFlags {
  std::string study;  // a file; empty: the flags describe the study
  std::string size;   // of the file; empty: the first
  GameFlags game;
  std::vector<std::string> players;
  bool untrained = false;             // what a network has not learned, too
  std::string simulations;            // "50,200"; each of the players with each
  std::vector<std::string> what_ifs;  // each "name=value[,name=value]"
  bool fair = false;
  bool restricted = false;
  std::optional<int> depth;  // simulations, at most
  std::optional<int> games;  // none: kGames
  std::optional<int> first_games;
  std::optional<int> opening_plies;
  std::optional<int> drawn_plies;
  std::optional<double> temperature;
  std::optional<uint64_t> seed;
  int threads = 0;  // all cores
  ReportFlags report;
  std::string store;  // a file that keeps the games; none if empty
  std::string fleet = "none";
};

constexpr int kGames = 200;
constexpr int kFirstGames = 16;

absl::StatusOr<proto::BalanceStudy> ReadStudy(const std::string& path) {
  TARA_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  proto::BalanceStudy study;
  TARA_RETURN_IF_ERROR(
      train::ParseText(text, path, "a study of balance", study));
  return study;
}

absl::StatusOr<proto::BalanceStudy> StudyOfFlags(const BalanceFlags& flags) {
  proto::BalanceStudy study;
  if (flags.game.variant.empty() || flags.players.empty()) {
    return UsageError(flags.game.variant.empty() ? "--variant" : "--player",
                      " is required without --study FILE");
  }
  study.add_variant(flags.game.variant);
  for (const std::string& text : flags.players) study.add_player(text);
  for (const std::string& text : flags.what_ifs) study.add_what_if(text);
  for (const std::string& text : flags.game.options) {
    study.add_rule_option(text);
  }
  proto::StudySize& size = *study.add_size();
  std::vector<int> budgets;
  if (flags.simulations.empty()) budgets.push_back(0);
  for (const absl::string_view number :
       absl::StrSplit(flags.simulations, ',', absl::SkipEmpty())) {
    if (!absl::SimpleAtoi(number, &budgets.emplace_back()) ||
        budgets.back() < 1) {
      return UsageError("--sims: '", number,
                        "' is not a number of simulations; "
                        "expected numbers such as 50,200,800");
    }
  }
  const int games = flags.games.value_or(kGames);
  for (const int simulations : budgets) {
    proto::StudyBudget& budget = *size.add_budget();
    budget.set_simulations(simulations);
    budget.set_games(games);
    budget.set_first_games(flags.first_games.value_or(kFirstGames));
    budget.set_option_games(games);
    if (flags.restricted) budget.set_restricted_games(games);
    if (!flags.fair) continue;
    budget.set_ladder_games((games + kLadderShare - 1) / kLadderShare);
    budget.set_fresh_games(games);
    budget.set_pie_games(games);
  }
  if (flags.depth.has_value()) {
    if (flags.simulations.empty()) {
      return UsageError(
          "--depth requires --sims, whose first number is its start");
    }
    size.set_depth_games(games);
    size.set_depth_simulations(*flags.depth);
  }
  return study;
}

absl::StatusOr<proto::BalanceStudy> ReadDescription(const BalanceFlags& flags) {
  if (flags.study.empty() && !flags.size.empty()) {
    return UsageError("--size requires --study");
  }
  if (!flags.study.empty() &&
      (!flags.game.variant.empty() || !flags.game.options.empty() ||
       !flags.players.empty() || !flags.simulations.empty() ||
       !flags.what_ifs.empty() || flags.fair || flags.restricted ||
       flags.depth.has_value() || flags.games.has_value() ||
       flags.first_games.has_value())) {
    return UsageError(
        flags.study,
        " describes the study; expected --study without --variant, --option, "
        "--player, --sims, --what-if, --fair, --restricted, --depth, --games, "
        "--first-games");
  }
  TARA_ASSIGN_OR_RETURN(
      proto::BalanceStudy study,
      flags.study.empty() ? StudyOfFlags(flags) : ReadStudy(flags.study));
  if (flags.seed.has_value()) study.set_seed(*flags.seed);
  if (flags.opening_plies.has_value()) {
    study.set_opening_plies(*flags.opening_plies);
  }
  if (flags.drawn_plies.has_value()) study.set_drawn_plies(*flags.drawn_plies);
  if (flags.temperature.has_value()) study.set_temperature(*flags.temperature);
  return study;
}

absl::StatusOr<proto::StudySize> SizeOf(const proto::BalanceStudy& study,
                                        const std::string& name) {
  std::vector<std::string> names;
  for (const proto::StudySize& size : study.size()) {
    if (name.empty() || size.name() == name) return size;
    names.push_back(size.name());
  }
  return UsageError(
      "--size ", name, ": expected ",
      names.empty() ? "a size in the file" : absl::StrJoin(names, ", "));
}

// Returns the variants with their rules and the changes that apply to each.
absl::StatusOr<std::vector<eval::StudiedRules>> RulesOf(
    const proto::BalanceStudy& study) {
  GameFlags flags;
  flags.options.assign(study.rule_option().begin(), study.rule_option().end());
  std::vector<Variant> variants;
  for (const std::string& name : study.variant()) {
    flags.variant = name;
    TARA_ASSIGN_OR_RETURN(const std::vector<Variant> named, VariantsOf(flags));
    variants.insert(variants.end(), named.begin(), named.end());
  }
  const bool several = variants.size() > 1;
  std::set<Variant> seen;
  std::vector<eval::StudiedRules> rules;
  std::set<std::string> used;
  for (const Variant variant : variants) {
    if (!seen.insert(variant).second) {
      return UsageError("variant ", Info(variant).id,
                        " is given twice; expected it once");
    }
    eval::StudiedRules& of = rules.emplace_back();
    of.variant = variant;
    TARA_ASSIGN_OR_RETURN(of.options, RuleOptionsOf(flags, variant, several));
    for (const std::string& what_if : study.what_if()) {
      const std::vector<std::string> texts = absl::StrSplit(what_if, ',');
      // Over several variants, a change counts where all of its options apply.
      const bool applies =
          !several ||
          std::all_of(texts.begin(), texts.end(), [&](const std::string& text) {
            const RuleOptionInfo* const info = FindRuleOption(
                absl::StripAsciiWhitespace(text.substr(0, text.find('='))));
            return info == nullptr || info->applies_to(Info(variant));
          });
      if (!applies) continue;
      RuleOptions changed = of.options;
      TARA_RETURN_IF_ERROR(SetRuleOptions("--what-if", texts, variant,
                                          /*skip_others=*/false, changed));
      if (changed == of.options) continue;
      for (const eval::RuleChange& other : of.changes) {
        if (other.options != changed) continue;
        return UsageError("--what-if ", what_if,
                          ": these rules are given twice; "
                          "expected them once");
      }
      of.changes.push_back({what_if, changed});
      used.insert(what_if);
    }
  }
  if (variants.empty()) {
    return UsageError("variant is missing; expected one, or \"all\"");
  }
  for (const std::string& what_if : study.what_if()) {
    if (used.contains(what_if)) continue;
    return UsageError(
        "--what-if ", what_if,
        ": changes nothing in the variants that are played; expected one of "
        "their options with another value");
  }
  return rules;
}

absl::StatusOr<eval::Study> MakeStudy(const BalanceFlags& flags,
                                      const proto::BalanceStudy& description) {
  eval::Study study;
  TARA_ASSIGN_OR_RETURN(study.size, SizeOf(description, flags.size));
  TARA_ASSIGN_OR_RETURN(study.rules, RulesOf(description));
  for (const std::string& text : description.player()) {
    TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec player,
                          AsUsageError(eval::ParsePlayerSpec(text)));
    if (player.search.ponder) {
      return UsageError("player '", text,
                        "' ponders, but has no opponent whose "
                        "time it could use; expected ponder=off");
    }
    for (const eval::PlayerSpec& other : study.players) {
      if (other.text != player.text) continue;
      return UsageError("player ", text, " is given twice; expected it once");
    }
    study.players.push_back(player);
  }
  study.seed = std::max<uint64_t>(1, description.seed());
  if (description.has_opening_plies()) {
    study.opening_plies = description.opening_plies();
  }
  if (description.has_drawn_plies()) {
    study.drawn_plies = description.drawn_plies();
  }
  if (description.has_temperature()) {
    study.temperature = description.temperature();
  }
  if (description.has_ladder_points()) {
    study.ladder_points = description.ladder_points();
  }
  const absl::Status checked = eval::CheckStudy(study);
  if (checked.ok()) return study;
  return UsageError(flags.study.empty()
                        ? std::string(checked.message())
                        : absl::StrCat(flags.study, ": ", checked.message()));
}

// Rejects rules that networks have not learned. A study in a file only requires
// the variants themselves: other rules are left out, and the report lists them.
absl::Status CheckRulesLearned(const BalanceFlags& flags,
                               const eval::Study& study, Console& console) {
  std::vector<State> starts;
  for (const eval::StudiedRules& rules : study.rules) {
    starts.push_back(InitialState(rules.variant, rules.options));
    if (!flags.study.empty()) continue;
    for (const eval::RuleChange& change : rules.changes) {
      starts.push_back(InitialState(rules.variant, change.options));
    }
    if (!flags.fair) continue;
    for (const int halves : {1, -1}) {
      RuleOptions tried = rules.options;
      tried.compensation_halves = static_cast<int8_t>(halves);
      starts.push_back(InitialState(rules.variant, tried));
    }
    RuleOptions pie = rules.options;
    pie.pie_rule = Info(rules.variant).seats == 2;
    starts.push_back(InitialState(rules.variant, pie));
  }
  return CheckLearned(study.players, starts, flags.untrained, console);
}

absl::Status TellOfOthers(const eval::StudyResults& results,
                          record::GameStore& store, const std::string& path,
                          Console& console) {
  TARA_ASSIGN_OR_RETURN(const auto contests, store.Contests());
  std::set<std::string> others;
  for (const proto::Contest& contest : contests) {
    if (results.contests.contains(contest.SerializeAsString())) continue;
    others.insert(
        absl::StartsWith(contest.conditions(), "study ")
            ? "a study by an earlier version"
            : absl::StrCat(contest.player_a(), " with ", contest.conditions()));
  }
  if (others.empty()) return absl::OkStatus();
  console.err << "tara: " << path << " also has games of "
              << Shown(*others.begin(), 200)
              << (others.size() > 1 ? " and others" : "")
              << ", which are kept and do not count\n";
  return absl::OkStatus();
}

std::string TextOf(const eval::BalanceReport& report) {
  std::string text;
  for (const eval::Verdict& verdict : report.verdicts) {
    absl::StrAppend(&text, Info(verdict.variant).name, "\n");
    for (const std::string& sentence : verdict.sentences) {
      absl::StrAppend(&text, "- ", Wrap(sentence, 2), "\n");
    }
    text += "\n";
  }
  absl::StrAppend(&text, eval::SectionsText(report.sections), "\n");
  for (const std::string& line : report.notes) {
    absl::StrAppend(&text, Wrap(line, 0), "\n");
  }
  return text;
}

absl::StatusOr<int> RunBalance(const BalanceFlags& flags, Console& console) {
  TARA_ASSIGN_OR_RETURN(const auto description, ReadDescription(flags));
  TARA_ASSIGN_OR_RETURN(const eval::Study study, MakeStudy(flags, description));
  TARA_RETURN_IF_ERROR(CheckRulesLearned(flags, study, console));
  TARA_RETURN_IF_ERROR(
      CheckOutput("--html", flags.report.html,
                  {{"--store", flags.store}, {"--study", flags.study}}));
  const bool has_store = !flags.store.empty();
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<record::GameStore> store,
      record::OpenGameStore(has_store ? flags.store : ":memory:",
                            record::StoreMode::kExclusive));
  TARA_RETURN_IF_ERROR(store->CheckForContests());
  TARA_ASSIGN_OR_RETURN(const auto fleet, ConnectFleet(flags.fleet));
  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  eval::StudyContext context = {.store = store.get(),
                                .fleet = fleet.get(),
                                .threads = ResolveThreads(flags.threads),
                                .stop = stop,
                                .not_learned = NotLearnedBy,
                                .untrained = flags.untrained,
                                .on_progress = {}};
  TARA_ASSIGN_OR_RETURN(const int64_t most, eval::MostGamesOf(study, context));
  console.err << "tara: at most " << most << " games"
              << (has_store ? "; those in the store are not played again" : "")
              << "\n";
  context.on_progress = [&](const eval::StudyProgress& progress) {
    status_line.Show(
        absl::StrCat(progress.sample, ": ", progress.games_done, " of at most ",
                     progress.games, " games", FleetText(fleet.get())),
        progress.games_done, progress.games, "games");
  };
  const absl::StatusOr<eval::StudyResults> results =
      eval::RunStudy(study, context);
  status_line.Clear();
  TARA_RETURN_IF_ERROR(results.status());
  TARA_RETURN_IF_ERROR(TellOfOthers(*results, *store, flags.store, console));
  const eval::BalanceReport report = eval::ReportOf(study, *results);
  TARA_RETURN_IF_ERROR(
      WriteReport(flags.report,
                  {.text = TextOf(report),
                   .json = eval::BalanceReportJson(report),
                   .page = [&] { return eval::BalancePage(report); }},
                  console));
  const int status = EndOf(stop, console);
  if (status != kExitOk && has_store) {
    console.err << "tara: the same command resumes from " << flags.store
                << "\n";
  }
  return status;
}

}  // namespace

void RegisterBalance(Command& root) {
  const auto [command, flags] =
      root.AddCommand("balance",
                      "study how fair variants are, by games "
                      "of a player against itself",
                      RunBalance);
  command.Add({
      {"--study FILE", &flags->study,
       "description of a study, such as configs/studies/balance.textproto, in "
       "place of --variant, --player and other flags",
       Default("none")},
      {"--size NAME", &flags->size, "size in that file", Default("its first")},
  });
  AddGameFlags(command, &flags->game, kVariantOrAllHelp, /*required=*/false);
  command.Add({
      {"--player SPEC", &flags->players,
       "player for self-play; repeat to compare players", Default("none")},
      UntrainedOption(&flags->untrained),
      {"--sims N,N,...", &flags->simulations,
       "simulations of each player, to compare balance across strengths",
       Default("the players' own")},
      {"--what-if NAME=VALUE", &flags->what_ifs,
       "changed rule option (or several, separated by commas) to compare with; "
       "repeat for further changes"},
      {"--fair", &flags->fair,
       "also find the compensation that makes the score even, in steps of half "
       "a point, and play the pie rule"},
      {"--restricted", &flags->restricted,
       "also measure the cost of not using captures, sacrifices, passes and "
       "links"},
      {"--depth N", &flags->depth, 2, 100000000,
       "also measure the Elo gained by each doubling of the simulations, from "
       "the first of --sims up to this number",
       Default("not measured")},
      {"--games N", &flags->games, 2, kMaxGames,
       "games per variant, set of rules, player and number of simulations",
       Default("200")},
      {"--first-games N", &flags->first_games, 0, 1000000,
       "further games per first action, up to symmetry; 0: none",
       Default("16")},
      {"--opening-plies N", &flags->opening_plies, 0, 100,
       "uniformly random actions that begin each game",
       Default("0; 2 for players without a policy")},
      {"--drawn-plies N", &flags->drawn_plies, 0, 1000,
       "further actions, drawn from the player's policy", Default("16")},
      {"--temperature T", &flags->temperature, 0.01, 100,
       "temperature of the drawn plies: policy^(1/T)", Default("1.4")},
      ThreadsOption(&flags->threads),
      {"--seed N", &flags->seed, 0, 0x1p63,
       "random seed; with equal precision of a network, reproducible on any "
       "number of threads",
       Default("1")},
      {"--store FILE", &flags->store,
       "game store, written as games end: the same command resumes",
       Default("none")},
      FleetOption(&flags->fleet),
  });
  AddReportFlags(command, &flags->report);
  command.SetNotes(
      absl::StrCat("The first side is Red. Scores count a draw as half a win. "
                   "Intervals are 95 % confidence intervals. "
                   "docs/how-to/study_balance.md explains the report.\n\n"
                   "Players:\n",
                   eval::PlayerSpecHelp()));
  command.SetExamples(
      {"balance --variant four_treasures --player mcts:sims=200",
       "balance --study configs/studies/balance.textproto --size sketch "
       "--store "
       "balance.db --html balance.html",
       "balance --variant high_kings_l1 --player mcts --sims 50,100,200 "
       "--depth 800",
       "balance --variant poisoned_chalice --player mcts:sims=200 --fair",
       "balance --variant stone_of_destiny --player mcts:sims=100 --what-if "
       "link_all_at_end=false"});
}

}  // namespace tara::cli
