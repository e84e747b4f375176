#include "tara/eval/balance/study.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"
#include "tara/record/game_record.h"

namespace tara::eval {
namespace {

constexpr int kOpeningPlies = 2;      // of players without a policy
constexpr int kConcurrentGames = 32;  // in progress on a thread
// A restriction is studied if the action occurs so often a game.
constexpr double kMinOccurrence = 0.1;
constexpr uint64_t kFreshStream = 1;

bool Searches(const PlayerSpec& player) {
  return player.kind == PlayerKind::kMcts || player.kind == PlayerKind::kNet;
}

// A player at one number of simulations; dry, not made.
struct Contender {
  PlayerSpec given;
  int simulations = 0;
  Contestant made = {};
};

// Runs a study; or, dry, only counts the games that it would play at most.
class Run {
 public:
  Run(const Study& study, const StudyContext& context, bool dry)
      : study_(study), context_(context), dry_(dry) {}

  absl::Status PlayAll() {
    if (!dry_ && context_.on_progress) {
      TARA_ASSIGN_OR_RETURN(planned_, MostGamesOf(study_, context_));
    }
    samples_.resize(study_.rules.size());
    const StopCheck stop = context_.stop ? context_.stop : [] { return false; };
    return fleet::PlayAll(context_.fleet, study_.rules.size(), stop,
                          [&](size_t i, const StopCheck& stop) {
                            return PlayRules(study_.rules[i], stop,
                                             samples_[i]);
                          });
  }

  StudyResults Results() {
    StudyResults results;
    for (std::vector<Sample>& of_rules : samples_) {
      for (Sample& sample : of_rules) {
        results.samples.push_back(std::move(sample));
      }
    }
    results.untrained = context_.untrained;
    absl::MutexLock lock(&mutex_);
    for (const auto& [player, rules] : learning_) {
      for (const auto& [what, variants] : rules) {
        if (variants.not_learned.empty()) continue;
        results.not_learned[player].insert(
            variants.learned.empty()
                ? what
                : absl::StrCat(what, " (",
                               absl::StrJoin(variants.not_learned, ", "), ")"));
      }
    }
    results.contests = contests_;
    return results;
  }

  // Dry: the games that would be played at most.
  int64_t planned() const { return planned_; }

  // Where a player has learned a rule, and where not.
  struct Variants {
    std::set<absl::string_view> learned, not_learned;
  };

  absl::StatusOr<Contender> ContenderOf(const PlayerSpec& given,
                                        int simulations) {
    PlayerSpec spec = given;
    if (simulations > 0) {
      TARA_ASSIGN_OR_RETURN(
          spec, WithOption(given, "sims", absl::StrCat(simulations)));
    }
    if (dry_) return Contender{.given = given, .simulations = simulations};
    absl::MutexLock lock(&mutex_);
    Contestant& made = made_[spec.text];
    if (made.make == nullptr) {
      TARA_ASSIGN_OR_RETURN(made, MakeContestant(MakeTeam({spec}), true));
    }
    return Contender{given, simulations, made};
  }

 private:
  absl::Status PlayRules(const StudiedRules& rules, const StopCheck& stop,
                         std::vector<Sample>& samples) {
    for (const PlayerSpec& player : study_.players) {
      for (const proto::StudyBudget& budget : study_.size.budget()) {
        TARA_ASSIGN_OR_RETURN(const Contender contender,
                              ContenderOf(player, budget.simulations()));
        TARA_RETURN_IF_ERROR(
            PlayBudget(rules, contender, budget, stop, samples));
        if (stop && stop()) return absl::OkStatus();
      }
      TARA_RETURN_IF_ERROR(PlayDoublings(rules, player, stop, samples));
    }
    return absl::OkStatus();
  }

