#include "tara/cli/regret.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/cli/commands.h"
#include "tara/cli/status_line.h"
#include "tara/cli/usage.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/make_player.h"
#include "tara/eval/player_spec.h"
#include "tara/eval/regret.h"
#include "tara/eval/report_parts.h"
#include "tara/eval/text_table.h"
#include "tara/train/stop.h"

namespace tara {
namespace {

using Json = nlohmann::ordered_json;

struct RegretRow {
  Variant variant;
  std::string player;
  Regret regret;
};

std::string ToText(const std::vector<RegretRow>& rows) {
  if (rows.empty()) return "no positions\n";
  std::vector<std::vector<std::string>> table = {
      {"regret", "player", "positions", "points lost", "95 %", "results lost %",
       "95 %", "best action %", "95 %", "policy on it %", "95 %",
       "value error %", "95 %"}};
  for (const RegretRow& row : rows) {
    auto& cells = table.emplace_back();
    const Regret& regret = row.regret;
    cells = {std::string(Info(row.variant).id), row.player,
             absl::StrCat(regret.positions)};
    AddInterval(regret.points, 1, cells);
    AddInterval(regret.results, 100, cells);
    AddInterval(regret.best, 100, cells);
    for (const auto& said : {regret.policy, regret.value_error}) {
      if (said.has_value()) {
        AddInterval(*said, 100, cells);
      } else {
        cells.insert(cells.end(), 2, "-");
      }
    }
  }
  return TextTable(table, 2);
}

std::string ToJson(const std::vector<RegretRow>& rows) {
  Json array = Json::array();
  for (const RegretRow& row : rows) {
    Json& object = array.emplace_back();
    const Regret& regret = row.regret;
    object["variant"] = std::string(Info(row.variant).id);
    object["player"] = row.player;
    object["positions"] = regret.positions;
    PutInterval("points", regret.points, object);
    PutInterval("results", regret.results, object);
    PutInterval("best", regret.best, object);
    if (regret.policy.has_value()) {
      PutInterval("policy", *regret.policy, object);
    }
    if (regret.value_error.has_value()) {
      PutInterval("value_error", *regret.value_error, object);
    }
  }
  return array.dump(2) + "\n";
}

absl::StatusOr<std::vector<std::unique_ptr<Player>>> MakePlayers(
    const std::vector<std::string>& specs) {
  std::vector<std::unique_ptr<Player>> players;
  for (const std::string& spec : specs) {
    TARA_RETURN_IF_ERROR(AsUsageError(ParsePlayerSpec(spec).status()));
    TARA_ASSIGN_OR_RETURN(players.emplace_back(), MakePlayer(spec));
  }
  return players;
}

}  // namespace

absl::StatusOr<int> RunRegret(const RegretOptions& options, Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        StartsOf(options.game));
  TARA_ASSIGN_OR_RETURN(const auto players, MakePlayers(options.players));
  const auto seed = static_cast<uint64_t>(options.seed);
  const StopCheck stop = StopOnSignals();
  StatusLine status_line(console);
  std::vector<RegretRow> rows;
  for (const State& start : starts) {
    const Variant variant = start.variant;
    status_line.Show(absl::StrCat(Info(variant).id, ": solving ",
                                  options.positions, " positions"));
    const std::vector<SolvedPosition> positions =
        MakeSolvedPositions({.variant = variant,
                             .rule_options = start.options,
                             .seed = seed,
                             .positions = static_cast<int>(options.positions),
                             .node_limit = options.node_limit,
                             .keep_going = [&] { return !stop(); }});
    for (size_t i = 0; i < players.size() && !stop(); ++i) {
      status_line.Show(
          absl::StrCat(Info(variant).id, ": ", options.players[i]));
      TARA_ASSIGN_OR_RETURN(Regret regret,
                            MeasureRegret(positions, seed, *players[i]));
      if (regret.positions == 0) continue;
      rows.push_back({variant, options.players[i], std::move(regret)});
    }
    if (stop()) break;
  }
  status_line.Clear();
  console.out << (options.format == "json" ? ToJson(rows) : ToText(rows));
  if (!stop()) return kExitOk;
  console.err << "tara: interrupted; these are the players finished by then\n";
  return kExitInterrupted;
}

void RegisterRegret(Command& root) {
  Command& command =
      root.AddCommand(kRegretCommand.name, kRegretCommand.summary);
  const auto options = std::make_shared<RegretOptions>();
  AddGameFlags(command, &options->game, kVariantOrAllHelp);
  command.AddTexts({.names = "--player",
                    .placeholder = "SPEC",
                    .help = "whom to measure; may be given again: the "
                            "checkpoints of a run",
                    .required = true},
                   &options->players);
  command.AddInteger({.names = "--positions",
                      .placeholder = "N",
                      .help = "solved endgames of each variant"},
                     1, 1000000, &options->positions);
  command.AddCount({.names = "--nodes",
                    .placeholder = "N",
                    .help = "what solving a position may cost, in positions "
                            "visited; more reaches further from the end"},
                   100, int64_t{1} << 40, &options->node_limit);
  command.AddInteger({.names = "--seed",
                      .placeholder = "N",
                      .help = "of the positions, and of what players draw"},
                     0, INT64_MAX, &options->seed);
  command.AddChoice({.names = "--format", .help = "form of the report"},
                    {"text", "json"}, &options->format);
  command.SetNotes(absl::StrCat(
      "Each position is the earliest of a game that can be solved so and in "
      "which\nnot all actions are worth the same. Lost is what the best action "
      "would have\nbrought more; a draw is half a result.\n\nPlayers:\n",
      PlayerSpecHelp()));
  command.SetExamples(
      {"regret --variant all --player greedy --player mcts:sims=100",
       "regret --variant four_treasures --player net:runs/first,sims=0"});
  command.SetRun(
      [options](Console& console) { return RunRegret(*options, console); });
}

}  // namespace tara
