#ifndef TARA_EVAL_ARENA_ARENA_RESULT_H_
#define TARA_EVAL_ARENA_ARENA_RESULT_H_

// Results of games of two players, and their reports.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/base/random.h"
#include "tara/core/variant.h"
#include "tara/eval/players/player.h"
#include "tara/eval/report/report.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Margin of a game lost on time or by a fault: like those of finished games.
inline constexpr int kForfeitMargin = 2;

enum class Forfeit : uint8_t { kNone, kByA, kByB };

// Result of a finished game of player A against player B.
struct ArenaGame {
  int pair = 0;    // which opening
  int match = -1;  // 2 m and 2 m + 1 have the same openings; -1: of no match
  bool a_is_red = false;
  // Points of A minus points of B, including the compensation.
  double margin = 0;
  int length = 0;                    // actions, opening included
  Forfeit forfeit = Forfeit::kNone;  // who lost on time or by a fault
  std::string adjudication = {};     // GameResult.adjudication
  TimeUse time_a = {};
  TimeUse time_b = {};
  std::string fault = {};  // Turn::forfeit; empty: a forfeit is on time
  uint64_t same_game = 0;  // record::SameGameKey
};

// Returns the result of a recorded game of A against B.
ArenaGame ArenaGameOf(const proto::GameRecord& record);

// Clock statistics of one player.
struct ClockResult {
  int forfeits = 0;  // games lost on time; among the losses, too
  TimeUse use;       // of all games
  // Mean time of a move; 0 without moves.
  absl::Duration MeanMove() const {
    return use.moves == 0 ? absl::ZeroDuration() : use.time / use.moves;
  }
};

// Result of player A against player B over pairs of matches, which have the
// same openings with exchanged sides. 95 % intervals, over the pairs.
struct MatchResult {
  int matches = 0;
  int wins = 0;  // of A, by the sum of points; so are the others
  int draws = 0;
  int losses = 0;
  Interval score = {0.5, 0, 1};  // 1 for a match won, 1/2 for a draw
  Interval lead = {};            // points of A minus points of B per match
};

// Result of player A against player B over pairs of games. The 95 % intervals
// treat dependent games as one unit (statistics.h has the methods): a
// pair, because its two games share an opening; a pair of matches, because its
// games depend on the score; with several seatings of a team, all pairs of one
// opening; and units with the same games up to symmetry.
struct ArenaResult {
  int games = 0;
  int distinct_games = 0;  // up to symmetry, by who of A and B was Red
  int wins = 0;            // of A, as are draws, losses, score and margin
  int draws = 0;
  int losses = 0;
  int games_as_red = 0;
  int wins_as_red = 0;
  int draws_as_red = 0;
  Interval score = {0.5, 0, 1};  // 1 for a win, 1/2 for a draw
  double score_as_red = 0.5;
  double score_as_blue = 0.5;
  // Points. The interval is infinite with fewer than two pairs.
  Interval margin = {};
  double mean_length = 0;
  MatchResult matches;  // with ArenaOptions::by_match
  ClockResult clock_a;  // with ArenaOptions::clocks
  ClockResult clock_b;
  int adjudicated = 0;  // games that were not played to their end
  // Games lost by faults (ArenaGame::fault), which are among the losses.
  int faults_a = 0;
  int faults_b = 0;
  int pairs_per_opening = 1;
  std::optional<Sprt> sprt = {};  // with ArenaOptions::sprt
  // All games by pair, with A as Red first.
  std::vector<ArenaGame> played;
};

// Returns the result of all games, ordered by pair: the two games of a `pair`
// are adjacent, and so are the pairs of a match. Also serves for totals over
// several results. `pairs_per_opening` adjacent pairs, of games or of matches,
// share their openings. REQUIRES: this order; equally many games as Red and as
// Blue in each pair; whole openings.
ArenaResult SummarizeGames(absl::Span<const ArenaGame> games,
                           int pairs_per_opening = 1);

// Returns a key that is equal for lists of games that are the same game by
// game, up to symmetry (record::SameGameKey); 0 if unknown.
uint64_t SameGamesKey(absl::Span<const ArenaGame> games);

// Returns the half points of A, 0 to 4, of a pair of games or of matches.
// REQUIRES: `games` are all games of one pair.
int HalfPointsOfPair(absl::Span<const ArenaGame> games);

