#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/game.pb.h"
#include "tara/base/atomic_file.h"
#include "tara/base/sqlite.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/cli/match_flags.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/eval/book/book.h"
#include "tara/eval/book/book_report.h"
#include "tara/eval/players/contest.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/report/report.h"
#include "tara/eval/report/report_page.h"
#include "tara/mcts/evaluator.h"
#include "tara/record/game_store.h"

namespace tara::cli {
namespace {

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
  std::string format = "text";
  std::string html;  // a file for the page; none if empty
  bool ascii = false;
  std::string colour = "auto";
};

// Adds the games of a store to the book and returns how many were new.
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

eval::ReportRow SummaryOf(const eval::OpeningTree& tree, int positions_before) {
  const std::optional<eval::OpeningPosition> start = tree.At(tree.start());
  const bool known = start.has_value() && start->score.has_value();
  const std::string line =
      known ? absl::StrJoin(LineToTexts(start->actions[0].line, tree.start()),
                            " ")
            : "";
  return {
      eval::TextField("", "rules", eval::VariantText(tree.start())),
      eval::CountField("", "positions", tree.positions()),
      eval::CountField("", "new", tree.positions() - positions_before),
      eval::CountField("", "plies", tree.deepest()),
      eval::CountField("", "games", tree.games()),
      known ? eval::NumberField("", "winning %", *start->score, eval::kPercent)
            : eval::NoField("", "winning %"),
      known ? eval::NumberField("", "points", *start->margin,
                                {.digits = 1, .sign = true})
            : eval::NoField("", "points"),
      eval::TextField("", "best line", line)};
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
  TARA_ASSIGN_OR_RETURN(const std::shared_ptr<mcts::Evaluator> evaluator,
                        eval::MakeEvaluator(player));
  std::vector<eval::ReportRow> rows;
  for (const State& start : starts) {
    eval::OpeningTree tree(book, start);
    const int before = tree.positions();
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
    rows.push_back(SummaryOf(tree, before));
  }
  status_line.Clear();
  console.out << "Searched by " << player.text
              << "; chances and points of the first side under best play by "
                 "the book\n"
              << eval::TableText(rows);
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
               : UsageError(absl::StrCat("missing --variant: ", options.book,
                                         " has ", absl::StrJoin(names, ", ")));
  }
  TARA_ASSIGN_OR_RETURN(const ShownPosition shown,
                        PositionOf(options.position));
  return shown.state;
}

absl::StatusOr<int> RunShowBook(const ShowBookOptions& options,
                                Console& console) {
  TARA_RETURN_IF_ERROR(CheckHtmlFlag(options.html));
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
    console.out << (options.format == "json"
                        ? eval::BookReportJson(tree, *position, source)
                        : eval::BookReportText(
                              tree, *position, source,
                              {.unicode = !options.ascii,
                               .colour = UseColour(options.colour, console)}));
    if (!options.html.empty()) {
      TARA_RETURN_IF_ERROR(
          WriteFileAtomically(options.html, eval::BookPage(tree, source)));
    }
    return kExitOk;
  }
  return absl::NotFoundError(absl::StrCat(
      options.book, ": the position is not in the book; expected one of ",
      "its lines (explore build adds more)"));
}

void RegisterBuild(Command& explore) {
  Command& command = explore.AddCommand(
      "build", "create or extend a book with searches and games");
  BuildOptions* const options = command.SetRun(RunBuild);
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
      "the lines\n"
      "that give away the least. The same command resumes after an "
      "interruption, and\n"
      "more --positions extend the book. One player searches all positions of "
      "a book,\n"
      "so later commands can omit it.\n"
      "The method and the file: docs/how-to/explore_openings.md.");
  command.SetExamples(
      {"explore build openings.db --variant high_kings_l1",
       "explore build openings.db --variant all --positions 5000",
       "explore build openings.db --games runs/generalist-all"});
}

void RegisterShowBook(Command& explore) {
  Command& command = explore.AddCommand(
      "show", "show a book's entry for a position, or write it as a page");
  ShowBookOptions* const options = command.SetRun(RunShowBook);
  command.Add({
      {"BOOK", &options->book, "opening book", kRequired},
      FormatOption(&options->format),
      HtmlOption(&options->html),
      AsciiOption(&options->ascii),
      ColourOption(&options->colour),
  });
  AddPositionFlags(command, &options->position);
  command.SetNotes(
      "Without --variant, shows the start of the book, if it has only one. The "
      "page has\n"
      "all positions of the book after that start. Chances, points and scores "
      "are for\n"
      "the side to move. `by` is `book` if the position after the action was "
      "searched,\n"
      "so that its value is backed up. Otherwise it is the number of "
      "simulations of the\n"
      "action in the search of this position.");
  command.SetExamples(
      {"explore show openings.db",
       "explore show openings.db --variant high_kings_l1 --actions \"D4 C3\"",
       "explore show openings.db --variant sacred_hill_l1 --html hill.html"});
}

}  // namespace

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
