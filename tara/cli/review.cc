#include "tara/eval/review/review.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/game.pb.h"
#include "tara/base/atomic_file.h"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/base/text.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/cli/match_flags.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/review/review_report.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/utility.h"
#include "tara/record/game_lines.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"

namespace tara::cli {
namespace {

struct ReviewFlags {
  std::string game;     // a file, a store, the folder of a run, or "-"
  int64_t number = -1;  // -1: the first of a file, the newest of a store
  JudgeFlags judge;
  int64_t node_limit = 1000000;
  int worst = 5;
  bool all = false;
  int threads = 0;  // all cores
  uint64_t seed = 1;
  std::string format = "text";
  std::string html;   // a file for the page; none if empty
  std::string notes;  // a file for the game with notes; none if empty
  bool ascii = false;
  std::string colour = "auto";
};

// A game to be reviewed.
struct GivenGame {
  record::GameLine line;
  std::string ended_early;  // as ReviewSource
  bool has_others = false;  // its text has other games
};

absl::StatusOr<GivenGame> GameOfStore(const std::string& path, int64_t number) {
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<record::GameStore> store,
                        OpenStoreForReading(path));
  if (number < 0) {
    TARA_ASSIGN_OR_RETURN(const std::vector<record::GameRow> rows,
                          store->List({.limit = 1, .newest_first = true}));
    if (rows.empty()) {
      return absl::NotFoundError(absl::StrCat(path, ": the store has no game"));
    }
    number = static_cast<int64_t>(rows[0].game_index);
  }
  TARA_ASSIGN_OR_RETURN(const proto::GameRecord record,
                        store->Get(static_cast<uint64_t>(number)));
  TARA_ASSIGN_OR_RETURN(const record::ReplayedGame game,
                        record::Replay(record));
  GivenGame given = {.line = {.initial = game.states.front(),
                              .actions = record::ActionsOf(record)},
                     .ended_early = {}};
  if (!game.finished()) {
    given.ended_early = absl::StrCat(eval::WinnerText(game.outcome.winner()),
                                     " (", record::EndingOf(record), ")");
  }
  return given;
}

// Returns the n-th game, from 1, of a text: a game a line, or one JSON object
// over several lines. Errors name the line.
absl::StatusOr<GivenGame> GameOfText(const std::string& name,
                                     absl::string_view text, int64_t number) {
  if (number == 0) {
    return UsageError("--game: the games of a text count from 1; got 0");
  }
  const auto parse = [&](absl::string_view place,
                         absl::string_view game) -> absl::StatusOr<GivenGame> {
    absl::StatusOr<record::GameLine> line = record::ParseGameText(game);
    if (line.ok()) return GivenGame{*std::move(line), "", false};
    return absl::Status(
        line.status().code(),
        absl::StrCat(name, place, ": ", line.status().message()));
  };
  if (absl::StrContains(text, '\0')) {
    return absl::InvalidArgumentError(
        absl::StrCat(name,
                     ": neither a game store nor text; expected games as JSON "
                     "lines, or a variant and actions"));
  }
  const std::string plain = PlainText(text);
  text = plain;
  const absl::string_view whole = absl::StripAsciiWhitespace(text);
  if (absl::StartsWith(whole, "{") && absl::StrContains(whole, '\n') &&
      ParseJson<nlohmann::json>(whole).ok()) {
    text = "";
    if (number <= 1) return parse("", whole);
  }
  int64_t games = text.empty() && !whole.empty() ? 1 : 0;
  int line_number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    if (++games < number) continue;
    TARA_ASSIGN_OR_RETURN(GivenGame game,
                          parse(absl::StrCat(":", line_number), line));
    game.has_others = absl::StrContains(whole, '\n');
    return game;
  }
  if (games == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": the file is empty; expected a game"));
  }
  return UsageError(absl::StrCat("--game: ", name, " has ", games,
                                 games == 1 ? " game" : " games", "; got ",
                                 number));
}

absl::StatusOr<GivenGame> ReadGivenGame(const ReviewFlags& options,
                                        Console& console) {
  if (options.game == "-") {
    const std::string text(std::istreambuf_iterator<char>(console.in), {});
    return GameOfText("-", text, options.number);
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(options.game, ignored)) {
    return GameOfStore(options.game, options.number);
  }
  if (KindOfFile(options.game) == kDatabaseFile) {
    return GameOfStore(options.game, options.number);
  }
  TARA_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(options.game));
  return GameOfText(options.game, text, options.number);
}

// Writes the game with what the review found in its notes; notes that it has
// at other actions stay.
absl::Status WriteNotes(const std::string& path, record::GameLine game,
                        const eval::GameReview& review) {
  const std::vector<std::string> notes = eval::ReviewNotes(review);
  game.notes.resize(game.actions.size());
  for (size_t i = 0; i < notes.size(); ++i) {
    if (!notes[i].empty()) game.notes[i] = notes[i];
  }
  TARA_ASSIGN_OR_RETURN(const std::string text, record::GameToText(game));
  return WriteFileAtomically(path, text + "\n");
}

