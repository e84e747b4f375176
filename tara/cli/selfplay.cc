#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/game.pb.h"
#include "tara/base/clocks.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/cli/match_flags.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/report/report_page.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/record/game_store.h"
#include "tara/train/folder/run_provenance.h"
#include "tara/train/play/self_play.h"

namespace tara::cli {
namespace {

// Games in progress a thread: a batch for a player that searches.
constexpr int kConcurrentGames = 32;
// Random actions that begin games of players without a policy to draw from.
constexpr int kOpeningPlies = 2;
// Number of first actions that are drawn from the policy.
constexpr int kDrawnPlies = 8;

struct SelfPlayFlags {
  GameFlags game;
  std::string model = "uniform";  // or "playouts", "best", a checkpoint
  bool untrained = false;         // play what a network has not learned, too
  std::string output;
  int games = 100;  // a variant
  int simulations = 100;
  int threads = 0;  // all cores
  uint64_t seed = 1;
};

constexpr int64_t kCachedPositions = 1 << 16;

struct Model {
  std::string id;    // what records name
  std::string file;  // of the network; empty without one
  std::unique_ptr<mcts::Evaluator> evaluator;
  bool is_network = false;
  // A player instead of an evaluator.
  std::optional<eval::PlayerSpec> player = {};
  // The id in stores of older versions, without the simulations.
  std::string older_id = {};
};

// Returns the network of a model, which is the spec of a player with it or just
// PATH[,OPTION=VALUE,...]. Self-play has a search of its own: a usage error for
// options other than those of inference.
absl::StatusOr<eval::PlayerSpec> NetworkOf(const std::string& model,
                                           bool is_spec) {
  TARA_ASSIGN_OR_RETURN(eval::PlayerSpec network,
                        AsUsageError(eval::ParsePlayerSpec(
                            is_spec ? model : absl::StrCat("net:", model))));
  if (network.level > 0) {
    return UsageError(absl::StrCat("bad model '", model,
                                   "': a level has its own search; expected "
                                   "best, a checkpoint or a run"));
  }
  for (const eval::PlayerOption& option : network.options) {
    if (nn::IsInferenceOption(option.name)) continue;
    return UsageError(absl::StrCat("bad model '", model, "': option '",
                                   option.name,
                                   "'; expected precision, backend, device"));
  }
  return network;
}

absl::StatusOr<Model> MakeModel(const SelfPlayFlags& options) {
  if (options.model == "uniform") {
    return Model{"uniform", "", std::make_unique<mcts::UniformEvaluator>()};
  }
  if (options.model == "playouts") {
    return Model{"playouts", "",
                 std::make_unique<mcts::PlayoutEvaluator>(1, options.seed)};
  }
  const absl::string_view kind =
      absl::string_view(options.model).substr(0, options.model.find(':'));
  const eval::PlayerKindInfo* const player = eval::FindPlayerKind(kind);
  // Networks guide the search of self-play; other players go their own way.
  if (player != nullptr && player->kind != eval::PlayerKind::kNet) {
    TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec spec,
                          AsUsageError(eval::ParsePlayerSpec(options.model)));
    return Model{
        .id = options.model, .file = "", .evaluator = nullptr, .player = spec};
  }
  TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec network,
                        NetworkOf(options.model, player != nullptr));
  TARA_ASSIGN_OR_RETURN(const std::string file,
                        eval::FindCheckpoint(network.path));
  TARA_ASSIGN_OR_RETURN(nn::LoadedNetwork loaded,
                        nn::LoadNetwork(file, network.inference));
  // Another number type plays other games.
  return Model{
      absl::StrCat(std::filesystem::path(file).stem().string(),
                   ",precision=", nn::PrecisionName(loaded.info.precision)),
      file, std::move(loaded.evaluator), /*is_network=*/true};
}

// Returns what the network has not learned of the starts, a line each.
std::string NotLearnedLines(const std::string& file,
                            const std::vector<State>& starts) {
  const auto learned = train::LearnedByModel(file);
  if (!learned.has_value()) return "";
  std::string text;
  for (const State& start : starts) {
    text += eval::NotLearnedLine(Info(start.variant).id,
                                 nn::NotLearned(*learned, start));
  }
  return text;
}

// Returns the seed of a game.
uint64_t SeedOf(const SelfPlayFlags& options, const Model& model, size_t starts,
                uint64_t number) {
  const auto seed = options.seed;
  if (!model.player.has_value()) {
    return DeriveSeed(seed, number, StreamPurpose::kSelfPlay);
  }
  const auto place = static_cast<int>(number / starts);
  return eval::SeedOfArenaGame(seed, place / 2, place % 2 == 0);
}

