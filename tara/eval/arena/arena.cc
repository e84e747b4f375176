#include "tara/eval/arena/arena.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/mcts/utility.h"
#include "tara/record/game_record.h"

namespace tara::eval {
namespace {

// Attempts at a game of self-play that the player gives up.
constexpr int kMaxAttempts = 3;

// A series is a game by itself or the games of a match.
int GamesPerSeries(const ArenaOptions& options) {
  return options.by_match ? Info(options.variant).seats : 1;
}

// Orders by opening, then A as Red first: the order of SummarizeGames.
bool Before(const ArenaGame& x, const ArenaGame& y) {
  return std::pair(x.pair, !x.a_is_red) < std::pair(y.pair, !y.a_is_red);
}

// The pairs to be played, of whole openings.
int PairsOf(const ArenaOptions& options) {
  const int together = GamesPerPair(options) * PairsPerOpening(options);
  return (options.games + together - 1) / together * PairsPerOpening(options);
}

// A series of games to play.
struct Series {
  int number = 0;  // 2 * pair, and one more where B starts the series
  std::vector<Opening> openings;  // of its games
};

// The series to play in an arena, and their results, shared by its threads.
// Series are handed out in order, and sequential tests count the pairs in
// order, too, so that their decision does not depend on the number of threads
// or on which games are short. Thread-safe.
class Schedule {
 public:
  // REQUIRES: options that CheckArenaOptions finds possible.
  explicit Schedule(const ArenaOptions& options)
      : options_(options),
        per_series_(GamesPerPair(options) / 2),
        pairs_per_opening_(PairsPerOpening(options)),
        pairs_(PairsOf(options)),
        openings_(options) {
    if (options.sprt.has_value()) sprt_.emplace(*options.sprt);
    absl::MutexLock lock(&mutex_);
    // Of a match that was broken off the games count no more: it is played
    // again from its start, for each depends on those before.
    std::map<int, std::vector<const ArenaGame*>> by_series;
    for (const ArenaGame& game : options.earlier) {
      if (game.pair / per_series_ >= pairs_) continue;
      const int series =
          game.match < 0 ? 2 * game.pair + !game.a_is_red : game.match;
      by_series[series].push_back(&game);
    }
    for (const auto& [series, games] : by_series) {
      if (static_cast<int>(games.size()) != per_series_) continue;
      earlier_.insert(series);
      for (const ArenaGame* game : games) Count(*game);
    }
  }

  // Returns the next series that has not been played, or nullopt when there is
  // none or all is decided. Returns the error of drawing openings.
  absl::StatusOr<std::optional<Series>> Next() {
    absl::MutexLock lock(&mutex_);
    while (next_series_ < 2 * pairs_ && !IsDecided()) {
      const int number = next_series_;
      if (number % (2 * pairs_per_opening_) == 0) {
        latest_openings_.clear();
        for (int game = 0; game < per_series_; ++game) {
          TARA_ASSIGN_OR_RETURN(latest_openings_.emplace_back(),
                                openings_.Next());
        }
      }
      Series series = {.number = number, .openings = latest_openings_};
      if (options_.self_play && number % 2 == 1) {
        TARA_ASSIGN_OR_RETURN(series.openings[0], openings_.Next());
      }
      ++next_series_;  // not after an error, which later calls return too
      if (!earlier_.contains(number)) return series;
    }
    return std::nullopt;
  }

  // Notes a finished game and hands it to options.on_game. Returns its error.
  absl::Status Add(proto::GameRecord game) {
    absl::MutexLock lock(&mutex_);
    Count(ArenaGameOf(game));
    // Under the lock: games are stored one at a time.
    return options_.on_game ? options_.on_game(std::move(game))
                            : absl::OkStatus();
  }

  // Whether the sequential test has decided: games in progress no longer count.
  bool decided() const {
    absl::MutexLock lock(&mutex_);
    return IsDecided();
  }

  ArenaProgress progress() const {
    absl::MutexLock lock(&mutex_);
    ArenaProgress progress = {.games_done = games_done_,
                              .games = 2 * per_series_ * pairs_};
    if (games_done_ > 0) progress.score = points_ / games_done_;
    if (sprt_.has_value()) progress.llr = sprt_->llr();
    return progress;
  }

