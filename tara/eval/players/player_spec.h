#ifndef TARA_EVAL_PLAYERS_PLAYER_SPEC_H_
#define TARA_EVAL_PLAYERS_PLAYER_SPEC_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/base/option_table.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/search_player.h"
#include "tara/mcts/options/search_options.h"
#include "tara/nn/inference_options.h"

namespace tara::eval {

// An engine: another program that plays, asked by the line protocol.
struct EngineSpec {
  std::vector<std::string> command;  // the program and its arguments
  // For its first answer.
  absl::Duration start_limit = absl::Seconds(30);
  // For an action without a clock, and whatever else is asked.
  absl::Duration move_limit = absl::Seconds(60);
  // With a clock: how long after its time is up an answer is still waited for.
  // It loses on time then, but need not be started again.
  absl::Duration grace = absl::Seconds(2);
  // Games that a player of it plays at a time, each with a process.
  int processes = 1;
  // File that its standard error and what is said is added to; empty: none.
  std::string log = {};
};

// Splits a command into words at spaces, as a shell would: quotes, single or
// double, keep text together, a backslash keeps the character after it (within
// double quotes only before a double quote or a backslash). Nothing else is
// special. Returns INVALID_ARGUMENT for a quote that does not end.
absl::StatusOr<std::vector<std::string>> SplitCommand(absl::string_view text);

// Returns the place of the first `mark` in a text that is not in quotes or
// behind a backslash, as SplitCommand has them, or npos.
size_t FindUnquoted(absl::string_view text, char mark, size_t from = 0);

// Parses "CMD[,OPTION=VALUE...]": what follows "engine:" in a player spec. The
// command ends at the first comma outside of quotes. Returns INVALID_ARGUMENT
// saying what is wrong and what was expected.
absl::StatusOr<EngineSpec> ParseEngineSpec(absl::string_view text);

// What a player is made of.
enum class PlayerKind {
  kBaseline,  // what its row of PlayerKinds() states, and nothing else
  kMcts,
  kNet,
  kEngine,
  kPerson
};

struct PlayerSpec;

// A kind of players. For an opponent without a network and a tree of its own, a
// row is all that the rest of the program needs.
struct PlayerKindInfo {
  absl::string_view name;  // what specs begin with, up to the end or a colon
  PlayerKind kind;
  absl::string_view form;  // of a spec, in short
  // kBaseline: lines for --help; its options; and the player of a spec.
  absl::string_view help = {};
  OptionTable (*options)(PlayerSpec& spec) = nullptr;  // null: it has none
  std::unique_ptr<Player> (*make)(const PlayerSpec& spec) = nullptr;
};

absl::Span<const PlayerKindInfo> PlayerKinds();

// Returns the kind of a name, or null if there is none of it.
const PlayerKindInfo* FindPlayerKind(absl::string_view name);

// An option of a spec as it was given: "sims" and "200".
struct PlayerOption {
  std::string name;
  std::string value;
  bool operator==(const PlayerOption&) const = default;
};

// A player as described on a command line; see PlayerSpecHelp.
struct PlayerSpec {
  PlayerKind kind = PlayerKind::kBaseline;
  const PlayerKindInfo* info = nullptr;  // kBaseline: its row
  // As it is written: what people and files of results know the player by.
  // Nothing else reads it: its parts are in the other members.
  std::string text = {};
  // kNet: checkpoint, bundle or folder of a run; empty: the ready-made model.
  std::string path = {};
  // kNet: the file that `path` meant when it was looked up (WithPrecision):
  // the folder of a run that learns means another one later. Else empty.
  std::string file = {};
  int level = 0;  // kNet: from 1; 0: none
  // kBaseline, kMcts, kNet: those in the text, in their order, which set the
  // members below.
  std::vector<PlayerOption> options = {};
  bool policy_alone = false;            // kNet: no search (sims=0)
  nn::InferenceOptions inference = {};  // kNet
  int playouts = 1;                     // kMcts: random games per leaf
  // kMcts, kNet: how they search. For kMcts the parser sets kPlayoutCPuct and
  // kPlayoutLeaves (tara/mcts/options/search_options.h).
  SearchPlayerOptions search = {.search = mcts::ForPlay(),
                                .reuse = true,
                                .confidence_z = mcts::kPlayConfidenceZ};
  // alphabeta: limits; 0: none. Without any of them it has one of nodes.
  int nodes = 0;           // positions visited
  int depth = 0;           // actions ahead
  int time_ms = 0;         // of a move
  EngineSpec engine = {};  // kEngine
};

// How many games players of these kinds are best asked about at a time, where
// the rest of the program would have `games`: where several threads search a
// position, or a process has one board, no more than these can take.
int GamesAtATime(const PlayerSpec& spec, int games);

// Parses a spec such as "greedy" or "net:runs/first,sims=200,graph=on". Returns
// INVALID_ARGUMENT naming the spec, the offending part and what was expected.
absl::StatusOr<PlayerSpec> ParsePlayerSpec(absl::string_view text);

// Returns the spec net:PATH,sims=N, whatever characters the path has.
PlayerSpec NetworkPlayer(const std::string& path, int simulations);

// Returns a player that searches with an option set, in place of the value that
// it had: "mcts:sims=9,graph=on" and sims=50 is "mcts:graph=on,sims=50". Errors
// as ParsePlayerSpec.
absl::StatusOr<PlayerSpec> WithOption(PlayerSpec spec, absl::string_view name,
                                      absl::string_view value);

// Whether both are given a number of simulations, and are alike but for it.
bool DifferInSimulationsAlone(PlayerSpec x, PlayerSpec y);

// Returns the options of a network's player: "sims=200,graph=on". Of a level
// they are those that it stands for. REQUIRES: a spec of kind kNet.
std::string NetworkOptionsOf(const PlayerSpec& spec);

// Returns the options of a player that searches, without those of the search.
OptionTable SearchPlayerOptionTable(PlayerSpec& spec);

// Returns the forms of a spec, one line a kind, for --help.
std::string PlayerSpecHelp();

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_PLAYER_SPEC_H_
