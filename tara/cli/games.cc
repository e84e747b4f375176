#include "tara/cli/games.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
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
#include "tara/base/atomic_file.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/action.h"
#include "tara/core/drawing.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/svg_board.h"
#include "tara/core/variant.h"
#include "tara/eval/report/report.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/record/game_lines.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"

namespace tara::cli {
namespace {

using Json = nlohmann::ordered_json;

// Common options of the subcommands of `games`: a store and a choice of games.
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

// Returns the query of the options, or a usage error for an unknown variant.
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

}  // namespace

std::string GameRowsJson(absl::Span<const record::GameRow> rows) {
  Json list = Json::array();
  for (const record::GameRow& row : rows) {
    list.push_back(eval::RowJson(FieldsOf(row)));
  }
  return eval::JsonText(list, 2);
}

namespace {

// Lists games, newest first.
absl::StatusOr<int> RunGamesList(const GamesQueryOptions& options,
                                 Console& console) {
  TARA_ASSIGN_OR_RETURN(record::GameQuery query, QueryOf(options));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<record::GameStore> store,
                        OpenStoreForReading(options.store));
  TARA_ASSIGN_OR_RETURN(const std::vector<record::GameRow> rows,
                        store->List(query));
  for (const record::GameRow& row : rows) {
    TARA_RETURN_IF_ERROR(store->CheckRow(row));
  }
  if (options.format == "json") {
    console.out << GameRowsJson(rows) << "\n";
    return kExitOk;
  }
  query.limit = -1;
  TARA_ASSIGN_OR_RETURN(const int64_t all, store->Count(query));
  std::vector<eval::ReportRow> table;
  for (const record::GameRow& row : rows) table.push_back(FieldsOf(row));
  if (!table.empty()) console.out << eval::TableText(table);
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

// Actions with their seats and, of searches, the value for the seat.
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

// Shows one game: origin, actions, a position, the result.
absl::StatusOr<int> RunGamesShow(const GamesShowOptions& options,
                                 Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<record::GameStore> store,
                        OpenStoreForReading(options.store));
  TARA_ASSIGN_OR_RETURN(const proto::GameRecord record,
                        store->Get(static_cast<uint64_t>(options.game_index)));
  TARA_ASSIGN_OR_RETURN(const record::ReplayedGame game,
                        record::Replay(record));
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
    return UsageError(absl::StrCat("--ply: the game has ", length,
                                   " actions; got ", options.ply));
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
  const auto wins = static_cast<double>(statistics.red_wins);
  const auto draws = static_cast<double>(statistics.draws);
  const auto games = static_cast<size_t>(statistics.games);
  const double count = eval::EffectiveCount(games, MakeClusters(statistics));
  const double unit = count / static_cast<double>(games);
  return eval::ScoreIntervalOf({.count = count,
                                .sum = unit * (wins + draws / 2),
                                .squares = unit * (wins + draws / 4)});
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

// Sums games up by variant and rule options.
absl::StatusOr<int> RunGamesStats(const GamesQueryOptions& options,
                                  Console& console) {
  TARA_ASSIGN_OR_RETURN(const record::GameQuery query, QueryOf(options));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<record::GameStore> store,
                        OpenStoreForReading(options.store));
  TARA_ASSIGN_OR_RETURN(std::vector<record::GameStatistics> all,
                        store->Statistics(query));
  if (options.format != "json") {
    std::stable_sort(
        all.begin(), all.end(),
        [](const record::GameStatistics& a, const record::GameStatistics& b) {
          return std::pair(a.variant, OptionValues(a)) <
                 std::pair(b.variant, OptionValues(b));
        });
  }
  Json list = Json::array();
  std::vector<eval::ReportRow> rows;
  for (const record::GameStatistics& each : all) {
    rows.push_back(FieldsOf(each));
    list.push_back(eval::RowJson(rows.back()));
  }
  console.out << (options.format == "json" ? eval::JsonText(list, 2) + "\n"
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
  TARA_ASSIGN_OR_RETURN(const record::ReplayedGame game,
                        record::Replay(record));
  if (!game.finished()) return std::nullopt;
  return record::GameToLine(game.states.front(), record::ActionsOf(record));
}

// Takes a line with its end.
using LineSink = std::function<absl::Status(absl::string_view line)>;

// Counts the games that are left out.
absl::Status WriteLines(record::GameStore& store,
                        const record::GameQuery& query, const LineSink& sink,
                        int64_t& left_out) {
  TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> indices,
                        store.Indices(query));
  for (const uint64_t index : indices) {
    TARA_ASSIGN_OR_RETURN(const proto::GameRecord record,
                          store.GetListed(index));
    TARA_ASSIGN_OR_RETURN(const std::optional<std::string> line,
                          LineOf(record));
    if (!line.has_value()) {
      ++left_out;
      continue;
    }
    TARA_RETURN_IF_ERROR(sink(absl::StrCat(*line, "\n")));
  }
  return absl::OkStatus();
}

absl::Status WriteFile(record::GameStore& store, const record::GameQuery& query,
                       const std::string& path, int64_t& left_out) {
  TARA_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  TARA_RETURN_IF_ERROR(WriteLines(
      store, query, [&](absl::string_view line) { return file.Append(line); },
      left_out));
  return file.Commit();
}

absl::Status WriteOut(record::GameStore& store, const record::GameQuery& query,
                      std::ostream& out, int64_t& left_out) {
  return WriteLines(
      store, query,
      [&](absl::string_view line) {
        errno = 0;
        out << line;
        return out ? absl::OkStatus()
                   : SystemError("cannot write", "the games");
      },
      left_out);
}

// Writes games as JSON lines, oldest first; a file appears only when all are
// written.
absl::StatusOr<int> RunGamesExport(const GamesExportOptions& options,
                                   Console& console) {
  if (options.output != "-") {
    TARA_RETURN_IF_ERROR(
        CheckOutput("--output", options.output, {}, kGamesFile));
  }
  TARA_ASSIGN_OR_RETURN(const record::GameQuery query, QueryOf(options.query));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<record::GameStore> store,
                        OpenStoreForReading(options.query.store));
  int64_t left_out = 0;
  TARA_RETURN_IF_ERROR(
      options.output == "-"
          ? WriteOut(*store, query, console.out, left_out)
          : WriteFile(*store, query, options.output, left_out));
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
  Command& command = games.AddCommand("list", "list games, newest first");
  GamesQueryOptions* const options = command.SetRun(RunGamesList);
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
  Command& command = games.AddCommand("show", "show one game");
  GamesShowOptions* const options = command.SetRun(RunGamesShow);
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
      "JSON is the game's line as `tara games export` writes it. SVG is "
      "a\npicture of the position.");
  command.SetExamples({"games show runs/mine 17 --ply 10"});
}

void AddExport(Command& games) {
  Command& command = games.AddCommand(
      "export", "write games as JSON lines, which `tara verify` checks");
  GamesExportOptions* const options = command.SetRun(RunGamesExport);
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
  Command& command = games.AddCommand(
      "stats", "summarize games: wins, points, lengths, endings");
  GamesQueryOptions* const options = command.SetRun(RunGamesStats);
  AddQueryFlags(command, options);
  command.Add({FormatOption(&options->format)});
  command.SetExamples({"games stats runs/mine --format=json"});
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

}  // namespace tara::cli
