#include "tara/eval/balance/balance_driver.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/balance/first_actions.h"
#include "tara/eval/players/contest.h"
#include "tara/eval/players/make_player.h"
#include "tara/record/game_record.h"

namespace tara::eval {
namespace {

// Streams of a game: its random opening, which all players share, and whatever
// else is drawn; and of a study, the report on the start.
constexpr uint64_t kOpeningStream = 0;
constexpr uint64_t kGameStream = 1;
constexpr uint64_t kStartStream = 2;

uint64_t StreamSeed(const BalanceGameOptions& options, const BalanceGameId& id,
                    uint64_t stream) {
  const uint64_t begins_with =
      id.first.has_value() ? 1 + static_cast<uint64_t>(Index(*id.first)) : 0;
  const uint64_t games =
      DeriveSeed(options.seed, begins_with, StreamPurpose::kArena);
  const uint64_t game =
      DeriveSeed(games, static_cast<uint64_t>(id.index), StreamPurpose::kArena);
  return DeriveSeed(game, stream, StreamPurpose::kArena);
}

}  // namespace

uint64_t SeedOfGame(const BalanceGameOptions& options,
                    const BalanceGameId& id) {
  return StreamSeed(options, id, kGameStream);
}

namespace {

// Values are the mover's; these are Red's.
float ForRed(const State& state, float value) {
  return state.side() == kRed ? value : -value;
}

// Returns the entropy of a policy, equivalent actions taken together.
float ChoiceEntropy(const State& state, absl::Span<const float> policy) {
  const std::vector<int> classes = ActionClasses(state);
  std::vector<double> weights(policy.size());
  for (size_t i = 0; i < policy.size(); ++i) weights[classes[i]] += policy[i];
  return static_cast<float>(Entropy(weights));
}

// Attempts at a game that the player gives up.
constexpr int kMostAttempts = 3;

// What the games of one call share.
struct Call {
  const BalanceGameOptions& options;
  const absl::Span<const BalanceGameId> games;
  const uint64_t first_number;  // of the first, among all of the players' games
  const BalanceGameCallback& on_game;
  std::atomic<size_t> next = 0;  // the place of the next game to begin
  std::atomic<bool> stopped = false;
  absl::Mutex mutex = {};
  std::vector<proto::GameRecord> finished ABSL_GUARDED_BY(mutex) = {};
  bool delivering ABSL_GUARDED_BY(mutex) = false;
  std::vector<std::string> forfeits ABSL_GUARDED_BY(mutex) = {};

  // Hands a finished game on to the caller. One thread at a time does so, also
  // with the games that others finish meanwhile, which need not wait.
  absl::Status Deliver(proto::GameRecord game) {
    {
      absl::MutexLock lock(&mutex);
      finished.push_back(std::move(game));
      if (std::exchange(delivering, true)) return absl::OkStatus();
    }
    while (true) {
      std::vector<proto::GameRecord> games;
      {
        absl::MutexLock lock(&mutex);
        games = std::exchange(finished, {});
        if (games.empty()) delivering = false;
      }
      if (games.empty()) return absl::OkStatus();
      for (proto::GameRecord& each : games) {
        const absl::StatusOr<bool> go_on = on_game(std::move(each));
        // What is finished is handed on all the same.
        if (!go_on.ok() || !*go_on) stopped = true;
        TARA_RETURN_IF_ERROR(go_on.status());
      }
    }
  }
};

// A game of the player with itself, the place-th of a call.
class StudyGame : public PlayedGame {
 public:
  // REQUIRES: the first action that the game is to have, if any, is legal.
  StudyGame(Call& call, size_t place, int attempt)
      : PlayedGame(
            call.first_number + place,
            InitialState(call.options.variant, call.options.rule_options),
            SeedOfGame(call.options, call.games[place])),
        call_(call),
        place_(place),
        attempt_(attempt) {
    const BalanceGameId& id = call.games[place];
    record.set_place(id.place());
    Random opening(StreamSeed(call.options, id, kOpeningStream));
    if (id.first.has_value()) Play(*id.first);
    // An action that would end the game is not played.
    while (ply() < call.options.opening_plies) {
      const Action action = RandomAction(state, opening);
      State next = state;
      ApplyAction(action, next);
      if (next.finished()) break;
      Play(action);
    }
    record.set_opening_plies(static_cast<uint32_t>(ply()));
  }