  // Returns the result of the openings whose pairs are all complete; after the
  // decision of a sequential test, of the openings up to it.
  ArenaResult Result() const {
    absl::MutexLock lock(&mutex_);
    std::map<int, std::vector<ArenaGame>> by_opening;
    for (auto [pair, games] : games_) {
      if (IsDecided() && pair >= tested_pairs_) continue;
      std::sort(games.begin(), games.end(), Before);
      std::vector<ArenaGame>& all = by_opening[pair / pairs_per_opening_];
      all.insert(all.end(), games.begin(), games.end());
    }
    std::vector<ArenaGame> whole;
    for (const auto& [opening, games] : by_opening) {
      if (static_cast<int>(games.size()) <
          2 * per_series_ * pairs_per_opening_) {
        continue;
      }
      whole.insert(whole.end(), games.begin(), games.end());
    }
    ArenaResult result = SummarizeGames(whole, pairs_per_opening_);
    result.sprt = sprt_;
    return result;
  }

 private:
  bool IsDecided() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return sprt_.has_value() && sprt_->decision() != SprtDecision::kUndecided;
  }

  void Count(const ArenaGame& game) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    games_[game.pair / per_series_].push_back(game);
    ++games_done_;
    points_ += game.margin > 0 ? 1 : (game.margin < 0 ? 0 : 0.5);
    while (sprt_.has_value() && !IsDecided()) {
      const auto next = games_.find(tested_pairs_);
      if (next == games_.end() ||
          static_cast<int>(next->second.size()) < 2 * per_series_) {
        return;
      }
      // A pair of the same games over again shows nothing new.
      const uint64_t key = SameGamesKey(next->second);
      if (key == 0 || tested_.insert(key).second) {
        sprt_->Add(HalfPointsOfPair(next->second));
      }
      ++tested_pairs_;
    }
  }

  const ArenaOptions options_;
  const int per_series_;         // games
  const int pairs_per_opening_;  // with the same openings
  const int pairs_;
  mutable absl::Mutex mutex_;
  Openings openings_ ABSL_GUARDED_BY(mutex_);
  std::set<int> earlier_ ABSL_GUARDED_BY(mutex_);  // series of earlier runs
  int next_series_ ABSL_GUARDED_BY(mutex_) = 0;
  // Openings of the latest pair, for the other pairs that share them.
  std::vector<Opening> latest_openings_ ABSL_GUARDED_BY(mutex_);
  std::map<int, std::vector<ArenaGame>> games_ ABSL_GUARDED_BY(mutex_);
  int games_done_ ABSL_GUARDED_BY(mutex_) = 0;
  double points_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<Sprt> sprt_ ABSL_GUARDED_BY(mutex_);
  int tested_pairs_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<uint64_t> tested_ ABSL_GUARDED_BY(mutex_);  // SameGamesKey
};

// Which opening the game of a series begins with: pairs of series share them.
int OpeningOf(const ArenaOptions& options, int series, int number) {
  return series / 2 * GamesPerSeries(options) + number;
}

// Takes a game that is over.
using GameSink = std::function<absl::Status(proto::GameRecord)>;

// A game of A, the first of the loop's players, and B.
class SeriesGame : public PlayedGame {
 public:
  // The `index`-th game of its series, from 0; `lead` is the sum of A's points
  // minus B's in the games before. Borrows options and sink.
  SeriesGame(const ArenaOptions& options, const GameSink& sink, Series series,
             int index, double lead, int attempt = 1)
      : PlayedGame(16 * static_cast<uint64_t>(series.number) + index,
                   InitialState(options.variant, options.rule_options),
                   SeedOfArenaGame(options.seed,
                                   OpeningOf(options, series.number, index),
                                   series.number % 2 == index % 2)),
        options_(options),
        sink_(sink),
        series_(std::move(series)),
        index_(index),
        lead_(lead),
        attempt_(attempt),
        a_is_red_(series_.number % 2 == index % 2) {
    for (const Action action : series_.openings[index].actions) Play(action);
    record.set_opening_plies(static_cast<uint32_t>(actions.size()));
    record.set_place(
        2 * static_cast<uint64_t>(OpeningOf(options, series_.number, index)) +
        (a_is_red_ ? 0 : 1));
    if (options.by_match) {
      record.set_match(static_cast<uint32_t>(series_.number));
    }
    if (!options.self_play) players[a_is_red_ ? kBlue : kRed] = 1;
    seatings = {SeatingOf(true), SeatingOf(false)};
    match = {.red_lead = a_is_red_ ? lead : -lead,
             .games_left = GamesPerSeries(options) - 1 - index};
  }

