#include "tara/cli/games.h"

#include <cstdint>
#include <memory>

#include "tara/cli/show.h"

namespace tara::cli {
namespace {

constexpr int64_t kListLimit = 20;

void AddStoreArgument(Command& command, std::string* store) {
  command.AddText({.names = "RUN",
                   .help = "folder of a run, or the file of a game store",
                   .required = true},
                  store);
}

void AddQueryFlags(Command& command, GamesQueryOptions* options) {
  AddStoreArgument(command, &options->store);
  command.AddText({.names = "--variant",
                   .placeholder = "V",
                   .help = "only games of this variant",
                   .default_text = "any"},
                  &options->variant);
  command.AddInteger({.names = "--generation",
                      .placeholder = "N",
                      .help = "only games of this generation",
                      .default_text = "any"},
                     0, UINT32_MAX, &options->generation);
}

void AddFormatFlag(Command& command, std::string* format) {
  command.AddChoice({.names = "--format", .help = "form of the output"},
                    {"text", "json"}, format);
}

void RegisterList(Command& games) {
  Command& command = games.AddCommand("list", "list games, newest first");
  const auto options = std::make_shared<GamesQueryOptions>();
  options->limit = kListLimit;
  AddQueryFlags(command, options.get());
  command.AddInteger({.names = "--limit",
                      .placeholder = "N",
                      .help = "at most so many games; 0: all"},
                     0, INT64_MAX, &options->limit);
  AddFormatFlag(command, &options->format);
  command.SetExamples({"games list runs/quickstart --limit 5"});
  command.SetRun(
      [options](Console& console) { return RunGamesList(*options, console); });
}

void RegisterShowGame(Command& games) {
  Command& command = games.AddCommand("show", "show one game");
  const auto options = std::make_shared<GamesShowOptions>();
  AddStoreArgument(command, &options->store);
  command.AddInteger({.names = "INDEX",
                      .help = "index of the game, as listed",
                      .required = true},
                     0, INT64_MAX, &options->game_index);
  command.AddInteger({.names = "--ply",
                      .placeholder = "N",
                      .help = "show the position after so many actions",
                      .default_text = "the last"},
                     0, INT32_MAX, &options->ply);
  AddFormatFlag(command, &options->format);
  AddDrawingFlags(command, &options->ascii, &options->colour);
  command.SetNotes("JSON is the game's line as `tara games export` writes it.");
  command.SetExamples({"games show runs/quickstart 17 --ply 10"});
  command.SetRun(
      [options](Console& console) { return RunGamesShow(*options, console); });
}

void RegisterExport(Command& games) {
  Command& command = games.AddCommand(
      "export", "write games as JSON lines, which `tara verify` checks");
  const auto options = std::make_shared<GamesExportOptions>();
  AddQueryFlags(command, &options->query);
  command.AddInteger({.names = "--limit",
                      .placeholder = "N",
                      .help = "only so many of the newest games; 0: all"},
                     0, INT64_MAX, &options->query.limit);
  command.AddText({.names = "-o,--output",
                   .placeholder = "FILE",
                   .help = "file to write; - is standard output"},
                  &options->output);
  command.SetNotes(
      "The form of the lines: docs/reference/rules.md section 12.");
  command.SetExamples({"games export runs/quickstart -o games.jsonl",
                       "games export runs/quickstart | tara verify -"});
  command.SetRun([options](Console& console) {
    return RunGamesExport(*options, console);
  });
}

void RegisterStats(Command& games) {
  Command& command =
      games.AddCommand("stats", "sum games up: wins, points, lengths, endings");
  const auto options = std::make_shared<GamesQueryOptions>();
  AddQueryFlags(command, options.get());
  AddFormatFlag(command, &options->format);
  command.SetExamples({"games stats runs/quickstart --format=json"});
  command.SetRun(
      [options](Console& console) { return RunGamesStats(*options, console); });
}

}  // namespace

void RegisterGames(Command& root) {
  Command& games = root.AddCommand(
      "games", "look into a game store: list, show, export, stats");
  RegisterList(games);
  RegisterShowGame(games);
  RegisterExport(games);
  RegisterStats(games);
  games.SetExamples({"games list runs/quickstart",
                     "games export runs/quickstart | tara verify -"});
}

}  // namespace tara::cli
