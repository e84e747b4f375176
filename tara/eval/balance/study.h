#ifndef TARA_EVAL_BALANCE_STUDY_H_
#define TARA_EVAL_BALANCE_STUDY_H_

// A study of balance: samples of games of players with themselves, kept in one
// game store. Each sample is an arena contest (tara/eval/arena/arena.h). Of
// them measures are computed; games that are the same up to symmetry are one
// cluster for every interval.

#include <array>
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
#include "proto/game.pb.h"
#include "proto/study.pb.h"
#include "tara/base/threads.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/report/report.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"

namespace tara::eval {

// A side is ahead where its value is above this: an expected score of 55 %.
inline constexpr float kAhead = 0.1f;

// The course of a game with a winner by its player's own values.
struct GameDrama {
  // Changes of the side that is ahead; even positions are not a change.
  int lead_changes = 0;
  // The ply after which the winner stays ahead; at most the game's length.
  int decided_ply = 0;
  // The winner's lowest expected score, in [0, 1].
  double lowest_score = 0.5;
};

// The actions of a seat in a game.
struct SeatFacts {
  int actions = 0;
  int captures = 0;  // of ringforts
};

// What the measures of a study need of one finished game.
struct GameFacts {
  uint64_t place = 0;  // GameRecord.place
  int red_margin = 0;  // as scored
  int result = 0;      // 1 Red won, 0 a draw, -1 Blue won; with compensation
  int length = 0;
  int legal = 0;  // actions to choose from, over all plies
  Ending ending = Ending::kNone;
  std::array<int, kNumActionTypes> types = {};  // actions, by ActionType
  std::array<SeatFacts, 4> seats = {};
  int first_out = -1;  // in doubles: the seat that ended the game by being out
  std::optional<GameDrama> drama = {};
  std::vector<Action> actions = {};  // all
  uint64_t same_game = 0;            // record::SameGameKey

  // Red's points of a game: 1 won, 1/2 drawn, 0 lost.
  double score() const { return (1 + result) / 2.0; }
};

// Replays a game and returns its facts. Errors as record::Replay's, and
// INVALID_ARGUMENT for a game that was not played to its end.
absl::StatusOr<GameFacts> FactsOf(const proto::GameRecord& game);

// Scores within this of 1/2 are even.
inline constexpr double kEvenBand = 0.05;
// A doubling that gains less Elo ends the curve of the depth of skill.
inline constexpr double kMinGain = 20;

// Returns one cluster per different game.
std::vector<int> ClustersOf(absl::Span<const GameFacts> games);

template <typename Value>
std::vector<double> ValuesOf(absl::Span<const GameFacts> games, Value value) {
  std::vector<double> values;
  for (const GameFacts& game : games) {
    values.push_back(static_cast<double>(std::invoke(value, game)));
  }
  return values;
}

// Returns the mean of a value of games.
template <typename Value>
Interval MeanOf(absl::Span<const GameFacts> games, Value value) {
  return MeanInterval(ValuesOf(games, value), ClustersOf(games));
}

// Returns the share of games for which a condition holds.
template <typename Condition>
Interval ShareOf(absl::Span<const GameFacts> games, Condition condition) {
  if (games.empty()) return {0, 0, 1};
  return ScoreInterval(ValuesOf(games, condition), ClustersOf(games));
}

// Scores, shares and margins are the first side's (Red's).
struct Scores {
  int games = 0;
  int distinct = 0;      // up to symmetry
  double effective = 0;  // EffectiveCount: games that are repeated count less
  Interval score = {};
  Interval draws = {};
  Interval margin = {};  // as scored, without compensation
  double p_even = 1;     // EvenScoreTest

  bool enough() const { return effective >= kMinGamesForVerdict; }
};

Scores ScoresOf(absl::Span<const GameFacts> games);

// Returns the score of A over pairs of games; the same pairs count as one.
Interval ScoreOfA(absl::Span<const GameFacts> games);

// A compensation is found by games at even places, confirmed by the others.
std::vector<GameFacts> HalfOf(absl::Span<const GameFacts> games, int half);

// Returns the legal actions by class, in order of their first members: those
// that symmetries which leave the position as it is map onto each other.
std::vector<std::vector<Action>> ActionsByClass(const State& state);

// Returns the effective number of openings of `plies` actions: exp of the
// entropy of the lines, up to symmetry. If most lines were seen once, the games
// do not bound it: the high end is infinite.
Interval EffectiveOpenings(Variant variant, absl::Span<const GameFacts> games,
                           int plies);

// Returns the legal actions an action. REQUIRES: at least one game.
Interval BranchingOf(absl::Span<const GameFacts> games);

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

// Returns INVALID_ARGUMENT, naming the field, for what is out of range.
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

// Returns the compensation by the ladder of these samples, the first one
// without compensation, whose games begin with the same `openings` openings of
// `plies` actions. None where a step has no games.
std::optional<Compensation> FindCompensation(
    absl::Span<const Sample* const> steps, int openings, int plies);

struct StudyResults {
  std::vector<Sample> samples;
  // By player as given; left out, or with `untrained` played all the same.
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

// Returns the games, at most, of a study that starts from nothing.
absl::StatusOr<int64_t> MostGamesOf(const Study& study,
                                    const StudyContext& context);

// Plays the games that the store lacks, each of which is kept when it ends, and
// returns all of the study's; stopped, those so far. Errors of the players and
// of the store. REQUIRES: CheckStudy accepts the study.
absl::StatusOr<StudyResults> RunStudy(const Study& study,
                                      const StudyContext& context);

// The conclusions for a variant, with the figures that they rest on, by the
// rules of docs/explanation/statistics.md.
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
