#ifndef TARA_CLI_MATCH_FLAGS_H_
#define TARA_CLI_MATCH_FLAGS_H_

// What commands have in common that let players play each other: how games
// begin and end, clocks, results files; and the games themselves.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/cli/command_line.h"
#include "tara/core/state.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/arena/parallel_arena.h"
#include "tara/eval/arena/result_store.h"
#include "tara/eval/players/team_spec.h"

namespace tara::cli {

struct MatchFlags {
  int64_t opening_plies = 2;
  std::string openings = "random";   // or "balanced:SPEC"
  std::string adjudicate = "proof";  // "none", or "agreement:VALUE,TURNS"
  // As ParseTimeControl reads it; empty: no clocks.
  std::string time_control;
  // Results file to go on with; empty: none.
  std::string store;
  int64_t threads = 0;  // 0: as many as the cores allow
  int64_t seed = 1;
};

// Adds a flag for each.
void AddMatchFlags(Command& command, MatchFlags* flags);

// What --help says of players, beside their specs.
std::string MatchNotes();

// A player or team as its spec describes it, and how to make it: each thread
// wants its own.
struct Contestant {
  std::vector<std::string> given;  // the spec of each player, as it was given
  std::string text;     // with the number types of its networks (WithPrecision)
  eval::TeamSpec team;  // of `text`
  std::string identity;  // in the results file; empty without one
  eval::PlayerFactory make;
};

// Returns the specs, as they were given, of all players that they are made of
// and of the one that judges openings: so refusals name them.
std::vector<std::string> PlayersOf(
    absl::Span<const Contestant* const> contestants, const MatchFlags& flags);

// Plays matches as the flags say.
class MatchTable {
 public:
  // `arena` has what the flags do not say. Returns usage errors for flags that
  // cannot be, and the error of opening the results file or of making the
  // player that judges openings.
  static absl::StatusOr<std::unique_ptr<MatchTable>> Create(
      const MatchFlags& flags, const eval::ArenaOptions& arena);

  // Returns the player or team of a spec. One that cannot be is a usage error;
  // else errors as WithPrecision.
  absl::StatusOr<Contestant> ContestantOf(const std::string& given) const;

  // Plays A against B from a start position, with the results file if there is
  // one; as many games as Create was told, or those of so many openings.
  // Returns a usage error for teams that cannot play the variant, else the
  // errors of PlayArenaInParallel.
  absl::StatusOr<eval::ArenaResult> Play(
      const State& start, const Contestant& a, const Contestant& b,
      const eval::ArenaProgressCallback& on_progress, int openings = 0);

 private:
  MatchTable(const MatchFlags& flags, const eval::ArenaOptions& arena)
      : flags_(flags), arena_(arena) {}

  // Returns the spec with the number types of its networks: those that the
  // results file has games of.
  absl::StatusOr<std::string> SpecOf(const std::string& text) const;

  const MatchFlags flags_;
  eval::ArenaOptions arena_;
  std::unique_ptr<eval::ResultStore> store_;  // if there is one
  std::string openings_;  // "" for random ones, or who judges them
};

}  // namespace tara::cli

#endif  // TARA_CLI_MATCH_FLAGS_H_
