#include "tara/cli/rated_players.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tara/base/status_macros.h"
#include "tara/cli/command_line.h"

namespace tara::cli {
namespace {

namespace fs = std::filesystem;

// Returns the checkpoints ckpt-NNNNNN.pt of a run's folder by generation.
absl::StatusOr<std::map<int, std::string>> FindCheckpoints(
    const std::string& run) {
  std::error_code error;
  fs::path folder = fs::path(run) / "checkpoints";
  if (!fs::is_directory(folder, error)) folder = run;
  std::map<int, std::string> checkpoints;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    absl::string_view number = name;
    int generation;
    if (absl::ConsumePrefix(&number, "ckpt-") &&
        absl::ConsumeSuffix(&number, ".pt") &&
        absl::SimpleAtoi(number, &generation)) {
      checkpoints[generation] = entry.path().string();
    }
  }
  if (checkpoints.empty()) {
    return absl::NotFoundError(
        absl::StrCat(run, ": no checkpoints; expected files ckpt-NNNNNN.pt in ",
                     (fs::path(run) / "checkpoints").string()));
  }
  return checkpoints;
}

struct CheckpointChoice {
  int every = 1;
  std::vector<int> generations = {};  // if not empty: only these
};

absl::StatusOr<std::map<int, std::string>> Choose(
    const std::string& run, const std::map<int, std::string>& checkpoints,
    const CheckpointChoice& choice) {
  std::map<int, std::string> chosen;
  if (choice.generations.empty()) {
    for (const auto& [generation, path] : checkpoints) {
      const bool newest = generation == checkpoints.rbegin()->first;
      if (generation % choice.every == 0 || newest) chosen[generation] = path;
    }
    return chosen;
  }
  for (const int generation : choice.generations) {
    const auto found = checkpoints.find(generation);
    if (found == checkpoints.end()) {
      return absl::NotFoundError(
          absl::StrCat(run, ": no checkpoint of generation ", generation,
                       "; the newest is ", checkpoints.rbegin()->first));
    }
    chosen.insert(*found);
  }
  return chosen;
}

absl::StatusOr<CheckpointChoice> ParseChoice(const std::string& text) {
  CheckpointChoice choice;
  if (text == "all") return choice;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "every:")) {
    if (absl::SimpleAtoi(rest, &choice.every) && choice.every > 0) {
      return choice;
    }
  } else {
    for (const absl::string_view part : absl::StrSplit(text, ',')) {
      int generation;
      if (!absl::SimpleAtoi(part, &generation) || generation < 0) {
        choice.generations.clear();
        break;
      }
      choice.generations.push_back(generation);
    }
    if (!choice.generations.empty()) return choice;
  }
  return UsageError(
      absl::StrCat("bad --checkpoints '", text,
                   "'; expected all, every:K, or generations such as 0,10,20"));
}

}  // namespace

void AddCheckpointFlags(Command& command, CheckpointFlags* flags) {
  command.Add({
      {"--checkpoints WHICH", &flags->checkpoints,
       "checkpoints of runs: all, every:K (and the newest), or generations "
       "such as 0,10,20"},
      {"--sims N", &flags->simulations, 0, 1000000,
       "simulations per action of checkpoints; 0 plays the policy"},
  });
}

absl::StatusOr<std::vector<NamedPlayer>> PlayersNamed(
    absl::Span<const std::string> arguments, const CheckpointFlags& flags) {
  TARA_ASSIGN_OR_RETURN(const CheckpointChoice choice,
                        ParseChoice(flags.checkpoints));
  const auto team_of = [&](const std::string& path) {
    return eval::MakeTeam({eval::NetworkPlayer(path, flags.simulations)});
  };
  std::error_code error;
  const auto is_run = [&](const std::string& argument) {
    return fs::is_directory(argument, error);
  };
  const auto runs = std::count_if(arguments.begin(), arguments.end(), is_run);
  std::vector<NamedPlayer> players;
  for (const std::string& argument : arguments) {
    const absl::StatusOr<eval::TeamSpec> team = eval::ParseTeamSpec(argument);
    if (team.ok()) {
      players.push_back({.name = argument, .team = *team});
      continue;
    }
    if (!fs::exists(argument, error)) {
      return UsageError(absl::StrCat(
          "'", argument, "' is not a run, checkpoint or player; as a player: ",
          team.status().message()));
    }
    if (!is_run(argument)) {
      players.push_back({.name = fs::path(argument).stem().string(),
                         .team = team_of(argument)});
      continue;
    }
    TARA_ASSIGN_OR_RETURN(const auto checkpoints, FindCheckpoints(argument));
    TARA_ASSIGN_OR_RETURN(const auto chosen,
                          Choose(argument, checkpoints, choice));
    for (const auto& [generation, path] : chosen) {
      const std::string name = fs::path(path).stem().string();
      players.push_back(
          {.name = runs > 1 ? absl::StrCat(argument, "/", name) : name,
           .team = team_of(path),
           .point =
               eval::TrainingPoint{.run = argument, .generation = generation}});
    }
  }
  return players;
}

std::vector<eval::PlayerSpec> MembersOf(absl::Span<const NamedPlayer> players) {
  std::vector<eval::PlayerSpec> members;
  for (const NamedPlayer& player : players) {
    members.insert(members.end(), player.team.players.begin(),
                   player.team.players.end());
  }
  return members;
}

}  // namespace tara::cli