  absl::Status PlayBudget(const StudiedRules& rules, const Contender& contender,
                          const proto::StudyBudget& budget,
                          const StopCheck& stop, std::vector<Sample>& samples) {
    const auto play = [&](absl::string_view part, const RuleOptions& options,
                          int games, ArenaOptions arena,
                          absl::string_view openings = "",
                          absl::string_view detail = "") {
      arena.variant = rules.variant;
      arena.rule_options = options;
      arena.games = games;
      return Play(part, contender, contender, std::move(arena), openings,
                  detail, stop, samples);
    };
    const ArenaOptions drawn = DrawnOpenings(contender);
    const State start = InitialState(rules.variant, rules.options);
    TARA_RETURN_IF_ERROR(
        play(part::kGames, rules.options, budget.games(), drawn));
    const size_t base = samples.size() - 1;

    if (budget.first_games() > 0) {
      ArenaOptions first = drawn;
      first.opening_plies = 0;
      for (const std::vector<Action>& members : ActionsByClass(start)) {
        first.given_openings.push_back({members[0]});
      }
      const auto classes = static_cast<int>(first.given_openings.size());
      TARA_RETURN_IF_ERROR(play(part::kFirst, rules.options,
                                budget.first_games() * classes, first,
                                "each_first"));
    }
    if (budget.ladder_games() > 0) {
      TARA_RETURN_IF_ERROR(
          PlayLadder(rules, contender, budget, play, base, samples));
    }
    if (budget.pie_games() > 0 && Info(rules.variant).seats == 2) {
      RuleOptions pie = rules.options;
      pie.pie_rule = true;
      if (MayPlay(contender, rules.variant, pie, "the pie rule")) {
        TARA_RETURN_IF_ERROR(play(part::kPie, pie, budget.pie_games(), drawn));
      }
    }
    for (const RuleChange& change : rules.changes) {
      if (budget.option_games() == 0) break;
      if (!MayPlay(contender, rules.variant, change.options, change.text)) {
        continue;
      }
      TARA_RETURN_IF_ERROR(play(part::kOption, change.options,
                                budget.option_games(), drawn, "", change.text));
    }
    if (budget.restricted_games() == 0) return absl::OkStatus();
    for (const ActionType type : {ActionType::kCapture, ActionType::kSacrifice,
                                  ActionType::kPass, ActionType::kLink}) {
      const auto actions = [=](const GameFacts& game) {
        return game.types[static_cast<size_t>(type)];
      };
      if (!dry_ && MeanOf(samples[base].games, actions).mean < kMinOccurrence) {
        continue;
      }
      ArenaOptions restricted = drawn;
      restricted.self_play = false;
      restricted.a_avoids = type;
      TARA_RETURN_IF_ERROR(play(part::kRestricted, rules.options,
                                budget.restricted_games(), restricted, "",
                                ActionTypeName(type)));
    }
    return absl::OkStatus();
  }

  // A ladder of compensations, with the openings of the games without one; and
  // fresh games with the one that is nearest to even on half of them.
  template <typename PlayPart>
  absl::Status PlayLadder(const StudiedRules& rules, const Contender& contender,
                          const proto::StudyBudget& budget,
                          const PlayPart& play, size_t base,
                          std::vector<Sample>& samples) {
    const int openings = std::min(budget.ladder_games(), budget.games());
    ArenaOptions ladder = DrawnOpenings(contender);
    const int plies = *ladder.opening_plies + ladder.drawn_plies;
    const std::vector<GameFacts> games = samples[base].games;
    for (int i = 0; i < std::min(openings, static_cast<int>(games.size()));
         ++i) {
      const std::vector<Action>& actions = games[i].actions;
      ladder.given_openings.emplace_back(
          actions.begin(),
          actions.begin() + std::min(plies, static_cast<int>(actions.size())));
    }
    const std::string name =
        absl::StrCat("of_games,", *ladder.opening_plies, ",",
                     ladder.drawn_plies, ",", ladder.temperature);
    ladder.opening_plies = 0;
    ladder.drawn_plies = 0;
    // Half points, in favour of the side that is behind.
    const int sign = ScoresOf(HalfOf(games, 0)).score.mean >= 0.5 ? 1 : -1;
    const int most = static_cast<int>(2 * study_.ladder_points);
    std::vector<size_t> steps;
    for (int halves = sign; std::abs(halves) <= most; halves += sign) {
      RuleOptions with = rules.options;
      with.compensation_halves = static_cast<int8_t>(halves);
      if (!MayPlay(contender, rules.variant, with,
                   absl::StrCat("compensation=", halves / 2.0))) {
        break;
      }
      steps.push_back(samples.size());
      TARA_RETURN_IF_ERROR(play(part::kLadder, with, openings, ladder, name));
    }
    if (steps.empty()) return absl::OkStatus();
    RuleOptions with = rules.options;
    if (!dry_) {
      std::vector<const Sample*> tried = {&samples[base]};
      for (const size_t step : steps) tried.push_back(&samples[step]);
      samples[base].compensation = FindCompensation(tried, openings, plies);
      if (!samples[base].compensation.has_value()) return absl::OkStatus();
      with.compensation_halves =
          static_cast<int8_t>(samples[base].compensation->halves);
    }
    if (budget.fresh_games() == 0) return absl::OkStatus();
    ArenaOptions fresh = DrawnOpenings(contender);
    fresh.seed = DeriveSeed(study_.seed, kFreshStream, StreamPurpose::kArena);
    return play(part::kFresh, with, budget.fresh_games(), fresh);
  }

