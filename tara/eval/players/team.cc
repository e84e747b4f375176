#include "tara/eval/players/team.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/eval/players/player_spec.h"

namespace tara::eval {
namespace {

// Whether a player spec begins here; a plus sign may be part of a path.
bool BeginsPlayer(absl::string_view text) {
  for (const PlayerKindInfo& known : PlayerKinds()) {
    absl::string_view rest = text;
    if (!absl::ConsumePrefix(&rest, known.name)) continue;
    if (rest.empty() || rest[0] == ':' || rest[0] == '+') return true;
  }
  return false;
}

std::vector<absl::string_view> SplitTeam(absl::string_view text) {
  std::vector<absl::string_view> players;
  size_t begin = 0;
  const auto find = [text, &begin](size_t from) {
    const absl::string_view player = text.substr(begin);
    const bool has_quotes = absl::StartsWith(player, "engine:") ||
                            absl::StartsWith(player, "net:\"") ||
                            absl::StartsWith(player, "net:'");
    return has_quotes ? FindUnquoted(text, '+', from) : text.find('+', from);
  };
  size_t plus = find(0);
  while (plus != absl::string_view::npos) {
    if (BeginsPlayer(text.substr(plus + 1))) {
      players.push_back(text.substr(begin, plus - begin));
      begin = plus + 1;
    }
    plus = find(plus + 1);
  }
  players.push_back(text.substr(begin));
  return players;
}

}  // namespace

TeamSpec MakeTeam(std::vector<PlayerSpec> players) {
  TeamSpec team = {.text = players[0].text, .players = std::move(players)};
  if (team.players.size() == 1) return team;
  absl::StrAppend(&team.text, "+", team.players[1].text);
  if (team.players[0].text == team.players[1].text) team.players.pop_back();
  return team;
}

absl::StatusOr<TeamSpec> ParseTeamSpec(absl::string_view text) {
  const std::vector<absl::string_view> players = SplitTeam(text);
  if (players.size() > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("bad team '", text, "': ", players.size(),
                     " players; expected SPEC or SPEC+SPEC"));
  }
  TeamSpec team = {.text = std::string(text), .players = {}};
  for (const absl::string_view player : players) {
    if (!team.players.empty() && team.players[0].text == player) continue;
    TARA_ASSIGN_OR_RETURN(team.players.emplace_back(), ParsePlayerSpec(player));
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
  return absl::InvalidArgumentError(
      absl::StrCat("a team of two players, '", team.text, "', cannot play ",
                   Info(variant).id, ", where a side has one seat; ",
                   "expected one of ", absl::StrJoin(doubles, ", ")));
}

namespace {

class TeamPlayer : public Player {
 public:
  TeamPlayer(std::unique_ptr<Player> first, std::unique_ptr<Player> second)
      : members_{std::move(first), std::move(second)} {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (int member = 0; member < 2; ++member) {
      std::vector<Turn> its_turns;
      std::vector<size_t> places;
      for (size_t i = 0; i < turns.size(); ++i) {
        if (MemberOf(turns[i]) != member) continue;
        its_turns.push_back(turns[i]);
        places.push_back(i);
      }
      if (its_turns.empty()) continue;
      std::vector<Action> its_actions(its_turns.size());
      TARA_RETURN_IF_ERROR(members_[member]->ChooseActions(
          its_turns, absl::MakeSpan(its_actions)));
      for (size_t i = 0; i < its_turns.size(); ++i) {
        actions[places[i]] = its_actions[i];
        Agree(member, its_turns[i]);
      }
    }
    return absl::OkStatus();
  }

  void EndGame(uint64_t game) override {
    for (const auto& member : members_) member->EndGame(game);
    proved_.erase(game);
  }

 private:
  static int MemberOf(const Turn& turn) {
    return (turn.state.seat / 2 + turn.seating) % 2;
  }

  // Leaves of what a member has proved what its partner has, too.
  void Agree(int member, const Turn& turn) {
    if (turn.report == nullptr) return;
    std::optional<int>& margin = turn.report->proved_margin;
    auto& proved = proved_[turn.game];
    // A forced choice is made without a thought.
    if (LegalActions(turn.state).Count() > 1) proved[member] = margin;
    if (proved[0] != proved[1]) margin = std::nullopt;
  }

  const std::array<std::unique_ptr<Player>, 2> members_;
  // Per game and member: the margin for their side, at the last choice.
  std::map<uint64_t, std::array<std::optional<int>, 2>> proved_;
};

}  // namespace

std::unique_ptr<Player> NewTeamPlayer(std::unique_ptr<Player> first,
                                      std::unique_ptr<Player> second) {
  return std::make_unique<TeamPlayer>(std::move(first), std::move(second));
}

}  // namespace tara::eval