  Action Choose(const SearchReport& report, Action choice) override {
    std::optional<int>& proved = proved_margins_[to_move()];
    proved = report.proved_margin;
    if (proved.has_value() && to_move() == 1) proved = -*proved;
    const int plies = static_cast<int>(actions.size());
    const int opening = static_cast<int>(record.opening_plies());
    if (plies < opening + options_.drawn_plies && !report.policy.empty()) {
      choice = Draw(report.policy);
    }
    if (options_.a_avoids.has_value() && to_move() == 0) {
      choice = WithoutType(state, report.policy, choice, *options_.a_avoids);
    }
    return choice;
  }

  bool adjudicated() const override {
    return options_.adjudicate && !options_.clocks.has_value() &&
           proved_margins_[0].has_value() &&
           proved_margins_[0] == proved_margins_[1];
  }

  absl::StatusOr<std::unique_ptr<PlayedGame>> Finish() override {
    if (options_.self_play && forfeited_by.has_value()) {
      if (attempt_ == kMaxAttempts) {
        return absl::AbortedError(
            absl::StrCat("game ", series_.number, " was given up ",
                         kMaxAttempts, " times by its player: ", fault));
      }
      return std::make_unique<SeriesGame>(options_, sink_, std::move(series_),
                                          index_, lead_, attempt_ + 1);
    }
    EndRecord();
    const double lead = lead_ + ArenaGameOf(record).margin;
    TARA_RETURN_IF_ERROR(sink_(std::move(record)));
    if (index_ + 1 == GamesPerSeries(options_)) return nullptr;
    return std::make_unique<SeriesGame>(options_, sink_, std::move(series_),
                                        index_ + 1, lead);
  }

 private:
  Action Draw(absl::Span<const float> policy) {
    std::vector<double> cumulated;
    double sum = 0;
    for (const float share : policy) {
      sum += std::pow(static_cast<double>(share), 1 / options_.temperature);
      cumulated.push_back(sum);
    }
    const double drawn = random.Uniform() * sum;
    const auto found =
        std::upper_bound(cumulated.begin(), cumulated.end() - 1, drawn);
    return LegalActions(state).Nth(static_cast<int>(found - cumulated.begin()));
  }

  // Which of the ways of seating its players a team has: pairs that share
  // openings go through all of both teams'. In a match everybody moves on by a
  // seat from game to game: the players of the team that starts it are, Red
  // first, 1 2, then Blue 2 1, Red 2 1, Blue 1 2; those of the other
  // Blue 1 2, Red 1 2, Blue 2 1, Red 2 1.
  int SeatingOf(bool is_a) const {
    const int pair = series_.number / 2;
    const bool starts_the_match = is_a == (series_.number % 2 == 0);
    const int moved = (index_ + (starts_the_match ? 1 : 0)) / 2;
    return is_a ? (pair + moved) % options_.seatings_a
                : (pair / options_.seatings_a + moved) % options_.seatings_b;
  }

  // Red's margin, as scored, of a game that ends before its end.
  int EarlyRedMargin() const {
    if (!forfeited_by.has_value()) {
      return (a_is_red_ ? 1 : -1) * *proved_margins_[0];
    }
    return MarginOfLead(players[kRed] == *forfeited_by ? kBlue : kRed,
                        kForfeitMargin, state.options.compensation_halves);
  }

