#include "web/wasm/views.h"

#include <array>

#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/levels/levels.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::web {
namespace {

using emscripten::val;

constexpr absl::string_view kFamilyNames[] = {"sacred_hill", "four_treasures",
                                              "high_kings", "poisoned_chalice",
                                              "stone_of_destiny"};
constexpr absl::string_view kKindNames[] = {"hill", "king_move", "sacrifice",
                                            "link", "pass"};

// A value if there is one, else null.
template <typename T>
val ValueIf(bool is_there, const T& value) {
  return is_there ? val(value) : val::null();
}

val HillsOf(Board board) {
  std::vector<int> hills;
  ForEachHill(board, [&](Hill hill) { hills.push_back(hill); });
  return ToArray(hills);
}

val Geometry() {
  return Object({{"size", kBoardSize},
                 {"hills", Array(kNumHills, [](int i) {
                    const Hill hill = static_cast<Hill>(i);
                    return Object(
                        {{"index", i},
                         {"name", HillToText(hill)},
                         {"file", FileOf(hill)},
                         {"rank", RankOf(hill)},
                         {"neighbours", HillsOf(Adjacent(BoardOf(hill)))},
                         {"knightMoves", HillsOf(KnightMoves(BoardOf(hill)))}});
                  })}});
}

val Seats(const VariantInfo& info) {
  return Array(info.seats, [&](int i) {
    const Seat seat = static_cast<Seat>(i);
    return Object({{"index", i},
                   {"side", SideOf(seat)},
                   {"name", SeatName(info.variant, seat)}});
  });
}

val Options(const VariantInfo& info) {
  std::vector<val> options;
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(info)) continue;
    const double unit = option.kind == RuleOptionKind::kHalves ? 0.5 : 1;
    options.push_back(Object({{"name", option.name},
                              {"help", option.help},
                              {"isSwitch", option.is_switch()},
                              {"step", unit},
                              {"min", unit * option.min_value},
                              {"max", unit * option.max_value},
                              {"defaultValue", unit * option.DefaultValue()}}));
  }
  return ToArray(options);
}

val Variants() {
  return Array(kNumVariants, [](int i) {
    const VariantInfo& info = kVariants[i];
    return Object({{"id", info.id},
                   {"name", info.name},
                   {"family", kFamilyNames[static_cast<int>(info.family)]},
                   {"level", info.level},
                   {"seats", Seats(info)},
                   {"options", Options(info)}});
  });
}

val Actions() {
  return Array(kNumActions, [](int i) {
    const auto action = static_cast<Action>(i);
    const ActionParts parts = Parts(action);
    return Object({{"index", i},
                   {"notation", ActionToText(action)},
                   {"kind", kKindNames[static_cast<int>(parts.kind)]},
                   {"from", ValueIf(parts.from >= 0, int{parts.from})},
                   {"to", ValueIf(parts.to >= 0, int{parts.to})}});
  });
}

val Levels() {
  return Array(mcts::kNumLevels, [](int i) {
    const std::string number = std::to_string(i + 1);
    val elo = val::object();
    for (const VariantInfo& info : kVariants) {
      const mcts::LevelElo measured = mcts::EloOfLevel(info.variant, i + 1);
      elo.set(std::string(info.id),
              Object({{"elo", measured.elo}, {"interval", measured.interval}}));
    }
    return Object({{"id", "level:" + number},
                   {"name", "Level " + number},
                   {"simulations", mcts::kLevels[i].simulations},
                   {"elo", elo}});
  });
}

val OwnerOf(const std::array<Board, 2>& boards, Hill hill) {
  for (const Side side : {kRed, kBlue}) {
    if ((boards[side] & BoardOf(hill)) != 0) return val(side);
  }
  return val::null();
}