  Action Choose(const SearchReport& report, Action choice) override {
    if (ply() < kPolicyPlies && !report.policy.empty()) {
      entropies_[ply()] = ChoiceEntropy(state, report.policy);
    }
    const int opening_plies = static_cast<int>(record.opening_plies());
    const bool drawn = ply() < opening_plies + call_.options.drawn_plies;
    if (!drawn || report.policy.empty()) return choice;
    const Action action = Draw(report.policy);
    if (action != choice) chosen_[ply()] = choice;
    return action;
  }

  absl::StatusOr<std::unique_ptr<PlayedGame>> Finish() override {
    if (!forfeited_by.has_value()) {
      record::SetResult(state, record);
      for (const auto& [ply, entropy] : entropies_) {
        record.mutable_steps(ply)->set_policy_entropy(entropy);
      }
      for (const auto& [ply, action] : chosen_) {
        record.mutable_steps(ply)->set_chosen_action(
            static_cast<uint32_t>(Index(action)));
      }
      TARA_RETURN_IF_ERROR(call_.Deliver(std::move(record)));
      return nullptr;
    }
    {
      absl::MutexLock lock(&call_.mutex);
      call_.forfeits.push_back(fault);
    }
    if (attempt_ < kMostAttempts) {
      return std::make_unique<StudyGame>(call_, place_, attempt_ + 1);
    }
    return absl::AbortedError(absl::StrCat(
        "game ", call_.games[place_].index, " of the study was given up ",
        kMostAttempts, " times by its player: ", fault));
  }

 private:
  int ply() const { return static_cast<int>(actions.size()); }

  Action Draw(absl::Span<const float> policy) {
    std::vector<double> weights;
    double sum = 0;
    for (const float share : policy) {
      sum +=
          std::pow(static_cast<double>(share), 1 / call_.options.temperature);
      weights.push_back(sum);  // cumulated
    }
    const double drawn = random.Uniform() * sum;
    int nth = 0;
    while (nth + 1 < static_cast<int>(weights.size()) &&
           weights[nth] <= drawn) {
      ++nth;
    }
    return LegalActions(state).Nth(nth);
  }