// Returns the indices below `games` that the store lacks, or
// FAILED_PRECONDITION if it has games that this command would not have played.
absl::StatusOr<std::vector<uint64_t>> MissingGames(
    record::GameStore& store, const std::vector<State>& starts,
    const SelfPlayFlags& options, const Model& model, uint64_t games) {
  TARA_ASSIGN_OR_RETURN(const std::vector<record::GameRow> rows,
                        store.List({}));
  std::unordered_set<uint64_t> present;
  for (const record::GameRow& row : rows) {
    const State& start = starts[row.game_index % starts.size()];
    if (row.variant != Info(start.variant).id ||
        row.rule_options != FormatRuleOptions(start.options) ||
        (row.model_id != model.id && row.model_id != model.older_id)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the store has other games: game ", row.game_index, " is ",
          row.variant, " with options ", row.rule_options, " by ", row.model_id,
          "; expected ", Info(start.variant).id, " with options ",
          FormatRuleOptions(start.options), " by ", model.id,
          ", or another --output"));
    }
    present.insert(row.game_index);
  }
  if (!rows.empty()) {  // all have one seed, as this check runs each time
    const uint64_t first = rows.front().game_index;
    TARA_ASSIGN_OR_RETURN(const proto::GameRecord game, store.GetListed(first));
    if (game.seed() != SeedOf(options, model, starts.size(), first)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the store has games with another --seed; expected the "
                       "same seed, or another --output"));
    }
  }
  std::vector<uint64_t> missing;
  for (uint64_t index = 0; index < games; ++index) {
    if (!present.contains(index)) missing.push_back(index);
  }
  return missing;
}

// Plays the missing games of each start with a player that is not an evaluator
// (tara/train/play/self_play.h), such as an engine. A game begins with actions
// drawn from the player's policy or, without a policy, with two random ones: a
// player that never draws would otherwise repeat one game. Games that the
// player forfeits are played again. Errors are those of PlayArenaInParallel and
// the sink's.
absl::Status PlayMissingOfPlayer(const SelfPlayFlags& options,
                                 const eval::PlayerSpec& player,
                                 const std::vector<State>& starts,
                                 const std::vector<uint64_t>& missing,
                                 const train::GameSink& sink,
                                 const StopCheck& stop) {
  const bool has_policy = player.kind == eval::PlayerKind::kMcts;
  const eval::PlayerFactory make = eval::NewPlayerFactory(player);
  for (size_t i = 0; i < starts.size() && !stop(); ++i) {
    std::unordered_set<int> places;  // of this start, missing
    int games = 0;
    for (const uint64_t number : missing) {
      if (number % starts.size() != i) continue;
      const auto place = static_cast<int>(number / starts.size());
      places.insert(place);
      games = std::max(games, place + 1);
    }
    if (games == 0) continue;
    eval::ArenaOptions arena = {
        .variant = starts[i].variant,
        .rule_options = starts[i].options,
        .games = games,
        .opening_plies = has_policy ? 0 : kOpeningPlies,
        .drawn_plies = kDrawnPlies,
        .self_play = true,
        .seed = options.seed,
        .concurrent_games = eval::GamesAtATime(player, kConcurrentGames),
        .adjudication = {.proof = false},
        .stop = stop};
    for (int place = 0; place < games + 1; ++place) {
      if (places.contains(place)) continue;
      arena.earlier.push_back({.pair = place / 2, .a_is_red = place % 2 == 0});
    }
    arena.on_game = [&](proto::GameRecord game) -> absl::Status {
      // A player that is broken off ends its game anyhow.
      if (stop()) return absl::OkStatus();
      game.set_game_index(game.place() * starts.size() + i);
      game.clear_place();
      game.set_model_id(player.text);
      return sink(game);
    };
    TARA_RETURN_IF_ERROR(
        eval::PlayArenaInParallel(
            arena, make, make, ResolveThreads(options.threads),
            [&](const eval::ArenaProgress&) { return !stop(); })
            .status());
  }
  return absl::OkStatus();
}

// Plays the games that are missing.
absl::Status PlayMissing(const SelfPlayFlags& options, const Model& model,
                         const std::vector<State>& starts,
                         const std::vector<uint64_t>& missing,
                         const train::GameSink& sink, const StopCheck& stop,
                         train::SelfPlayStats& stats) {
  if (model.player.has_value()) {
    return PlayMissingOfPlayer(
        options, *model.player, starts, missing,
        [&](const proto::GameRecord& game) {
          ++stats.games;
          return sink(game);
        },
        stop);
  }
  mcts::SearchOptions search;
  search.simulations = options.simulations;
  search.dirichlet_fraction = 0.25f;
  // Other evaluators cost less than a lookup in a cache.
  mcts::CachingEvaluator evaluator(
      model.evaluator.get(),
      mcts::CachingOptions{.positions = model.is_network ? kCachedPositions : 0,
                           .symmetric = true,
                           .margins = false});
  return train::PlayGames({.starts = starts,
                           .search = search,
                           .run_seed = options.seed,
                           .model_id = model.id,
                           .threads = ResolveThreads(options.threads)},
                          missing, evaluator, sink, stop, stats);
}

