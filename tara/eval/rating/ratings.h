#ifndef TARA_EVAL_RATING_RATINGS_H_
#define TARA_EVAL_RATING_RATINGS_H_

// Ratings of players from games against each other, with their uncertainty. The
// model is Davidson's (davidson.h).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "Eigen/Core"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/rating/davidson.h"
#include "tara/eval/report/report.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"

namespace tara::eval {

// Games of two players in which the same one begins (in doubles, is Red).
struct SeatResults {
  int first = 0;     // index of the player who begins
  int second = 0;    // index of the other
  int64_t wins = 0;  // of `first`; so are the others
  int64_t draws = 0;
  int64_t losses = 0;

  int64_t games() const { return wins + draws + losses; }
};

// A player with a fixed rating.
struct RatingAnchor {
  int player = 0;
  double elo = 0;
};

struct RatingOptions {
  // Without anchors, ratings have a mean of 0.
  std::vector<RatingAnchor> anchors = {};
  // Standard deviation of a Gaussian prior of each rating about the mean of
  // all, in Elo: the rating of who wins every game is finite.
  double prior_elo = 1000;
  // Whether to rate players that no chain of games connects, by the prior
  // only. Such ratings serve to choose games, not to report.
  bool allow_parts = false;
};

// Ratings of players.
struct Ratings {
  int size() const { return static_cast<int>(elo.size()); }
  RatingEstimate Of(int player) const;
  // The rating of one player minus that of another, with the deviation of this
  // difference, which takes the covariance into account.
  RatingEstimate Difference(int player, int other) const;

  Eigen::VectorXd elo;         // relative to the anchors, or to the mean of all
  Eigen::MatrixXd covariance;  // [players, players], in Elo^2
  // The advantage of beginning (h), and the draws (nu); of means 0.
  RatingEstimate first_seat = {};
  double draw_nu = 0;
};

// Returns the most likely ratings under the model and the prior, with the
// inverse of minus the Hessian as their covariance. Some ten steps of Newton's
// method, each O(players^3); the likelihood is concave. Returns
// FAILED_PRECONDITION, naming the parts, if the players form parts that have no
// games with each other. REQUIRES: at least one player; results and anchors of
// these players, none against itself; a prior above 0.
absl::StatusOr<Ratings> FitRatings(absl::Span<const std::string> players,
                                   absl::Span<const SeatResults> results,
                                   const RatingOptions& options = {});

// Returns the means over variants of the ratings of the same players. Each
// variant has the same weight, and games of different variants are independent.
// REQUIRES: at least one, all of one size.
Ratings MeanRatings(absl::Span<const Ratings> ratings);

// A pair of games worth playing.
struct PairChoice {
  int player = 0;
  int other = 0;
  // By which the mean variance of differences is expected to fall, in Elo^2.
  double gain = 0;
};

// Returns the pairs of games to play next, `count` of them, some possibly more
// than once. Each is the most informative one, by the covariance expected after
// the ones before it; the first of equals. Of two games between two players,
// one with each beginning, each informs about d by ((P_win + P_loss) - (P_win -
// P_loss)^2) / 4; the sum I of both lowers the trace of the covariance C of the
// ratings about their mean by I |C u|^2 / (1 + I u' C u) (Sherman and Morrison
// 1950), with u = 1 for one player and -1 for the other. The mean variance of a
// difference is 2 / (players - 1) of that trace (A-optimality; the information
// about h and nu is ignored).
std::vector<PairChoice> ChoosePairs(const Ratings& ratings, int count);

// No two have one name or one identity.
struct RatedPlayer : Contestant {
  std::string name = {};                    // for people
  std::optional<TrainingPoint> point = {};  // of a run's checkpoints
};

struct RatingTournamentOptions {
  // Mean number of games per player and variant, including those in the store.
  // A further player adds half that number.
  int games_per_player = 40;
  int threads = 1;
  // If not null, the fleet plays all games, of all variants concurrently.
  fleet::Fleet* fleet = nullptr;
  // By variant, with its rule options; `games` is ignored.
  std::vector<ArenaOptions> arenas = {};
  // Fixed ratings; none: the ratings of a variant have a mean of 0.
  std::vector<RatingAnchor> anchors = {};
};

// One variant's part of a tournament.
struct VariantRatings {
  Variant variant = Variant::kSacredHillL1;
  Ratings ratings = {};
  std::vector<SeatResults> results = {};  // by who begins
  // By player: games lost by faults (ArenaGame::fault); among the losses.
  std::vector<int64_t> faults = {};
  int64_t games = 0;
  int64_t repeated_games = 0;  // the same up to symmetry; not in `results`
  // By player: the rules that the player's network has not learned; empty
  // texts, or no texts at all: none.
  std::vector<std::string> not_learned = {};
};

// The content of tables, JSON and pages.
struct RatingTable {
  std::vector<std::string> players = {};  // rows
  // By player: the number types of its networks (PrecisionsOf).
  std::vector<std::string> precisions = {};
  std::vector<VariantRatings> variants = {};
  Ratings overall = {};  // the mean over the variants
  std::vector<RatingAnchor> anchors = {};
  // By player; empty: no player belongs to a run.
  std::vector<std::optional<TrainingPoint>> points = {};
};

struct RatingProgress {
  Variant variant = Variant::kSacredHillL1;
  int64_t games = 0;         // of all variants so far, those stored included
  int64_t games_wanted = 0;  // of all variants
};

// Receives the progress, and returns false to stop early. Called from any
// thread, from several at once.
using RatingProgressCallback = std::function<bool(const RatingProgress&)>;

// Plays the most informative games until there are as many as wanted, stores
// each when it ends, and rates the players. Games in the store are not played
// again. Variants take turns, so that after an early stop all have some games,
// by which players are rated (FAILED_PRECONDITION if they do not connect all).
// Returns INVALID_ARGUMENT for fewer than two players or two with the same name
// or identity, or an error of players, games or the store.
absl::StatusOr<RatingTable> PlayRatingTournament(
    absl::Span<const RatedPlayer> players,
    const RatingTournamentOptions& options, record::GameStore& store,
    const RatingProgressCallback& on_progress = {});

// Returns a report. Its text: a row per player, best first, with a column for
// the overall rating and one per variant; Elo +- half the 95 % interval. Below
// it, by variant: the games, the advantage of beginning, and the share of draws
// between equal players; then the verdict. Its page: ratings of players by
// variant, curves over the generations of runs, and all players against each
// other.
//
// Its JSON is an object: `anchors`; `players` in the order of the command line,
// each with `name`, `overall` and `variants` by identifier (`elo`, `low`,
// `high`, `deviation`), checkpoints of a run also with `run` and `generation`;
// `covariance` of the overall ratings [player, player] in Elo^2, for the
// interval of any difference; `not_learned` of players and of their ratings by
// variant, if networks have not learned rules; `variants` with `name`, `games`,
// `first_seat`, `draw_nu`, `covariance` of its own ratings and `results`
// (indices of players; `wins` counts wins of `first`, which began).
Report ReportRatings(const RatingTable& table);

}  // namespace tara::eval

#endif  // TARA_EVAL_RATING_RATINGS_H_