  Call& call_;
  const size_t place_;
  const int attempt_;
  std::map<int, float> entropies_;  // by ply, of the player's policy
  std::map<int, Action> chosen_;    // by ply, where another was drawn
};

}  // namespace

absl::StatusOr<std::unique_ptr<BalanceDriver>> BalanceDriver::Create(
    const PlayerFactory& make, int threads, int concurrent_games) {
  TARA_ASSIGN_OR_RETURN(PlayersByThread players, MakePlayers({make}, threads));
  return std::unique_ptr<BalanceDriver>(
      new BalanceDriver(std::move(players), concurrent_games));
}

absl::Status BalanceDriver::Play(const BalanceGameOptions& options,
                                 absl::Span<const BalanceGameId> games,
                                 const BalanceGameCallback& on_game) {
  if (games.empty()) return absl::OkStatus();
  if (fleet_ != nullptr) return PlayByFleet(options, games, on_game);
  Call call = {.options = options,
               .games = games,
               .first_number = next_number_,
               .on_game = on_game};
  next_number_ += games.size();
  const absl::Status status = PlayGamesOnThreads(
      {.games = concurrent_games_, .stop = stop_}, players_,
      static_cast<int>(std::min(players_.size(), games.size())),
      [&]() -> absl::StatusOr<std::unique_ptr<PlayedGame>> {
        const size_t place = call.stopped ? games.size() : call.next++;
        if (place >= games.size()) return nullptr;
        return std::make_unique<StudyGame>(call, place, /*attempt=*/1);
      },
      [&] { return !call.stopped; });
  absl::MutexLock lock(&call.mutex);
  if (forfeits_ == 0 && !call.forfeits.empty()) {
    first_forfeit_ = call.forfeits[0];
  }
  forfeits_ += static_cast<int>(call.forfeits.size());
  return status;
}

void BalanceDriver::PlayOn(fleet::Fleet& fleet, const PlayerSpec& player,
                           StopCheck stop) {
  fleet_ = &fleet;
  team_ = TeamOf({player});
  StopWhen(std::move(stop));
}

absl::Status BalanceDriver::PlayByFleet(const BalanceGameOptions& options,
                                        absl::Span<const BalanceGameId> games,
                                        const BalanceGameCallback& on_game) {
  const State start = InitialState(options.variant, options.rule_options);
  TARA_ASSIGN_OR_RETURN(RemoteContest contest,
                        NewRemoteContest(start, options.seed, {team_}));
  proto::StudyRules& rules = *contest.request.mutable_study();
  rules.set_opening_plies(options.opening_plies);
  rules.set_drawn_plies(options.drawn_plies);
  rules.set_temperature(options.temperature);
  proto::FleetRequest request;
  *request.mutable_contest() = std::move(contest.request);

  size_t next = 0;
  bool go_on = true;
  size_t taken = 0;
  TARA_RETURN_IF_ERROR(fleet_->Play({
      .name = absl::StrCat("the study of ", Info(options.variant).id, ", ",
                           team_.text),
      .request = std::move(request),
      .files = std::move(contest.files),
      .folder = "",
      .next = [&]() -> absl::StatusOr<std::optional<fleet::Piece>> {
        if (next == games.size()) return std::nullopt;
        return fleet::Piece{.id = games[next++].place(), .what = {}};
      },
      .piece_of = [](const proto::GameRecord& game) { return game.place(); },
      .check =
          [&](const proto::GameRecord& game, int /*nth*/) {
            const BalanceGameId id = BalanceGameId::AtPlace(game.place());
            Call call = {.options = options,
                         .games = {&id, 1},
                         .first_number = 0,
                         .on_game = on_game};
            const StudyGame begun(call, /*place=*/0, /*attempt=*/1);
            return CheckBegunAs(begun.record, game);
          },
      .take = [&](std::vector<proto::GameRecord> played) -> absl::Status {
        taken += played.size();
        for (proto::GameRecord& game : played) {
          TARA_ASSIGN_OR_RETURN(const bool more, on_game(std::move(game)));
          go_on = go_on && more;
        }
        return absl::OkStatus();
      },
      .go_on = [&] { return go_on && !stopped(); },
  }));
  if (!go_on || taken == games.size()) return absl::OkStatus();
  return absl::CancelledError("interrupted; the games that ended are kept");
}

absl::StatusOr<std::unique_ptr<StudyWorker>> StudyWorker::Create(
    const proto::ContestRequest& request, absl::Span<const std::string> files) {
  State start;
  TARA_ASSIGN_OR_RETURN(const std::vector<TeamSpec> teams,
                        TeamsOf(request, files, start));
  const proto::StudyRules& rules = request.study();
  if (teams.size() != 1 || teams[0].players.size() != 1 ||
      rules.temperature() <= 0) {
    return absl::InvalidArgumentError(
        "a study; expected one player and a temperature above 0");
  }
  auto worker = std::make_unique<StudyWorker>();
  worker->options_ = {.variant = start.variant,
                      .rule_options = start.options,
                      .seed = request.seed(),
                      .opening_plies = rules.opening_plies(),
                      .drawn_plies = rules.drawn_plies(),
                      .temperature = rules.temperature()};
  TARA_ASSIGN_OR_RETURN(
      worker->driver_,
      BalanceDriver::Create(FactoryOf(teams[0]), /*threads=*/1,
                            GamesAtATime(teams[0], kStudyGamesAThread)));
  return worker;
}

absl::StatusOr<std::vector<proto::GameRecord>> StudyWorker::Play(
    absl::Span<const fleet::Piece> pieces, const StopCheck& stop) {
  std::vector<BalanceGameId> games;
  for (const fleet::Piece& piece : pieces) {
    games.push_back(BalanceGameId::AtPlace(piece.id));
    const std::optional<Action>& first = games.back().first;
    if (!first.has_value() ||
        LegalActions(InitialState(options_.variant, options_.rule_options))
            .Contains(*first)) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("game ", piece.id, " of a study: a wrong first action"));
  }
  std::vector<proto::GameRecord> played;
  driver_->StopWhen(stop);
  TARA_RETURN_IF_ERROR(driver_->Play(
      options_, games, [&](proto::GameRecord game) -> absl::StatusOr<bool> {
        played.push_back(std::move(game));
        return true;
      }));
  return played;
}

