#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/base/clocks.h"
#include "tara/base/files.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/action.h"
#include "tara/core/drawing.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/svg_board.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/report/report.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"
#include "tara/train/folder/run_folder.h"
#include "tara/train/play/self_play.h"

namespace tara::cli {
namespace {

using Json = nlohmann::ordered_json;

struct GamesQueryOptions {
  std::string store;  // a game store, or the folder of a run
  std::string variant;
  int64_t generation = -1;  // any
  int64_t limit = 0;        // all
  std::string format = "text";
};

struct GamesShowOptions {
  std::string store;
  int64_t game_index = 0;
  int64_t ply = -1;  // the last
  std::string format = "text";
  std::string colour = "auto";
  bool ascii = false;
};

struct GamesExportOptions {
  GamesQueryOptions query;
  std::string output = "-";
};

absl::StatusOr<record::GameQuery> QueryOf(const GamesQueryOptions& options) {
  if (!options.variant.empty()) {
    TARA_RETURN_IF_ERROR(AsUsageError(ParseVariant(options.variant).status()));
  }
  return record::GameQuery{.variant = options.variant,
                           .generation = options.generation,
                           .limit = options.limit == 0 ? -1 : options.limit,
                           .newest_first = true};
}

std::string FormatTime(absl::string_view format, int64_t unix_ms) {
  return absl::FormatTime(format, absl::FromUnixMillis(unix_ms),
                          absl::UTCTimeZone());
}

eval::ReportRow FieldsOf(const record::GameRow& row) {
  const auto finished = [&](absl::string_view format) {
    return FormatTime(format, row.finished_unix_ms);
  };
  return {
      eval::CountField("index", "index", static_cast<int64_t>(row.game_index)),
      eval::TextField("variant", "variant", row.variant),
      eval::TextField("rule_options", "", row.rule_options),
      eval::CountField("generation", "generation", row.generation),
      eval::TextField("model", "model", row.model_id),
      eval::CountField("length", "length", row.length),
      eval::JsonField("points", "points",
                      absl::StrCat(row.points_red, "-", row.points_blue),
                      {row.points_red, row.points_blue}),
      eval::TextField("ended_by", "ended by", row.ended_by),
      eval::JsonField("finished", "finished (UTC)",
                      finished("%Y-%m-%d %H:%M:%S"),
                      finished("%Y-%m-%dT%H:%M:%E3SZ"))};
}

std::vector<eval::ReportRow> RowsOf(absl::Span<const record::GameRow> games) {
  std::vector<eval::ReportRow> rows;
  for (const record::GameRow& game : games) rows.push_back(FieldsOf(game));
  return rows;
}

}  // namespace

std::string GameRowsJson(absl::Span<const record::GameRow> rows) {
  return eval::RowsJson(RowsOf(rows));
}

namespace {

absl::StatusOr<int> RunGamesList(const GamesQueryOptions& options,
                                 Console& console) {
  TARA_ASSIGN_OR_RETURN(record::GameQuery query, QueryOf(options));
  TARA_ASSIGN_OR_RETURN(const auto store, OpenStoreForReading(options.store));
  TARA_ASSIGN_OR_RETURN(const auto rows, store->List(query));
  for (const record::GameRow& row : rows) {
    TARA_RETURN_IF_ERROR(store->CheckRow(row));
  }
  if (options.format == "json") {
    console.out << GameRowsJson(rows) << "\n";
    return kExitOk;
  }
  query.limit = -1;
  TARA_ASSIGN_OR_RETURN(const int64_t all, store->Count(query));
  if (!rows.empty()) console.out << eval::TableText(RowsOf(rows));
  console.out << rows.size() << " of " << all << " games\n";
  return kExitOk;
}

void PrintOrigin(const proto::GameRecord& record, Console& console) {
  console.out << "Game " << record.game_index() << ": "
              << Printable(record.variant()) << ", options "
              << Printable(record.rule_options()) << "\nmodel "
              << Printable(record.model_id()) << ", generation "
              << record.generation() << ", seed " << record.seed() << "\n\n";
}

// The evaluation of a position by its search, and its proved bounds, for the
// seat.
std::string ThoughtText(const proto::Step& step) {
  std::string text;
  if (step.visits_size() > 0 || step.simulations() > 0 ||
      step.has_root_value()) {
    text = absl::StrFormat("  value %+.2f", step.root_value());
  }
  if (!step.has_proved_low()) return text;
  if (step.proved_low() == step.proved_high()) {
    absl::StrAppendFormat(&text, "  proved %+d", step.proved_low());
  } else {
    absl::StrAppendFormat(&text, "  proved %+d to %+d", step.proved_low(),
                          step.proved_high());
  }
  return text;
}

// Returns how a game ended before its end, a line; empty: it did not.
std::string EarlyEndText(const proto::GameResult& result) {
  const auto name = [](uint32_t side) { return side == kRed ? "Red" : "Blue"; };
  if (result.has_resigned_by()) {
    return absl::StrCat(name(result.resigned_by()), " resigns.\n");
  }
  if (result.has_forfeited_by()) {
    return absl::StrCat(
        name(result.forfeited_by()),
        result.fault().empty() ? " loses on time" : " forfeits: ",
        Printable(result.fault()), ".\n");
  }
  if (result.adjudication().empty()) return "";
  return absl::StrCat("Ended by ", Printable(result.adjudication()), ", ",
                      result.points(0), "-", result.points(1), ".\n");
}

void PrintActions(const proto::GameRecord& record,
                  const record::ReplayedGame& game, Console& console) {
  for (int ply = 0; ply < record.steps_size(); ++ply) {
    const proto::Step& step = record.steps(ply);
    const State& state = game.states[ply];
    console.out << absl::StrFormat(
        "%4d  %-10s  %-6s%s\n", ply + 1, SeatName(state.variant, state.seat),
        ActionToText(static_cast<Action>(step.action()), state),
        ply < static_cast<int>(record.opening_plies()) ? "  drawn at random"
                                                       : ThoughtText(step));
  }
  console.out << EarlyEndText(record.result()) << "\n";
}

absl::StatusOr<int> RunGamesShow(const GamesShowOptions& options,
                                 Console& console) {
  TARA_ASSIGN_OR_RETURN(const auto store, OpenStoreForReading(options.store));
  TARA_ASSIGN_OR_RETURN(const proto::GameRecord record,
                        store->Get(static_cast<uint64_t>(options.game_index)));
  TARA_ASSIGN_OR_RETURN(const auto game, record::Replay(record));
  if (options.format == "json") {
    if (!game.finished()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "game ", options.game_index,
          " was not played to its end; --format=json has finished games only"));
    }
    TARA_ASSIGN_OR_RETURN(
        const std::string line,
        record::GameToLine(game.states.front(), record::ActionsOf(record)));
    console.out << line << "\n";
    return kExitOk;
  }
  const int64_t length = record.steps_size();
  if (options.ply > length) {
    return UsageError("--ply: the game has ", length, " actions; got ",
                      options.ply);
  }
  const int64_t ply = options.ply < 0 ? length : options.ply;
  const State& shown = game.states[ply];
  if (options.format == "svg") {
    SvgOptions picture = {.highlight = LegalActions(shown)};
    if (ply > 0) picture.last = record::ActionsOf(record)[ply - 1];
    console.out << SvgBoard(shown, picture);
    return kExitOk;
  }
  PrintOrigin(record, console);
  PrintActions(record, game, console);
  console.out << DrawBoard(shown, {.unicode = !options.ascii,
                                   .colour = UseColour(options.colour, console),
                                   .highlight = LegalActions(shown)})
              << "\nPosition: " << PositionToText(shown) << "\n";
  return kExitOk;
}

