#ifndef TARA_EVAL_BALANCE_BALANCE_STUDY_H_
#define TARA_EVAL_BALANCE_BALANCE_STUDY_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tara/core/action.h"
#include "tara/eval/balance/balance_facts.h"
#include "tara/eval/balance/balance_game.h"

namespace tara::eval {

// The games of one study, in order of their indices.
struct BalanceStudy {
  BalanceGameOptions options = {};
  std::string player = {};
  // Games that begin as the player likes.
  std::vector<GameFacts> games = {};
  // Games made to begin with an action, by the first member of its class. The
  // first `first_games` of each class tell how the classes differ; any more
  // confirm the one that turned out fairest.
  std::map<Action, std::vector<GameFacts>> first_games = {};
  int num_first_games = 0;
  std::optional<StartOpinion> start = {};
};

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_BALANCE_STUDY_H_
