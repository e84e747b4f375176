#include "tara/eval/rating/rating_tournament.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "Eigen/Dense"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"

namespace tara::eval {
namespace {

// The information about ratings that games are expected to give.
class Plan {
 public:
  explicit Plan(const Ratings& ratings) : ratings_(ratings) {
    const int count = ratings.size();
    covariance_.resize(count, count);
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j < count; ++j) {
        covariance_(i, j) =
            ratings.Covariance(i, j) / (kEloPerNat * kEloPerNat);
      }
    }
  }

  // Returns all pairs in order of their players.
  std::vector<PairChoice> Gains() const {
    const int count = ratings_.size();
    // About the mean: shifts of all ratings count for nothing.
    const Eigen::MatrixXd centred =
        covariance_.rowwise() - covariance_.colwise().mean();
    std::vector<PairChoice> choices;
    for (int i = 0; i < count; ++i) {
      for (int j = i + 1; j < count; ++j) {
        const double trace = (centred.col(i) - centred.col(j)).squaredNorm();
        choices.push_back({.player = i,
                           .other = j,
                           .gain = 2.0 / (count - 1) * Weight(i, j) * trace *
                                   kEloPerNat * kEloPerNat});
      }
    }
    return choices;
  }

  // Takes a pair of games of the two as played.
  void Play(int i, int j) {
    const Eigen::VectorXd u = covariance_.col(i) - covariance_.col(j);
    covariance_ -= Weight(i, j) * u * u.transpose();
  }

 private:
  // I / (1 + I u' C u).
  double Weight(int i, int j) const {
    const double log_nu = std::log(std::max(1e-9, ratings_.draw_nu));
    const double d = ratings_.Difference(i, j).elo / kEloPerNat;
    const double h = ratings_.first_seat.elo / kEloPerNat;
    const double information =
        FisherInformation(OutcomeProbabilities(d + h, log_nu)) +
        FisherInformation(OutcomeProbabilities(h - d, log_nu));
    const double variance =
        covariance_(i, i) + covariance_(j, j) - 2 * covariance_(i, j);
    return information / (1 + information * variance);
  }

  const Ratings& ratings_;
  Eigen::MatrixXd covariance_;  // nats^2
};

bool TellsMore(const PairChoice& x, const PairChoice& y) {
  return x.gain > y.gain;
}

}  // namespace

std::vector<PairChoice> RankPairs(const Ratings& ratings) {
  std::vector<PairChoice> choices = Plan(ratings).Gains();
  std::stable_sort(choices.begin(), choices.end(), TellsMore);
  return choices;
}

