#include "tara/eval/rating/ratings.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "Eigen/Dense"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/base/threads.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"

namespace tara::eval {
namespace {

// Deviations of the priors of h and ln(nu) about 0, in nats: they matter only
// if no game gives information about them.
constexpr double kFirstSeatPrior = 5;
constexpr double kDrawPrior = 3;
constexpr int kMaxSteps = 100;
constexpr int kMaxHalvings = 40;
constexpr double kSmallStep = 1e-10;  // nats

// The posterior as a function of x = [theta of all players, h, ln(nu)], nats.
class Posterior {
 public:
  Posterior(int players, absl::Span<const SeatResults> results,
            const RatingOptions& options)
      : players_(players), results_(results) {
    const int size = players + 2;
    precision_ = Eigen::MatrixXd::Zero(size, size);
    const double prior = std::pow(kEloPerNat / options.prior_elo, 2);
    // About the mean of all: which players are anchored changes nothing.
    precision_.topLeftCorner(players, players).setConstant(-prior / players);
    precision_.diagonal().head(players).array() += prior;
    precision_(players, players) = 1 / (kFirstSeatPrior * kFirstSeatPrior);
    precision_(players + 1, players + 1) = 1 / (kDrawPrior * kDrawPrior);
    if (options.anchors.empty()) {
      // Nothing says where 0 is: a mean of 0, as if it were known so.
      precision_.topLeftCorner(players, players).array() += 1.0 / players;
    }
  }

  double LogDensity(const Eigen::VectorXd& x) const {
    double sum = -x.dot(precision_ * x) / 2;
    for (const SeatResults& result : results_) {
      const DavidsonChances p = At(x, result);
      // A chance that underflows has been seen nowhere near the maximum.
      if (result.wins > 0) sum += result.wins * std::log(p.win);
      if (result.draws > 0) sum += result.draws * std::log(p.draw);
      if (result.losses > 0) sum += result.losses * std::log(p.loss);
    }
    return sum;
  }

  // Sets the gradient and minus the Hessian (which is the information).
  void Derive(const Eigen::VectorXd& x, Eigen::VectorXd& gradient,
              Eigen::MatrixXd& information) const {
    gradient = -precision_ * x;
    information = precision_;
    for (const SeatResults& result : results_) {
      const auto games = static_cast<double>(result.games());
      const DavidsonChances p = At(x, result);
      // By d and by ln(nu): a multinomial logit with the scores d/2, ln(nu)
      // and -d/2, so that seen minus expected is the gradient.
      const double by_d =
          ((result.wins - result.losses) - games * (p.win - p.loss)) / 2;
      const double by_nu = result.draws - games * p.draw;
      const double d_d = games * FisherInformation(p);
      const double d_nu = -games * (p.win - p.loss) * p.draw / 2;
      const double nu_nu = games * p.draw * (1 - p.draw);
      const std::pair<int, double> of_d[] = {
          {result.first, 1}, {result.second, -1}, {players_, 1}};
      const int nu = players_ + 1;
      for (const auto& [i, sign] : of_d) {
        gradient[i] += sign * by_d;
        information(i, nu) += sign * d_nu;
        information(nu, i) += sign * d_nu;
        for (const auto& [j, other] : of_d) {
          information(i, j) += sign * other * d_d;
        }
      }
      gradient[nu] += by_nu;
      information(nu, nu) += nu_nu;
    }
  }

 private:
  DavidsonChances At(const Eigen::VectorXd& x,
                     const SeatResults& result) const {
    return OutcomeProbabilities(
        x[result.first] - x[result.second] + x[players_], x[players_ + 1]);
  }

