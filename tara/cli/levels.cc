#include "tara/mcts/levels/levels.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tara/base/json.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/variant.h"
#include "tara/eval/report/report.h"

namespace tara::cli {
namespace {

struct LevelsOptions {
  std::string format = "text";
};

using Json = nlohmann::ordered_json;

Json LevelToJson(int number) {
  const mcts::Level& level = mcts::kLevels[number - 1];
  Json elo;
  for (const VariantInfo& info : kVariants) {
    const mcts::LevelElo measured = mcts::EloOfLevel(info.variant, number);
    elo[std::string(info.id)] = {
        {"elo", measured.elo},
        {"interval",
         {measured.elo - measured.interval, measured.elo + measured.interval}}};
  }
  // With the digits of the table, not those of a double.
  return {{"level", number},
          {"simulations", level.simulations},
          {"value_margin", *ParseJson<Json>(absl::StrCat(level.value_margin))},
          {"variants", elo}};
}

// Lists the levels of strength with their Elo in each variant.
absl::StatusOr<int> RunLevels(const LevelsOptions& options, Console& console) {
  if (options.format == "json") {
    Json levels = Json::array();
    for (int i = 1; i <= mcts::kNumLevels; ++i)
      levels.push_back(LevelToJson(i));
    console.out << levels.dump(2) << "\n";
    return kExitOk;
  }
  std::vector<eval::ReportRow> rows;
  for (const VariantInfo& info : kVariants) {
    eval::ReportRow row = {eval::TextField("", "level", info.id)};
    for (int i = 1; i <= mcts::kNumLevels; ++i) {
      const mcts::LevelElo measured = mcts::EloOfLevel(info.variant, i);
      row.push_back(eval::CountField("", absl::StrCat(i), measured.elo));
      absl::StrAppend(&row.back().text, " +-", measured.interval);
    }
    rows.push_back(std::move(row));
  }
  console.out << "Elo with 95 % intervals, by the ready-made network; level 5 "
                 "has 1000\n"
              << eval::TableText(rows);
  return kExitOk;
}

}  // namespace

void RegisterLevels(Command& root) {
  Command& command = root.AddCommand(
      "levels", "list the levels of strength with their Elo by variant");
  LevelsOptions* const options = command.SetRun(RunLevels);
  command.Add({
      FormatOption(&options->format),
  });
  command.SetExamples(
      {"levels", "play --variant high_kings_l1 --opponent level:3"});
}

}  // namespace tara::cli