val Bridges(const State& state) {
  const bool by_links = TraitsOf(state.variant).has_links;
  std::vector<val> bridges;
  const auto add = [&](Hill from, Board to, Board linked) {
    const Board both = BoardOf(from) | to;
    for (const Side side : {kRed, kBlue}) {
      if (to == 0 || (state.ringforts[side] & both) != both) continue;
      if (by_links && (linked & BoardOf(from)) == 0) continue;
      bridges.push_back(
          Object({{"from", from}, {"to", FirstHill(to)}, {"side", side}}));
    }
  };
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    add(hill, East(BoardOf(hill)), state.links_east);
    add(hill, North(BoardOf(hill)), state.links_north);
  }
  return ToArray(bridges);
}

// The besieged ringforts, where they can be captured.
val BesiegedRingforts(const State& state) {
  if (state.finished() || TraitsOf(state.variant).has_links) return HillsOf(0);
  const auto& [red, blue] = state.ringforts;
  return HillsOf(BesiegedIn(red, blue) | BesiegedIn(blue, red));
}

val ScoreView(const State& state) {
  const Outcome outcome = Score(state);
  const auto pair = [](const std::array<int, 2>& numbers) {
    return ToPair(numbers[kRed], numbers[kBlue]);
  };
  return Object({{"points", pair(outcome.points)},
                 {"compensation", outcome.compensation_halves / 2.0},
                 {"kingdoms", pair(outcome.kingdoms)},
                 {"territory", pair(outcome.territory)},
                 {"bridges", pair(outcome.bridges)},
                 {"kingsCaptured", pair(outcome.kings_captured)},
                 {"winner", ValueIf(outcome.winner() >= 0, outcome.winner())}});
}

val LegalIndices(const State& state) {
  std::vector<int> legal;
  LegalActions(state).ForEach(
      [&](Action action) { legal.push_back(Index(action)); });
  return ToArray(legal);
}

}  // namespace

val Object(std::initializer_list<Field> fields) {
  val object = val::object();
  for (const Field& field : fields) object.set(field.name, field.value);
  return object;
}

val Catalogue() {
  return Object({{"geometry", Geometry()},
                 {"variants", Variants()},
                 {"actions", Actions()},
                 {"levels", Levels()},
                 {"ratedNetwork", absl::string_view(mcts::kRatedNetwork)},
                 {"rulesVersion", kRulesVersion},
                 {"featureVersion", nn::kFeatureVersion},
                 {"policyVersion", nn::kPolicyVersion},
                 {"valueVersion", nn::kValueVersion},
                 {"maxMargin", kMaxMargin},
                 {"planes", nn::kNumPlanes},
                 {"globals", nn::kNumGlobals}});
}

val ViewOf(const State& state) {
  const bool finished = state.finished();
  const bool announced = state.ending != Ending::kNone;
  const RuleOptionInfo& limit = kRuleOptions[0];
  const bool counts_progress = limit.applies_to(Info(state.variant));
  return Object(
      {{"text", PositionToText(state)},
       {"hills", Array(kNumHills,
                       [&](int i) {
                         const Hill hill = static_cast<Hill>(i);
                         return Object(
                             {{"owner", OwnerOf(state.ringforts, hill)},
                              {"king", OwnerOf(state.kings, hill)}});
                       })},
       {"bridges", Bridges(state)},
       {"besieged", BesiegedRingforts(state)},
       {"vacant", Count(state.vacant())},
       {"phase", PhaseName(state.phase)},
       {"seat", ValueIf(!finished, int{state.seat})},
       {"side", ValueIf(!finished, state.side())},
       {"finished", finished},
       {"ending", ValueIf(announced, std::string(EndingName(state.ending)))},
       {"turnsLeft", ValueIf(announced && !finished, int{state.turns_left})},
       {"noProgress", ValueIf(counts_progress, int{state.no_progress})},
       {"noProgressLimit",
        counts_progress ? val(limit.get(state.options)) : val::null()},
       {"score", ScoreView(state)},
       {"legal", LegalIndices(state)},
       {"description", DescribeState(state)}});
}

}  // namespace tara::web