  // Adds to the record what the game came to.
  void EndRecord() {
    if (state.finished()) {
      record::SetResult(state, record);
    } else {
      record::SetMargin(state, EarlyRedMargin(), record);
      proto::GameResult& result = *record.mutable_result();
      if (forfeited_by.has_value()) {
        result.set_forfeited_by(players[kRed] == *forfeited_by ? kRed : kBlue);
        result.set_fault(fault);
      } else {
        result.set_adjudication("proof");
      }
    }
    if (clocks.empty()) return;
    for (const int place : players) {
      record.add_moves(static_cast<uint32_t>(clocks[place].use.moves));
      record.add_time_us(static_cast<uint64_t>(
          absl::ToInt64Microseconds(clocks[place].use.time)));
    }
  }

  const ArenaOptions& options_;
  const GameSink& sink_;
  Series series_;
  const int index_;
  const double lead_;
  const int attempt_;
  const bool a_is_red_;
  // In favour of A, at the last choices of A and of B.
  std::array<std::optional<int>, 2> proved_margins_ = {};
};

bool ComputesOnDevice(const TeamSpec& team) {
  return std::any_of(team.players.begin(), team.players.end(),
                     [](const PlayerSpec& player) {
                       return player.kind == PlayerKind::kNet &&
                              player.inference.device != "cpu";
                     });
}

}  // namespace

void SetTeams(const TeamSpec& a, const TeamSpec& b, ArenaOptions& options) {
  options.seatings_a = a.seatings();
  options.seatings_b = b.seatings();
  // A device takes a large batch for little more time than a small one.
  constexpr int kFactorOfDevice = 8;
  if (ComputesOnDevice(a) || ComputesOnDevice(b)) {
    options.concurrent_games *= kFactorOfDevice;
  }
  // Several threads search positions that come one at a time.
  options.concurrent_games =
      ThreadsOfAGame(a, b) > 1
          ? 1
          : GamesAtATime(a, GamesAtATime(b, options.concurrent_games));
}

// Each opening has three streams: its own and one for each of its two games.
uint64_t SeedOfArenaGame(uint64_t seed, int opening, bool a_is_red) {
  return DeriveSeed(seed, uint64_t{3} * opening + (a_is_red ? 1 : 2),
                    StreamPurpose::kArena);
}

int GamesPerPair(const ArenaOptions& options) {
  return 2 * GamesPerSeries(options);
}

int PairsPerOpening(const ArenaOptions& options) {
  return options.seatings_a * options.seatings_b;
}

absl::Status CheckArenaOptions(const ArenaOptions& options) {
  const auto error = [](const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat("arena: ", what...));
  };
  for (const auto& [name, value, least] :
       {std::tuple("games", options.games, 1),
        std::tuple("concurrent_games", options.concurrent_games, 1),
        std::tuple("opening_plies", options.opening_plies.value_or(0), 0),
        std::tuple("drawn_plies", options.drawn_plies, 0)}) {
    if (value >= least) continue;
    return error(name, " is ", value, "; expected at least ", least);
  }
  if (options.temperature <= 0) {
    return error("temperature is ", options.temperature,
                 "; expected more than 0");
  }
  if (options.self_play && (options.by_match || options.clocks.has_value())) {
    return error("self_play has neither matches nor clocks");
  }
  const VariantInfo& variant = Info(options.variant);
  if (PairsPerOpening(options) > 1 && variant.seats < 4) {
    return error("a team of two players cannot play ", variant.id,
                 ", where a side has one seat; expected a variant in pairs");
  }
  if (options.sprt.has_value()) {
    TARA_RETURN_IF_ERROR(CheckSprtOptions(*options.sprt));
    if (options.opening_plies == 0) {
      return error(
          "a sequential test assumes independent pairs, but without random "
          "actions (opening_plies 0) all pairs begin alike; expected at least "
          "1, or no test");
    }
    if (PairsPerOpening(options) > 1) {
      return error(
          "a sequential test assumes independent pairs, but teams of two "
          "players play several pairs per opening; expected no test");
    }
  }
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (option.get(options.rule_options) != option.DefaultValue() &&
        !option.applies_to(variant)) {
      return error("the rule option ", option.name, " does not apply to ",
                   variant.id);
    }
  }
  return absl::OkStatus();
}