// Returns clusters of the games that are the same up to symmetry.
std::vector<int> MakeClusters(const record::GameStatistics& statistics) {
  std::vector<uint64_t> keys = statistics.same_games;
  keys.resize(static_cast<size_t>(statistics.games));  // 0: unlike any other
  return eval::MakeClusters(keys);
}

// Returns Red's score with its 95 % interval over different games.
eval::Interval RedScore(const record::GameStatistics& statistics) {
  const auto games = static_cast<size_t>(statistics.games);
  const double count = eval::EffectiveCount(games, MakeClusters(statistics));
  const double unit = count / static_cast<double>(games);
  return eval::ScoreIntervalOf(
      eval::SumsOfGames(count, unit * static_cast<double>(statistics.red_wins),
                        unit * static_cast<double>(statistics.draws)));
}

eval::ReportRow FieldsOf(const record::GameStatistics& s) {
  std::string endings;
  for (const auto& [ending, games] : s.ended_by) {
    absl::StrAppend(&endings, endings.empty() ? "" : ", ", ending, " ", games);
  }
  return {
      eval::TextField("variant", "variant", s.variant),
      eval::TextField("rule_options", "rule options", s.rule_options),
      eval::TextField("purpose", "purpose", s.purpose),
      eval::CountField("games", "games", s.games),
      eval::CountField("distinct_games", "different",
                       eval::DifferentIn(MakeClusters(s))),
      eval::CountField("red_wins", "Red", s.red_wins),
      eval::CountField("draws", "draws", s.draws),
      eval::CountField("blue_wins", "Blue", s.blue_wins),
      eval::EstimateField("red_score", "Red scores %", RedScore(s),
                          eval::kPercent),
      eval::JsonField("mean_points", "points",
                      absl::StrFormat("%.2f to %.2f", s.mean_points_red,
                                      s.mean_points_blue),
                      {s.mean_points_red, s.mean_points_blue}),
      eval::NumberField("mean_length", "length", s.mean_length, {.digits = 1}),
      eval::JsonField("untrained", "not learned",
                      s.untrained == 0 ? "" : absl::StrCat(s.untrained),
                      s.untrained),
      eval::JsonField("ended_by", "ended by", endings, s.ended_by)};
}