// Plays games of a player against itself, into a game store. Games in the store
// are not played again, so the same command resumes.
absl::StatusOr<int> RunSelfPlay(const SelfPlayFlags& options,
                                Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartsOf(options.game));
  TARA_ASSIGN_OR_RETURN(Model model, MakeModel(options));
  std::string not_learned;
  if (model.is_network) {
    TARA_RETURN_IF_ERROR(CheckModelLearned(options.model, model.file,
                                           train::LearnedByModel(model.file),
                                           starts, options.untrained, console));
    not_learned = NotLearnedLines(model.file, starts);
  }
  const std::string mark(not_learned.empty() ? "" : record::kUntrainedMark);
  model.older_id = absl::StrCat(model.id, mark);
  // Other searches play other games.
  if (!model.player.has_value()) {
    absl::StrAppend(&model.id, ",sims=", options.simulations);
  }
  absl::StrAppend(&model.id, mark);
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<record::GameStore> store,
      record::OpenGameStore(options.output, record::StoreMode::kExclusive));
  if (!store->lock_warning().empty()) {
    console.err << "tara: " << store->lock_warning() << "\n";
  }
  const uint64_t wanted = static_cast<uint64_t>(options.games) * starts.size();
  TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> missing,
                        MissingGames(*store, starts, options, model, wanted));

  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  train::SelfPlayStats stats;
  const absl::Time begin = SteadyTime();
  const auto games_per_second = [&] {
    return static_cast<double>(stats.games.load()) /
           std::max(1e-9, absl::ToDoubleSeconds(SteadyTime() - begin));
  };
  const auto sink = [&](const proto::GameRecord& game) {
    status_line.Show(absl::StrFormat("%d of %d games, %.1f games/s",
                                     wanted - missing.size() + stats.games,
                                     wanted, games_per_second()));
    return store->Add(game);
  };
  TARA_RETURN_IF_ERROR(
      PlayMissing(options, model, starts, missing, sink, stop, stats));
  status_line.Clear();

  console.out << not_learned;
  const int64_t played = stats.games;
  const int64_t left = static_cast<int64_t>(missing.size()) - played;
  const double rate = games_per_second();
  TARA_ASSIGN_OR_RETURN(const int64_t stored, store->Count({}));
  console.out << absl::StrFormat("%d games played, %.1f games/s; %s has %d\n",
                                 played, rate, options.output, stored);
  if (left == 0) return kExitOk;
  console.err << "tara: interrupted; the same command plays the " << left
              << " games left\n";
  return kExitInterrupted;
}

}  // namespace

void RegisterSelfPlay(Command& root) {
  Command& command = root.AddCommand(
      "selfplay", "play games of a player against itself, into a game store");
  SelfPlayFlags* const options = command.SetRun(RunSelfPlay);
  AddGameFlags(command, &options->game, kVariantOrAllHelp);
  command.Add({
      {"-o,--output DB", &options->output,
       "game store to write, created if missing", kRequired},
      {"--player,--model MODEL", &options->model,
       "evaluator of the search: 'uniform' (none), 'playouts' (random games), "
       "'best' (the ready-made network), a checkpoint, or the folder of a run "
       "(its newest checkpoint), optionally followed by ,precision=P "
       ",backend=B ,device=D; or another kind of player, as in `arena "
       "--help`"},
      UntrainedOption(&options->untrained),
      {"--games N", &options->games, 1, 10000000,
       "target games per variant in the store"},
      {"--sims N", &options->simulations, 1, 1000000,
       "simulations per action, if an evaluator guides a search"},
      ThreadsOption(&options->threads),
      SeedOption(&options->seed,
                 "random seed; with equal precision of a network, reproducible "
                 "on any number of threads"),
  });
  command.SetNotes(
      "Games in the store are not played again: the same command resumes, and "
      "with more\n"
      "--games it plays the rest. Each game records its network with the "
      "number type\n"
      "(tara,precision=int8). If auto chooses another number type than the "
      "store has,\n"
      "set the store's.");
  command.SetExamples(
      {"selfplay --variant four_treasures -o games.db --games 1000",
       "selfplay --variant all --model runs/mine -o net.db --sims 200",
       "selfplay --variant four_treasures --player engine:./my_engine -o e.db",
       "games stats games.db"});
}

}  // namespace tara::cli
