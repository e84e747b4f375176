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

// The player of one side, or its two players in variants for pairs.
struct TeamSpec {
  std::string text;                 // as it is written
  std::vector<PlayerSpec> players;  // one, or two that differ

  // Number of ways to seat them (ArenaOptions::seatings_a).
  int seatings() const { return static_cast<int>(players.size()); }
};

// Returns the team of one player, or of two, which count as one if their texts
// are equal. REQUIRES: one or two players.
TeamSpec MakeTeam(std::vector<PlayerSpec> players);

// Parses "SPEC" or "SPEC+SPEC": player specs joined by a plus sign before the
// name of a kind of player, outside of quotes. Two equal specs count as one.
// Errors of ParsePlayerSpec, and INVALID_ARGUMENT for more than two.
absl::StatusOr<TeamSpec> ParseTeamSpec(absl::string_view text);

// Like that of a player (player_spec.h), for the whole team.
int GamesAtATime(const TeamSpec& team, int games);

// Returns INVALID_ARGUMENT naming the variant if the team cannot play it.
absl::Status CheckTeam(const TeamSpec& team, Variant variant);

// Two players as partners, for variants for pairs. In games of seating 0
// (Turn::seating) `first` has the first of the side's seats (0 or 1) and
// `second` the other (2 or 3); in seating 1 the reverse. They do not
// communicate. A margin counts as proved only if both have proved it, each at
// its last choice, because a partner that has not proved it might give it away.
std::unique_ptr<Player> NewTeamPlayer(std::unique_ptr<Player> first,
                                      std::unique_ptr<Player> second);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_TEAM_H_
