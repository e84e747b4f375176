#ifndef TARA_EVAL_RATING_RATING_TOURNAMENT_H_
#define TARA_EVAL_RATING_RATING_TOURNAMENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/team.h"
#include "tara/eval/rating/ratings.h"
#include "tara/eval/report/report_page.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"

namespace tara::eval {

// A pair of games worth playing.
struct PairChoice {
  int player = 0;
  int other = 0;
  // By how much the pair is expected to lower the mean variance of the
  // differences of two players, in Elo^2.
  double gain = 0;
};

// Returns all pairs of players by what a pair of games of them, once with
// either beginning, is expected to tell: the most first, ties by index. A game
// informs about d by  ((P_win + P_loss) - (P_win - P_loss)^2) / 4;  the sum I
// of both lowers the trace of the covariance C of the ratings about their mean
// by
//   I |C u|^2 / (1 + I u' C u)  (Sherman and Morrison 1950)
// with u 1 for the one and -1 for the other; the mean variance of a difference
// is 2 / (players - 1) of that trace (A-optimality; what the games tell of h
// and nu is left out).
std::vector<PairChoice> RankPairs(const Ratings& ratings);

// Returns the pairs of games to play next, `count` of them, some perhaps more
// than once: each is the one that tells the most once those before are played
// (with the covariance that they are expected to leave).
std::vector<PairChoice> ChoosePairs(const Ratings& ratings, int count);

// Ratings of many players in many variants, by games that are chosen for what
// they tell, and kept.

struct RatedPlayer {
  std::string name;      // for people; no two alike
  TeamSpec team;         // with number types (WithPrecision)
  std::string identity;  // for the store (PlayerIdentity); no two alike
  PlayerFactory make;
  std::optional<TrainingPoint> point = {};  // of a run's checkpoints
};

struct RatingTournamentOptions {
  // Games to a player and variant, on average, with those in the store: a
  // player that is added adds half as many.
  int games_per_player = 40;
  int threads = 1;
  // Where there is one, it plays all games: all variants' at the same time.
  fleet::Fleet* fleet = nullptr;
  // Of each variant, with its rule options; `games` is of no account.
  std::vector<ArenaOptions> arenas = {};
  // Ratings that are given; none: those of a variant have a mean of 0.
  std::vector<RatingAnchor> anchors = {};
};

// One variant's part of a tournament.
struct VariantRatings {
  Variant variant = Variant::kSacredHillL1;
  Ratings ratings;
  std::vector<SeatResults> results;  // by who begins
  // By player: games lost by faults (ArenaGame::fault); among the losses.
  std::vector<int64_t> faults = {};
  int64_t games = 0;
  int64_t repeated_games = 0;  // the same up to symmetry; not in `results`
  // By player: what the player's network has not learned of the rules; empty
  // texts, or no texts at all: nothing.
  std::vector<std::string> not_learned = {};
};

// All that a report shows: tables, JSON and pages are made of it.
struct RatingTable {
  std::vector<std::string> players;  // rows
  // By player: the number types of its networks (PrecisionsOf).
  std::vector<std::string> precisions = {};
  std::vector<VariantRatings> variants;
  Ratings overall;  // the mean over the variants
  std::vector<RatingAnchor> anchors;
  // By player; empty: none is of a run.
  std::vector<std::optional<TrainingPoint>> points = {};
};

struct RatingProgress {
  Variant variant = Variant::kSacredHillL1;
  int64_t games = 0;         // of all variants so far, those stored included
  int64_t games_wanted = 0;  // of all variants
  // Mean deviation of the differences of two players in this variant, in Elo.
  double mean_deviation = 0;
};

// Told of progress; returns false to stop early. Called from any thread, from
// several at once.
using RatingProgressCallback = std::function<bool(const RatingProgress&)>;

// Plays the games that tell the most until there are as many as wanted, each
// kept in the store as it ends, and rates the players. What the store has from
// earlier is not played again. Variants take turns, so that, stopped early, all
// have some games; then the ratings are of those (FAILED_PRECONDITION if they
// leave players apart). Returns INVALID_ARGUMENT for fewer than two players or
// two of one name or identity, or an error of players, games or the store.
absl::StatusOr<RatingTable> PlayRatingTournament(
    absl::Span<const RatedPlayer> players,
    const RatingTournamentOptions& options, record::GameStore& store,
    const RatingProgressCallback& on_progress = {});

}  // namespace tara::eval

#endif  // TARA_EVAL_RATING_RATING_TOURNAMENT_H_
