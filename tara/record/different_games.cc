#include "tara/record/different_games.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "tara/base/random.h"
#include "tara/core/symmetry.h"
#include "tara/core/traits.h"
#include "tara/record/game_record.h"

namespace tara::record {

std::vector<Action> CanonicalLine(Variant variant,
                                  absl::Span<const Action> actions) {
  std::vector<Action> least(actions.begin(), actions.end());
  for (const Symmetry& symmetry : GameSymmetries(variant)) {
    std::vector<Action> line;
    Symmetry turned = symmetry;
    for (const Action action : actions) {
      line.push_back(TransformAction(turned, action));
      // The only pass so early is a swap, which may transpose the board.
      if (line.size() == 2 && action == kPass &&
          TraitsOf(variant).rows_by_side) {
        turned.board = static_cast<uint8_t>((turned.board & kTranspose) |
                                            ((turned.board & 1) << 1) |
                                            ((turned.board & 2) >> 1));
      }
    }
    if (std::lexicographical_compare(
            line.begin(), line.end(), least.begin(), least.end(),
            [](Action x, Action y) { return Index(x) < Index(y); })) {
      least = std::move(line);
    }
  }
  return least;
}

uint64_t SameGameKey(const proto::GameRecord& game) {
  const absl::StatusOr<Variant> variant = ParseVariant(game.variant());
  if (!variant.ok() || game.steps_size() == 0) return 0;
  for (const proto::Step& step : game.steps()) {
    if (step.action() >= kNumActions) return 0;
  }
  uint64_t key = 1 + static_cast<uint64_t>(*variant);
  for (const Action action : CanonicalLine(*variant, ActionsOf(game))) {
    key = MixBits(key) ^ static_cast<uint64_t>(Index(action));
  }
  return MixBits(key);
}

}  // namespace tara::record