proto::Contest ContestOf(const BalanceStudyKey& key) {
  const BalanceGameOptions& options = key.options;
  std::string conditions = absl::StrFormat(
      "study seed=%d opening_plies=%d drawn_plies=%d temperature=%.9g",
      options.seed, options.opening_plies, options.drawn_plies,
      options.temperature);
  const std::string rules = FormatRuleOptions(options.rule_options);
  if (rules != "-") absl::StrAppend(&conditions, " rules=", rules);
  return NewContest(conditions, key.identity, key.identity);
}

absl::Status AskForStart(const BalanceGameOptions& options, Player& player,
                         StartReport& start, const StopCheck& stop) {
  Random random(StreamSeed(options, BalanceGameId(), kStartStream));
  SearchReport report;
  const Turn turn = {
      .state = InitialState(options.variant, options.rule_options),
      .random = &random,
      .game = std::numeric_limits<uint64_t>::max(),
      .report = &report,
      .stop = stop ? &stop : nullptr};
  Action choice;
  TARA_RETURN_IF_ERROR(
      player.ChooseActions({turn}, absl::MakeSpan(&choice, 1)));
  player.EndGame(turn.game);
  start = StartReport();
  if (report.value.has_value()) {
    start.value = InThousandths(ForRed(turn.state, *report.value));
  }
  if (report.policy.empty()) return absl::OkStatus();
  LegalActions(turn.state).ForEach([&](Action action) {
    const size_t i = start.actions.size();
    start.actions.push_back(action);
    start.policy.push_back(InThousandths(report.policy[i]));
    start.values.push_back(
        report.action_values.empty()
            ? std::numeric_limits<float>::quiet_NaN()
            : InThousandths(ForRed(turn.state, report.action_values[i])));
  });
  return absl::OkStatus();
}

absl::Status StudyGames::Load() {
  TARA_ASSIGN_OR_RETURN(
      const std::vector<proto::GameRecord> earlier,
      store_.GamesOf(Info(key_.options.variant).id, contest_));
  for (const proto::GameRecord& game : earlier) {
    TARA_RETURN_IF_ERROR(Add(game));
  }
  return absl::OkStatus();
}

const GameFacts* StudyGames::Find(const BalanceGameId& id) const {
  const auto game = games_.find(id);
  return game == games_.end() ? nullptr : &game->second;
}

std::vector<BalanceGameId> StudyGames::Missing(
    absl::Span<const BalanceGameId> games) const {
  std::vector<BalanceGameId> missing;
  for (const BalanceGameId& id : games) {
    if (Find(id) == nullptr) missing.push_back(id);
  }
  return missing;
}

absl::Status StudyGames::Play(absl::Span<const BalanceGameId> games,
                              const std::function<bool()>& on_game) {
  return driver_.Play(key_.options, Missing(games),
                      [&](proto::GameRecord game) -> absl::StatusOr<bool> {
                        game.set_model_id(key_.identity);
                        *game.mutable_contest() = contest_;
                        TARA_RETURN_IF_ERROR(store_.Add(game));
                        TARA_RETURN_IF_ERROR(Add(game));
                        return on_game();
                      });
}

absl::Status StudyGames::Add(const proto::GameRecord& game) {
  TARA_ASSIGN_OR_RETURN(GameFacts facts, FactsOf(game));
  games_.insert_or_assign(facts.id, std::move(facts));
  return absl::OkStatus();
}

namespace {

class Run {
 public:
  Run(const BalancePlan& plan, const BalanceStudyKey& key,
      BalanceDriver& driver, record::GameStore& store,
      const BalanceProgressCallback& on_progress)
      : plan_(plan),
        key_(key),
        driver_(driver),
        on_progress_(on_progress),
        games_(key, driver, store) {
    study_.options = key.options;
    study_.player = key.player;
    study_.num_first_games = plan.first_games;
    progress_.games = MostGames(plan, key.options);
  }

  absl::StatusOr<BalanceStudy> Play() {
    TARA_RETURN_IF_ERROR(games_.Load());
    TARA_RETURN_IF_ERROR(AskForStart(key_.options, driver_.player(),
                                     study_.start.emplace(), driver_.stop()));
    go_on_ = !on_progress_ || on_progress_(progress_);
    TARA_RETURN_IF_ERROR(PlayMainGames());
    TARA_RETURN_IF_ERROR(PlayFirstGames());
    TARA_RETURN_IF_ERROR(PlayPieGames());
    return std::move(study_);
  }