std::vector<PairChoice> ChoosePairs(const Ratings& ratings, int count) {
  TARA_CHECK(ratings.size() >= 2, "nobody to play against");
  Plan plan(ratings);
  std::vector<PairChoice> chosen;
  for (int i = 0; i < count; ++i) {
    const std::vector<PairChoice> gains = plan.Gains();
    // The first of equals.
    chosen.push_back(
        *std::max_element(gains.begin(), gains.end(),
                          [](const PairChoice& x, const PairChoice& y) {
                            return TellsMore(y, x);
                          }));
    plan.Play(chosen.back().player, chosen.back().other);
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

// Adds the games of an arena of player `a` against `b`. Those that repeat
// another up to symmetry show nothing new.
void AddResults(int a, int b, absl::Span<const ArenaGame> games,
                std::vector<SeatResults>& results) {
  std::set<uint64_t> seen;
  SeatResults a_first = {.first = a, .second = b};
  SeatResults b_first = {.first = b, .second = a};
  for (const ArenaGame& game : games) {
    const uint64_t key = SameGamesKey(absl::MakeConstSpan(&game, 1));
    if (key != 0 && !seen.insert(key).second) continue;
    SeatResults& result = game.a_is_red ? a_first : b_first;
    const double margin = game.a_is_red ? game.margin : -game.margin;
    ++(margin > 0 ? result.wins : margin < 0 ? result.losses : result.draws);
  }
  for (const SeatResults& result : {a_first, b_first}) {
    if (result.wins + result.draws + result.losses > 0) {
      results.push_back(result);
    }
  }
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
  int64_t repeated_games() const {
    int64_t repeated = games();
    for (const SeatResults& result : Results()) {
      repeated -= result.wins + result.draws + result.losses;
    }
    return repeated;
  }
  int64_t games_wanted() const {
    // Each game is of two players.
    return (int64_t{options_.games_per_player} * size() + 1) / 2;
  }

  absl::StatusOr<Ratings> Fit(bool allow_parts) const {
    return FitRatings(
        names_, Results(),
        {.anchors = options_.anchors, .allow_parts = allow_parts});
  }

  // Plays the next round; `go_on` receives its number of games so far.
  absl::Status PlayRound(const std::function<bool(int games)>& go_on) {
    TARA_ASSIGN_OR_RETURN(const Ratings ratings, Fit(/*allow_parts=*/true));
    deviation_ = MeanDeviation(ratings);
    const int64_t games_a_choice = 2 * kPairsPerChoice;
    const int64_t choices_left =
        (games_wanted() - games() + games_a_choice - 1) / games_a_choice;
    const int64_t choices_a_round =
        std::max<int64_t>(1, games_wanted() / (games_a_choice * kRounds));
    // Two players apiece, so that a new player is met soon.
    std::map<std::pair<int, int>, int> pairs;  // of games, by players
    for (const PairChoice& choice : ChoosePairs(
             ratings,
             static_cast<int>(std::min(choices_left, choices_a_round)))) {
      pairs[InOrder(choice.player, choice.other)] += kPairsPerChoice;
    }
    return PlayPairs(pairs, go_on);
  }

  // At the beginning of the last round.
  double deviation() const { return deviation_; }

  std::vector<SeatResults> Results() const {
    std::vector<SeatResults> all;
    for (const auto& [players, pair] : pairs_) {
      all.insert(all.end(), pair.results.begin(), pair.results.end());
    }
    return all;
  }

  // Per player.
  std::vector<int64_t> Faults() const {
    std::vector<int64_t> all(players_.size());
    for (const auto& [players, pair] : pairs_) {
      all[players.first] += pair.faults[0];
      all[players.second] += pair.faults[1];
    }
    return all;
  }

  static double MeanDeviation(const Ratings& ratings) {
    double sum = 0;
    int pairs = 0;
    for (int i = 0; i < ratings.size(); ++i) {
      for (int j = 0; j < i; ++j, ++pairs) {
        sum += ratings.Difference(i, j).deviation;
      }
    }
    return sum / std::max(1, pairs);
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

  void Count(int a, int b, const std::vector<ArenaGame>& games) {
    PairGames& pair = pairs_[{a, b}];
    pair = {.games = static_cast<int>(games.size())};
    for (const ArenaGame& game : games) {
      if (!game.fault.empty()) ++pair.faults[game.forfeit != Forfeit::kByA];
    }
    AddResults(a, b, games, pair.results);
  }

  using PairCounts = std::map<std::pair<int, int>, int>;

  absl::Status PlayPairs(const PairCounts& pairs,
                         const std::function<bool(int games)>& go_on) {
    const std::vector<PairCounts::value_type> all(pairs.begin(), pairs.end());
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
        options_.fleet != nullptr
            ? PlayArenaOnFleet(arena, players_[a].team, players_[b].team,
                               *options_.fleet, on_progress)
            : PlayArena(arena, players_[a].make, players_[b].make,
                        options_.threads, on_progress));
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
  double deviation_ = 0;
  absl::Mutex mutex_;  // of what a pair of players changes
};

absl::StatusOr<RatingTable> Rate(
    absl::Span<const RatedPlayer> players,
    const std::deque<VariantTournament>& tournaments,
    const RatingTournamentOptions& options) {
  RatingTable table = {
      .players = {}, .variants = {}, .overall = {}, .anchors = options.anchors};
  for (const RatedPlayer& player : players) {
    table.players.push_back(player.name);
    table.points.push_back(player.point);
    table.precisions.push_back(PrecisionsOf(player.team));
  }
  std::vector<Ratings> all;
  for (size_t i = 0; i < tournaments.size(); ++i) {
    const Variant variant = options.arenas[i].variant;
    absl::StatusOr<Ratings> ratings = tournaments[i].Fit(/*allow_parts=*/false);
    if (!ratings.ok()) {
      return absl::Status(
          ratings.status().code(),
          absl::StrCat(Info(variant).id, ": ", ratings.status().message()));
    }
    all.push_back(*ratings);
    table.variants.push_back(
        {.variant = variant,
         .ratings = *std::move(ratings),
         .results = tournaments[i].Results(),
         .faults = tournaments[i].Faults(),
         .games = tournaments[i].games(),
         .repeated_games = tournaments[i].repeated_games()});
  }
  table.overall = MeanRatings(all);
  return table;
}

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
          .games_wanted = wanted,
          .mean_deviation = tournament.deviation()};
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
  const size_t variants = tournaments.size();
  if (options.fleet != nullptr) {
    TARA_RETURN_IF_ERROR(fleet::PlayAll(
        options.fleet, variants, [&] { return stopped.load(); },
        [&](size_t i, const StopCheck& stop) -> absl::Status {
          while (has_more(i) && !stop()) TARA_RETURN_IF_ERROR(play_round(i));
          return absl::OkStatus();
        }));
  }
  for (bool any_left = true; any_left;) {
    any_left = false;
    for (size_t i = 0; i < variants; ++i) {
      if (!has_more(i)) continue;
      any_left = true;
      TARA_RETURN_IF_ERROR(play_round(i));
    }
  }
  return Rate(players, tournaments, options);
}

}  // namespace tara::eval