std::string ArenaConditions(const ArenaOptions& options,
                            absl::string_view openings,
                            absl::string_view time_control) {
  std::string text = absl::StrCat("seed=", options.seed,
                                  " opening_plies=", OpeningPlies(options));
  if (!openings.empty()) absl::StrAppend(&text, " openings=", openings);
  if (!options.adjudicate) absl::StrAppend(&text, " to_the_end");
  if (options.by_match) absl::StrAppend(&text, " by_match");
  if (options.drawn_plies > 0) {
    absl::StrAppend(&text, " drawn_plies=", options.drawn_plies,
                    " temperature=", options.temperature);
  }
  if (options.self_play) absl::StrAppend(&text, " self_play");
  if (options.a_avoids.has_value()) {
    absl::StrAppend(&text, " a_avoids=", ActionTypeName(*options.a_avoids));
  }
  const std::string rules = FormatRuleOptions(options.rule_options);
  if (rules != "-") absl::StrAppend(&text, " rules=", rules);
  if (!time_control.empty()) absl::StrAppend(&text, " time=", time_control);
  return text;
}

absl::Status ResumeFromStore(record::GameStore& store,
                             const proto::Contest& contest,
                             ArenaOptions& options) {
  TARA_ASSIGN_OR_RETURN(const std::vector<proto::GameRecord> games,
                        store.GamesOf(Info(options.variant).id, contest));
  options.earlier.clear();
  for (const proto::GameRecord& game : games) {
    options.earlier.push_back(ArenaGameOf(game));
  }
  options.on_game = [&store, contest](proto::GameRecord game) {
    const bool a_is_red = ArenaGameOf(game).a_is_red;
    game.set_model_id(
        absl::StrCat(a_is_red ? contest.player_a() : contest.player_b(), " vs ",
                     a_is_red ? contest.player_b() : contest.player_a()));
    *game.mutable_contest() = contest;
    return store.Add(game);
  };
  return absl::OkStatus();
}

absl::StatusOr<ArenaResult> PlayArena(
    const ArenaOptions& options, const PlayerFactory& make_a,
    const PlayerFactory& make_b, int threads,
    const ArenaProgressCallback& on_progress) {
  TARA_RETURN_IF_ERROR(CheckArenaOptions(options));
  const int pairs = PairsOf(options);
  threads = std::clamp(threads, 1, pairs);
  // No thread takes all that there is.
  const int games = std::clamp(GamesPerPair(options) * pairs / threads, 1,
                               options.concurrent_games);
  std::vector<PlayerFactory> factories = {make_a};
  if (!options.self_play) factories.push_back(make_b);
  Schedule schedule(options);
  const GameSink sink = [&](proto::GameRecord game) {
    return schedule.Add(std::move(game));
  };
  const auto next_game = [&]() -> absl::StatusOr<std::unique_ptr<PlayedGame>> {
    TARA_ASSIGN_OR_RETURN(std::optional<Series> series, schedule.Next());
    if (!series.has_value()) return nullptr;
    return std::make_unique<SeriesGame>(options, sink, *std::move(series),
                                        /*index=*/0, /*lead=*/0);
  };
  std::atomic<bool> stopped = false;
  const auto go_on = [&] {
    if (stopped || schedule.decided()) return false;
    if (on_progress && !on_progress(schedule.progress())) stopped = true;
    return !stopped;
  };
  TARA_RETURN_IF_ERROR(PlayGamesOnThreads(
      {.games = games, .clocks = options.clocks, .stop = options.stop},
      factories, threads, next_game, go_on));
  return schedule.Result();
}

namespace {

// Series that a fleet has at a time where there may be no need of them all.
constexpr int kMaxQueued = 2048;

std::string OpeningsToBytes(const Series& series) {
  proto::ArenaOpenings bytes;
  for (const Opening& opening : series.openings) {
    proto::ArenaOpenings::Opening& actions = *bytes.add_opening();
    for (const Action action : opening.actions) {
      actions.add_action(static_cast<uint32_t>(Index(action)));
    }
  }
  return bytes.SerializeAsString();
}

// Returns the series of a piece, without the states of openings.
absl::StatusOr<Series> SeriesOf(const fleet::Piece& piece,
                                const ArenaOptions& options) {
  Series series = {.number = static_cast<int>(piece.id), .openings = {}};
  proto::ArenaOpenings bytes;
  bool is_sound = piece.id < uint64_t{1} << 31 &&
                  bytes.ParseFromString(piece.payload) &&
                  bytes.opening_size() == GamesPerSeries(options);
  for (const auto& opening : bytes.opening()) {
    State state = InitialState(options.variant, options.rule_options);
    Opening& actions = series.openings.emplace_back();
    for (const uint32_t index : opening.action()) {
      const auto action = static_cast<Action>(index);
      is_sound =
          is_sound && index < kNumActions && PlayAction(action, state).ok();
      if (!is_sound) break;
      actions.actions.push_back(action);
    }
  }
  if (is_sound) return series;
  return absl::InvalidArgumentError(
      absl::StrCat("series ", piece.id, " of an arena: wrong openings"));
}

}  // namespace

