#include "tara/eval/review/review.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
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
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/game.pb.h"
#include "tara/base/files.h"
#include "tara/base/json.h"
#include "tara/base/sqlite.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/eval/book/book.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/report/report.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/utility.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"

namespace tara::cli {
namespace {

// The player of commands in which one judges positions.
struct JudgeFlags {
  std::string player;       // empty: the best there is for the rules
  int64_t simulations = 0;  // 0: the player's own
  bool untrained = false;   // judge what a network has not learned, too
};

void AddJudgeFlags(Command& command, JudgeFlags* flags) {
  command.Add({
      {"--player SPEC", &flags->player, "player that judges: mcts, net or best",
       Default("best:sims=1000, or mcts if that has not learned the rules")},
      {"--sims N", Counted{&flags->simulations}, 1, 10000000,
       "simulations per position", Default("the player's own")},
      UntrainedOption(&flags->untrained),
  });
}

// Returns the given player, or else the default one of the first start with
// 1000 simulations; with `simulations`, if not 0. A usage error if it does not
// search, if its values are not reproducible, or if it does not play only to
// win.
absl::StatusOr<eval::PlayerSpec> JudgeOf(JudgeFlags flags,
                                         absl::Span<const State> starts,
                                         Console& console) {
  constexpr int kDefaultSimulations = 1000;
  auto& [player, simulations, untrained] = flags;
  if (player.empty()) {
    player = DefaultPlayer(starts[0], console);
    if (simulations == 0) simulations = kDefaultSimulations;
  }
  TARA_ASSIGN_OR_RETURN(auto spec, AsUsageError(eval::ParsePlayerSpec(player)));
  const bool searches = spec.kind == eval::PlayerKind::kMcts ||
                        (spec.kind == eval::PlayerKind::kNet &&
                         (!spec.policy_alone || simulations > 0));
  if (!searches) {
    return UsageError("--player: '", player,
                      "' does not search; expected mcts, net or "
                      "best, with simulations");
  }
  if (simulations > 0) {
    TARA_ASSIGN_OR_RETURN(spec, AsUsageError(eval::WithOption(
                                    spec, "sims", absl::StrCat(simulations))));
  }
  if (spec.search.time > absl::ZeroDuration() || spec.search.ponder ||
      spec.search.threads > 1) {
    return UsageError(
        "--player: '", player,
        "' has a time, threads or ponder, so its values are not reproducible; "
        "expected sims=N, with --threads");
  }
  if (spec.search.search.utility.kind != mcts::UtilityKind::kWinLoss) {
    return UsageError("--player: '", player,
                      "' does not play only to win; expected "
                      "utility=win");
  }
  TARA_RETURN_IF_ERROR(CheckLearned({spec}, starts, untrained, console));
  return eval::WithPrecision(spec);
}

struct ReviewFlags {
  std::string game;     // a file, a store, the folder of a run, or "-"
  int64_t number = -1;  // -1: the first of a file, the newest of a store
  JudgeFlags judge;
  int64_t node_limit = 1000000;
  int worst = 5;
  bool all = false;
  int threads = 0;  // all cores
  uint64_t seed = 1;
  ReportFlags report;
  std::string notes;  // a file for the game with notes; none if empty
};

struct GivenGame {
  record::GameLine line;
  std::string ended_early;  // as ReviewSource
  bool has_others = false;  // its text has other games
};

absl::StatusOr<GivenGame> GameOfStore(const std::string& path, int64_t number) {
  TARA_ASSIGN_OR_RETURN(const auto store, OpenStoreForReading(path));
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
  TARA_ASSIGN_OR_RETURN(const auto game, record::Replay(record));
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
  return UsageError("--game: ", name, " has ", games,
                    games == 1 ? " game" : " games", "; got ", number);
}

absl::StatusOr<GivenGame> ReadGivenGame(const ReviewFlags& options,
                                        Console& console) {
  if (options.game == "-") {
    const std::string text(std::istreambuf_iterator<char>(console.in), {});
    return GameOfText("-", text, options.number);
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(options.game, ignored) ||
      KindOfFile(options.game) == kDatabaseFile) {
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
      CheckOutput("--html", options.report.html,
                  {{"--notes", options.notes}, {"the game", options.game}}));
  TARA_RETURN_IF_ERROR(CheckOutput("--notes", options.notes, {}, kGamesFile));
  TARA_ASSIGN_OR_RETURN(const GivenGame game, ReadGivenGame(options, console));
  std::error_code ignored;
  if (game.has_others &&
      std::filesystem::equivalent(options.game, options.notes, ignored)) {
    return UsageError("--notes ", options.notes,
                      ": the file of the game, which holds other "
                      "games; expected another file");
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
  TARA_ASSIGN_OR_RETURN(const auto evaluator, eval::MakeEvaluator(player));
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
         status_line.Show(
             absl::StrFormat("searched %d of %d positions, %d simulations",
                             progress.searched, progress.to_search,
                             progress.simulations),
             progress.searched, progress.to_search);
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
  TARA_RETURN_IF_ERROR(
      WriteReport(options.report,
                  eval::ReportReview(*review, source,
                                     {.worst = options.worst,
                                      .all = options.all,
                                      .colour = UseColour("auto", console)}),
                  console));
  if (!options.notes.empty()) {
    TARA_RETURN_IF_ERROR(WriteNotes(options.notes, game.line, *review));
  }
  return kExitOk;
}

// Games read between two writes to the book.
constexpr size_t kGamesAtATime = 1000;

struct BuildOptions {
  std::string book;
  GameFlags game;
  std::vector<std::string> stores;
  int positions = 1000;
  JudgeFlags judge;  // no player: the book's, or the best there is
  int threads = 0;   // all cores
};

struct ShowBookOptions {
  std::string book;
  PositionFlags position;
  ReportFlags report;
};

absl::StatusOr<int64_t> AddStoredGames(record::GameStore& store,
                                       const std::string& path,
                                       const StopCheck& stop,
                                       StatusLine& status_line,
                                       eval::OpeningBook& book) {
  TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> indices, store.Indices({}));
  int64_t added = 0;
  for (size_t first = 0; first < indices.size() && !stop();
       first += kGamesAtATime) {
    std::vector<proto::GameRecord> games;
    const size_t end = std::min(first + kGamesAtATime, indices.size());
    for (size_t i = first; i < end; ++i) {
      TARA_ASSIGN_OR_RETURN(games.emplace_back(), store.GetListed(indices[i]));
    }
    TARA_ASSIGN_OR_RETURN(const int64_t new_games, book.AddGames(games));
    added += new_games;
    status_line.Show(
        absl::StrFormat("%s: %d of %d games", path, end, indices.size()));
  }
  return added;
}

// Returns the player that searches for the book; FAILED_PRECONDITION if the
// book has another one.
absl::StatusOr<eval::PlayerSpec> ChooseSearcher(
    const BuildOptions& options, const std::vector<State>& starts,
    eval::OpeningBook& book, Console& console) {
  JudgeFlags judge = options.judge;
  if (judge.player.empty() && book.player().has_value()) {
    judge.player = book.player()->spec;
  }
  TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec player,
                        JudgeOf(judge, starts, console));
  TARA_ASSIGN_OR_RETURN(const std::string identity,
                        eval::PlayerIdentity(player));
  if (!book.player().has_value()) {
    TARA_RETURN_IF_ERROR(book.SetPlayer({player.text, identity}));
  } else if (book.player()->identity != identity) {
    return absl::FailedPreconditionError(absl::StrCat(
        options.book, ": its positions were searched by ", book.player()->spec,
        " (", book.player()->identity, "); got ", player.text, " (", identity,
        "); expected the same player, or another book"));
  }
  return player;
}

absl::StatusOr<int> RunBuild(const BuildOptions& options, Console& console) {
  if (options.game.variant.empty() && options.stores.empty()) {
    return UsageError(
        "nothing to add: expected --variant for searches, --games for games, "
        "or both");
  }
  std::vector<State> starts;
  if (!options.game.variant.empty()) {
    TARA_ASSIGN_OR_RETURN(starts, StartsOf(options.game));
  } else if (!options.game.options.empty()) {
    return UsageError("--option requires --variant");
  }
  std::vector<std::unique_ptr<record::GameStore>> stores;
  for (const std::string& path : options.stores) {
    TARA_ASSIGN_OR_RETURN(stores.emplace_back(), OpenStoreForReading(path));
  }
  TARA_ASSIGN_OR_RETURN(
      eval::OpeningBook book,
      eval::OpeningBook::Open(options.book, SqliteDatabase::Mode::kExclusive));
  if (!book.lock_warning().empty()) {
    console.err << "tara: " << book.lock_warning() << "\n";
  }
  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  const auto interrupted = [&] {
    status_line.Clear();
    console.err << "tara: interrupted; the same command resumes\n";
    return kExitInterrupted;
  };

  for (size_t i = 0; i < stores.size(); ++i) {
    const std::string& path = options.stores[i];
    TARA_ASSIGN_OR_RETURN(
        const int64_t added,
        AddStoredGames(*stores[i], path, stop, status_line, book));
    status_line.Clear();
    console.out << path << ": " << added << " new games\n";
    if (stop()) return interrupted();
  }
  if (starts.empty()) return kExitOk;

  TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec player,
                        ChooseSearcher(options, starts, book, console));
  TARA_ASSIGN_OR_RETURN(const auto evaluator, eval::MakeEvaluator(player));
  std::string summary;
  for (const State& start : starts) {
    eval::OpeningTree tree(book, start);
    const absl::Status status = eval::GrowBook(
        {.positions = options.positions,
         .search = {.search = player.search.search,
                    .leaves_per_game = player.search.leaves_per_game,
                    .threads = ResolveThreads(options.threads),
                    .stop = stop},
         .on_progress =
             [&](int positions) {
               status_line.Show(
                   absl::StrFormat("%s: %d of %d positions, %d plies deep",
                                   eval::VariantText(start), positions,
                                   options.positions, tree.deepest()));
             }},
        *evaluator, book, tree);
    if (absl::IsCancelled(status)) return interrupted();
    TARA_RETURN_IF_ERROR(status);
    summary +=
        eval::BookLine(tree, {.book = options.book, .player = player.text});
  }
  status_line.Clear();
  console.out << summary;
  return kExitOk;
}