  const int players_;
  const absl::Span<const SeatResults> results_;
  Eigen::MatrixXd precision_;  // of the prior
};

// Maximizes the posterior over the parameters `free`; the others keep their
// values in `x`. Returns the covariance of the free ones.
Eigen::MatrixXd Maximize(const Posterior& posterior,
                         const std::vector<int>& free, Eigen::VectorXd& x) {
  Eigen::VectorXd gradient;
  Eigen::MatrixXd information;
  double density = posterior.LogDensity(x);
  for (int step = 0; step < kMaxSteps; ++step) {
    posterior.Derive(x, gradient, information);
    const Eigen::VectorXd move =
        information(free, free).llt().solve(gradient(free));
    // Newton's step may go too far where results are lopsided.
    double scale = 1;
    for (int halving = 0; halving < kMaxHalvings; ++halving, scale /= 2) {
      Eigen::VectorXd next = x;
      next(free) += scale * move;
      const double next_density = posterior.LogDensity(next);
      if (!(next_density >= density - 1e-12 * std::abs(density))) continue;
      x = next;
      density = next_density;
      break;
    }
    if (move.lpNorm<Eigen::Infinity>() < kSmallStep) break;
  }
  posterior.Derive(x, gradient, information);
  const Eigen::MatrixXd of_free = information(free, free);
  return of_free.llt().solve(
      Eigen::MatrixXd::Identity(of_free.rows(), of_free.cols()));
}

// Returns an error that names the parts if games do not join all players.
absl::Status CheckConnected(absl::Span<const std::string> players,
                            absl::Span<const SeatResults> results) {
  std::vector<int> part(players.size());  // of a player: the least index in it
  std::iota(part.begin(), part.end(), 0);
  for (const SeatResults& result : results) {
    if (result.games() == 0) continue;
    const int from = std::max(part[result.first], part[result.second]);
    const int to = std::min(part[result.first], part[result.second]);
    std::replace(part.begin(), part.end(), from, to);
  }
  std::vector<std::string> parts;
  for (size_t first = 0; first < players.size(); ++first) {
    std::vector<absl::string_view> members;
    for (size_t i = 0; i < players.size(); ++i) {
      if (part[i] == static_cast<int>(first)) members.push_back(players[i]);
    }
    if (!members.empty()) {
      parts.push_back(absl::StrCat("{", absl::StrJoin(members, ", "), "}"));
    }
  }
  if (parts.size() == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "ratings: the players form ", parts.size(),
      " groups without games between them: ", absl::StrJoin(parts, ", ")));
}

}  // namespace

RatingEstimate Ratings::Of(int player) const {
  return {.elo = elo[player],
          .deviation = std::sqrt(std::max(0.0, covariance(player, player)))};
}

RatingEstimate Ratings::Difference(int player, int other) const {
  const double variance = covariance(player, player) +
                          covariance(other, other) -
                          2 * covariance(player, other);
  return {.elo = elo[player] - elo[other],
          .deviation = std::sqrt(std::max(0.0, variance))};
}

absl::StatusOr<Ratings> FitRatings(absl::Span<const std::string> players,
                                   absl::Span<const SeatResults> results,
                                   const RatingOptions& options) {
  TARA_CHECK(!players.empty() && options.prior_elo > 0, "nothing to rate by");
  for (const SeatResults& result : results) {
    TARA_CHECK(result.first != result.second,
               "games against oneself say nothing about a rating");
  }
  if (!options.allow_parts) {
    TARA_RETURN_IF_ERROR(CheckConnected(players, results));
  }
  const int count = static_cast<int>(players.size());
  Eigen::VectorXd x = Eigen::VectorXd::Zero(count + 2);
  std::vector<bool> is_free(count + 2, true);
  for (const RatingAnchor& anchor : options.anchors) {
    x.head(count).setConstant(anchor.elo / kEloPerNat);  // where to start
  }
  for (const RatingAnchor& anchor : options.anchors) {
    x[anchor.player] = anchor.elo / kEloPerNat;
    is_free[anchor.player] = false;
  }
  const bool any_draws =
      std::any_of(results.begin(), results.end(),
                  [](const SeatResults& result) { return result.draws > 0; });
  if (!any_draws) {
    x[count + 1] = kNoDraws;
    is_free[count + 1] = false;
  }
  std::vector<int> free;
  for (int i = 0; i < count + 2; ++i) {
    if (is_free[i]) free.push_back(i);
  }
  const Posterior posterior(count, results, options);
  const Eigen::MatrixXd of_free = Maximize(posterior, free, x);
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(count + 2, count + 2);
  all(free, free) = of_free;
  Eigen::MatrixXd of_players = all.topLeftCorner(count, count);
  if (options.anchors.empty()) {
    // The mean is 0 by definition, and has no variance.
    const Eigen::MatrixXd centre =
        Eigen::MatrixXd::Identity(count, count) -
        Eigen::MatrixXd::Constant(count, count, 1.0 / count);
    of_players = centre * of_players * centre;
  }
  return Ratings{
      .elo = x.head(count) * kEloPerNat,
      .covariance = of_players * kEloPerNat * kEloPerNat,
      .first_seat = {.elo = x[count] * kEloPerNat,
                     .deviation = std::sqrt(all(count, count)) * kEloPerNat},
      .draw_nu = any_draws ? std::exp(x[count + 1]) : 0};
}