absl::StatusOr<ArenaResult> PlayArenaOnFleet(
    const ArenaOptions& options, const TeamSpec& a, const TeamSpec& b,
    fleet::Fleet& fleet, const ArenaProgressCallback& on_progress) {
  TARA_RETURN_IF_ERROR(CheckArenaOptions(options));
  if (options.clocks.has_value()) {
    return absl::FailedPreconditionError(
        "games with clocks differ on other machines; expected no time control");
  }
  const State start = InitialState(options.variant, options.rule_options);
  std::vector<TeamSpec> teams = {a};
  if (!options.self_play) teams.push_back(b);
  TARA_ASSIGN_OR_RETURN(RemoteContest contest,
                        NewRemoteContest(start, options.seed, teams));
  proto::ArenaRules& rules = *contest.request.mutable_arena();
  rules.set_by_match(options.by_match);
  rules.set_proof(options.adjudicate);
  rules.set_self_play(options.self_play);
  rules.set_drawn_plies(options.drawn_plies);
  rules.set_temperature(options.temperature);
  if (options.a_avoids.has_value()) {
    rules.set_a_avoids(static_cast<uint32_t>(*options.a_avoids));
  }
  proto::FleetRequest request;
  *request.mutable_contest() = std::move(contest.request);

  Schedule schedule(options);
  std::map<uint64_t, Series> series;  // that the fleet has
  const auto number_of = [&](const proto::GameRecord& game) -> uint64_t {
    return options.by_match ? game.match() : game.place();
  };
  const GameSink no_sink;
  TARA_RETURN_IF_ERROR(fleet.Play({
      .name = absl::StrCat(Info(options.variant).id, ", ", a.text, " against ",
                           b.text),
      .request = std::move(request),
      .files = std::move(contest.files),
      .folder = "",
      .ahead = options.sprt.has_value() ? kMaxQueued
                                        : std::numeric_limits<int>::max(),
      .next = [&]() -> absl::StatusOr<std::optional<fleet::Piece>> {
        TARA_ASSIGN_OR_RETURN(std::optional<Series> next, schedule.Next());
        if (!next.has_value()) return std::nullopt;
        const auto number = static_cast<uint64_t>(next->number);
        fleet::Piece piece = {.id = number, .payload = OpeningsToBytes(*next)};
        series[number] = *std::move(next);
        return piece;
      },
      .games_per_piece = GamesPerSeries(options),
      .piece_of = number_of,
      .check =
          [&](const proto::GameRecord& game, int nth) {
            const SeriesGame begun(options, no_sink, series[number_of(game)],
                                   nth,
                                   /*lead=*/0);
            return CheckBegunAs(begun.record, game);
          },
      .take =
          [&](std::vector<proto::GameRecord> games) {
            for (proto::GameRecord& game : games) {
              TARA_RETURN_IF_ERROR(schedule.Add(std::move(game)));
            }
            return absl::OkStatus();
          },
      .go_on =
          [&] {
            return !schedule.decided() && !(options.stop && options.stop()) &&
                   (!on_progress || on_progress(schedule.progress()));
          },
  }));
  return schedule.Result();
}

absl::StatusOr<ArenaResult> PlayArena(
    const ArenaOptions& options, const Contestant& a, const Contestant& b,
    int threads, fleet::Fleet* fleet,
    const ArenaProgressCallback& on_progress) {
  return fleet != nullptr
             ? PlayArenaOnFleet(options, a.team, b.team, *fleet, on_progress)
             : PlayArena(options, a.make, b.make, threads, on_progress);
}