// Returns the values of the rule options; none if they cannot be read.
std::vector<int> OptionValues(const record::GameStatistics& s) {
  std::vector<int> values;
  const absl::StatusOr<Variant> variant = ParseVariant(s.variant);
  const absl::StatusOr<RuleOptions> options =
      variant.ok() ? ParseRuleOptions(*variant, s.rule_options)
                   : variant.status();
  if (!options.ok()) return values;
  for (const RuleOptionInfo& option : kRuleOptions) {
    values.push_back(option.get(*options));
  }
  return values;
}

absl::StatusOr<int> RunGamesStats(const GamesQueryOptions& options,
                                  Console& console) {
  TARA_ASSIGN_OR_RETURN(const record::GameQuery query, QueryOf(options));
  TARA_ASSIGN_OR_RETURN(const auto store, OpenStoreForReading(options.store));
  TARA_ASSIGN_OR_RETURN(auto all, store->Statistics(query));
  if (options.format != "json") {
    std::stable_sort(
        all.begin(), all.end(),
        [](const record::GameStatistics& a, const record::GameStatistics& b) {
          return std::pair(a.variant, OptionValues(a)) <
                 std::pair(b.variant, OptionValues(b));
        });
  }
  std::vector<eval::ReportRow> rows;
  for (const record::GameStatistics& each : all) {
    rows.push_back(FieldsOf(each));
  }
  console.out << (options.format == "json" ? eval::RowsJson(rows) + "\n"
                  : rows.empty()
                      ? "no games\n"
                      : eval::TableText(eval::WithoutEmptyColumns(rows)));
  return kExitOk;
}