// Returns the position that the flags name; without any, the start of the book,
// where it has but one.
absl::StatusOr<State> AskedPosition(const ShowBookOptions& options,
                                    const std::vector<State>& starts) {
  if (options.position.game.variant.empty() &&
      options.position.position.empty()) {
    if (starts.size() == 1) {
      State state = starts[0];
      TARA_RETURN_IF_ERROR(
          PlayActions(options.position.actions, "--actions", state));
      return state;
    }
    std::vector<std::string> names;
    for (const State& start : starts) names.push_back(eval::VariantText(start));
    return starts.empty()
               ? absl::NotFoundError(absl::StrCat(
                     options.book, ": the book is empty; see explore build"))
               : UsageError("missing --variant: ", options.book, " has ",
                            absl::StrJoin(names, ", "));
  }
  TARA_ASSIGN_OR_RETURN(const auto shown, PositionOf(options.position));
  return shown.state;
}

absl::StatusOr<int> RunShowBook(const ShowBookOptions& options,
                                Console& console) {
  TARA_RETURN_IF_ERROR(CheckOutput("--html", options.report.html));
  TARA_ASSIGN_OR_RETURN(
      const eval::OpeningBook book,
      eval::OpeningBook::Open(options.book, SqliteDatabase::Mode::kReadOnly));
  const std::vector<State> starts = book.Starts();
  TARA_ASSIGN_OR_RETURN(const State state, AskedPosition(options, starts));
  if (state.finished()) {
    return absl::InvalidArgumentError(
        "the position is finished; expected one with a side to move");
  }
  for (const State& start : starts) {
    if (start.variant != state.variant) continue;
    const eval::OpeningTree tree(book, start, state);
    const std::optional<eval::OpeningPosition> position = tree.At(state);
    if (!position.has_value() || position->empty()) continue;
    eval::BookSource source = {
        .book = options.book, .player = "", .not_learned = ""};
    if (book.player().has_value()) {
      source.player = book.player()->spec;
      const absl::StatusOr<eval::PlayerSpec> player =
          eval::ParsePlayerSpec(source.player);
      if (player.ok()) source.not_learned = NotLearnedBy(*player, start);
    }
    TARA_RETURN_IF_ERROR(WriteReport(
        options.report,
        eval::ReportBook(tree, *position, source, UseColour("auto", console)),
        console));
    return kExitOk;
  }
  return absl::NotFoundError(absl::StrCat(
      options.book, ": the position is not in the book; expected one of ",
      "its lines (explore build adds more)"));
}

