#ifndef TARA_EVAL_PLAYERS_PLAYER_SPEC_H_
#define TARA_EVAL_PLAYERS_PLAYER_SPEC_H_

// Who can play, as text: players, and teams of two.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/base/option_table.h"
#include "tara/core/variant.h"
#include "tara/eval/players/player.h"
#include "tara/mcts/options/search_options.h"
#include "tara/nn/inference_options.h"

namespace tara::eval {

// An engine: another program that plays, through the line protocol.
struct EngineSpec {
  std::vector<std::string> command;  // the program and its arguments
  // Time limit of its first answer.
  absl::Duration start_limit = absl::Seconds(30);
  // Time limit of an action without a clock, and of any other command.
  absl::Duration move_limit = absl::Seconds(60);
  // With a clock: additional time to wait for an answer when its time is up.
  // The engine loses on time, but is not restarted.
  absl::Duration grace = absl::Seconds(2);
  // File that receives its standard error and the dialogue; empty: none.
  std::string log = {};
};

// Splits a command into words at spaces, like a shell: quotes, ' or ", group
// text, and a backslash escapes the next character (within double quotes only "
// or a backslash). Returns INVALID_ARGUMENT for an unterminated quote.
absl::StatusOr<std::vector<std::string>> SplitCommand(absl::string_view text);

// Returns the index of the first `mark` outside of quotes and not after a
// backslash (SplitCommand), or npos.
size_t FindUnquoted(absl::string_view text, char mark, size_t from = 0);

// Parses "CMD[,OPTION=VALUE...]", the part after "engine:" of a player spec.
// The command ends at the first comma outside of quotes. Returns
// INVALID_ARGUMENT naming the error and what was expected.
absl::StatusOr<EngineSpec> ParseEngineSpec(absl::string_view text);

// Kinds of players by implementation.
enum class PlayerKind {
  kBaseline,  // what its row of PlayerKinds() states, and nothing else
  kMcts,
  kNet,
  kEngine
};

struct PlayerSpec;

// A kind of players; of kBaseline, all that the program needs of it.
struct PlayerKindInfo {
  absl::string_view name;  // what specs begin with, up to the end or a colon
  PlayerKind kind;
  absl::string_view form;  // of a spec, in short
  // kBaseline: lines for --help, its options, and what makes the player.
  absl::string_view help = {};
  OptionTable (*options)(PlayerSpec& spec) = nullptr;  // null: it has none
  std::unique_ptr<Player> (*make)(const PlayerSpec& spec) = nullptr;
};

absl::Span<const PlayerKindInfo> PlayerKinds();

// Returns the kind with this name, or null.
const PlayerKindInfo* FindPlayerKind(absl::string_view name);

// A player as described on a command line; see PlayerSpecHelp.
struct PlayerSpec {
  PlayerKind kind = PlayerKind::kBaseline;
  const PlayerKindInfo* info = nullptr;  // kBaseline: its row
  // The spec as written, which identifies the player. The rest is its parts.
  std::string text = {};
  // kNet: checkpoint, bundle or folder of a run; empty: the ready-made model.
  std::string path = {};
  // kNet: the file that `path` named when it was resolved (WithPrecision),
  // because the newest checkpoint of a run changes. Otherwise empty.
  std::string file = {};
  int level = 0;  // kNet: from 1; 0: none
  // All but kEngine: names and values of the options in the text, "sims" and
  // "200", which set the members below.
  std::vector<std::pair<std::string, std::string>> options = {};
  bool policy_alone = false;            // kNet: no search (sims=0)
  nn::InferenceOptions inference = {};  // kNet
  int playouts = 1;                     // kMcts: random games per leaf
  // kMcts, kNet: search options. For kMcts the parser sets kPlayoutCPuct and
  // kPlayoutLeaves (tara/mcts/options/search_options.h).
  SearchPlayerOptions search = {{.search = mcts::ForPlay(),
                                 .reuse = true,
                                 .confidence_z = mcts::kPlayConfidenceZ}};
  // alphabeta: limits; 0: none. Without any there is a default of nodes.
  int nodes = 0;           // positions visited
  int depth = 0;           // actions ahead
  int time_ms = 0;         // of a move
  EngineSpec engine = {};  // kEngine
};

// Returns the best number of concurrent games, at most `games`: one if several
// threads search a position, or if a process has one board.
int GamesAtATime(const PlayerSpec& spec, int games);

// Parses a spec such as "greedy" or "net:runs/first,sims=200,graph=on". Returns
// INVALID_ARGUMENT naming the spec, the invalid part and what was expected.
absl::StatusOr<PlayerSpec> ParsePlayerSpec(absl::string_view text);

// Returns the spec net:PATH,sims=N for any characters in the path.
PlayerSpec NetworkPlayer(const std::string& path, int simulations);

// Returns a player with a search option that replaces its earlier value:
// "mcts:sims=9,graph=on" and sims=50 yields "mcts:graph=on,sims=50". Errors of
// ParsePlayerSpec.
absl::StatusOr<PlayerSpec> WithOption(PlayerSpec spec, absl::string_view name,
                                      absl::string_view value);

// Returns the options of a network's player, "sims=200,graph=on"; for a level,
// the options that it stands for. REQUIRES: a spec of kind kNet.
std::string NetworkOptionsOf(const PlayerSpec& spec);

// Returns the options of a player that searches but those of the search.
OptionTable SearchPlayerOptionTable(PlayerSpec& spec);

// Returns the forms of a spec for --help, one line per kind.
std::string PlayerSpecHelp();

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

// The same for the whole team.
int GamesAtATime(const TeamSpec& team, int games);

// Returns INVALID_ARGUMENT naming the variant if the team cannot play it.
absl::Status CheckTeam(const TeamSpec& team, Variant variant);

// Two players as partners, for variants for pairs. In games of seating 0
// (Turn::seating) `first` has the first of the side's seats (0 or 1) and
// `second` the other (2 or 3); in seating 1 the reverse. A margin counts as
// proved only if both have proved it, each at its last choice.
std::unique_ptr<Player> NewTeamPlayer(std::unique_ptr<Player> first,
                                      std::unique_ptr<Player> second);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_PLAYER_SPEC_H_