Ratings MeanRatings(absl::Span<const Ratings> ratings) {
  TARA_CHECK(!ratings.empty(), "no ratings to take the mean of");
  const int count = ratings[0].size();
  const auto variants = static_cast<double>(ratings.size());
  Ratings mean = {.elo = Eigen::VectorXd::Zero(count),
                  .covariance = Eigen::MatrixXd::Zero(count, count)};
  for (const Ratings& each : ratings) {
    TARA_CHECK(each.size() == count, "ratings of other players");
    mean.elo += each.elo / variants;
    mean.covariance += each.covariance / (variants * variants);
  }
  return mean;
}

std::vector<PairChoice> ChoosePairs(const Ratings& ratings, int count) {
  TARA_CHECK(ratings.size() >= 2, "nobody to play against");
  const double log_nu = std::log(std::max(1e-9, ratings.draw_nu));
  const double h = ratings.first_seat.elo / kEloPerNat;
  // Expected after the games chosen so far, in nats^2.
  Eigen::MatrixXd covariance = ratings.covariance / (kEloPerNat * kEloPerNat);
  // I / (1 + I u' C u).
  const auto weight = [&](int i, int j) {
    const double d = ratings.Difference(i, j).elo / kEloPerNat;
    const double information =
        FisherInformation(OutcomeProbabilities(d + h, log_nu)) +
        FisherInformation(OutcomeProbabilities(h - d, log_nu));
    const double variance =
        covariance(i, i) + covariance(j, j) - 2 * covariance(i, j);
    return information / (1 + information * variance);
  };
  std::vector<PairChoice> chosen;
  while (static_cast<int>(chosen.size()) < count) {
    // About the mean: shifts of all ratings count for nothing.
    const Eigen::MatrixXd centred =
        covariance.rowwise() - covariance.colwise().mean();
    PairChoice best = {.gain = -1};
    for (int i = 0; i < ratings.size(); ++i) {
      for (int j = i + 1; j < ratings.size(); ++j) {
        const double trace = (centred.col(i) - centred.col(j)).squaredNorm();
        const double gain = 2.0 / (ratings.size() - 1) * weight(i, j) * trace *
                            kEloPerNat * kEloPerNat;
        if (gain > best.gain) best = {i, j, gain};
      }
    }
    const Eigen::VectorXd u =
        covariance.col(best.player) - covariance.col(best.other);
    covariance -= weight(best.player, best.other) * u * u.transpose();
    chosen.push_back(best);
  }
  return chosen;
}

namespace {

// Approximate number of rounds in which a variant's games are chosen; each fits
// the ratings again.
constexpr int kRounds = 12;
// Pairs of games of two players that are played in one go: more make larger
// batches, fewer choose better.
constexpr int kPairsPerChoice = 2;

absl::Status CheckPlayers(absl::Span<const RatedPlayer> players) {
  if (players.size() < 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ratings: ", players.size(), " players; expected at least two"));
  }
  for (size_t i = 0; i < players.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (players[i].name == players[j].name) {
        return absl::InvalidArgumentError(
            absl::StrCat("ratings: two players of the name ", players[i].name));
      }
      if (players[i].identity == players[j].identity) {
        return absl::InvalidArgumentError(
            absl::StrCat("ratings: ", players[j].name, " and ", players[i].name,
                         " are the same player"));
      }
    }
  }
  return absl::OkStatus();
}

// The games of one variant.
class VariantTournament {
 public:
  VariantTournament(absl::Span<const RatedPlayer> players,
                    const RatingTournamentOptions& options,
                    const ArenaOptions& arena, record::GameStore* store)
      : players_(players), options_(options), arena_(arena), store_(store) {
    for (const RatedPlayer& player : players) names_.push_back(player.name);
  }

  // Reads what has been played.
  absl::Status Load() {
    for (int a = 0; a < size(); ++a) {
      for (int b = a + 1; b < size(); ++b) {
        ArenaOptions arena = arena_;
        const auto [first, second] = InOrder(a, b);
        TARA_RETURN_IF_ERROR(
            ResumeFromStore(*store_, ContestOf(first, second), arena));
        // The game of an interrupted pair counts once the other is played.
        Count(first, second, SummarizeWholePairs(arena.earlier));
      }
    }
    return absl::OkStatus();
  }

  int64_t games() const {
    int64_t games = 0;
    for (const auto& [players, pair] : pairs_) games += pair.games;
    return games;
  }
  int64_t games_wanted() const {
    // Each game is of two players.
    return (int64_t{options_.games_per_player} * size() + 1) / 2;
  }

