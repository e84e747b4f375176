#include "tara/eval/players/team_spec.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tara/base/status_macros.h"
#include "tara/eval/players/engine_spec.h"

namespace tara::eval {
namespace {

// Whether a player spec begins here; a plus sign may be part of a path.
bool BeginsPlayer(absl::string_view text) {
  for (const PlayerKindName& known : kPlayerKindNames) {
    absl::string_view rest = text;
    if (!absl::ConsumePrefix(&rest, known.name)) continue;
    if (rest.empty() || rest[0] == ':' || rest[0] == '+') return true;
  }
  return false;
}

std::vector<absl::string_view> SplitTeam(absl::string_view text) {
  std::vector<absl::string_view> players;
  size_t begin = 0;
  size_t plus = FindUnquoted(text, '+');
  while (plus != absl::string_view::npos) {
    if (BeginsPlayer(text.substr(plus + 1))) {
      players.push_back(text.substr(begin, plus - begin));
      begin = plus + 1;
    }
    plus = FindUnquoted(text, '+', plus + 1);
  }
  players.push_back(text.substr(begin));
  return players;
}

}  // namespace

absl::StatusOr<TeamSpec> ParseTeamSpec(absl::string_view text) {
  const std::vector<absl::string_view> players = SplitTeam(text);
  if (players.size() > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("bad team '", text, "': ", players.size(),
                     " players; expected SPEC or SPEC+SPEC"));
  }
  TeamSpec team;
  for (const absl::string_view player : players) {
    if (!team.texts.empty() && team.texts[0] == player) continue;
    TARA_ASSIGN_OR_RETURN(PlayerSpec spec, ParsePlayerSpec(player));
    team.texts.emplace_back(player);
    team.players.push_back(std::move(spec));
  }
  return team;
}

int GamesAtATime(const TeamSpec& team, int games) {
  for (const PlayerSpec& player : team.players) {
    games = GamesAtATime(player, games);
  }
  return games;
}

absl::Status CheckTeam(const TeamSpec& team, Variant variant) {
  if (team.seatings() == 1 || Info(variant).seats == 4) return absl::OkStatus();
  std::vector<absl::string_view> doubles;
  for (const VariantInfo& info : kVariants) {
    if (info.seats == 4) doubles.push_back(info.id);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "a team of two players, '", absl::StrJoin(team.texts, "+"),
      "', cannot play ", Info(variant).id, ", where a side has one seat; ",
      "expected one of ", absl::StrJoin(doubles, ", ")));
}

}  // namespace tara::eval