absl::StatusOr<std::unique_ptr<ArenaWorker>> ArenaWorker::Create(
    const proto::ContestRequest& request, absl::Span<const std::string> files) {
  State start;
  TARA_ASSIGN_OR_RETURN(const std::vector<TeamSpec> teams,
                        ParseTeams(request, files, start));
  const proto::ArenaRules& rules = request.arena();
  const size_t expected = rules.self_play() ? 1 : 2;
  if (teams.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat("arena with ", teams.size(), " players; expected ",
                     expected == 1 ? "one" : "two"));
  }
  if (rules.a_avoids() >= kNumActionTypes) {
    return absl::InvalidArgumentError(
        absl::StrCat("type of avoided actions is ", rules.a_avoids(),
                     "; expected a number below ", kNumActionTypes));
  }
  auto worker = std::make_unique<ArenaWorker>();
  ArenaOptions& options = worker->options_;
  options = {.variant = start.variant,
             .rule_options = start.options,
             .by_match = rules.by_match(),
             .drawn_plies = rules.drawn_plies(),
             .self_play = rules.self_play(),
             .seed = request.seed(),
             .adjudicate = rules.proof()};
  if (rules.drawn_plies() > 0) options.temperature = rules.temperature();
  if (rules.has_a_avoids()) {
    options.a_avoids = static_cast<ActionType>(rules.a_avoids());
  }
  SetTeams(teams.front(), teams.back(), options);
  TARA_RETURN_IF_ERROR(CheckArenaOptions(options));
  TARA_ASSIGN_OR_RETURN(worker->a_, NewPlayerFactory(teams[0])());
  if (!rules.self_play()) {
    TARA_ASSIGN_OR_RETURN(worker->b_, NewPlayerFactory(teams[1])());
  }
  return worker;
}

absl::StatusOr<std::vector<proto::GameRecord>> ArenaWorker::Play(
    absl::Span<const fleet::Piece> pieces, const StopCheck& stop) {
  std::map<uint64_t, std::vector<proto::GameRecord>> played;  // by series
  const GameSink sink = [&](proto::GameRecord game) {
    played[options_.by_match ? game.match() : game.place()].push_back(
        std::move(game));
    return absl::OkStatus();
  };
  size_t next = 0;
  const auto next_game = [&]() -> absl::StatusOr<std::unique_ptr<PlayedGame>> {
    if (next == pieces.size()) return nullptr;
    TARA_ASSIGN_OR_RETURN(Series series, SeriesOf(pieces[next++], options_));
    return std::make_unique<SeriesGame>(options_, sink, std::move(series),
                                        /*index=*/0, /*lead=*/0);
  };
  std::vector<Player*> players = {a_.get()};
  if (b_ != nullptr) players.push_back(b_.get());
  TARA_RETURN_IF_ERROR(
      PlayGames({.games = options_.concurrent_games, .stop = stop}, players,
                next_game, [] { return true; }));
  std::vector<proto::GameRecord> games;
  for (auto& [number, of_series] : played) {
    if (static_cast<int>(of_series.size()) < GamesPerSeries(options_)) continue;
    for (proto::GameRecord& game : of_series) games.push_back(std::move(game));
  }
  return games;
}

std::vector<ArenaOptions> GateMatches(const GateOptions& options) {
  constexpr double kErrorRate = 0.05;
  std::vector<ArenaOptions> matches;
  for (const State& start : options.starts) {
    ArenaOptions match;
    match.variant = start.variant;
    match.rule_options = start.options;
    match.games = options.games;
    match.seed =
        DeriveSeed(options.run_seed, ~options.candidate, StreamPurpose::kArena);
    match.sprt = {
        .elo0 = -options.max_drop_elo,
        .elo1 = 0,
        .alpha = kErrorRate,
        .beta = kErrorRate / static_cast<double>(options.starts.size())};
    matches.push_back(match);
  }
  return matches;
}

bool IsWeaker(const ArenaResult& result) {
  return result.sprt.has_value() &&
         result.sprt->decision() == SprtDecision::kAcceptH0;
}

}  // namespace tara::eval