  // Rates by the games so far.
  absl::StatusOr<VariantRatings> Rated(bool allow_parts) const {
    VariantRatings rated = {.variant = arena_.variant,
                            .faults = std::vector<int64_t>(players_.size()),
                            .games = games(),
                            .repeated_games = games()};
    for (const auto& [players, pair] : pairs_) {
      rated.faults[players.first] += pair.faults[0];
      rated.faults[players.second] += pair.faults[1];
      for (const SeatResults& result : pair.results) {
        rated.results.push_back(result);
        rated.repeated_games -= result.games();
      }
    }
    absl::StatusOr<Ratings> ratings =
        FitRatings(names_, rated.results,
                   {.anchors = options_.anchors, .allow_parts = allow_parts});
    if (!ratings.ok()) {
      return absl::Status(ratings.status().code(),
                          absl::StrCat(Info(arena_.variant).id, ": ",
                                       ratings.status().message()));
    }
    rated.ratings = *std::move(ratings);
    return rated;
  }

  // Plays the next round; `go_on` receives its number of games so far.
  absl::Status PlayRound(const std::function<bool(int games)>& go_on) {
    TARA_ASSIGN_OR_RETURN(const VariantRatings rated,
                          Rated(/*allow_parts=*/true));
    const int64_t games_a_choice = 2 * kPairsPerChoice;
    const int64_t choices_left =
        (games_wanted() - games() + games_a_choice - 1) / games_a_choice;
    const int64_t choices_a_round =
        std::max<int64_t>(1, games_wanted() / (games_a_choice * kRounds));
    // Two players apiece, so that a new player is met soon.
    std::map<std::pair<int, int>, int> pairs;  // of games, by players
    for (const PairChoice& choice : ChoosePairs(
             rated.ratings,
             static_cast<int>(std::min(choices_left, choices_a_round)))) {
      pairs[InOrder(choice.player, choice.other)] += kPairsPerChoice;
    }
    const std::vector<std::pair<std::pair<int, int>, int>> all(pairs.begin(),
                                                               pairs.end());
    std::vector<std::atomic<int>> played(all.size());
    std::atomic<bool> stopped = false;
    return fleet::PlayAll(
        options_.fleet, all.size(), [&] { return stopped.load(); },
        [&](size_t i, const StopCheck& stop) {
          const auto& [players, count] = all[i];
          return Play(players.first, players.second, count, [&](int games) {
            played[i] = games;
            if (!go_on(std::accumulate(played.begin(), played.end(), 0))) {
              stopped = true;
            }
            return !stop();
          });
        });
  }

 private:
  int size() const { return static_cast<int>(players_.size()); }

  // By identity, so that the contest of two players does not depend on their
  // order.
  std::pair<int, int> InOrder(int a, int b) const {
    if (players_[b].identity < players_[a].identity) std::swap(a, b);
    return {a, b};
  }

  proto::Contest ContestOf(int a, int b) const {
    return NewContest(ArenaConditions(arena_), players_[a].identity,
                      players_[b].identity);
  }

  static std::vector<ArenaGame> SummarizeWholePairs(
      absl::Span<const ArenaGame> games) {
    std::vector<ArenaGame> whole;
    for (size_t i = 1; i < games.size(); ++i) {
      if (games[i].pair != games[i - 1].pair) continue;
      whole.push_back(games[i - 1]);
      whole.push_back(games[i]);
    }
    return whole;
  }

  // Counts all games of player `a` against `b`. Those that repeat another up to
  // symmetry show nothing new.
  void Count(int a, int b, absl::Span<const ArenaGame> games) {
    PairGames& pair = pairs_[{a, b}];
    pair = {.games = static_cast<int>(games.size()),
            .results = {{.first = a, .second = b}, {.first = b, .second = a}}};
    std::set<uint64_t> seen;
    for (const ArenaGame& game : games) {
      if (!game.fault.empty()) ++pair.faults[game.forfeit != Forfeit::kByA];
      const uint64_t key = SameGamesKey(absl::MakeConstSpan(&game, 1));
      if (key != 0 && !seen.insert(key).second) continue;
      SeatResults& result = pair.results[game.a_is_red ? 0 : 1];
      const double margin = game.a_is_red ? game.margin : -game.margin;
      ++(margin > 0 ? result.wins : margin < 0 ? result.losses : result.draws);
    }
    std::erase_if(pair.results, [](const SeatResults& result) {
      return result.games() == 0;
    });
  }