// Returns the game as a line, or nothing if it was not played to its end or its
// actions were not kept: the form is for finished games.
absl::StatusOr<std::optional<std::string>> LineOf(
    const proto::GameRecord& record) {
  if (record.unrecorded_length() > 0) return std::nullopt;
  // Replays the game, which may be damaged, before anything is printed.
  TARA_ASSIGN_OR_RETURN(const auto game, record::Replay(record));
  if (!game.finished()) return std::nullopt;
  return record::GameToLine(game.states.front(), record::ActionsOf(record));
}

absl::StatusOr<int> RunGamesExport(const GamesExportOptions& options,
                                   Console& console) {
  const bool to_file = options.output != "-";
  if (to_file) {
    TARA_RETURN_IF_ERROR(
        CheckOutput("--output", options.output, {}, kGamesFile));
  }
  TARA_ASSIGN_OR_RETURN(const record::GameQuery query, QueryOf(options.query));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<record::GameStore> store,
                        OpenStoreForReading(options.query.store));
  std::optional<AtomicFile> file;
  if (to_file) {
    TARA_ASSIGN_OR_RETURN(auto created, AtomicFile::Create(options.output));
    file.emplace(std::move(created));
  }
  TARA_ASSIGN_OR_RETURN(const auto indices, store->Indices(query));
  int64_t left_out = 0;
  for (const uint64_t index : indices) {
    TARA_ASSIGN_OR_RETURN(const auto record, store->GetListed(index));
    TARA_ASSIGN_OR_RETURN(const std::optional<std::string> line,
                          LineOf(record));
    if (!line.has_value()) {
      ++left_out;
    } else if (to_file) {
      TARA_RETURN_IF_ERROR(file->Append(absl::StrCat(*line, "\n")));
    } else {
      errno = 0;
      console.out << *line << "\n";
      if (!console.out) return SystemError("cannot write", "the games");
    }
  }
  if (to_file) TARA_RETURN_IF_ERROR(file->Commit());
  if (left_out > 0) {
    console.err << "tara: only finished games whose actions were kept can be "
                   "written; left out: "
                << left_out << "\n";
  }
  return kExitOk;
}

constexpr int64_t kListLimit = 20;

Option StoreArgument(std::string* store) {
  return {"RUN", store, "folder of a run, or the file of a game store",
          kRequired};
}

void AddQueryFlags(Command& command, GamesQueryOptions* options) {
  command.Add({
      StoreArgument(&options->store),
      {"--variant V", &options->variant, "only games of this variant",
       Default("any")},
      {"--generation N", &options->generation, 0, UINT32_MAX,
       "only games of this generation", Default("any")},
  });
}

void AddList(Command& games) {
  const auto [command, options] =
      games.AddCommand("list", "list games, newest first", RunGamesList);
  options->limit = kListLimit;
  AddQueryFlags(command, options);
  command.Add({
      {"--limit N", &options->limit, 0, 0x1p63,
       "maximum number of games; 0: all"},
      FormatOption(&options->format),
  });
  command.SetExamples({"games list runs/mine --limit 5"});
}

void AddShow(Command& games) {
  const auto [command, options] =
      games.AddCommand("show", "show one game", RunGamesShow);
  command.Add({
      StoreArgument(&options->store),
      {"INDEX", &options->game_index, 0, 0x1p63, "index of the game, as listed",
       kRequired},
      {"--ply N", &options->ply, 0, INT32_MAX,
       "position after this many actions", Default("the last")},
      {"--format text|json|svg", &options->format, "output format"},
      AsciiOption(&options->ascii),
      ColourOption(&options->colour),
  });
  command.SetNotes(
      "JSON is the game's line as `tara games export` writes it. SVG is a "
      "picture of the position.");
  command.SetExamples({"games show runs/mine 17 --ply 10"});
}