 private:
  bool Precise() const {
    const Interval score = FirstSideScore(study_.games);
    return plan_.precision.has_value() &&
           (score.high - score.low) / 2 <= *plan_.precision;
  }

  absl::Status PlayMainGames() {
    const int block = plan_.precision.has_value() ? kBalanceBlock : plan_.games;
    for (int begin = 0; begin < plan_.games && !(begin > 0 && Precise());
         begin += block) {
      const int end = std::min(plan_.games, begin + block);
      std::vector<BalanceGameId> wanted;
      for (int i = begin; i < end; ++i) wanted.push_back({.index = i});
      TARA_RETURN_IF_ERROR(PlayMissing(wanted));
      Take(begin, end, std::nullopt, study_.games);
      if (!go_on_) break;
      progress_.score = FirstSideScore(study_.games);
    }
    // What a reached precision has saved.
    progress_.games -= plan_.games - static_cast<int>(study_.games.size());
    return absl::OkStatus();
  }

  absl::Status PlayFirstGames() {
    const auto classes = FirstActionClasses(key_.options);
    std::vector<BalanceGameId> wanted;
    // By turns, so that a study broken off has some of each.
    for (int i = 0; i < plan_.first_games; ++i) {
      for (const std::vector<Action>& members : classes) {
        wanted.push_back({.index = i, .first = members[0]});
      }
    }
    TARA_RETURN_IF_ERROR(PlayMissing(wanted));
    for (const std::vector<Action>& members : classes) {
      if (plan_.first_games == 0) break;
      Take(0, plan_.first_games, members[0], study_.first_games[members[0]]);
    }
    return absl::OkStatus();
  }

  absl::Status PlayPieGames() {
    if (!go_on_ || plan_.pie_games == 0) return absl::OkStatus();
    const std::optional<Action> fairest = FairestFirstAction(study_);
    if (!fairest.has_value()) return absl::OkStatus();
    const int begin = plan_.first_games;
    const int end = begin + plan_.pie_games;
    std::vector<BalanceGameId> wanted;
    for (int i = begin; i < end; ++i) {
      wanted.push_back({.index = i, .first = fairest});
    }
    TARA_RETURN_IF_ERROR(PlayMissing(wanted));
    Take(begin, end, fairest, study_.first_games[*fairest]);
    return absl::OkStatus();
  }

  // Plays those of the games that the store lacks, until told to stop.
  absl::Status PlayMissing(const std::vector<BalanceGameId>& wanted) {
    if (!go_on_) return absl::OkStatus();
    progress_.games_done +=
        static_cast<int>(wanted.size() - games_.Missing(wanted).size());
    const absl::Status status = games_.Play(wanted, [&] {
      ++progress_.games_done;
      // Games that were finished when it stopped come after that: it stays
      // stopped.
      if (on_progress_ && !on_progress_(progress_)) go_on_ = false;
      return go_on_;
    });
    go_on_ = go_on_ && !driver_.stopped();
    return status;
  }

  // Adds games begin ... end - 1 to `facts`, up to the first that is missing.
  void Take(int begin, int end, std::optional<Action> first,
            std::vector<GameFacts>& facts) {
    for (int i = begin; i < end; ++i) {
      const GameFacts* const game = games_.Find({.index = i, .first = first});
      if (game == nullptr) break;
      facts.push_back(*game);
    }
  }

  const BalancePlan& plan_;
  const BalanceStudyKey& key_;
  BalanceDriver& driver_;
  const BalanceProgressCallback& on_progress_;
  StudyGames games_;
  bool go_on_ = true;
  BalanceProgress progress_;
  BalanceStudy study_;
};

}  // namespace

int MostGames(const BalancePlan& plan, const BalanceGameOptions& options) {
  const auto classes = static_cast<int>(FirstActionClasses(options).size());
  return plan.games + plan.first_games * classes +
         (plan.first_games > 0 ? plan.pie_games : 0);
}

absl::StatusOr<BalanceStudy> RunBalanceStudy(
    const BalancePlan& plan, const BalanceStudyKey& key, BalanceDriver& driver,
    record::GameStore& store, const BalanceProgressCallback& on_progress) {
  return Run(plan, key, driver, store, on_progress).Play();
}

}  // namespace tara::eval