// A result with its variant and players.
struct ArenaReportRow {
  Variant variant = Variant::kSacredHillL1;
  std::string player_a;  // specs, or names
  std::string player_b;
  ArenaResult result;
  // As ParseTimeControl reads it; empty: without clocks.
  std::string time_control = {};
  // "SPEC: RULES": those that a network among the players has not learned.
  std::string not_learned = {};
};

// Returns who is stronger, in one sentence: by the scores or, with sequential
// tests, by these. REQUIRES: the same players in all rows.
std::string ArenaVerdict(absl::Span<const ArenaReportRow> rows);

// Returns the object of one row in the JSON of ReportArena.
nlohmann::ordered_json ArenaRowJson(const ArenaReportRow& row);

// Returns a report: rules that networks have not learned; the verdict if the
// rows have the same players; tables of matches if any were played, of games,
// of clocks, of faults and of sequential tests. Several results of the same two
// players have a total. The page REQUIRES the same players in all rows.
//
// Its JSON is a list of objects, one per row, with the fields of ArenaResult
// (without the single games) by name; infinite numbers are null. Fields that
// are present only if they apply: `by_match` (the fields of MatchResult),
// `clock` (the fields of ClockResults), `forfeits` (the number and kind of
// faults per player), `sprt` (the sequential test: its options, `pairs` by half
// points, `llr` with its bounds, and `decision`: "H0", "H1" or "undecided"),
// and `not_learned` (rules that a network has not learned). With a sequential
// test `intervals` is "naive, of a sequential test", which describes the
// intervals of score, Elo and margin.
Report ReportArena(absl::Span<const ArenaReportRow> rows);

// Partner cross-play in variants for pairs: the strength of two different
// players as partners, compared with that of each as its own partner, with whom
// it may share conventions. Source: Hu, Lerer, Peysakhovich and Foerster 2020,
// "'Other-Play' for zero-shot coordination" (ICML).

// One match of a study, whose matches share their openings.
struct CrossPlayMatch {
  std::string team;       // "A+B"
  std::string opponents;  // "C"
  ArenaResult result;
  // Weight of its score, Elo and margin in the worth of the partnership.
  double weight = 0;
};

struct CrossPlayStudy {
  Variant variant = Variant::kSacredHillDoublesL1;
  std::vector<CrossPlayMatch> matches;
  // The weighted sum of the scores without conventions; of Elo, margins: 0.
  double even_score = 0;
  // See ArenaReportRow.
  std::string not_learned = {};
};

// The strength of A and B as partners minus the mean strength of each with
// itself, with 95 % intervals over openings. Negative values show that
// conventions are missing between A and B.
struct PartnershipWorth {
  int openings = 0;  // that all matches have, different ones
  Interval score;    // share of a game
  Interval margin;   // points per game
  // Strengths are additive on this scale, not on that of scores, where A may be
  // much stronger than B. Scores s = (points + 1/2) / (games + 1) keep it
  // finite. The interval is a bootstrap over openings.
  Interval elo;
};

// The weights of the matches "A+A", "B+B" and "A+B" against C:
//   worth = AB - (AA + BB) / 2.
inline constexpr double kWeightsAgainstOthers[] = {-0.5, -0.5, 1};

// The weights of "A+A" against "B+B", and of "A+B" against "A+A" and against
// "B+B", without C. Even scores are 1/2.
//
// worth = (AB against AA + AB against BB) / 2.
inline constexpr double kWeightsAgainstThemselves[] = {0, 0.5, 0.5};

// Returns the worth over the openings that all matches have completed, with
// infinite intervals for fewer than two. The bootstrap draws from `random`.
PartnershipWorth EstimateWorth(const CrossPlayStudy& study, Random& random);

// The content of a report.
struct CrossPlayReport {
  std::vector<std::string> players;  // the specs of A, B and, if any, C
  std::vector<CrossPlayStudy> studies;
  std::vector<PartnershipWorth> worths;  // by study
  std::string time_control = {};         // empty: without clocks
};

// Returns a report: the players A, B and C, the matches as in ReportArena, and
// a table of the worths. Its JSON is an object: `players` by letter, and
// `studies`, each with `variant`, `openings`, `worth` (`score`, `elo` and
// `margin`, each with `_low` and `_high`; null: unknown) and `matches`, which
// are rows of ReportArena with `weight`.
Report ReportCrossPlay(const CrossPlayReport& report);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_ARENA_RESULT_H_
