#ifndef TARA_CORE_PLAYOUTS_H_
#define TARA_CORE_PLAYOUTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/types/span.h"
#include "tara/core/instruction_set.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

// Games this long and longer are counted together; with the rules as written
// random play stays far below.
inline constexpr int kMaxCountedLength = 511;

// Results of random play: sums over finished games, of which those of parts of
// a run add up to those of the run. Plain arrays, for the units of
// tara/core/batch that may not call std's inline functions.
struct PlayoutStatistics {
  int64_t games = 0;
  int64_t plies = 0;           // actions, as counted by the length of a game
  int64_t length_squares = 0;  // sum of squares of the games' lengths
  int64_t max_length = 0;
  // By length in actions, the last for all from kMaxCountedLength on.
  int64_t lengths[kMaxCountedLength + 1] = {};
  int64_t legal_actions = 0;  // summed over plies: branching times plies
  // Sums over games of the square of a game's legal actions, and of their
  // product with its length: what an interval of the branching takes.
  int64_t legal_squares = 0;
  int64_t legal_times_length = 0;
  int64_t results[3] = {};  // Red wins, draws, Blue wins
  // By Red's points minus Blue's, from -kMaxMargin on.
  int64_t margins[kNumMargins] = {};
  int64_t endings[6] = {};      // by Ending
  int64_t captures = 0;         // of ringforts, without swaps
  int64_t kings_captured = 0;   // by default too
  int64_t phase_plies[5] = {};  // by Phase before the action

  // Adds a finished game of `length` actions, chosen among `legal` ones in
  // all, to everything but captures and phase_plies.
  void AddGame(const Outcome& outcome, int64_t length, int64_t legal) {
    const int margin = outcome.margin();
    ++games;
    plies += length;
    length_squares += length * length;
    max_length = std::max(max_length, length);
    ++lengths[std::min<int64_t>(length, kMaxCountedLength)];
    legal_actions += legal;
    legal_squares += legal * legal;
    legal_times_length += legal * length;
    ++results[1 - outcome.result()];
    ++margins[std::clamp(margin, -kMaxMargin, kMaxMargin) + kMaxMargin];
    ++endings[static_cast<size_t>(outcome.ended_by)];
    kings_captured += outcome.kings_captured[0] + outcome.kings_captured[1];
  }

  PlayoutStatistics& operator+=(const PlayoutStatistics& other) {
    const auto add = [](auto& sums, const auto& terms) {
      for (size_t i = 0; i < std::size(sums); ++i) sums[i] += terms[i];
    };
    games += other.games;
    plies += other.plies;
    length_squares += other.length_squares;
    max_length = std::max(max_length, other.max_length);
    add(lengths, other.lengths);
    legal_actions += other.legal_actions;
    legal_squares += other.legal_squares;
    legal_times_length += other.legal_times_length;
    add(results, other.results);
    add(margins, other.margins);
    add(endings, other.endings);
    captures += other.captures;
    kings_captured += other.kings_captured;
    add(phase_plies, other.phase_plies);
    return *this;
  }

  friend bool operator==(const PlayoutStatistics&,
                         const PlayoutStatistics&) = default;
};

// Plays games first_game ... first_game + games - 1 from the start position to
// their ends with uniformly random actions, ply by ply through LegalActions and
// ApplyAction, and returns what they came to. Game i draws one number for each
// ply, also where only one action is legal, from the stream
// DeriveSeed(seed, i, StreamPurpose::kPlayouts). PlayRandomGames' simple twin.
PlayoutStatistics PlayRandomGamesByPublicRules(Variant variant,
                                               const RuleOptions& options,
                                               uint64_t seed,
                                               int64_t first_game,
                                               int64_t games);

// Plays margins.size() such games from a position, and writes Red's margin of
// each. Compiled for each variant, two games by turns on one core. Its simple
// twin is PlayRandomGamesFromByPublicRules, which plays where options of the
// opening concern the position, here and in PlayRandomGamesFrom. REQUIRES: the
// position is not finished.
void PlayRandomGamesFromScalar(const State& start, uint64_t seed,
                               absl::Span<int8_t> margins);

// The same through LegalActions and ApplyAction, ply by ply: what every faster
// way of playing the same games is tested against.
void PlayRandomGamesFromByPublicRules(const State& start, uint64_t seed,
                                      absl::Span<int8_t> margins);

// Plays the games of PlayRandomGamesByPublicRules, many in lockstep: the same
// statistics on every instruction set. Thread-safe; no allocation. Best from a
// few hundred games a call on. REQUIRES: the instruction set is one of
// SupportedInstructionSets(); games >= 0.
PlayoutStatistics PlayRandomGames(Variant variant, const RuleOptions& options,
                                  uint64_t seed, int64_t first_game,
                                  int64_t games,
                                  InstructionSet instruction_set);

// Plays `playouts` uniformly random games from each of the positions, which may
// be of any variants, with any options, at any phase, many games in lockstep.
// Writes Red's margin of the i-th game from starts[k] to margins[k * playouts +
// i]: that of the very game that PlayRandomGamesFromScalar plays with
// seeds[k], on every instruction set.
//
// Thread-safe. Positions of one variant with the same options are played
// together: the more games, the better the lanes are filled.
// REQUIRES: as PlayRandomGames; playouts > 0; a seed a position; none finished.
void PlayRandomGamesFrom(absl::Span<const State> starts,
                         absl::Span<const uint64_t> seeds, int playouts,
                         InstructionSet instruction_set,
                         absl::Span<int8_t> margins);

// The same games by the fastest method for their number: in lanes of the
// best instruction set, or by the scalar core if they are few.
void PlayRandomGamesFrom(absl::Span<const State> starts,
                         absl::Span<const uint64_t> seeds, int playouts,
                         absl::Span<int8_t> margins);

}  // namespace tara

#endif  // TARA_CORE_PLAYOUTS_H_