void RegisterBuild(Command& explore) {
  const auto [command, options] = explore.AddCommand(
      "build", "create or extend a book with searches and games", RunBuild);
  command.Add({
      {"BOOK", &options->book, "opening book, created if missing", kRequired},
      {"--games STORE", &options->stores,
       "games to count: a game store, or the folder of a run; repeatable. "
       "Games already in the book are not counted again"},
      {"--positions N", &options->positions, 1, 10000000,
       "total positions per variant to search"},
      ThreadsOption(&options->threads),
  });
  AddGameFlags(command, &options->game,
               "variant to search openings of, by its identifier in `tara "
               "variants`, or 'all'; if omitted, nothing is searched: only "
               "--games are counted",
               /*required=*/false);
  AddJudgeFlags(command, &options->judge);
  command.SetNotes(
      "The search begins with the start and every first action, then extends "
      "the lines that give away the least. The same command resumes after an "
      "interruption, and more --positions extend the book. One player searches "
      "all positions of a book, so later commands can omit it.\n"
      "The method and the file: docs/how-to/explore_openings.md.");
  command.SetExamples(
      {"explore build openings.db --variant high_kings_l1",
       "explore build openings.db --variant all --positions 5000",
       "explore build openings.db --games runs/generalist-all"});
}

void RegisterShowBook(Command& explore) {
  const auto [command, options] = explore.AddCommand(
      "show", "show a book's entry for a position, or write it as a page",
      RunShowBook);
  command.Add({
      {"BOOK", &options->book, "opening book", kRequired},
  });
  AddReportFlags(command, &options->report);
  AddPositionFlags(command, &options->position);
  command.SetNotes(
      "Without --variant, shows the start of the book, if it has only one. The "
      "page has all positions of the book after that start. Chances, points "
      "and scores are for the side to move. `by` is `book` if the position "
      "after the action was searched, so that its value is backed up. "
      "Otherwise it is the number of simulations of the action in the search "
      "of this position.");
  command.SetExamples(
      {"explore show openings.db",
       "explore show openings.db --variant high_kings_l1 --actions \"D4 C3\"",
       "explore show openings.db --variant sacred_hill_l1 --html hill.html"});
}

}  // namespace

