#ifndef TARA_TESTS_EVAL_TEST_PLAYERS_H_
#define TARA_TESTS_EVAL_TEST_PLAYERS_H_

// Players that never draw, and that tell what they were asked.

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/legal_set.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/eval/player.h"
#include "tara/mcts/utility.h"

namespace tara {

// Plays the first legal action, or the last; remembers the positions it was
// given and the sizes of the batches; fails when told to.
class FixedPlayer : public Player {
 public:
  explicit FixedPlayer(bool last = false) : last_(last) {}

  absl::Status ChooseActions(absl::Span<const State> states,
                             absl::Span<Random* const> /*randoms*/,
                             absl::Span<Action> actions) override {
    if (fail) return absl::InternalError("told to fail");
    batches.push_back(states.size());
    for (size_t i = 0; i < states.size(); ++i) {
      const LegalSet legal = LegalActions(states[i]);
      actions[i] = legal.Nth(last_ ? legal.Count() - 1 : 0);
      seen.push_back(states[i]);
    }
    return absl::OkStatus();
  }

  std::vector<State> seen;
  std::vector<size_t> batches;
  bool fail = false;

 private:
  const bool last_;
};

// Plays as FixedPlayer; remembers how the matches of its games stood.
class MatchPlayer : public FixedPlayer {
 public:
  using FixedPlayer::FixedPlayer;

  absl::Status ChooseActionsInMatches(absl::Span<const State> states,
                                      absl::Span<const MatchScore> matches,
                                      absl::Span<Random* const> randoms,
                                      absl::Span<Action> actions) override {
    scores.insert(scores.end(), matches.begin(), matches.end());
    return ChooseActions(states, randoms, actions);
  }

  std::vector<MatchScore> scores;  // by state in `seen`
};

}  // namespace tara

#endif  // TARA_TESTS_EVAL_TEST_PLAYERS_H_