void AddExport(Command& games) {
  const auto [command, options] = games.AddCommand(
      "export", "write games as JSON lines, which `tara verify` checks",
      RunGamesExport);
  AddQueryFlags(command, &options->query);
  command.Add({
      {"--limit N", &options->query.limit, 0, 0x1p63,
       "number of the newest games to write; 0: all"},
      {"-o,--output FILE", &options->output,
       "file to write; - is standard output"},
  });
  command.SetNotes("docs/reference/rules.md section 12 describes the lines.");
  command.SetExamples({"games export runs/mine -o games.jsonl",
                       "games export runs/mine | tara verify -"});
}

void AddStats(Command& games) {
  const auto [command, options] = games.AddCommand(
      "stats", "summarize games: wins, points, lengths, endings",
      RunGamesStats);
  AddQueryFlags(command, options);
  command.Add({FormatOption(&options->format)});
  command.SetExamples({"games stats runs/mine --format=json"});
}

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
    return UsageError("bad model '", model,
                      "': a level has its own search; expected "
                      "best, a checkpoint or a run");
  }
  for (const auto& [name, value] : network.options) {
    if (nn::IsInferenceOption(name)) continue;
    return UsageError("bad model '", model, "': option '", name,
                      "'; expected precision, backend, device");
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
  TARA_ASSIGN_OR_RETURN(auto loaded, nn::LoadNetwork(file, network.inference));
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
  TARA_ASSIGN_OR_RETURN(const auto rows, store.List({}));
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
// player forfeits are played again. Errors are those of PlayArena and
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
        .adjudicate = false,
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
        eval::PlayArena(arena, make, make, ResolveThreads(options.threads),
                        [&](const eval::ArenaProgress&) { return !stop(); })
            .status());
  }
  return absl::OkStatus();
}

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

absl::StatusOr<int> RunSelfPlay(const SelfPlayFlags& options,
                                Console& console) {
  TARA_ASSIGN_OR_RETURN(const auto starts, StartsOf(options.game));
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
  const auto sink = [&](const proto::GameRecord& game) {
    const uint64_t done = wanted - missing.size() + stats.games;
    status_line.Show(absl::StrCat(done, " of ", wanted, " games"), done, wanted,
                     "games");
    return store->Add(game);
  };
  TARA_RETURN_IF_ERROR(
      PlayMissing(options, model, starts, missing, sink, stop, stats));
  status_line.Clear();

  console.out << not_learned;
  const int64_t played = stats.games;
  const int64_t left = static_cast<int64_t>(missing.size()) - played;
  const double rate =
      static_cast<double>(played) /
      std::max(1e-9, absl::ToDoubleSeconds(SteadyTime() - begin));
  TARA_ASSIGN_OR_RETURN(const int64_t stored, store->Count({}));
  console.out << absl::StrFormat("%d games played, %.1f games/s; %s has %d\n",
                                 played, rate, options.output, stored);
  if (left == 0) return kExitOk;
  console.err << "tara: interrupted; the same command plays the " << left
              << " games left\n";
  return kExitInterrupted;
}

}  // namespace

void RegisterGames(Command& root) {
  Command& games = root.AddCommand(
      "games", "list, show, export and summarize the games of a store");
  AddList(games);
  AddShow(games);
  AddExport(games);
  AddStats(games);
  games.SetExamples(
      {"games list runs/mine", "games export runs/mine | tara verify -"});
}

void RegisterSelfPlay(Command& root) {
  const auto [command, options] = root.AddCommand(
      "selfplay", "play games of a player against itself, into a game store",
      RunSelfPlay);
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
      "with more --games it plays the rest. Each game records its network with "
      "the number type (tara,precision=int8). If auto chooses another number "
      "type than the store has, set the store's.");
  command.SetExamples(
      {"selfplay --variant four_treasures -o games.db --games 1000",
       "selfplay --variant all --model runs/mine -o net.db --sims 200",
       "selfplay --variant four_treasures --player engine:./my_engine -o e.db",
       "games stats games.db"});
}

}  // namespace tara::cli