void RegisterReview(Command& root) {
  const auto [command, options] = root.AddCommand(
      "review", "find the mistakes in a game, worst first", RunReview);
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
      {"--notes FILE", &options->notes,
       "file for the game, annotated at each action that gave something away",
       Default("none")},
  });
  AddReportFlags(command, &options->report);
  AddJudgeFlags(command, &options->judge);
  command.SetNotes(
      "An action is compared with the best one by searching the positions "
      "after both, with equal numbers of simulations; near the end, the solver "
      "compares them exactly. Chances count a draw as half a win. An action "
      "that lowers the chance by at least 5, 10 or 15 % is an inaccuracy, a "
      "mistake or a blunder. Losses below 1 % or within two standard errors "
      "are ignored.\n"
      "The method and the JSON: docs/how-to/review_a_game.md.");
  command.SetExamples({"review game.jsonl --html review.html",
                       "review runs/mine --game 17 --all",
                       "games export runs/mine | tara review - --game 3 "
                       "--player mcts:sims=4000"});
}

void RegisterExplore(Command& root) {
  Command& command = root.AddCommand("explore",
                                     "build and show opening books: the value "
                                     "of openings, by searches and games");
  command.SetExamples({"explore build openings.db --variant high_kings_l1",
                       "explore show openings.db --html openings.html"});
  RegisterBuild(command);
  RegisterShowBook(command);
}

}  // namespace tara::cli