  absl::Status PlayDoublings(const StudiedRules& rules,
                             const PlayerSpec& player, const StopCheck& stop,
                             std::vector<Sample>& samples) {
    if (study_.size.depth_games() == 0 || !Searches(player)) {
      return absl::OkStatus();
    }
    for (int less = std::max(1, study_.size.budget(0).simulations());
         2 * less <= study_.size.depth_simulations(); less *= 2) {
      TARA_ASSIGN_OR_RETURN(const Contender a, ContenderOf(player, 2 * less));
      TARA_ASSIGN_OR_RETURN(const Contender b, ContenderOf(player, less));
      TARA_RETURN_IF_ERROR(Play(part::kDoubling, a, b,
                                {.variant = rules.variant,
                                 .rule_options = rules.options,
                                 .games = study_.size.depth_games(),
                                 .seed = study_.seed},
                                "", "", stop, samples));
      if (dry_) continue;
      if (stop && stop()) break;
      // The curve ends where a doubling gains little.
      if (EloDifference(ScoreOfA(samples.back().games).mean) < kMinGain) {
        break;
      }
    }
    return absl::OkStatus();
  }

  // Openings of games that begin as their player likes.
  ArenaOptions DrawnOpenings(const Contender& contender) const {
    return {.opening_plies = study_.opening_plies.value_or(
                Searches(contender.given) ? 0 : kOpeningPlies),
            .drawn_plies = study_.drawn_plies,
            .temperature = study_.temperature,
            .self_play = true,
            .seed = study_.seed};
  }

  // Whether the player has learned the rules, or plays them all the same.
  bool MayPlay(const Contender& contender, Variant variant,
               const RuleOptions& options, absl::string_view what) {
    if (context_.untrained || !context_.not_learned) return true;
    const bool learned =
        context_.not_learned(contender.given, InitialState(variant, options))
            .empty();
    Note(contender, variant, what, learned);
    return learned;
  }

  void Note(const Contender& contender, Variant variant, absl::string_view what,
            bool learned) {
    absl::MutexLock lock(&mutex_);
    Variants& variants = learning_[contender.given.text][std::string(what)];
    (learned ? variants.learned : variants.not_learned)
        .insert(Info(variant).id);
  }

  // Plays a sample and adds it.
  absl::Status Play(absl::string_view part, const Contender& a,
                    const Contender& b, ArenaOptions arena,
                    absl::string_view openings, absl::string_view detail,
                    const StopCheck& stop, std::vector<Sample>& samples) {
    const State start = InitialState(arena.variant, arena.rule_options);
    Sample sample = {.part = part,
                     .variant = arena.variant,
                     .rules = arena.rule_options,
                     .player = a.given.text,
                     .spec = a.made.team.text,
                     .simulations = a.simulations,
                     .detail = std::string(detail),
                     .wanted = arena.games};
    if (dry_) {
      planned_ += arena.games;
      samples.push_back(std::move(sample));
      return absl::OkStatus();
    }
    if (context_.not_learned) {
      sample.not_learned = context_.not_learned(a.given, start);
      if (!sample.not_learned.empty()) {
        Note(a, arena.variant, sample.not_learned, false);
      }
    }
    SetTeams(a.made.team, b.made.team, arena);
    arena.concurrent_games = std::min(arena.concurrent_games, kConcurrentGames);
    arena.adjudicate = false;
    arena.stop = stop;
    const proto::Contest contest =
        NewContest(absl::StrCat(record::kStudyConditions, part, " ",
                                ArenaConditions(arena, openings)),
                   a.made.identity, b.made.identity);
    TARA_RETURN_IF_ERROR(ResumeFromStore(*context_.store, contest, arena));
    // Games that players break off end anyhow.
    arena.on_game = [&, keep = arena.on_game](proto::GameRecord game) {
      if (stop && stop()) return absl::OkStatus();
      TARA_RETURN_IF_ERROR(keep(std::move(game)));
      absl::MutexLock lock(&mutex_);
      ++games_done_;
      return absl::OkStatus();
    };
    {
      absl::MutexLock lock(&mutex_);
      contests_.insert(contest.SerializeAsString());
      games_done_ += std::min<int64_t>(
          arena.games, static_cast<int64_t>(arena.earlier.size()));
    }
    const std::string name =
        absl::StrCat(Info(arena.variant).id, ", ", sample.spec, ", ", part,
                     detail.empty() ? "" : " ", detail);
    const auto on_progress = [&](const ArenaProgress&) {
      if (context_.on_progress) {
        StudyProgress progress = {.sample = name, .games = planned_};
        {
          absl::MutexLock lock(&mutex_);
          progress.games_done = games_done_;
        }
        context_.on_progress(progress);
      }
      return !(stop && stop());
    };
    if (!(stop && stop())) {
      const int threads =
          context_.threads / ThreadsOfAGame(a.made.team, b.made.team);
      TARA_RETURN_IF_ERROR(PlayArena(arena, a.made, b.made,
                                     std::max(1, threads), context_.fleet,
                                     on_progress)
                               .status());
    }
    TARA_ASSIGN_OR_RETURN(
        const std::vector<proto::GameRecord> games,
        context_.store->GamesOf(Info(arena.variant).id, contest));
    for (const proto::GameRecord& game : games) {
      // In pairs a game that an engine gave up counts for nothing.
      if (game.result().has_forfeited_by()) continue;
      if (game.place() >= static_cast<uint64_t>(arena.games)) break;
      if (arena.self_play && game.place() != sample.games.size()) break;
      TARA_ASSIGN_OR_RETURN(sample.games.emplace_back(), FactsOf(game));
    }
    samples.push_back(std::move(sample));
    return absl::OkStatus();
  }

