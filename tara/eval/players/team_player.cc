#include "tara/eval/players/team_player.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/legal_set.h"
#include "tara/core/rules.h"

namespace tara::eval {
namespace {

class TeamPlayer : public Player {
 public:
  TeamPlayer(std::unique_ptr<Player> first, std::unique_ptr<Player> second)
      : members_{std::move(first), std::move(second)} {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (int member = 0; member < 2; ++member) {
      std::vector<Turn> its_turns;
      std::vector<size_t> places;
      for (size_t i = 0; i < turns.size(); ++i) {
        if (MemberOf(turns[i]) != member) continue;
        its_turns.push_back(turns[i]);
        places.push_back(i);
      }
      if (its_turns.empty()) continue;
      std::vector<Action> its_actions(its_turns.size());
      TARA_RETURN_IF_ERROR(members_[member]->ChooseActions(
          its_turns, absl::MakeSpan(its_actions)));
      for (size_t i = 0; i < its_turns.size(); ++i) {
        actions[places[i]] = its_actions[i];
        Agree(member, its_turns[i]);
      }
    }
    return absl::OkStatus();
  }

  void EndGame(uint64_t game) override {
    for (const auto& member : members_) member->EndGame(game);
    proved_.erase(game);
  }

 private:
  static int MemberOf(const Turn& turn) {
    return (turn.state.seat / 2 + turn.seating) % 2;
  }

  // Leaves of what a member has proved what its partner has, too.
  void Agree(int member, const Turn& turn) {
    if (turn.opinion == nullptr) return;
    std::optional<int>& margin = turn.opinion->proved_margin;
    auto& proved = proved_[turn.game];
    // A forced choice is made without a thought.
    if (LegalActions(turn.state).Count() > 1) proved[member] = margin;
    if (proved[0] != proved[1]) margin = std::nullopt;
  }

  const std::array<std::unique_ptr<Player>, 2> members_;
  // By game and member: the margin for their side, at the last choice.
  std::map<uint64_t, std::array<std::optional<int>, 2>> proved_;
};

}  // namespace

std::unique_ptr<Player> NewTeamPlayer(std::unique_ptr<Player> first,
                                      std::unique_ptr<Player> second) {
  return std::make_unique<TeamPlayer>(std::move(first), std::move(second));
}

}  // namespace tara::eval