  // `go_on` receives the number of the pairs' games so far.
  absl::Status Play(int a, int b, int pairs,
                    const std::function<bool(int games)>& go_on) {
    ArenaOptions arena = arena_;
    SetTeams(players_[a].team, players_[b].team, arena);
    TARA_RETURN_IF_ERROR(ResumeFromStore(*store_, ContestOf(a, b), arena));
    int before = 0;
    {
      absl::MutexLock lock(&mutex_);
      before = pairs_[{a, b}].games;
    }
    arena.games = before + 2 * pairs;
    const auto on_progress = [&](const ArenaProgress& progress) {
      return go_on(progress.games_done - before);
    };
    TARA_ASSIGN_OR_RETURN(
        const ArenaResult result,
        PlayArena(arena, players_[a], players_[b], options_.threads,
                  options_.fleet, on_progress));
    absl::MutexLock lock(&mutex_);
    Count(a, b, result.played);
    return absl::OkStatus();
  }

  const absl::Span<const RatedPlayer> players_;
  const RatingTournamentOptions& options_;
  const ArenaOptions arena_;
  record::GameStore* const store_;
  std::vector<std::string> names_;
  // The games of a pair of players.
  struct PairGames {
    int games = 0;
    int64_t faults[2] = {};  // by player: games lost by them
    std::vector<SeatResults> results = {};
  };
  std::map<std::pair<int, int>, PairGames> pairs_;
  absl::Mutex mutex_;  // of what a pair of players changes
};

}  // namespace

absl::StatusOr<RatingTable> PlayRatingTournament(
    absl::Span<const RatedPlayer> players,
    const RatingTournamentOptions& options, record::GameStore& store,
    const RatingProgressCallback& on_progress) {
  TARA_RETURN_IF_ERROR(CheckPlayers(players));
  std::deque<VariantTournament> tournaments;
  // Per variant, including the current round.
  std::vector<std::atomic<int64_t>> games(options.arenas.size());
  int64_t wanted = 0;
  for (size_t i = 0; i < options.arenas.size(); ++i) {
    VariantTournament& tournament =
        tournaments.emplace_back(players, options, options.arenas[i], &store);
    TARA_RETURN_IF_ERROR(tournament.Load());
    games[i] = tournament.games();
    wanted += std::max(tournament.games(), tournament.games_wanted());
  }
  std::atomic<bool> stopped = false;
  const auto play_round = [&](size_t i) -> absl::Status {
    VariantTournament& tournament = tournaments[i];
    const int64_t before = tournament.games();
    TARA_RETURN_IF_ERROR(tournament.PlayRound([&](int of_round) {
      games[i] = before + of_round;
      const RatingProgress progress = {
          .variant = options.arenas[i].variant,
          .games = std::accumulate(games.begin(), games.end(), int64_t{0}),
          .games_wanted = wanted};
      if (on_progress && !on_progress(progress)) stopped = true;
      return !stopped;
    }));
    games[i] = tournament.games();
    return absl::OkStatus();
  };
  const auto has_more = [&](size_t i) {
    const StopCheck& stop = options.arenas[i].stop;
    return !stopped && !(stop && stop()) &&
           tournaments[i].games() < tournaments[i].games_wanted();
  };
  // Variants take turns, round by round; a fleet plays them concurrently.
  std::atomic<bool> any_left = true;
  while (any_left) {
    any_left = false;
    TARA_RETURN_IF_ERROR(fleet::PlayAll(
        options.fleet, tournaments.size(), [&] { return stopped.load(); },
        [&](size_t i, const StopCheck& stop) -> absl::Status {
          while (has_more(i) && !stop()) {
            any_left = true;
            TARA_RETURN_IF_ERROR(play_round(i));
            if (options.fleet == nullptr) break;
          }
          return absl::OkStatus();
        }));
  }
  RatingTable table = {.anchors = options.anchors};
  for (const RatedPlayer& player : players) {
    table.players.push_back(player.name);
    table.points.push_back(player.point);
    table.precisions.push_back(PrecisionsOf(player.team));
  }
  std::vector<Ratings> all;
  for (const VariantTournament& tournament : tournaments) {
    TARA_ASSIGN_OR_RETURN(table.variants.emplace_back(),
                          tournament.Rated(/*allow_parts=*/false));
    all.push_back(table.variants.back().ratings);
  }
  table.overall = MeanRatings(all);
  return table;
}

}  // namespace tara::eval
