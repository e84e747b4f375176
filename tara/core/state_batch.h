#ifndef TARA_CORE_STATE_BATCH_H_
#define TARA_CORE_STATE_BATCH_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

// Many games of one variant, stepped together by given actions: what an
// environment of many games, a search of many games or an encoder works on. A
// game that ends is noted, and the next begins in its slot.
//
// Its positions, legal actions and results are those of LegalActions,
// ApplyAction and Score (tara/core/rules.h), but legality is found once a ply
// and there is one call for all games. No allocation after the first steps.
// Copyable. Not thread-safe: batches on several threads share nothing.
class StateBatch {
 public:
  // A game that the last step has ended.
  struct Finished {
    int slot;
    int64_t game;  // its index
    State end;
    Outcome outcome;
  };

  // Begins games 0 ... slots - 1. Game i has the random stream
  // DeriveSeed(seed, i, StreamPurpose::kPlayouts), whatever its slot.
  // REQUIRES: slots >= 0; options as for InitialState.
  StateBatch(Variant variant, const RuleOptions& options, int slots,
             uint64_t seed);

  int slots() const { return static_cast<int>(states_.size()); }

  // By slot: the positions, none of them finished, and their legal actions.
  absl::Span<const State> states() const { return states_; }
  absl::Span<const LegalSet> legal() const { return legal_; }
  // Writes the legal actions of each slot as a mask. REQUIRES: one a slot.
  void LegalMasks(absl::Span<LegalMask> masks) const;

  // Index of the game in a slot, and its random stream.
  int64_t game(int slot) const { return games_[slot]; }
  Random& random(int slot) { return random_[slot]; }

  // Plays actions[i] in slot i; O(slots). Then finished() tells of the games
  // that ended, and in their slots, by increasing slot, the next games begin.
  // REQUIRES: one action a slot, legal there.
  void Step(absl::Span<const Action> actions);

  // The same with uniformly random actions, one draw of each game's stream:
  // plays the very games of PlayRandomGames (tara/core/game_batch.h).
  void StepRandomly();

  // The games that the last step has ended, by slot.
  absl::Span<const Finished> finished() const { return finished_; }

  // Lets the game in a slot go on from another position; index and stream
  // remain. REQUIRES: the variant is the batch's; not finished.
  void SetState(int slot, const State& state);

 private:
  void BeginGame(int slot);

  State start_;
  LegalSet start_legal_;
  uint64_t seed_;
  int64_t next_game_ = 0;
  // By slot.
  std::vector<State> states_;
  std::vector<LegalSet> legal_;
  std::vector<Random> random_;
  std::vector<int64_t> games_;
  std::vector<Action> chosen_;  // by StepRandomly
  std::vector<int> ended_;      // slots
  std::vector<Finished> finished_;
};

}  // namespace tara

#endif  // TARA_CORE_STATE_BATCH_H_
