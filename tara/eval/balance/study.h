#ifndef TARA_EVAL_BALANCE_STUDY_H_
#define TARA_EVAL_BALANCE_STUDY_H_

// A study of balance: samples of games of players with themselves, kept in one
// game store. Each sample is an arena contest (tara/eval/arena/arena.h), played
// and resumed as those are. Measures are computed from the samples
// (measures.h).

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/study.pb.h"
#include "tara/base/stop.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/measures.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/report/report.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"

namespace tara::eval {

struct RuleChange {
  std::string text;  // "free_pass=true"
  RuleOptions options;
};

// A variant with its rules, and the changes of them that are compared.
struct StudiedRules {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions options = {};
  std::vector<RuleChange> changes = {};
};

struct Study {
  std::vector<StudiedRules> rules;
  std::vector<PlayerSpec> players;  // as given
  proto::StudySize size;
  uint64_t seed = 1;
  std::optional<int> opening_plies = {};  // none: 0, or 2 without a policy
  int drawn_plies = 16;
  double temperature = 1.4;
  double ladder_points = 4;
};

// Returns INVALID_ARGUMENT, naming the field, for numbers out of range and
// for measures that need other games than there are.
absl::Status CheckStudy(const Study& study);

// The parts of a study: the purpose of a sample.
namespace part {
inline constexpr absl::string_view kGames = "games";
inline constexpr absl::string_view kFirst = "first_actions";
inline constexpr absl::string_view kLadder = "ladder";
inline constexpr absl::string_view kFresh = "fresh";
inline constexpr absl::string_view kPie = "pie_rule";
inline constexpr absl::string_view kOption = "option";
inline constexpr absl::string_view kRestricted = "restricted";
inline constexpr absl::string_view kDoubling = "doubling";
}  // namespace part

// A compensation as the ladder finds it.
struct Compensation {
  LadderFit fit;   // of all games of the ladder
  int halves = 0;  // the step nearest to even in one half of them
};

// Games of one purpose.
struct Sample {
  absl::string_view part;
  Variant variant = Variant::kSacredHillL1;
  RuleOptions rules = {};
  std::string player = {};  // as given
  std::string spec = {};    // with simulations and number type
  int simulations = 0;      // 0: the player's own
  std::string detail = {};  // the change, or the kind of action not used
  int wanted = 0;           // games
  // In the order of their places, up to the first one that is missing.
  std::vector<GameFacts> games = {};
  std::string not_learned = {};  // of these rules, by the player
  // Of kGames, with a ladder.
  std::optional<Compensation> compensation = {};
};

// Returns the compensation by the ladder of these samples; the first one is
// without compensation; their games begin with the same `openings` openings of
// `plies` actions. None where a step has no games.
std::optional<Compensation> FindCompensation(
    absl::Span<const Sample* const> steps, int openings, int plies);

struct StudyResults {
  std::vector<Sample> samples;
  // The rules that a player has not learned, by player as given: left out, or
  // with `untrained` played all the same.
  std::map<std::string, std::set<std::string>> not_learned = {};
  bool untrained = false;
  // Serialized contests of the samples.
  std::set<std::string> contests = {};
};

struct StudyProgress {
  std::string sample;  // for people
  int64_t games_done = 0;
  int64_t games = 0;  // at most
};

struct StudyContext {
  record::GameStore* store = nullptr;
  fleet::Fleet* fleet = nullptr;  // or null
  int threads = 1;
  StopCheck stop = {};
  // The rules that a player has not learned; empty: none.
  std::function<std::string(const PlayerSpec&, const State&)> not_learned = {};
  bool untrained = false;  // play what has not been learned, too
  std::function<void(const StudyProgress&)> on_progress = {};
};

// Games of a study, at most.
struct StudyCost {
  int64_t games = 0;
  double seconds = 0;  // 0: not estimated
};

// Returns the cost of a study that starts from nothing. With `estimate`, it
// plays a few games of each variant and player, kept nowhere, and scales the
// time that they take by simulations. Errors of the players.
absl::StatusOr<StudyCost> CostOf(const Study& study,
                                 const StudyContext& context, bool estimate);

// Plays the games that the store lacks and returns all of the study's. Each
// game is kept when it ends: the same call resumes. Stopped, it returns the
// samples so far. Errors of the players and of the store.
// REQUIRES: CheckStudy accepts the study.
absl::StatusOr<StudyResults> RunStudy(const Study& study,
                                      const StudyContext& context);

// The conclusions for a variant: a few sentences, each by a rule and with the
// figures that it rests on. docs/explanation/statistics.md states the rules.
struct Verdict {
  Variant variant = Variant::kSacredHillL1;
  std::vector<std::string> sentences = {};
};

// A report of a study: verdicts, and a table for each measure that was taken.
struct BalanceReport {
  std::vector<Verdict> verdicts;
  std::vector<ReportSection> sections;
  nlohmann::ordered_json tables;   // the same and what they leave out, by name
  std::vector<std::string> notes;  // on openings, and on what was left out
};

BalanceReport ReportOf(const Study& study, const StudyResults& results);

std::string BalanceReportJson(const BalanceReport& report);
std::string BalancePage(const BalanceReport& report);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_STUDY_H_