  const Study& study_;
  const StudyContext& context_;
  const bool dry_;
  std::vector<std::vector<Sample>> samples_;  // by rules
  int64_t planned_ = 0;                       // games, at most
  absl::Mutex mutex_;
  std::map<std::string, Contestant> made_ ABSL_GUARDED_BY(mutex_);  // by spec
  // By player and rule.
  std::map<std::string, std::map<std::string, Variants>> learning_
      ABSL_GUARDED_BY(mutex_);
  std::set<std::string> contests_ ABSL_GUARDED_BY(mutex_);
  int64_t games_done_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Returns the first actions of a game, up to symmetry.
std::vector<Action> LineOf(Variant variant, const GameFacts& game, int plies) {
  const size_t length =
      std::min(static_cast<size_t>(plies), game.actions.size());
  return record::CanonicalLine(variant,
                               absl::MakeConstSpan(game.actions).first(length));
}

template <typename... What>
absl::Status Invalid(const What&... what) {
  return absl::InvalidArgumentError(absl::StrCat(what...));
}

absl::Status CheckCount(absl::string_view field, int value) {
  constexpr int kMaxGames = 10000000;
  if (value >= 0 && value <= kMaxGames) return absl::OkStatus();
  return Invalid(field, " is ", value, "; expected a number from 0 to ",
                 kMaxGames);
}

// Returns how the values ran towards the winner, which `result` names (1 Red,
// -1 Blue); none without values.
std::optional<GameDrama> DramaOf(const std::vector<float>& red_values,
                                 int result) {
  if (result == 0) return std::nullopt;
  GameDrama drama;
  int leader = 0;  // 1 the winner, -1 the loser, 0 none yet
  // Since when the winner has been ahead; -1: it is not.
  int ahead_since = -1;
  bool judged = false;
  for (size_t ply = 0; ply < red_values.size(); ++ply) {
    const float value = result > 0 ? red_values[ply] : -red_values[ply];
    if (std::isnan(value)) continue;
    judged = true;
    drama.lowest_score = std::min(drama.lowest_score, (1 + value) / 2.0);
    const int ahead = value > kAhead ? 1 : (value < -kAhead ? -1 : 0);
    if (ahead * leader < 0) ++drama.lead_changes;
    if (ahead != 0) leader = ahead;
    if (ahead <= 0) ahead_since = -1;
    if (ahead > 0 && ahead_since < 0) ahead_since = static_cast<int>(ply);
  }
  if (!judged) return std::nullopt;
  drama.decided_ply =
      ahead_since >= 0 ? ahead_since : static_cast<int>(red_values.size());
  return drama;
}

}  // namespace

std::optional<Compensation> FindCompensation(
    absl::Span<const Sample* const> steps, int openings, int plies) {
  std::vector<LadderGame> games, half;
  std::map<std::vector<Action>, int> numbers;  // of openings
  for (const Sample* step : steps) {
    if (step->games.empty()) return std::nullopt;
    for (const GameFacts& game : step->games) {
      if (game.place >= static_cast<uint64_t>(openings)) break;
      const int opening =
          numbers
              .try_emplace(LineOf(step->variant, game, plies), numbers.size())
              .first->second;
      games.push_back({.points = step->rules.compensation_halves / 2.0,
                       .score = game.score(),
                       .cluster = opening});
      if (game.place % 2 == 0) half.push_back(games.back());
    }
  }
  return Compensation{
      .fit = FitLadder(games),
      .halves = static_cast<int>(2 * FitLadder(half).Nearest().points)};
}

absl::Status CheckStudy(const Study& study) {
  if (study.players.empty()) {
    return Invalid(
        "player is missing; expected one at least, such as player: \"best\"");
  }
  if (study.size.budget().empty()) {
    return Invalid("size ", study.size.name(),
                   " has no budget; expected one at least");
  }
  std::set<int> budgets;
  for (const proto::StudyBudget& budget : study.size.budget()) {
    const google::protobuf::Descriptor& type = *budget.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const google::protobuf::FieldDescriptor& field = *type.field(i);
      TARA_RETURN_IF_ERROR(CheckCount(
          field.name(), budget.GetReflection()->GetInt32(budget, &field)));
    }
    if (!budgets.insert(budget.simulations()).second) {
      return Invalid("budget: simulations ", budget.simulations(),
                     " are given twice; expected each number once");
    }
    if (budget.games() < 2) {
      return Invalid("budget of ", budget.simulations(),
                     " simulations: games is ", budget.games(),
                     "; expected 2 or more");
    }
    for (const PlayerSpec& player : study.players) {
      if (budget.simulations() == 0 || Searches(player)) continue;
      return Invalid("player '", player.text,
                     "' has no simulations; expected mcts, net or best "
                     "players");
    }
  }
  TARA_RETURN_IF_ERROR(CheckCount("depth_games", study.size.depth_games()));
  TARA_RETURN_IF_ERROR(
      CheckCount("depth_simulations", study.size.depth_simulations()));
  const int opening_plies = study.opening_plies.value_or(0);
  if (study.drawn_plies < 0 || opening_plies < 0 || !(study.temperature > 0)) {
    return Invalid("openings: opening_plies ", opening_plies, ", drawn_plies ",
                   study.drawn_plies, ", temperature ", study.temperature,
                   "; expected 0 or more, and a temperature above 0");
  }
  if (!(study.ladder_points >= 0.5 && study.ladder_points <= 12)) {
    return Invalid("ladder_points is ", study.ladder_points,
                   "; expected a number from 0.5 to 12");
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MostGamesOf(const Study& study,
                                    const StudyContext& context) {
  StudyContext local = context;
  local.fleet = nullptr;
  Run run(study, local, /*dry=*/true);
  TARA_RETURN_IF_ERROR(run.PlayAll());
  return run.planned();
}

absl::StatusOr<StudyResults> RunStudy(const Study& study,
                                      const StudyContext& context) {
  Run run(study, context, /*dry=*/false);
  TARA_RETURN_IF_ERROR(run.PlayAll());
  return run.Results();
}

absl::StatusOr<GameFacts> FactsOf(const proto::GameRecord& game) {
  TARA_ASSIGN_OR_RETURN(const record::ReplayedGame replayed,
                        record::Replay(game));
  if (!replayed.finished()) {
    return absl::InvalidArgumentError(
        absl::StrCat("game ", game.game_index(), " was not played to its end"));
  }
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  GameFacts facts = {.place = game.place(),
                     .actions = record::ActionsOf(game),
                     .same_game = record::SameGameKey(game)};
  std::vector<float> red_values;
  for (int ply = 0; ply < game.steps_size(); ++ply) {
    const proto::Step& step = game.steps(ply);
    const State& state = replayed.states[ply];
    const State& next = replayed.states[ply + 1];
    const ActionType type = TypeOf(state, facts.actions[ply]);
    SeatFacts& seat = facts.seats[state.seat];
    ++seat.actions;
    seat.captures += type == ActionType::kCapture;
    ++facts.length;
    facts.legal += LegalActions(state).Count();
    ++facts.types[static_cast<size_t>(type)];
    const float sign = state.side() == kRed ? 1 : -1;
    red_values.push_back(step.has_root_value() ? sign * step.root_value()
                                               : kUnknown);
    // Nobody is skipped before somebody is out: it is the next seat.
    const int seats = Info(state.variant).seats;
    if (seats == 4 && state.ending == Ending::kNone &&
        next.ending == Ending::kOut) {
      facts.first_out = (state.seat + 1) % seats;
    }
  }
  const Outcome& outcome = replayed.outcome;
  facts.red_margin = outcome.margin();
  facts.result = outcome.result();
  facts.ending = outcome.ended_by;
  facts.drama = DramaOf(red_values, facts.result);
  return facts;
}

using Games = absl::Span<const GameFacts>;

std::vector<int> ClustersOf(Games games) {
  std::vector<uint64_t> keys;
  for (const GameFacts& game : games) keys.push_back(game.same_game);
  return MakeClusters(keys);
}

Scores ScoresOf(Games games) {
  const std::vector<int> clusters = ClustersOf(games);
  const std::vector<double> scores =
      ValuesOf(games, [](const GameFacts& game) { return game.score(); });
  return {.games = static_cast<int>(games.size()),
          .distinct = DifferentIn(clusters),
          .effective = EffectiveCount(games.size(), clusters),
          .score = ScoreInterval(scores, clusters),
          .draws = ShareOf(
              games, [](const GameFacts& game) { return game.result == 0; }),
          .margin = BoundedMeanInterval(
              ValuesOf(games,
                       [](const GameFacts& game) { return game.red_margin; }),
              clusters),
          .p_even = EvenScoreTest(scores, clusters)};
}

Interval ScoreOfA(Games games) {
  struct Pair {
    double score = 0;
    int games = 0;
    uint64_t key = 0;
  };
  std::map<uint64_t, Pair> pairs;
  for (const GameFacts& game : games) {
    const bool a_is_red = game.place % 2 == 0;
    Pair& pair = pairs[game.place / 2];
    pair.score += a_is_red ? game.score() : 1 - game.score();
    pair.key = MixBits(pair.key + a_is_red) ^ game.same_game;
    ++pair.games;
  }
  std::vector<double> scores;
  std::vector<uint64_t> keys;
  for (const auto& [place, pair] : pairs) {
    if (pair.games < 2) continue;
    scores.push_back(pair.score / 2);
    keys.push_back(pair.key);
  }
  return ScoreInterval(scores, MakeClusters(keys));
}

std::vector<GameFacts> HalfOf(Games games, int half) {
  std::vector<GameFacts> of_half;
  for (const GameFacts& game : games) {
    if (static_cast<int>(game.place % 2) == half) of_half.push_back(game);
  }
  return of_half;
}

std::vector<std::vector<Action>> ActionsByClass(const State& state) {
  std::vector<Symmetry> kept;
  for (const Symmetry& symmetry : GameSymmetries(state.variant)) {
    if (TransformState(symmetry, state) == state) kept.push_back(symmetry);
  }
  std::array<size_t, kNumActions> class_of;
  class_of.fill(kNumActions);
  std::vector<std::vector<Action>> classes;
  LegalActions(state).ForEach([&](Action action) {
    if (class_of[Index(action)] == kNumActions) {
      for (const Symmetry& symmetry : kept) {
        class_of[Index(TransformAction(symmetry, action))] = classes.size();
      }
      classes.emplace_back();
    }
    classes[class_of[Index(action)]].push_back(action);
  });
  return classes;
}

Interval EffectiveOpenings(Variant variant, Games games, int plies) {
  std::map<std::vector<Action>, int64_t> lines;
  for (const GameFacts& game : games) ++lines[LineOf(variant, game, plies)];
  std::vector<int64_t> counts;
  size_t seen_once = 0;
  for (const auto& [line, count] : lines) {
    counts.push_back(count);
    seen_once += count == 1;
  }
  if (counts.empty()) return {0, 0, 0};
  Interval openings = EquivalentChoices(EntropyOfCounts(counts));
  if (2 * seen_once > games.size()) {
    openings.high = std::numeric_limits<double>::infinity();
  }
  return openings;
}

Interval BranchingOf(Games games) {
  const std::vector<int> clusters = ClustersOf(games);
  std::map<int, std::pair<double, double>> sums_by_cluster;
  for (size_t i = 0; i < games.size(); ++i) {
    auto& [legal, actions] = sums_by_cluster[clusters[i]];
    legal += games[i].legal;
    actions += games[i].length;
  }
  RatioSums sums;
  for (const auto& [cluster, of] : sums_by_cluster) {
    sums.Add(of.first, of.second);
  }
  return RatioInterval(sums);
}

}  // namespace tara::eval
