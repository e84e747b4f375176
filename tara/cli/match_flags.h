#ifndef TARA_CLI_MATCH_FLAGS_H_
#define TARA_CLI_MATCH_FLAGS_H_

// Flags of the commands that play matches: openings, ends, clocks, stores; and
// the games themselves.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/clocks.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/state.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/contest.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/team.h"
#include "tara/fleet/fleet.h"
#include "tara/record/game_store.h"
#include "tara/train/folder/run_provenance.h"

namespace tara::cli {

struct MatchFlags {
  std::optional<int> opening_plies;  // none: DefaultOpeningPlies
  std::string openings = "random";   // or "balanced:SPEC"
  std::string adjudicate = "proof";  // "none", or "agreement:VALUE,TURNS"
  // As ParseTimeControl reads it; empty: no clocks.
  std::string time_control;
  // Game store to resume; empty: none.
  std::string store;
  int threads = 0;  // 0: one per core
  uint64_t seed = 1;
};

// --opening-plies, at least `least`.
Option OpeningPliesOption(std::optional<int>* plies, double least);

// --untrained, which allows what CheckLearned rejects.
Option UntrainedOption(bool* untrained);

// Adds a flag for each.
void AddMatchFlags(Command& command, MatchFlags* flags);

// Returns the notes of --help on players, with their specs.
std::string MatchNotes();

// A player or team.
struct Contestant : eval::Contestant {
  std::vector<eval::PlayerSpec> given;  // its players, as they were given
};

// Plays matches by the flags.
class MatchTable {
 public:
  // `arena` has the options without flags. Returns usage errors for wrong
  // flags, and the errors of opening the store and of making the player that
  // judges openings. A fleet, if any, plays the games.
  static absl::StatusOr<std::unique_ptr<MatchTable>> Create(
      const MatchFlags& flags, const eval::ArenaOptions& arena,
      fleet::Fleet* fleet = nullptr);

  // Returns the player or team of a spec. A wrong spec is a usage error; else
  // errors as WithPrecision.
  absl::StatusOr<Contestant> ContestantOf(const std::string& spec) const;
  absl::StatusOr<Contestant> ContestantOf(const eval::TeamSpec& team) const;

  // Returns all players that these are made of and the one that judges
  // openings, as they were given, so that errors name them.
  std::vector<eval::PlayerSpec> PlayersOf(
      absl::Span<const Contestant* const> contestants) const;

  // Plays A against B from a start position, with the store if there is one.
  // The number of games or openings is that of the options of Create. Returns a
  // usage error for teams that cannot play the variant, and the errors of
  // PlayArenaInParallel or PlayArenaOnFleet. With a fleet, several threads may
  // play concurrently.
  absl::StatusOr<eval::ArenaResult> Play(
      const State& start, const Contestant& a, const Contestant& b,
      const eval::ArenaProgressCallback& on_progress, int openings = 0);

 private:
  MatchTable(const MatchFlags& flags, const eval::ArenaOptions& arena,
             fleet::Fleet* fleet)
      : flags_(flags), arena_(arena), fleet_(fleet) {}

  const MatchFlags flags_;
  eval::ArenaOptions arena_;
  fleet::Fleet* const fleet_;
  std::unique_ptr<record::GameStore> store_;  // if there is one
  std::optional<eval::PlayerSpec> judge_;     // of openings, as it was given
  std::string openings_;  // "" for random ones, or the identity of their judge
};

// Shows the progress of matches: one at a time or, if a fleet plays them
// concurrently, of all together. Thread-safe.
class MatchStatus {
 public:
  // The fleet may be null.
  MatchStatus(size_t matches, const fleet::Fleet* fleet, Console& console)
      : status_line_(console), fleet_(fleet), done_(matches), games_(matches) {}

  // The status of a match by its index. `name` describes it for people.
  void Show(size_t match, absl::string_view name,
            const eval::ArenaProgress& progress);
  void Clear() { status_line_.Clear(); }

 private:
  StatusLine status_line_;
  const fleet::Fleet* const fleet_;
  const absl::Time begin_ = SteadyTime();
  std::vector<std::atomic<int>> done_, games_;  // by match
  std::atomic<int> stored_ = 0;                 // games that were done before
};

// The player for rules that the ready-made network has not learned.
inline constexpr char kSearchWithoutNetwork[] = "mcts:sims=1000";

// Returns the ready-made network if it has learned the rules, otherwise search
// with random games. Prints the reason on console.err.
std::string DefaultPlayer(const State& start, Console& console);

// The player of commands in which one judges positions.
struct JudgeFlags {
  std::string player;       // empty: the best there is for the rules
  int64_t simulations = 0;  // 0: the player's own
  bool untrained = false;   // judge what a network has not learned, too
};

// Adds --player, --sims and --untrained.
void AddJudgeFlags(Command& command, JudgeFlags* flags);

// Returns the player that evaluates positions of games with these starts: the
// given one, or else the default player of the first with 1000 simulations;
// with `simulations`, if not 0. Returns a usage error for a player without a
// search, one whose values are not reproducible (time, threads, pondering), one
// that does not play only to win, or from CheckLearned; otherwise errors
// of WithPrecision.
absl::StatusOr<eval::PlayerSpec> JudgeOf(JudgeFlags flags,
                                         absl::Span<const State> starts,
                                         Console& console);

// Checks of the variants and rule options that a network has learned: under
// others it plays nonsense, and its results look like any others.

// Returns a usage error if the network in a file, called `name`, is to play
// rules that it has not `learned` (LearnedByModel), unless `untrained`; warns
// on console.err where the rules that it has learned are unknown.
absl::Status CheckModelLearned(const std::string& name, const std::string& file,
                               const train::Learned& learned,
                               absl::Span<const State> starts, bool untrained,
                               Console& console);

// The same for all networks among these players.
absl::Status CheckLearned(absl::Span<const eval::PlayerSpec> players,
                          absl::Span<const State> starts, bool untrained,
                          Console& console);

// Returns the rules of a start that the network of a player has not learned, as
// NotLearned (tara/nn/bundle/manifest.h); empty: none, or unknown.
std::string NotLearnedBy(const eval::PlayerSpec& player, const State& start);

// Returns the same of several players, "SPEC: RULES; SPEC: RULES", as the
// reports of their games are marked.
std::string NotLearnedByAny(absl::Span<const eval::PlayerSpec> players,
                            const State& start);

// The help of a --variant that may be missing.
inline constexpr absl::string_view kVariantOrLearnedHelp =
    "variant, by its identifier in `tara variants`, or 'all' (default: the "
    "ones that all networks have learned)";

// Returns the start positions of the variants of the flags, subject to
// CheckLearned; without --variant, of all variants that all players have
// learned. Returns a usage error without any.
absl::StatusOr<std::vector<State>> StartsOfLearned(
    const GameFlags& flags, absl::Span<const eval::PlayerSpec> players,
    bool untrained, Console& console);

}  // namespace tara::cli

#endif  // TARA_CLI_MATCH_FLAGS_H_
