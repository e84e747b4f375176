#ifndef TARA_EVAL_PLAYERS_TEAM_H_
#define TARA_EVAL_PLAYERS_TEAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/core/variant.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"

namespace tara::eval {

// Who has the seats of one side: a player, or two for variants in pairs.
struct TeamSpec {
  std::string text;                 // as it is written
  std::vector<PlayerSpec> players;  // one, or two that differ

  // Ways to seat them (ArenaOptions::seatings_a).
  int seatings() const { return static_cast<int>(players.size()); }
};

// Returns the team of one player, or of two, who are one if their texts are the
// same. REQUIRES: one or two players.
TeamSpec TeamOf(std::vector<PlayerSpec> players);

// Parses "SPEC" or "SPEC+SPEC": player specs with a plus sign before the name
// of a kind of player, outside of quotes. Two that are the same are one. Errors
// as ParsePlayerSpec, and INVALID_ARGUMENT for more than two.
absl::StatusOr<TeamSpec> ParseTeamSpec(absl::string_view text);

// As of a player (player_spec.h), for all of the team.
int GamesAtATime(const TeamSpec& team, int games);

// Returns INVALID_ARGUMENT naming the variant if the team cannot play it.
absl::Status CheckTeam(const TeamSpec& team, Variant variant);

// Two players as partners, for variants in pairs: `first` has the first of the
// side's seats (0 or 1) in games of seating 0 (Turn::seating), and the second
// (2 or 3) in those of seating 1; `second` the other. They do not talk: each
// sees the game alone. What the team has proved is what both have, each at its
// last choice, so that a result is not proved for a partner who would give it
// away.
std::unique_ptr<Player> NewTeamPlayer(std::unique_ptr<Player> first,
                                      std::unique_ptr<Player> second);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_TEAM_H_