absl::StatusOr<int> RunReview(const ReviewFlags& options, Console& console) {
  TARA_RETURN_IF_ERROR(
      CheckOutput("--html", options.html,
                  {{"--notes", options.notes}, {"the game", options.game}}));
  TARA_RETURN_IF_ERROR(CheckOutput("--notes", options.notes, {}, kGamesFile));
  TARA_ASSIGN_OR_RETURN(const GivenGame game, ReadGivenGame(options, console));
  std::error_code ignored;
  if (game.has_others &&
      std::filesystem::equivalent(options.game, options.notes, ignored)) {
    return UsageError(absl::StrCat("--notes ", options.notes,
                                   ": the file of the game, which holds other "
                                   "games; expected another file"));
  }
  const State& start = game.line.initial;
  if (!options.notes.empty() &&
      start != InitialState(start.variant, start.options)) {
    return UsageError(
        "--notes: the game begins from a custom position, which JSON lines "
        "cannot represent");
  }
  TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec player,
                        JudgeOf(options.judge, {start}, console));
  TARA_ASSIGN_OR_RETURN(const std::shared_ptr<mcts::Evaluator> evaluator,
                        eval::MakeEvaluator(player));
  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  status_line.Show("solving the end of the game");
  const absl::StatusOr<eval::GameReview> review = eval::ReviewGame(
      start, game.line.actions, *evaluator,
      {.search = player.search.search,
       .leaves_per_game = player.search.leaves_per_game,
       .confidence_z = player.search.confidence_z,
       .node_limit = options.node_limit,
       .seed = options.seed,
       .threads = ResolveThreads(options.threads),
       .stop = stop,
       .on_progress = [&](const eval::ReviewProgress& progress) {
         status_line.Show(absl::StrFormat(
             "searched %d of %d positions, %d simulations", progress.searched,
             progress.to_search, progress.simulations));
       }});
  status_line.Clear();
  if (absl::IsCancelled(review.status())) {
    console.err << "tara: interrupted; no review was written\n";
    return kExitInterrupted;
  }
  if (absl::IsInvalidArgument(review.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.game, ": ", review.status().message()));
  }
  TARA_RETURN_IF_ERROR(review.status());
  eval::ReviewSource source = {.last = start,
                               .ended_early = game.ended_early,
                               .player = player.text,
                               .not_learned = NotLearnedBy(player, start),
                               .seed = options.seed};
  for (const Action action : game.line.actions) {
    ApplyAction(action, source.last);
  }
  console.out << (options.format == "json"
                      ? eval::ReviewReportJson(*review, source)
                      : eval::ReviewReportText(
                            *review, source,
                            {.worst = options.worst,
                             .all = options.all,
                             .unicode = !options.ascii,
                             .colour = UseColour(options.colour, console)}));
  if (!options.html.empty()) {
    TARA_RETURN_IF_ERROR(WriteFileAtomically(
        options.html, eval::ReviewPage(*review, source, options.worst)));
  }
  if (!options.notes.empty()) {
    TARA_RETURN_IF_ERROR(WriteNotes(options.notes, game.line, *review));
  }
  return kExitOk;
}

}  // namespace

void RegisterReview(Command& root) {
  Command& command =
      root.AddCommand("review", "find the mistakes in a game, worst first");
  ReviewFlags* const options = command.SetRun(RunReview);
  command.Add({
      {"GAME", &options->game,
       "file of games as JSON lines (`tara games export`, the page of `tara "
       "web`) or as a variant and actions; a game store, or the folder of a "
       "run; - is standard input",
       kRequired},
      {"--game N", &options->number, 0, 0x1p63,
       "number of the game: of a file, from 1; of a store, its index in `tara "
       "games list`",
       Default("the first, or the newest of a store")},
      {"--nodes N", Counted{&options->node_limit}, 0, int64_t{1} << 40,
       "node limit of the solver per position; higher limits reach further "
       "from the end, 0 turns it off"},
      {"--worst N", &options->worst, 0, 1000,
       "number of worst actions to show with the board"},
      {"--all", &options->all, "list all actions, in order of the game"},
      ThreadsOption(&options->threads),
      SeedOption(&options->seed, "random seed of searches with noise"),
      FormatOption(&options->format),
      HtmlOption(&options->html),
      {"--notes FILE", &options->notes,
       "file for the game, annotated at each action that gave something away",
       Default("none")},
      AsciiOption(&options->ascii),
      ColourOption(&options->colour),
  });
  AddJudgeFlags(command, &options->judge);
  command.SetNotes(
      "An action is compared with the best one by searching the positions "
      "after both,\n"
      "with equal numbers of simulations; near the end, the solver compares "
      "them\n"
      "exactly. Chances count a draw as half a win. An action that lowers the "
      "chance by at\n"
      "least 5, 10 or 15 % is an inaccuracy, a mistake or a blunder. Losses "
      "below 1 % or\n"
      "within two standard errors are ignored.\n"
      "The method and the JSON: docs/how-to/review_a_game.md.");
  command.SetExamples({"review game.jsonl --html review.html",
                       "review runs/mine --game 17 --all",
                       "games export runs/mine | tara review - --game 3 "
                       "--player mcts:sims=4000"});
}

}  // namespace tara::cli
